// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "problems.hpp"
#include "saltus/solvers/complementarity/complementarity.hpp"
#include "saltus/solvers/detail/residual.hpp"

/// Linear, mixed and relay problems constructed from a chosen solution.
namespace saltus::solvers::test {

using Eigen::Index;

/// A matrix with positive semidefinite symmetric part of the rank given, and an antisymmetric part.
inline Matrix monotone(Random& random, Index n, Index rank, double turning) {
    const Matrix A = random.matrix(n, rank), B = random.matrix(n, n);
    return A * A.transpose() / static_cast<double>(n) + turning * (B - B.transpose());
}

/// z >= 0 and w >= 0 with zw = 0; a third of the pairs is zero in both when `degenerate`.
inline void complementary_pair(Random& random, Index n, bool degenerate, Vector& z, Vector& w) {
    z = w = Vector::Zero(n);
    for (Index i = 0; i < n; ++i) {
        const double choice = random.uniform();
        if (degenerate && choice < 0.33) continue;
        (random.uniform() < 0.5 ? z : w)(i) = random.uniform(0.1, 2.0);
    }
}

/// The problem that z solves: q = w − M z.
inline LinearComplementarity constructed_lcp(Random& random, const Matrix& M, bool degenerate) {
    Vector z, w;
    complementary_pair(random, M.rows(), degenerate, z, w);
    return {M, w - M * z};
}

/// q = w − M z with z free and w = 0 on the free rows.
inline MixedComplementarity constructed_mixed(Random& random, const Matrix& M, double share_free, bool degenerate) {
    MixedComplementarity p;
    Vector z, w;
    complementary_pair(random, M.rows(), degenerate, z, w);
    for (Index i = 0; i < M.rows(); ++i) {
        p.free.push_back(random.uniform() < share_free);
        if (p.free.back()) z(i) = random.normal(), w(i) = 0.0;
    }
    p.M = M;
    p.q = w - M * z;
    return p;
}

/// z within its bounds, and w with the sign that the place of z requires.
inline Relay constructed_relay(Random& random, const Matrix& M) {
    const Index n = M.rows();
    Relay p;
    p.M = M;
    p.lower = Vector::NullaryExpr(n, [&] { return -random.uniform(0.1, 2.0); });
    p.upper = Vector::NullaryExpr(n, [&] { return random.uniform(0.1, 2.0); });
    Vector z(n), w = Vector::Zero(n);
    for (Index i = 0; i < n; ++i) {
        const int state = random.below(4);
        z(i) = state == 0 ? p.lower(i) : state == 1 ? p.upper(i) : random.uniform(p.lower(i), p.upper(i));
        if (state == 0) w(i) = random.uniform(0.0, 2.0);
        if (state == 1) w(i) = -random.uniform(0.0, 2.0);
    }
    p.q = w - M * z;
    return p;
}

inline constexpr double tolerance = 1e-10;

template <class Problem>
void expect_solved(const Problem& p, int k, const char* what) {
    const Solution s = solve(p);
    EXPECT_EQ(s.status, Status::converged) << what << " " << k << " residual " << s.residual;
    EXPECT_LE(residual(p, s.r), tolerance) << what << " " << k;
    const Vector w = p.M * to_eigen(s.r) + p.q;
    EXPECT_LE((to_eigen(s.v) - w).norm(), 1e-14 * (p.M.norm() * to_eigen(s.r).norm() + p.q.norm())) << what << " " << k;
}

}  // namespace saltus::solvers::test
