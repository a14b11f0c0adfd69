// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

/// `saltus impact`: audits one collision, or all impacts of a trajectory. The collision starts from the model's initial
/// state, from impact `number` of its motion, or from impact `event` of a stored `trajectory`.
struct ImpactCommand {
    Common common;
    std::vector<std::string> q, u_minus, u_plus;  ///< state before and velocities after; empty: from model and law
    std::vector<std::string> impulse;             ///< external impulse, by coordinate
    std::vector<std::string> Lambda;              ///< contact impulses, by contact
    std::vector<std::string> closed;              ///< contacts that take part; empty: those with gap 0
    bool laws = false;                            ///< also what each impact law leads to, over e
    double alpha = 0.0;                           ///< contact work that is allowed
    std::optional<int> number, event;
    std::string trajectory;
};

/// Runs the command and returns the exit code: 0 whatever the verdict is.
int impact(const ImpactCommand& command);

}  // namespace saltus::cli
