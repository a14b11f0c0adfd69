// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/solvers/friction/detail/friction_coordinates.hpp"
#include "saltus/solvers/friction/detail/newton.hpp"
#include "saltus/solvers/friction/detail/sweep.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers {

/// What the solves of a workspace share.
struct Workspace::State {
    Sweeper sweeper;
    std::optional<NewtonSolver> made;  // the first time it is needed
    NewtonSolver& newton() {
        if (!made) made.emplace();
        return *made;
    }
    std::vector<double> r, best, best_v, scratch, sweep_best;
    Rescaled rescaled;
    Isotropic isotropic;
};

/// Sweeps over all blocks, r becomes the best iterate; returns how many were made. The residual is computed after 1, 2,
/// 4, … sweeps, then every `check_every`.
int sweep_blocks(const FrictionProblem& problem, const GaussSeidel& method, Workspace::State& w,
                 std::vector<double>& r);

/// Puts r with its velocities and its verdict into the solution.
void conclude(const std::vector<double>& r, const std::vector<double>& v, double defect, double tolerance,
              Status otherwise, Solution& solution);

/// The automatic method, from the guess in w.r.
void run(const FrictionProblem& problem, const Automatic& method, Workspace::State& w, Solution& solution);

}  // namespace saltus::solvers
