// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/commands/simulate.hpp"

namespace saltus::cli {

/// `simulate` with --vary (a table of runs) or --solve-for and --target (the value of a parameter). Returns the exit
/// code.
int gain_study(const SimulateCommand& command);

}  // namespace saltus::cli
