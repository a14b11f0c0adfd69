// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

/// A collision: of the model's initial state, of its motion (number), or of a stored trajectory (trajectory, event).
struct ImpactCommand {
    Common common;
    std::vector<std::string> q, u_minus, u_plus, impulse, Lambda, closed;
    double alpha = 0.0;
    std::optional<int> number, event;
    std::string trajectory;
};

/// Returns the exit code, 0 whatever the verdict says.
int impact(const ImpactCommand& command);

}  // namespace saltus::cli
