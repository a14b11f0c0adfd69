// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

/// Solves by whatever works, in an order that suits: principal pivoting, Lemke's method (both exact), Newton and the
/// proximal method on the same problem, and for up to `enumerate` unknowns all complementary bases, which also decides
/// that there is no solution. Every result is judged by the independent residual.
struct AutomaticComplementarity {
    double tolerance = 1e-10;
    int enumerate = 14;
};

Solution solve(const LinearComplementarity& problem, const AutomaticComplementarity& method = {});
Solution solve(const MixedComplementarity& problem, const AutomaticComplementarity& method = {});
Solution solve(const Relay& problem, const AutomaticComplementarity& method = {});

}  // namespace saltus::solvers
