// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

namespace saltus::cli {

/// `saltus check`: builds the model and prints what was understood. Returns the exit code; throws Error for bad input.
int check(const Common& options);

}  // namespace saltus::cli
