// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// A proof that a problem has no solution: y with y >= 0 on the normal rows, free on bilateral rows, 0 elsewhere, and
///     yᵀ(W r + q) < 0 for every r the laws allow,
/// whereas a solution has v_N >= 0 and v = 0 on bilateral rows, so yᵀv >= 0 there. Two walls that close on a body
/// between them have one. Rounding leaves a y that excludes the r up to some length ‖r‖, `excluded_length`; it is given
/// when that is more than 1e8 ‖q‖/mean(diag W), and proves no more. Empty when none was found, which proves nothing:
/// problems of Painlevé's kind have neither a solution nor a certificate.
std::vector<double> certificate_of_infeasibility(const FrictionProblem& problem);

/// The length ‖r‖ of reactions up to which y excludes a solution: infinite where no rounding is left, 0 when y is no
/// certificate.
double excluded_length(const FrictionProblem& problem, std::span<const double> y);

}  // namespace saltus::solvers
