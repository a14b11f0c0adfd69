// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/ensemble_options.hpp"

namespace saltus::cli {

/// `saltus diagram`.
struct DiagramCommand {
    Common common;
    std::string over;                ///< NAME=FROM:TO:COUNT
    std::string period, section;     ///< an expression of the parameters; an equation of the state
    int transient = 100, keep = 50;  ///< points that are dropped and kept
    std::string sweep = "restart";   ///< restart, up, down or both
    bool exponents = false;
    EnsembleOptions ensemble;
    std::optional<double> t_max;  ///< with a section: the longest motion of one value
    std::optional<double> rtol, atol;
};

/// Runs the command and returns the exit code.
int diagram(const DiagramCommand& command);

}  // namespace saltus::cli
