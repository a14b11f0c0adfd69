// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// A vector y that proves that a friction problem has no solution. It has y >= 0 on normal rows, any sign on bilateral
/// rows, 0 on all other rows, and
///     yᵀ(W r + q) < 0 for every r that the laws allow.
/// A solution has v_N >= 0 and v = 0 on bilateral rows, hence yᵀv >= 0: a contradiction. Example: two walls that close
/// on a body between them. With rounding, y excludes reactions only up to a length `excluded_length`; a y is returned
/// if that length exceeds 1e8 ‖q‖/mean(diag W). An empty result means that no y was found. That proves nothing:
/// problems of Painlevé's kind have neither a solution nor such a y. Patches, scaled sliders and orthotropic contacts
/// are not covered.
std::vector<double> certificate_of_infeasibility(const FrictionProblem& problem);

/// The length ‖r‖ up to which y excludes every reaction: infinite if no rounding is involved, 0 if y proves nothing.
double excluded_length(const FrictionProblem& problem, std::span<const double> y);

}  // namespace saltus::solvers
