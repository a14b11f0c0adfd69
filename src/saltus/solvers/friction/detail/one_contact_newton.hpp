// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// One block of at most `largest_newton` rows by semismooth Newton steps on its Alart–Curnier function, from r and, if
/// that leads nowhere, from other points. W may be ill-conditioned, singular or unsymmetric. True when the law holds
/// to rounding; otherwise r is the best point that was met.
bool solve_one_by_newton(const Law& law, int n, const double* W, const double* q, double bound, double* r);

/// Whether r satisfies the law to rounding.
bool fulfils(const Law& law, int n, const double* W, const double* q, double bound, const double* r);

inline constexpr int largest_newton = 6;

}  // namespace saltus::solvers
