// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/ensemble_options.hpp"

namespace saltus::cli {

/// `saltus sensitivity`: derivatives of a motion, a perturbed pair, or event times over parameters. Unset values come
/// from the model's [simulate] table or from the method.
struct SensitivityCommand {
    Common common;
    std::vector<std::string> wrt;       ///< coordinates x, velocities x' and parameters to differentiate by
    std::vector<std::string> vary;      ///< NAME=FROM:TO:COUNT: a study of event times instead
    std::optional<std::string> output;  ///< expression of the final state
    std::string method;                 ///< event or penalty
    std::optional<double> t_end, rtol, atol;
    bool adjoint = false;      ///< backwards, derivatives of `output` alone
    bool check = false;        ///< compare with central differences of whole motions
    bool perturbed = false;    ///< differentiate the motion with the model's [perturbation]
    EnsembleOptions ensemble;  ///< of the study
};

/// Runs the command and returns the exit code.
int sensitivity(const SensitivityCommand& command);

}  // namespace saltus::cli
