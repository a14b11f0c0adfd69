// SPDX-License-Identifier: Apache-2.0
// One block: every regime against closed forms, and every result against its law.
#include <gtest/gtest.h>

#include "saltus/solvers/friction/detail/one_contact.hpp"

#include <random>

#include "problems.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers::one_contact_test {
namespace {

using namespace test;

bool solve_block(const FrictionProblem& p, std::vector<double>& r) {
    const Law& law = p.laws[0];
    return solve_one(law, p.W.rows(), p.W.values.data(), p.q.data(), law.bound, r.data());
}

TEST(OneContact, SeparatesWithoutReaction) {
    const Solution s = solve(one(Matrix::Identity(3, 3), {0.5, 1, -2}, spatial(0.3)));
    EXPECT_EQ(s.r, (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(s.status, Status::converged);
}

TEST(OneContact, SticksInsideTheCone) {
    const Solution s = solve(one(Matrix::Identity(3, 3) * 2, {-4, 0.2, 0.1}, spatial(0.3)));
    EXPECT_NEAR(s.r[0], 2.0, 1e-14);
    EXPECT_NEAR(s.r[1], -0.1, 1e-14);
    EXPECT_NEAR(s.r[2], -0.05, 1e-14);
}

TEST(OneContact, SlipsOnTheConeAgainstTheVelocity) {
    // W = I: r_N = 1, ‖r_T‖ = 0.3 against q_T = (3, 4).
    const Solution s = solve(one(Matrix::Identity(3, 3), {-1, 3, 4}, spatial(0.3)));
    EXPECT_NEAR(s.r[0], 1.0, 1e-14);
    EXPECT_NEAR(s.r[1], -0.18, 1e-14);
    EXPECT_NEAR(s.r[2], -0.24, 1e-14);
    EXPECT_NEAR(s.v[1] / s.v[2], 0.75, 1e-13);
}

TEST(OneContact, InAPlaneHasTheSolutionOfTheOtherMethods) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    int open = 0, sticking = 0, slipping = 0;
    for (int k = 0; k < 500; ++k) {
        Matrix A(2, 2);
        for (Eigen::Index i = 0; i < 4; ++i) A.data()[i] = number(random);
        const double mu = 0.4 * (1.0 + number(random));
        const FrictionProblem p =
            one(A * A.transpose() + 0.3 * Matrix::Identity(2, 2), {number(random) - 0.3, number(random)}, planar(mu));
        const Solution s = solve(p), by_newton = solve(p, Newton{});
        ASSERT_EQ(s.method, "closed-form");
        ASSERT_EQ(s.status, Status::converged);
        EXPECT_LT(s.residual, 1e-14);
        ASSERT_EQ(by_newton.status, Status::converged);
        for (std::size_t i = 0; i < 2; ++i) EXPECT_NEAR(s.r[i], by_newton.r[i], 1e-7) << k;
        (s.r[0] == 0.0 ? open : std::abs(s.r[1]) < mu * s.r[0] ? sticking : slipping) += 1;
    }
    EXPECT_GT(std::min({open, sticking, slipping}), 50);
}

TEST(OneContact, WithoutFrictionHasNone) {
    const Solution plane = solve(one(Matrix::Identity(2, 2) * 2, {-4, 5}, planar(0.0)));
    EXPECT_EQ(plane.status, Status::converged);
    EXPECT_EQ(plane.r, (std::vector<double>{2, 0}));
    const Solution space = solve(one(Matrix::Identity(3, 3) * 2, {-4, 5, 6}, spatial(0.0)));
    EXPECT_EQ(space.status, Status::converged);
    EXPECT_EQ(space.r, (std::vector<double>{2, 0, 0}));
}

TEST(OneContact, AlongAnAxisOfTheEllipseIsPlanar) {
    // W = I, slip along the second axis: r_T2 = −μ₂ r_N.
    Law law = spatial(0.3);
    law.mu_second = 0.7;
    const Solution s = solve(one(Matrix::Identity(3, 3), {-1, 0, 5}, law));
    EXPECT_NEAR(s.r[0], 1.0, 1e-14);
    EXPECT_EQ(s.r[1], 0.0);
    EXPECT_NEAR(s.r[2], -0.7, 1e-14);
}

TEST(OneContact, OnTheEllipseForceAndVelocityAreConjugate) {
    // W = I: v_T = q_T + r_T with r_T on the ellipse and −v_T along its normal (r₁/μ₁², r₂/μ₂²).
    Law law = spatial(0.3);
    law.mu_second = 0.6;
    const Solution s = solve(one(Matrix::Identity(3, 3), {-1, 3, 4}, law), Automatic{1e-13});
    ASSERT_EQ(s.status, Status::converged);
    EXPECT_NEAR(std::pow(s.r[1] / 0.3, 2) + std::pow(s.r[2] / 0.6, 2), 1.0, 1e-11);
    EXPECT_NEAR(s.v[1] * s.r[2] / 0.36, s.v[2] * s.r[1] / 0.09, 1e-10);
    EXPECT_GT(s.v[1], 0.0);
}

TEST(OneContact, CoupledSlipFulfilsTheLawToRounding) {
    Random random(3);
    for (int k = 0; k < 2000; ++k) {
        const Matrix A = random.matrix(3, 3);
        const Matrix W = A * A.transpose() + 0.05 * Matrix::Identity(3, 3);
        const FrictionProblem p = one(W, {-std::abs(random.normal()), 3 * random.normal(), 3 * random.normal()},
                                      spatial(0.1 + 0.4 * (k % 3)));
        std::vector<double> r(3, 0.0);
        ASSERT_TRUE(solve_block(p, r));
        EXPECT_LT(residual(p, r), 1e-12) << k;  // cond(W) up to about 1e3
    }
}

struct Block {
    const char* name;
    Sort sort;
    double friction;  // factor of the coefficients
    int problems;
};

class OneBlock : public testing::TestWithParam<Block> {};

TEST_P(OneBlock, FulfilsItsLaw) {
    for (int k = 0; k < GetParam().problems; ++k) {
        Random random(static_cast<unsigned>(k) + 1);
        std::vector<Piece> pieces;
        append(GetParam().sort, random, pieces);
        Law law = pieces[0].law;
        law.mu *= GetParam().friction;
        const int n = pieces[0].size;
        const Matrix A = random.matrix(n, n);
        const FrictionProblem p =
            one(A * A.transpose() + 0.05 * Matrix::Identity(n, n), to_vector(3 * random.vector(n)), law);
        std::vector<double> r(ix(n), 0.0);
        ASSERT_TRUE(solve_block(p, r)) << k;
        EXPECT_LT(residual(p, r), 1e-11) << k;  // cond(W) up to 1e3, and the iterated ones end at a few ε of it

        // The start affects only the speed: for these matrices the solution is unique.
        std::vector<double> other = to_vector(random.vector(n));
        ASSERT_TRUE(solve_block(p, other)) << k;
        EXPECT_LT(residual(p, other), 1e-11) << k;
    }
}

/// Any matrix; the problem is constructed from a solution, so one exists.
TEST_P(OneBlock, IsSolvedForIllConditionedSingularAndUnsymmetricMatrices) {
    const struct {
        double condition, rank, asymmetry;
    } matrices[] = {{1e4, 1, 0},  {1e8, 1, 0},    {1, 0.8, 0},    {1e4, 0.8, 0},    {1e2, 0.5, 0},
                    {1, 1, 1e-3}, {1e4, 1, 1e-3}, {1e8, 1, 1e-3}, {1e2, 0.8, 1e-3}, {1e2, 0.5, 1e-3}};
    for (const auto& matrix : matrices) {
        Recipe recipe;
        recipe.condition = matrix.condition;
        recipe.rank = matrix.rank;
        recipe.asymmetry = matrix.asymmetry;
        for (int k = 0; k < GetParam().problems / 2; ++k) {
            const auto seed = static_cast<unsigned>(k);
            const FrictionProblem p = constructed(seed, {GetParam().sort}, recipe).problem;
            Random random(seed + 7);
            for (std::vector<double> r : {std::vector<double>(p.q.size(), 0.0), to_vector(random.vector(p.W.rows()))}) {
                ASSERT_TRUE(solve_block(p, r)) << matrix.condition << " " << matrix.rank << " seed " << k;
                EXPECT_LE(residual(p, r), 1e-11) << matrix.condition << " " << matrix.rank << " seed " << k;
            }
        }
    }
}

/// Symmetric and regular: there is a solution for every q, however strong the coupling.
TEST_P(OneBlock, IsSolvedForEveryFreeVelocityWhenItsMatrixIsSymmetricAndRegular) {
    for (const double condition : {1e2, 1e4, 1e8}) {
        for (int k = 0; k < GetParam().problems / 2; ++k) {
            Random random(static_cast<unsigned>(k));
            std::vector<Piece> pieces;
            append(GetParam().sort, random, pieces);
            const int n = pieces[0].size;
            const FrictionProblem p =
                one(with_condition(random, n, condition, n), to_vector(random.vector(n)), pieces[0].law);
            std::vector<double> r(ix(n), 0.0);
            ASSERT_TRUE(solve_block(p, r)) << condition << " seed " << k;
            EXPECT_LE(residual(p, r), 1e-10) << condition << " seed " << k;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Laws, OneBlock,
                         testing::Values(Block{"unilateral", Sort::unilateral, 1, 1000},
                                         Block{"planar", Sort::planar, 2.5, 1000},
                                         Block{"spatial", Sort::spatial, 2.5, 1000},
                                         Block{"drilling", Sort::drilling, 2.5, 1000},
                                         Block{"rolling", Sort::rolling, 2.5, 1000},
                                         Block{"rollingAndDrilling", Sort::rolling_and_drilling, 2.5, 1000},
                                         Block{"patch", Sort::patch, 2.5, 300}, Block{"slider", Sort::slider, 1, 1000},
                                         Block{"sliderInThePlane", Sort::slider_in_the_plane, 1, 1000},
                                         Block{"bilateral", Sort::bilateral, 1, 1000}),
                         [](const auto& block) { return std::string(block.param.name); });

TEST(OneContact, ABlockWithoutASolutionIsRefused) {
    // No mass in the normal direction and q_N < 0: no reaction can stop it.
    for (const Sort sort : {Sort::unilateral, Sort::spatial, Sort::drilling, Sort::rolling_and_drilling, Sort::patch}) {
        Random random(1);
        std::vector<Piece> pieces;
        append(sort, random, pieces);
        const int n = pieces[0].size;
        std::vector<double> q(ix(n), 0.0);
        q[0] = -1.0;
        std::vector<double> r(ix(n), 0.0);
        EXPECT_FALSE(solve_block(one(Matrix::Zero(n, n), q, pieces[0].law), r)) << static_cast<int>(sort);
    }
    std::vector<double> r(2, 0.0);
    EXPECT_FALSE(solve_block(one(Matrix::Ones(2, 2), {1, 2}, bilateral()), r));
}

TEST(OneContact, WhoseSlidingSpeedsItUpAndWhoseStickingPullsIsRefused) {
    // Normal and first sliding row: W = [1 −2; −1 1], q = (−1, −5), μ = 0.6. Sticking wants r_N = −11. Sliding back
    // needs r_T = μ r_N and r_N = 1/(1 − 2 μ) < 0; sliding ahead has r_T = −μ r_N, r_N = 1/(1 + 2 μ) and yet v_T < 0.
    for (const LawKind kind : {LawKind::friction2, LawKind::friction3, LawKind::contensou4, LawKind::drilling4,
                               LawKind::rolling5, LawKind::rolling6}) {
        Law law = law_of(kind, 0.6);
        law.radius = 0.2;
        law.mu_drilling = law.mu_rolling = 0.1;
        const int n = law_size(kind);
        Matrix W = Matrix::Identity(n, n);
        W(0, 1) = -2.0;
        W(1, 0) = -1.0;
        std::vector<double> q(ix(n), 0.0), r(ix(n), 0.0);
        q[0] = -1.0;
        q[1] = -5.0;
        EXPECT_FALSE(solve_block(one(W, q, law), r)) << n;
    }
}

TEST(OneContact, LargeBilateralBlocksAreImprovedRowByRow) {
    const int n = max_exact_rows + 6;
    Random random(4);
    const Matrix A = random.matrix(n, n);
    const FrictionProblem p =
        one(A * A.transpose() / n + Matrix::Identity(n, n), to_vector(random.vector(n)), bilateral());
    std::vector<double> r(ix(n), 0.0);
    double before = residual(p, r);
    for (int sweep = 0; sweep < 5; ++sweep) {
        ASSERT_TRUE(solve_block(p, r));
        const double now = residual(p, r);
        EXPECT_LT(now, before);
        before = now;
    }
    const Solution s = solve(p, Automatic{1e-10});
    EXPECT_EQ(s.status, Status::converged) << s.residual;
}

}  // namespace
}  // namespace saltus::solvers::one_contact_test
