// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/solvers/friction/detail/friction_coordinates.hpp"
#include "saltus/solvers/friction/detail/newton.hpp"
#include "saltus/solvers/friction/detail/sweep.hpp"
#include "saltus/solvers/friction/few_rows.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers {

/// The memory of a `Workspace`.
struct Workspace::State {
    Sweeper sweeper;
    FewRows few_rows;
    std::vector<double> dense;         // W of few rows, row-major
    std::optional<NewtonSolver> made;  // constructed at first use
    NewtonSolver& newton() {
        if (!made) made.emplace();
        return *made;
    }
    std::vector<double> r;             // current iterate
    std::vector<double> best, best_v;  // best iterate of the automatic method and its velocities
    std::vector<double> sweep_best;    // best iterate of sweep_blocks
    std::vector<double> sweep_before;  // iterate of sweep_blocks before the last batch of sweeps
    std::vector<double> scratch;       // velocities left by the last `residual` or `verdict`
    Rescaled rescaled;
    Isotropic isotropic;
};

/// Sweeps over all blocks until the tolerance is met, the sweeps are used up, or there is no progress. r becomes the
/// iterate with the smallest residual. Returns the number of sweeps. The residual is computed after 1, 2, 4, … sweeps,
/// then every `check_every` sweeps.
int sweep_blocks(const FrictionProblem& problem, const GaussSeidel& method, Workspace::State& w,
                 std::vector<double>& r);

/// Writes r, its velocities v and its verdict `defect` into the solution. The status is converged if the verdict is at
/// most the tolerance, else `otherwise`.
void conclude(const std::vector<double>& r, const std::vector<double>& v, double defect, double tolerance,
              Status otherwise, Solution& solution);

/// The automatic method, starting from w.r.
void run(const FrictionProblem& problem, const Automatic& method, Workspace::State& w, Solution& solution);

}  // namespace saltus::solvers
