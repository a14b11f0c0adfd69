// SPDX-License-Identifier: Apache-2.0
// Relay problems: unknowns between bounds.
#include "complementary.hpp"

namespace saltus::solvers::relay_test {
namespace {

using namespace test;

TEST(ConstructedRelay, IsSolved) {
    Random random(9);
    for (int k = 0; k < 600; ++k) {
        const Index n = 1 + k % 15, rank = k % 3 == 0 ? std::max<Index>(1, n / 2) : n;
        expect_solved(constructed_relay(random, monotone(random, n, rank, k % 2 == 0 ? 0.0 : 0.3)), k, "relay");
    }
}

/// Each z at its lower bound, at its upper one, or with w = 0: the solutions by 3ⁿ linear systems and inequalities.
std::vector<Vector> relay_by_enumeration(const Relay& p) {
    const Index n = p.q.size();
    int combinations = 1;
    for (Index i = 0; i < n; ++i) combinations *= 3;
    std::vector<Vector> found;
    for (int k = 0; k < combinations; ++k) {
        Matrix A = p.M;
        Vector b = -p.q;
        int rest = k;
        for (Index i = 0; i < n; ++i, rest /= 3)
            if (rest % 3 != 2) {
                A.row(i).setZero();
                A(i, i) = 1.0;
                b(i) = rest % 3 == 0 ? p.lower(i) : p.upper(i);
            }
        const Vector z = least_squares(A, b), w = p.M * z + p.q;
        if ((A * z - b).norm() > 1e-10 * (b.norm() + z.norm())) continue;
        bool fits = true;
        const double slack = 1e-9 * (1.0 + z.norm());
        rest = k;
        for (Index i = 0; i < n; ++i, rest /= 3) {
            if (rest % 3 == 0) fits = fits && w(i) >= -slack;
            if (rest % 3 == 1) fits = fits && w(i) <= slack;
            if (rest % 3 == 2) fits = fits && z(i) >= p.lower(i) - slack && z(i) <= p.upper(i) + slack;
        }
        if (fits) found.push_back(z);
    }
    return found;
}

TEST(SmallRelays, AgreeWithEnumeration) {
    Random random(10);
    int several = 0;
    for (int k = 0; k < 600; ++k) {
        const Index n = 1 + k % 4;
        Relay p = constructed_relay(random, random.matrix(n, n));  // of no class
        p.q = 2.0 * random.vector(n);
        const std::vector<Vector> expected = relay_by_enumeration(p);
        ASSERT_FALSE(expected.empty()) << k;  // a continuous map into a box: Brouwer
        several += expected.size() > 1 ? 1 : 0;
        const Solution s = solve(p);
        ASSERT_EQ(s.status, Status::converged) << k << " residual " << s.residual;
        double nearest = 1e300;
        for (const Vector& z : expected) nearest = std::min(nearest, (to_eigen(s.r) - z).norm());
        EXPECT_LE(nearest, 1e-6) << k;  // 1e-10, times the condition of a random system
    }
    EXPECT_GT(several, 50);
}

TEST(RelayProblem, StaysWithinItsBoundsWithTheRightSigns) {
    Random random(2);
    for (int k = 0; k < 50; ++k) {
        const Index n = 1 + k % 6;
        const Matrix A = random.matrix(n, n);
        Relay p;
        p.M = A * A.transpose();
        p.q = 3.0 * random.vector(n);
        p.lower = Vector::Constant(n, -1);
        p.upper = Vector::Constant(n, 2);
        const Solution s = solve(p);
        ASSERT_EQ(s.status, Status::converged) << k;
        for (Index i = 0; i < n; ++i) {
            const double z = s.r[static_cast<std::size_t>(i)], w = s.v[static_cast<std::size_t>(i)];
            EXPECT_GE(z, -1.0);
            EXPECT_LE(z, 2.0);
            const double none = 1e-9 * p.M.norm() * 3;  // the tolerance and ‖z‖
            if (w > none) {
                EXPECT_EQ(z, -1.0) << k;
            }
            if (w < -none) {
                EXPECT_EQ(z, 2.0) << k;
            }
        }
    }
}

TEST(RelayProblem, WithInfiniteBoundsIsAComplementarityProblemOrAnEquation) {
    const double infinity = std::numeric_limits<double>::infinity();
    Random random(13);
    for (int k = 0; k < 100; ++k) {
        const Index n = 1 + k % 6;
        Matrix M = monotone(random, n, n, 0.3);
        M.diagonal().array() += 0.1;
        const Vector q = random.vector(n);
        const Relay half{M, q, Vector::Zero(n), Vector::Constant(n, infinity)};
        const Solution s = solve(half), t = solve(LinearComplementarity{M, q});
        ASSERT_EQ(s.status, Status::converged) << k;
        EXPECT_LE((to_eigen(s.r) - to_eigen(t.r)).norm(), 1e-8 * (1.0 + to_eigen(t.r).norm())) << k;  // M >= 0.1
        const Relay whole{M, q, Vector::Constant(n, -infinity), Vector::Constant(n, infinity)};
        const Solution u = solve(whole);
        ASSERT_EQ(u.status, Status::converged) << k;
        EXPECT_LE((M * to_eigen(u.r) + q).norm(), 1e-8 * q.norm()) << k;
    }
}

TEST(RelayProblem, OfAnyMatrixHasASolutionThatIsFound) {
    // A continuous map and a bounded box: Brouwer. Random matrices belong to no special class.
    Random random(14);
    for (int k = 0; k < 300; ++k) {
        const Index n = 8 + k % 18;
        Relay p = constructed_relay(random, random.matrix(n, n));
        p.q = 2.0 * random.vector(n);
        expect_solved(p, k, "any matrix");
    }
    for (int k = 0; k < 300; ++k) {  // with ties everywhere
        const Index n = 8 + k % 13;
        const auto whole = [&](int most) { return static_cast<double>(random.below(2 * most + 1) - most); };
        const Matrix M = Matrix::NullaryExpr(n, n, [&] { return whole(2); });
        expect_solved(Relay{M, Vector::NullaryExpr(n, [&] { return whole(1); }), -Vector::Ones(n), Vector::Ones(n)}, k,
                      "whole numbers");
    }
}

TEST(RelayProblem, MayHaveBoundsOnOneSideAlone) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    Random random(15);
    for (int k = 0; k < 300; ++k) {
        const Index n = 1 + k % 40;
        Relay p = constructed_relay(random, monotone(random, n, n, 0.3));
        const Vector z = Vector::NullaryExpr(n, [&] { return random.normal(); });
        Vector w = Vector::Zero(n);
        for (Index i = 0; i < n; ++i) {
            const int kind = random.below(4), state = random.below(2);
            p.lower(i) = kind == 0 || kind == 2 ? (state == 0 ? z(i) : z(i) - 1.0) : -infinity;
            p.upper(i) = kind == 1 || kind == 2 ? (state == 0 && kind != 2 ? z(i) : z(i) + 1.0) : infinity;
            if (state == 0 && kind < 3) w(i) = kind == 1 ? -random.uniform() : random.uniform();
        }
        p.q = w - p.M * z;
        expect_solved(p, k, "one side");
    }
}

TEST(RelayProblem, WithEqualBoundsIsSolvedByItsOnlyPoint) {
    const Relay p{Matrix::Identity(2, 2), Vector::Ones(2), Vector::Constant(2, 3), Vector::Constant(2, 3)};
    const Solution s = solve(p);
    EXPECT_EQ(s.status, Status::converged);
    EXPECT_EQ(s.r, (std::vector<double>{3, 3}));
}

}  // namespace
}  // namespace saltus::solvers::relay_test
