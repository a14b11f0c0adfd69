// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"

namespace saltus::cli {

struct CompareCommand {
    Common common;
    std::optional<double> t_end, h, rtol, atol;
    int refinements = 3;
    std::string penalty;  ///< k=1e3:1e9:7: springs ever stiffer against rigid contacts with e = 1
    bool action = true;   ///< with the sequences of actions
    std::optional<double> horizon;
};

/// Returns the exit code.
int compare(const CompareCommand& command);

}  // namespace saltus::cli
