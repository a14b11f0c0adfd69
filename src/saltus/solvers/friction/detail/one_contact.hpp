// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Solves one block exactly: v = W r + q with its law. W is the n × n diagonal block (row-major) and q includes the
/// effect of all other blocks. `bound` is the radius of a slider, already scaled; other laws ignore it. `r` holds a
/// guess on entry and the solution on return. Returns false if no reaction was found that satisfies the law to
/// rounding; r is then undefined.
///
/// Coulomb friction is solved in closed form up to one root. The law of slip is v_T = −α r_T with α >= 0. For given α
/// the reaction is r(α) = −(W + diag(0, α, α))⁻¹ q. It runs from sticking (α = 0) to frictionless (α → ∞), and slip is
/// the root of ‖r_T(α)‖ = μ r_N(α). If W is ill-conditioned, the result is checked. If the check fails, and for laws
/// with several bounded parts and for patches, Newton's method takes over (one_contact_newton.hpp).
bool solve_one(const Law& law, int n, const double* W, const double* q, double bound, double* r);

/// Bilateral blocks with more rows than this are not solved but improved by one Gauss–Seidel pass over their rows.
inline constexpr int max_exact_rows = 24;

}  // namespace saltus::solvers
