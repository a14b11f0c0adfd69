// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/commands/simulate.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::cli {

inline constexpr const char* trajectory_name = "trajectory.h5";

/// A run, all values decided.
struct Plan {
    std::string method_name;
    integrate::Method method;
    trajectory::State start;
    bool restarted = false;
    double t_end = 0.0;
    integrate::EnergyRule energy = integrate::EnergyRule::report;
    std::string options;                ///< those that count, as they would be written on a command line
    std::vector<std::string> warnings;  ///< about what was given and does not count
};

Plan make_plan(const SimulateCommand& command, const model::Model& model);

/// Before the work, not after it: whether results can be written there. Creates nothing.
void refuse_folder(const std::string& out, const std::string& restart);

int exit_code(trajectory::Status status);

}  // namespace saltus::cli
