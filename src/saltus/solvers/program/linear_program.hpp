// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "saltus/solvers/program/program.hpp"

namespace saltus::solvers {

/// min cᵀx   subject to   A x = b,   lower <= x <= upper.
/// Its dual: max bᵀy + Σ_j min over [lower_j, upper_j] of z_j x_j,   z = c − Aᵀy.
struct LinearProgram {
    Matrix A;
    Vector b, c;
    Vector lower, upper;  ///< may hold infinities; empty: 0 and +∞ for every unknown. Crossing: infeasible as it stands

    double lower_of(Eigen::Index j) const { return lower.size() == 0 ? 0.0 : lower(j); }
    double upper_of(Eigen::Index j) const {
        return upper.size() == 0 ? std::numeric_limits<double>::infinity() : upper(j);
    }
};

/// Revised simplex method for bounded unknowns with an explicit inverse of the basis. Dependent rows, degenerate
/// corners and free unknowns are fine. Pivots by largest reduced cost, by Bland's rule while corners are degenerate.
/// The last basis is factorised anew from the program itself, and what comes out of it is judged by `examine`.
struct Simplex {
    int max_pivots = 0;        ///< 0: 50 (rows + columns + 10)
    double tolerance = 1e-10;  ///< largest residual and gap of what counts as optimal
};

/// The basis that a solution came from: a program with the same A and bounds may begin there.
struct SimplexBasis {
    enum class At : char { lower, upper, zero, basic };  ///< `zero`: a free unknown outside the basis
    std::vector<At> unknown;                             ///< columns, then one slot a row
    std::vector<int> basic;                              ///< which unknown is basic in each row; empty: no basis
};

ProgramSolution solve(const LinearProgram& program, const Simplex& method = {});
ProgramSolution solve(const LinearProgram& program, const Simplex& method, SimplexBasis& basis);

/// Value, residuals and gap of the x and y in `solution`, from the program alone.
///   primal  |A x − b|_i over |b_i| + ‖row i‖₁ ‖x‖_∞, and what x is outside its bounds over ‖x‖_∞
///   dual    z_j that an infinite bound forbids, or that is nothing but rounding, over |c_j| + ‖column j‖₁ η with the
///           size η = max(‖y‖_∞, max |c_k|/‖column k‖₁) of multipliers
///   gap     |cᵀx − dual value| over Σ|c_j x_j| + Σ|b_i y_i|, with A x for b in the dual value; 0 where it is rounding
void examine(const LinearProgram& program, ProgramSolution& solution);

/// By how much y excludes every x: bᵀy − max over the bounds of yᵀA x, over Σ|b_i y_i| and the terms of the maximum.
/// Positive: a proof of infeasibility (Farkas). Entries of Aᵀy below `rounding` of their terms count as zero.
double excludes(const LinearProgram& program, const Vector& y, double rounding = 1e-10);

/// By how much the value falls along the ray: −cᵀr over Σ|c_j r_j|, or 0 when r is no direction of the feasible set
/// within `rounding`. Positive, with one feasible x: a proof that the program is unbounded.
double falls(const LinearProgram& program, const Vector& r, double rounding = 1e-10);

}  // namespace saltus::solvers
