// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "cli/commands/simulate.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::cli {

/// One run with every value decided: from the command line, else the model's [simulate] table, else the method.
struct Plan {
    std::string method_name;
    integrate::Method method;
    trajectory::State start;
    bool restarted = false;
    /// The motion of --restart, if this run continues it to the bit: model, options and version are the same.
    std::optional<integrate::Continued> earlier;
    double t_end = 0.0;
    integrate::EnergyRule energy = integrate::EnergyRule::report;
    std::string options;                ///< the options that have an effect, see io::simulate_options
    std::vector<std::string> warnings;  ///< about options that were given and have no effect
};

/// Decides the values of a run. Throws Error for bad options.
Plan make_plan(const SimulateCommand& command, const io::LoadedModel& loaded);

/// The program's exit code for a motion that ended with this status.
int exit_code(trajectory::Status status);

}  // namespace saltus::cli
