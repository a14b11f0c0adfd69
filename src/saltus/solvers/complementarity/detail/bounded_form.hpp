// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// What linear, mixed and relay problems have in common: w = M z + q with lower <= z <= upper, and for each unknown j
/// with a row i = row[j] one of three states,
///     lower  z_j = lower_j, w_i >= 0      inner  w_i = 0      upper  z_j = upper_j, w_i <= 0.
/// Unknowns without a row (-1) are free, rows without an unknown are equations w_i = 0.
struct Box {
    Matrix M;
    Vector q, lower, upper;
    std::vector<int> row;

    static Box of(const LinearComplementarity& problem);
    static Box of(const MixedComplementarity& problem);
    static Box of(const Relay& problem);
};

/// States that an unknown may be in, as bits.
namespace state {
inline constexpr char lower = 1, inner = 2, upper = 4;
}

/// All states that the bounds allow; none for an unknown whose bounds cross or leave no number.
std::vector<char> states_of(const Box& box);

}  // namespace saltus::solvers
