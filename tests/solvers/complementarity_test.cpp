// SPDX-License-Identifier: Apache-2.0
// Linear and mixed problems that have a solution are solved.
#include "complementary.hpp"

namespace saltus::solvers::complementarity_test {
namespace {

using namespace test;

// --- linear complementarity ----------------------------------------------------------------------------------

TEST(ConstructedComplementarity, WithPMatricesIsSolvedUniquely) {
    Random random(1);
    for (int k = 0; k < 1000; ++k) {
        const Index n = 1 + k % 30;
        Matrix M = monotone(random, n, n, 0.5);
        M.diagonal().array() += 0.1;
        Vector z, w;
        complementary_pair(random, n, k % 2 == 0, z, w);
        const LinearComplementarity p{M, w - M * z};
        expect_solved(p, k, "P");
        // (z − z')ᵀ M (z − z') >= 0.1 ‖z − z'‖²: distance and residual differ by (1 + ρ‖M‖)/(0.1 ρ).
        const double rho = 1.0 / M.diagonal().mean();
        const double factor = (1.0 + rho * M.norm()) / (0.1 * rho);
        const double scale = std::max(rho * p.q.norm(), z.norm());
        EXPECT_LE((to_eigen(solve(p).r) - z).norm(), 2.0 * factor * tolerance * scale) << k;
    }
}

TEST(ConstructedComplementarity, WithSingularMonotoneMatricesIsSolved) {
    Random random(2);
    for (int k = 0; k < 1000; ++k) {
        const Index n = 2 + k % 29;
        const double turning = k % 3 == 0 ? 0.0 : 0.3;
        expect_solved(constructed_lcp(random, monotone(random, n, std::max<Index>(1, n / 2), turning), k % 2 == 0), k,
                      "singular");
    }
}

TEST(ConstructedComplementarity, WithWholeNumbersAndTiesIsSolved) {
    Random random(3);
    for (int k = 0; k < 1000; ++k) {
        const Index n = 1 + k % 12;
        const Matrix A = Matrix::NullaryExpr(n, n, [&] { return static_cast<double>(random.below(5) - 2); });
        Vector z(n), w = Vector::Zero(n);
        for (Index i = 0; i < n; ++i) {
            z(i) = static_cast<double>(random.below(2));
            if (z(i) == 0.0) w(i) = static_cast<double>(random.below(2));
        }
        expect_solved(LinearComplementarity{A * A.transpose(), w - A * (A.transpose() * z)}, k, "whole numbers");
    }
}

TEST(ConstructedComplementarity, OfAnyUnitsIsSolved) {
    Random random(4);
    for (const double m_unit : {1e-9, 1e9})
        for (const double q_unit : {1e-6, 1e6})
            for (int k = 0; k < 50; ++k) {
                LinearComplementarity p = constructed_lcp(random, monotone(random, 8, 8, 0.1), true);
                p.M *= m_unit;
                p.q *= q_unit;
                expect_solved(p, k, "units");
            }
}

TEST(LinearComplementarityOfOneUnknown, IsSolvedInEveryCase) {
    const auto one_unknown = [](double m, double q) {
        return solve(LinearComplementarity{Matrix::Constant(1, 1, m), Vector::Constant(1, q)});
    };
    // Painlevé's rod: slipping with a known direction, v_N = (D_NN − μ D_NT) r_N + q_N with a negative factor.
    EXPECT_EQ(one_unknown(-0.579, -9.81).status, Status::infeasible);
    EXPECT_EQ(one_unknown(-0.579, 9.81).status, Status::converged);  // two solutions, 0 and 16.9; one is given
    EXPECT_EQ(one_unknown(2, -1).r, (std::vector<double>{0.5}));
    EXPECT_EQ(one_unknown(0, -1).status, Status::infeasible);
    EXPECT_EQ(one_unknown(0, 0).status, Status::converged);
    EXPECT_EQ(one_unknown(0, 1).r, (std::vector<double>{0}));
}

// --- mixed complementarity -----------------------------------------------------------------------------------

TEST(Mixed, FreeUnknownsAreEliminatedOrNot) {
    MixedComplementarity p;
    p.M = (Matrix(3, 3) << 2, 1, -1, 1, 3, 0, 1, 0, 2).finished();
    p.q = (Vector(3) << 1, -2, -5).finished();
    p.free = {true, false, false};
    EXPECT_EQ(solve(p).status, Status::converged);
    p.M(0, 0) = 0.0;  // the free block is singular: the saddle point form remains solvable
    EXPECT_EQ(solve(p).status, Status::converged);
}

TEST(ConstructedMixed, WithRegularMatricesIsSolved) {
    Random random(6);
    for (int k = 0; k < 600; ++k) {
        const Index n = 1 + k % 25;
        Matrix M = monotone(random, n, n, 0.5);
        M.diagonal().array() += 0.1;
        expect_solved(constructed_mixed(random, M, 0.4, k % 2 == 0), k, "regular");
    }
}

TEST(ConstructedMixed, WithSingularMatricesIsSolved) {
    Random random(7);
    for (int k = 0; k < 600; ++k) {
        const Index n = 2 + k % 14;
        expect_solved(constructed_mixed(random, monotone(random, n, std::max<Index>(1, n / 2), 0.0), 0.4, k % 2 == 0),
                      k, "singular");
    }
}

TEST(ConstructedMixed, OfMechanicsWithConstraintsIsSolved) {
    // Velocities u free, M u − Gᵀ λ = h: a saddle point with equality and inequality multipliers.
    Random random(8);
    for (int k = 0; k < 300; ++k) {
        const Index bodies = 2 + k % 8, multipliers = 1 + k % 6, n = bodies + multipliers;
        Matrix M = Matrix::Zero(n, n);
        for (Index i = 0; i < bodies; ++i) M(i, i) = random.uniform(0.5, 2.0);
        M.topRightCorner(bodies, multipliers) = random.matrix(bodies, multipliers);
        M.bottomLeftCorner(multipliers, bodies) = -M.topRightCorner(bodies, multipliers).transpose();
        MixedComplementarity p;
        Vector z, w;
        complementary_pair(random, n, false, z, w);
        for (Index i = 0; i < n; ++i) {
            p.free.push_back(i < bodies || random.uniform() < 0.3);
            if (p.free.back()) z(i) = random.normal(), w(i) = 0.0;
        }
        p.M = M;
        p.q = w - M * z;
        expect_solved(p, k, "saddle point");
    }
}

TEST(Mixed, WithoutFreeOrWithoutComplementaryUnknownsIsSolved) {
    MixedComplementarity p;
    p.M = (Matrix(2, 2) << 2, 1, 1, 2).finished();
    p.q = (Vector(2) << -1, -1).finished();
    p.free = {false, false};
    expect_solved(p, 0, "nothing free");
    p.free = {true, true};
    expect_solved(p, 0, "nothing complementary");
}

TEST(Mixed, WithConsistentExtraEquationsIsSolved) {
    // u + v = 1 twice, w = u − v ⊥ v: u = v = ½.
    MixedComplementarity p;
    p.M = (Matrix(3, 2) << 1, 1, 2, 2, -1, 1).finished();
    p.q = (Vector(3) << -1, -2, 0).finished();
    p.free = {true, true, false};
    const Solution s = solve(p);
    ASSERT_EQ(s.status, Status::converged) << s.residual;
    EXPECT_NEAR(s.r[0] + s.r[1], 1.0, 1e-10);
}

TEST(Mixed, FreeUnknownsThatTheEquationsDoNotDetermineAreFound) {
    // Saddle points: the block of the free unknowns is zero, or of half the rank.
    Random random(21);
    for (int k = 0; k < 400; ++k) {
        const Index n = 4 + k % 12, free = 1 + k % (n / 2);
        Matrix M = monotone(random, n, n, 0.2);
        M.topLeftCorner(free, free).setZero();
        if (k % 2 == 0) M.topLeftCorner(free, free).bottomRightCorner(free / 2, free / 2).setIdentity();
        M.bottomLeftCorner(n - free, free) = -M.topRightCorner(free, n - free).transpose();
        MixedComplementarity p;
        Vector z, w;
        complementary_pair(random, n, false, z, w);
        for (Index i = 0; i < n; ++i) {
            p.free.push_back(i < free);
            if (i < free) z(i) = random.normal(), w(i) = 0.0;
        }
        p.M = M;
        p.q = w - M * z;
        expect_solved(p, k, "saddle point");
    }
}

}  // namespace
}  // namespace saltus::solvers::complementarity_test
