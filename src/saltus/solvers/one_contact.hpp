// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Solves one block exactly: v = W r + q with its law, W the n x n block (row-major). `bound` is the radius of a slider
/// (already scaled). `r` holds a guess on entry and the solution on return. False when the block has no solution that
/// could be found (a singular block that q does not allow).
///
/// Planar and spatial Coulomb friction are solved in closed form up to one root: with v_T = −α r_T, α >= 0, the
/// reaction r(α) = −(W + diag(0, α, α))⁻¹ q runs from sticking (α = 0) to frictionless (α → ∞), and slipping is the
/// root of ‖r_T(α)‖ = μ r_N(α).
bool solve_one(const Law& law, int n, const double* W, const double* q, double bound, double* r);

/// Larger bilateral blocks are only improved, row by row.
inline constexpr int largest_exact = 24;

}  // namespace saltus::solvers
