// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "saltus/solvers/program/program.hpp"

namespace saltus::solvers {

/// Linear program: min cᵀx   subject to   A x = b,   lower <= x <= upper.
/// Its dual: max bᵀy + Σ_j (min of z_j x_j over [lower_j, upper_j])   with   z = c − Aᵀy.
struct LinearProgram {
    Matrix A;
    Vector b, c;
    Vector lower, upper;  ///< may contain infinities; an empty vector means 0 and +∞. Crossing bounds: infeasible

    double lower_of(Eigen::Index j) const { return lower.size() == 0 ? 0.0 : lower(j); }
    double upper_of(Eigen::Index j) const {
        return upper.size() == 0 ? std::numeric_limits<double>::infinity() : upper(j);
    }
};

/// Revised simplex method for bounded unknowns with an explicit inverse of the basis. Dependent rows, degenerate
/// vertices and free unknowns are allowed. The entering unknown has the largest reduced cost; at degenerate vertices
/// Bland's rule prevents cycles. The final basis is factorised again from the program, and its result is judged by
/// `examine`.
struct Simplex {
    int max_pivots = 0;        ///< limit of the pivots; 0 means 50 (rows + columns + 10)
    double tolerance = 1e-10;  ///< largest residual and gap that count as optimal; unit-free
};

/// A basis. A program with the same A and bounds may start from the basis of another one.
struct SimplexBasis {
    enum class At : char { lower, upper, zero, basic };  ///< `zero`: a free unknown that is not basic
    std::vector<At> unknown;  ///< position of each unknown: first the columns, then one slack unknown per row
    std::vector<int> basic;   ///< the unknown that is basic in each row; empty: no basis is known
};

/// Solves the program by the simplex method. Crossing bounds give status infeasible without a certificate.
ProgramSolution solve(const LinearProgram& program, const Simplex& method = {});
/// The same, starting from `basis` if it fits; `basis` becomes the final basis.
ProgramSolution solve(const LinearProgram& program, const Simplex& method, SimplexBasis& basis);

/// Sets value, residuals and gap of the x and y in `solution`, from the program alone.
///   primal  the largest |A x − b|_i relative to |b_i| + ‖row i‖₁ ‖x‖_∞, and the largest violation of a bound relative
///           to ‖x‖_∞
///   dual    the largest |z_j| whose sign an infinite bound forbids, relative to |c_j| + ‖column j‖₁ η, where
///           η = max(‖y‖_∞, max |c_k|/‖column k‖₁) is the size of the multipliers; z_j that are only rounding count too
///   gap     |cᵀx − dual value| relative to Σ|c_j x_j| + Σ|b_i y_i| + Σ|bound terms|, with A x in the place of b in the
///           dual value, because the violation of A x = b is in the primal residual; 0 if it is only rounding
void examine(const LinearProgram& program, ProgramSolution& solution);

/// The margin by which y excludes every x (Farkas): bᵀy − (max of yᵀA x over the bounds), relative to Σ|b_i y_i| and
/// the terms of the maximum. If it is positive, y proves infeasibility. Entries of Aᵀy below `rounding` times the sum
/// of their terms count as zero.
double excludes(const LinearProgram& program, const Vector& y, double rounding = 1e-10);

/// The rate at which the value falls along the ray r: −cᵀr relative to Σ|c_j r_j|. It is 0 if r is not a direction of
/// the feasible set within `rounding`. If it is positive and one x is feasible, the program is unbounded.
double falls(const LinearProgram& program, const Vector& r, double rounding = 1e-10);

}  // namespace saltus::solvers
