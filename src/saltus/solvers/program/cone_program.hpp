// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/program/program.hpp"

namespace saltus::solvers {

/// min cᵀx   subject to   A x = b,   x ∈ K,      dual: max bᵀy,   c − Aᵀy ∈ K,
/// K a product of second-order cones { (n, t) : n >= ‖t‖ }, which are their own duals. Size 1: n >= 0.
struct ConeProgram {
    Matrix A;  ///< independent rows
    Vector b, c;
    std::vector<int> cones;  ///< sizes; together the number of columns
};

/// Primal-dual interior point method on the homogeneous self-dual embedding, Nesterov–Todd scaling, Mehrotra's
/// corrector. It decides between a solution, a proof of infeasibility and a ray where the program is well posed; where
/// it is not (all feasible points on the boundary, say) it stops at the best point, with the residuals and gap it has.
/// A ray here proves that no y is feasible; that some x is remains to be shown.
struct InteriorPoint {
    double tolerance =
        1e-8;  ///< largest residual and gap of what counts as optimal; it goes on to 1e-3 of it if it can
    int max_iterations = 100;
};

/// Simplex method over extreme rays: each cone as nonnegative combinations of directions (1, d), ‖d‖ = 1, to which
/// those are added that the dual point or the proof of infeasibility of the program so far violates. Its x lies in K,
/// and it needs no interior: it settles what the interior point method leaves open. Dependent rows are fine. Without a
/// good start and in many dimensions it takes many rounds.
struct ExtremeRays {
    double tolerance = 1e-11;  ///< residual and gap that it aims at
    double accept = 1e-8;      ///< residual and gap of what counts as optimal where it cannot get further
    int max_rounds = 80;
};

/// The interior point method, then extreme rays from its point.
struct InteriorThenRays {
    InteriorPoint interior;
    ExtremeRays rays;
};

ProgramSolution solve(const ConeProgram& program, const InteriorPoint& method);
ProgramSolution solve(const ConeProgram& program, const ExtremeRays& method, const ProgramSolution& start = {});
ProgramSolution solve(const ConeProgram& program, const InteriorThenRays& method = {});

/// Value, residuals and gap of the x and y in `solution`, from the program alone.
///   primal  ‖A x − b‖ over ‖b‖ + ‖A‖‖x‖, and what x is outside K over ‖x‖
///   dual    what c − Aᵀy is outside K over ‖c‖ + ‖A‖‖y‖
///   gap     |cᵀx − bᵀy| over Σ|c_j x_j| + Σ|b_i y_i|
void examine(const ConeProgram& program, ProgramSolution& solution);

/// As `excludes` and `falls` of linear programs: positive for a proof of infeasibility bᵀy > 0, −Aᵀy ∈ K, and for a ray
/// r ∈ K, A r = 0, cᵀr < 0. 0 when y or r misses its cone or A r = 0 by more than `rounding`.
double excludes(const ConeProgram& program, const Vector& y, double rounding = 1e-8);
double falls(const ConeProgram& program, const Vector& r, double rounding = 1e-8);

}  // namespace saltus::solvers
