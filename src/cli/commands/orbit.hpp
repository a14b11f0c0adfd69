// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/ensemble_options.hpp"
#include "saltus/orbit/orbit.hpp"

namespace saltus::cli {

/// `saltus orbit`.
struct OrbitCommand {
    Common common;
    std::string period, section;  ///< an expression of the parameters; an equation of the state
    std::string symmetry;         ///< equations of coordinates: x = -x
    int multiple = 1;
    std::optional<double> settle;
    std::vector<std::string> guess;  ///< x=1,x'=2
    int search = 0;                  ///< number of starts; 0: one search from the guess
    std::optional<double> rtol, atol;
    EnsembleOptions ensemble;  ///< of the search
};

/// The options of the search for an orbit. Throws an Error that names the option that does not fit.
orbit::Options orbit_options(const OrbitCommand& command, const model::Model& model);

/// Runs the command and returns the exit code.
int orbit(const OrbitCommand& command);

}  // namespace saltus::cli
