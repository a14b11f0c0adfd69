// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// A proof that a problem has no solution: y with y >= 0 on the normal rows, free on bilateral rows, 0 elsewhere, and
///     yᵀ(W r + q) < 0 for every r the laws allow,
/// whereas a solution has v_N >= 0 and v = 0 on bilateral rows, so yᵀv >= 0 there. Two walls that close on a body
/// between them have one. Empty when none was found, which proves nothing: problems of Painlevé's kind have neither a
/// solution nor a certificate.
std::vector<double> certificate_of_infeasibility(const FrictionProblem& problem);

/// The length of reactions up to which y excludes a solution: infinite for an exact certificate, 0 when y is none.
double excluded_length(const FrictionProblem& problem, std::span<const double> y);

}  // namespace saltus::solvers
