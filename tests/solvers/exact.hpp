// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers::test {

/// Whether a linear complementarity problem of small whole numbers has a solution, in whole numbers: whether q lies in
/// one of the 2ⁿ cones of complementary columns of (I, −M). A point of a cone is a combination of independent ones of
/// its columns, so each pair gives its column of I, that of −M, or none, and the coefficients follow by elimination.
bool has_solution(const LinearComplementarity& problem);

/// Whether all principal minors are positive, of a matrix of small whole numbers.
bool is_p_matrix(const Matrix& M);

}  // namespace saltus::solvers::test
