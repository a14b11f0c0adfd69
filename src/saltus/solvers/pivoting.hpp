// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace saltus::solvers {

/// Principal pivoting for w = M z + q, lower <= z <= upper, −w ∈ N_[lower, upper](z), with infinite bounds for
/// complementary (upper) and free (both) unknowns: guesses which unknowns are at a bound, solves for the others, and
/// moves those that come out wrong, at first all together, then the first of them; up to six complementary unknowns it
/// tries every guess. Quick on the small problems that come by the thousand; where it does not end it says so and
/// something slower decides. M is n × n, column-major. `changes` counts the guesses.
///
/// False when no guess fitted. All memory is on the stack.
bool pivot_small(int n, const double* M, const double* q, const double* lower, const double* upper, double* z,
                 int& changes);

inline constexpr int small_enough_to_pivot = 32;

}  // namespace saltus::solvers
