// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/solvers/problem.hpp"

// The common form of linear, mixed and relay problems: w = M z + q with lower <= z <= upper, and for each unknown j
// with a complementary row i one of three states,
//     lower  z_j = lower_j, w_i >= 0      inner  w_i = 0      upper  z_j = upper_j, w_i <= 0.

namespace saltus::solvers {

/// A problem in the common form, as a copy. Used by the search and its proofs.
struct BoundedForm {
    Matrix M;
    Vector q, lower, upper;
    std::vector<int> row;  ///< complementary row of each unknown; -1: the unknown is free
    // A row that belongs to no unknown is an equation w_i = 0.

    static BoundedForm of(const LinearComplementarity& problem);
    static BoundedForm of(const MixedComplementarity& problem);
    static BoundedForm of(const Relay& problem);
};

/// A problem in the common form, as pointers to memory of the caller. Used by pivoting, where copies would cost more
/// than the solution. M is column-major with n columns and n + extra rows. Null bounds mean 0 and +∞. An unknown with
/// two infinite bounds is free, and its row is an equation. `extra` rows are additional equations; if there are any,
/// then the equations are the first rows, the free unknowns are the first unknowns, and the row of unknown j is
/// j + extra.
struct BoundedView {
    int n = 0;
    const double* M = nullptr;
    const double* q = nullptr;
    const double* lower = nullptr;
    const double* upper = nullptr;
    int extra = 0;

    int rows() const { return n + extra; }
};

/// The states of an unknown, as bits of a set of states.
namespace state {
inline constexpr char lower = 1, inner = 2, upper = 4;
}

/// For each unknown the set of states that its bounds allow; empty if the bounds cross or contain no number.
std::vector<char> states_of(const BoundedForm& form);

}  // namespace saltus::solvers
