// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command.hpp"

namespace saltus::cli {

void check(const Common& options);

}  // namespace saltus::cli
