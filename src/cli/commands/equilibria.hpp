// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

struct EquilibriaCommand {
    Common common;
    std::vector<std::string> at;
    std::optional<double> time;
};

/// Returns the exit code, 0 whatever there is.
int equilibria(const EquilibriaCommand& command);

}  // namespace saltus::cli
