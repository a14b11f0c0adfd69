// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

/// Lemke's method with lexicographic pivoting (detail/lemke_tableau.hpp). For copositive-plus matrices it ends with a
/// solution or with a ray that proves infeasibility; for P-matrices and strictly semimonotone matrices it ends with a
/// solution. If rounding made a basis repeat or spoilt the result, the method restarts with a slightly perturbed q; the
/// last basis of the perturbed problem is then used for the given q.
struct Lemke {
    int max_pivots = 0;        ///< limit of the pivots of all restarts together; 0 means 50 (n + 10)
    double tolerance = 1e-10;  ///< largest verdict (detail/residual.hpp) that counts as solved; unit-free
};

/// Solves the problem by Lemke's method alone. With status infeasible the certificate is a y >= 0 with yᵀM <= 0 and
/// yᵀq < 0: then no z >= 0 has M z + q >= 0. A ray without such a y is reported as stalled, because the method does not
/// decide such matrices.
Solution solve(const LinearComplementarity& problem, const Lemke& method);

}  // namespace saltus::solvers
