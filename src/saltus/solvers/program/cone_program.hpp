// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/program/program.hpp"

namespace saltus::solvers {

/// Second-order cone program: min cᵀx   subject to   A x = b,   x ∈ K.   Dual: max bᵀy,   c − Aᵀy ∈ K.
/// K is a product of cones { (n, t) : n >= ‖t‖ }, which are self-dual. A cone of size 1 is n >= 0.
struct ConeProgram {
    Matrix A;  ///< linearly independent rows
    Vector b, c;
    std::vector<int> cones;  ///< sizes of the cones; they add up to the number of columns
};

/// Primal-dual interior point method on the homogeneous self-dual embedding, with Nesterov–Todd scaling and Mehrotra's
/// corrector. For a well-posed program it ends with a solution, a proof of infeasibility or a ray. For other programs
/// (for example if all feasible points are on the boundary) it stops at the best point, with its residuals and gap. A
/// ray proves that no y is feasible; that some x is feasible remains to be shown.
struct InteriorPoint {
    double tolerance = 1e-8;  ///< largest residual and gap that count as optimal; the method aims at 1e-3 of it
    int max_iterations = 100;
};

/// Column generation with the simplex method: each cone is replaced by nonnegative combinations of finitely many of its
/// extreme rays (1, d), ‖d‖ = 1. In each round the rays are added that the dual point, or the proof of infeasibility,
/// of the current linear program violates most. Its x is in K, and no interior is needed: the method settles programs
/// that the interior point method leaves open. Dependent rows are allowed. Without a good start, or for large cones, it
/// needs many rounds.
struct ExtremeRays {
    double tolerance = 1e-11;  ///< residual and gap that the method aims at
    double accept = 1e-8;      ///< residual and gap that count as optimal if no progress is possible
    int max_rounds = 80;       ///< limit of the linear programs that are solved
};

/// The interior point method, followed by the method of extreme rays from its point if the accuracy is not sufficient.
struct InteriorThenRays {
    InteriorPoint interior;
    ExtremeRays rays;
};

ProgramSolution solve(const ConeProgram& program, const InteriorPoint& method);
/// `start`: a point near the solution; the rays through it are taken first. It may be empty.
ProgramSolution solve(const ConeProgram& program, const ExtremeRays& method, const ProgramSolution& start = {});
ProgramSolution solve(const ConeProgram& program, const InteriorThenRays& method = {});

/// Sets value, residuals and gap of the x and y in `solution`, from the program alone.
///   primal  ‖A x − b‖ relative to ‖b‖ + ‖A‖‖x‖, and the distance of x from K relative to ‖x‖
///   dual    the distance of c − Aᵀy from K relative to ‖c‖ + ‖A‖‖y‖
///   gap     |cᵀx − bᵀy| relative to Σ|c_j x_j| + Σ|b_i y_i|
void examine(const ConeProgram& program, ProgramSolution& solution);

/// Relative rounding up to which a vector counts as being in its cone or in the null space of A.
inline constexpr double cone_rounding = 1e-8;

/// As `excludes` and `falls` of linear programs. `excludes` is positive if y proves infeasibility: bᵀy > 0 and
/// −Aᵀy ∈ K. `falls` is positive for a ray: r ∈ K, A r = 0, cᵀr < 0. Both are 0 if a condition is violated by more than
/// `rounding`.
double excludes(const ConeProgram& program, const Vector& y, double rounding = cone_rounding);
double falls(const ConeProgram& program, const Vector& r, double rounding = cone_rounding);

}  // namespace saltus::solvers
