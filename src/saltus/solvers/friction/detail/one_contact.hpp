// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Solves one block exactly: v = W r + q with its law, W the n x n block (row-major). `bound` is the radius of a slider
/// (already scaled). `r` holds a guess on entry and the solution on return. False when none was found that satisfies
/// the law to rounding: then r is of no use.
///
/// Planar and spatial Coulomb friction are solved in closed form up to one root: with v_T = −α r_T, α >= 0, the
/// reaction r(α) = −(W + diag(0, α, α))⁻¹ q runs from sticking (α = 0) to frictionless (α → ∞), and slipping is the
/// root of ‖r_T(α)‖ = μ r_N(α). Where W is ill-conditioned that is checked, and what it does not solve, like the laws
/// with several bounded parts and patches, goes to Newton's method (`one_contact_newton.hpp`).
bool solve_one(const Law& law, int n, const double* W, const double* q, double bound, double* r);

/// Larger bilateral blocks are only improved, row by row.
inline constexpr int largest_exact = 24;

}  // namespace saltus::solvers
