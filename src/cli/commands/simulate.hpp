// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/ensemble_options.hpp"

namespace saltus::cli {

/// `saltus simulate`. A value that is not set comes from the model's [simulate] table, then from the method.
struct SimulateCommand {
    Common common;
    std::optional<double> t_end, h, theta, rtol, atol;
    std::string method, restitution;
    std::optional<double> max_step;  ///< of event and penalty, in s
    bool implicit = false;           ///< implicit steps from the start
    bool perturbed = false;          ///< apply the model's [perturbation]
    bool balance = false;            ///< print the balance of V = T + U also without result files
    bool strict_energy = false;      ///< end the run at the first impact that creates energy
    bool repair_energy = false;      ///< take the nearest velocities that create no energy
    SampleOptions random;            ///< with --box random runs; without it `samples` is the rows of states.csv (1001)
    std::string restart;             ///< trajectory.h5 whose end is the start
    std::vector<std::string> vary;   ///< NAME=FROM:TO:COUNT, many runs; see gain_study.hpp
    std::vector<std::string> ask;    ///< of each of many runs: "end", "first(impact)", ...
    EnsembleOptions ensemble;        ///< of many runs
    std::string solve_for, target, at;  ///< a parameter's value for which an equation holds; see gain_study.hpp
    std::string section;                ///< an equation of the state: where the motion passes it is listed
    std::optional<double> band;         ///< of the settling time, relative to the initial distance
};

/// Runs the command and returns the exit code. A run that fails or is interrupted still prints and writes its partial
/// result.
int simulate(const SimulateCommand& command);

}  // namespace saltus::cli
