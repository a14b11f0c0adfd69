// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"

namespace saltus::cli {

/// `saltus compare`: the three methods on one model. Unset values come from the model's [simulate] table.
struct CompareCommand {
    Common common;
    std::optional<double> t_end, h, rtol, atol;
    int refinements = 3;            ///< times that h is halved and the stiffness multiplied by ten
    std::string penalty;            ///< "k=1e3:1e9:7": compare these spring stiffnesses with rigid contacts, e = 1
    bool action = true;             ///< with `penalty`: also compute the sequences of actions
    std::optional<double> horizon;  ///< with `penalty`: time span of the actions; unset: one bounce
};

/// Runs the command and returns the exit code.
int compare(const CompareCommand& command);

}  // namespace saltus::cli
