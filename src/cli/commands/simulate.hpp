// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace saltus::cli {

/// What was said on the command line; what was not comes from the model's [simulate], then from the methods.
struct SimulateCommand {
    Common common;
    std::optional<double> t_end, h, theta, rtol, atol;
    std::string method;
    bool implicit = false, perturbed = false;
    bool balance = false;  ///< of V, also without result files
    bool strict_energy = false, repair_energy = false;
    int samples = 1001;
    std::string restart;
    std::vector<std::string> vary;      ///< NAME=FROM:TO:COUNT
    std::string solve_for, target, at;  ///< gain_study.hpp
    std::optional<double> band;         ///< of the settling time
};

/// Returns the exit code; a run that failed or was interrupted gives its partial result all the same.
int simulate(const SimulateCommand& command);

}  // namespace saltus::cli
