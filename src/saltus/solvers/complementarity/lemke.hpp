// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

/// Lemke's method with lexicographic pivoting (`lemke_tableau.hpp`). For copositive-plus matrices it ends with a
/// solution or with a ray that proves there is none, for P-matrices and strictly semimonotone ones with a solution.
/// Where rounding made a basis come back, or spoilt the end, it is begun again with a slightly perturbed q, whose last
/// basis then is that of the q given; so it does not cycle.
struct Lemke {
    int max_pivots = 0;        ///< of all beginnings together; 0: 50 (n + 10)
    double tolerance = 1e-10;  ///< residual that counts as solved
};

/// With status infeasible the certificate is a y >= 0, yᵀM <= 0, yᵀq < 0 where one was found (then no z >= 0 has
/// M z + q >= 0). A ray without such a y is reported as stalled: the method does not decide these matrices.
Solution solve(const LinearComplementarity& problem, const Lemke& method);

}  // namespace saltus::solvers
