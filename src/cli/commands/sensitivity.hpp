// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

struct SensitivityCommand {
    Common common;
    std::vector<std::string> wrt, vary;
    std::optional<std::string> output;
    std::string method;
    std::optional<double> t_end, rtol, atol;
    bool adjoint = false, check = false, perturbed = false;
};

/// Returns the exit code.
int sensitivity(const SensitivityCommand& command);

}  // namespace saltus::cli
