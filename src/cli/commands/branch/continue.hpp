// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "cli/command.hpp"
#include "cli/commands/orbit.hpp"

namespace saltus::cli {

/// `saltus continue`.
struct ContinueCommand {
    OrbitCommand orbit;       ///< model, how the first orbit is found, tolerances
    std::string over;         ///< NAME=FROM:TO
    std::string also;         ///< NAME or NAME=FROM:TO of a second parameter
    bool equilibria = false;  ///< follow equilibria instead of orbits
    double step = 0.02;       ///< largest step of the parameter, relative to the range
    int points = 1000;        ///< of one branch in one direction
    int doublings = 1;        ///< how often branches of doubled period are followed
    bool resume = false;      ///< continue an interrupted run
};

/// Runs the command and returns the exit code.
int continuation(const ContinueCommand& command);

}  // namespace saltus::cli
