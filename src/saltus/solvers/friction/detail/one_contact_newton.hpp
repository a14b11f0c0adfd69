// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Largest block that `solve_one_by_newton` accepts, in rows.
inline constexpr int max_newton_rows = 6;

/// Solves one block by semismooth Newton steps on its Alart–Curnier function (block_function.hpp), starting from r and,
/// if that fails, from other points; one of the starts is a bisection for the normal reaction. W may be
/// ill-conditioned, singular or unsymmetric. The arguments are those of `solve_one`. Returns true if the law holds to
/// rounding; otherwise r is the best point that was found.
bool solve_one_by_newton(const Law& law, int n, const double* W, const double* q, double bound, double* r);

/// True if r satisfies the law of the block to rounding.
bool fulfils(const Law& law, int n, const double* W, const double* q, double bound, const double* r);

}  // namespace saltus::solvers
