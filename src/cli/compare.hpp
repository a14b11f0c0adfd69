// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "cli/command.hpp"

namespace saltus::cli {

struct CompareCommand {
    Common common;
    std::optional<double> t_end, h, rtol, atol;
    int refinements = 3;
};

/// Returns the exit code.
int compare(const CompareCommand& command);

}  // namespace saltus::cli
