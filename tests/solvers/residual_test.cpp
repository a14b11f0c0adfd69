// SPDX-License-Identifier: Apache-2.0
// The residual that judges all methods.
#include <gtest/gtest.h>

#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

#include "problems.hpp"

namespace saltus::solvers::residual_test {
namespace {

using namespace test;

const std::vector<Sort> monotone{Sort::unilateral, Sort::planar,
                                 Sort::spatial,    Sort::drilling,
                                 Sort::rolling,    Sort::slider,
                                 Sort::bilateral,  Sort::slider_in_the_plane,
                                 Sort::patch,      Sort::rolling_and_drilling};

TEST(Residual, DoesNotDependOnUnits) {
    FrictionProblem p =
        one((Matrix(3, 3) << 2, 0.3, 0.1, 0.3, 1, 0.2, 0.1, 0.2, 3).finished(), {-1, 3, 4}, spatial(0.3));
    const double before = residual(p, std::vector<double>{1, -0.1, 0.2});
    for (double& w : p.W.values) w *= 1e-6;  // masses in other units: reactions 1e6 times as large
    EXPECT_NEAR(residual(p, std::vector<double>{1e6, -0.1e6, 0.2e6}), before, 1e-12);
    EXPECT_GT(before, 1e-3);
}

TEST(Residual, IsAtLeastTheDistanceToTheOnlySolutionTimesAConstant) {
    // Eigenvalues of W in [0.2, 1] and √Σμ² <= 0.17: r ↦ v̂ is strongly monotone with m = 0.2 − 0.17 and has the
    // Lipschitz constant L = 1.17, so ‖r − r*‖ <= (1 + ρL)/(ρm) ‖F‖ <= (1/ρ + L)/m ‖F‖ < 75 ‖F‖ (1/ρ <= 1).
    Recipe recipe;
    recipe.condition = 5.0;
    recipe.friction = 0.2;
    for (unsigned seed = 0; seed < 200; ++seed) {
        const Constructed c = constructed(seed, mixed(seed, monotone, 1 + static_cast<int>(seed % 4)), recipe);
        Random random(seed + 1000);
        const double rho = 1.0 / c.problem.W.diagonal_mean();
        for (const double size : {1e-6, 1e-2, 10.0}) {
            const Vector step = size * random.vector(static_cast<Eigen::Index>(c.r.size())).normalized();
            const Vector moved = to_eigen(c.r) + step;
            const double scale = std::max(rho * to_eigen(c.problem.q).norm(), moved.norm());
            EXPECT_GE(residual(c.problem, to_vector(moved)), size / (75.0 * scale)) << seed << " by " << size;
        }
    }
}

TEST(Residual, OfAnEllipseThatIsADiskIsThatOfTheDisk) {
    Random random(6);
    for (int k = 0; k < 200; ++k) {
        const Matrix A = random.matrix(3, 3);
        FrictionProblem p = one(A * A.transpose(), to_vector(random.vector(3)), spatial(0.4));
        const std::vector<double> r = to_vector(random.vector(3));
        const double disk = residual(p, r);
        p.laws[0].mu_second = 0.4;
        EXPECT_NEAR(residual(p, r), disk, 1e-14 * (1.0 + disk));  // the same sums, scaled by 1
    }
}

TEST(Residual, OfAPatchWithoutSizeIsThatOfAContactWithoutDrillingFriction) {
    Random random(7);
    for (int k = 0; k < 50; ++k) {
        const Matrix A = random.matrix(4, 4);
        FrictionProblem p = one(A * A.transpose(), to_vector(random.vector(4)), law_of(LawKind::contensou4, 0.4));
        const std::vector<double> r = to_vector(random.vector(4));
        const double patch = residual(p, r);
        p.laws[0] = law_of(LawKind::drilling4, 0.4);
        EXPECT_NEAR(residual(p, r), patch, 1e-11 * (1.0 + patch)) << k;  // by bisection against in closed form
    }
}

TEST(Residual, OfScaledSlidersFollowsTheReactionOfTheirRow) {
    FrictionProblem p = problem_of(Matrix::Identity(2, 2), {-2, 3}, {bilateral(), scaled_slider(0.5, 0)}, {1, 1});
    EXPECT_LT(residual(p, std::vector<double>{2, -1}), 1e-15);
    EXPECT_GT(residual(p, std::vector<double>{2, -0.9}), 0.02);
    EXPECT_GT(residual(p, std::vector<double>{2, 1}), 0.02);
    p.q[0] = 2;  // pulls instead of pushes: the same friction
    EXPECT_LT(residual(p, std::vector<double>{-2, -1}), 1e-15);
}

TEST(Residual, WithScratchIsTheSame) {
    const Constructed c = constructed(3, mixed(3, monotone, 6), {});
    Random random(1);
    const std::vector<double> r = to_vector(random.vector(static_cast<Eigen::Index>(c.r.size())));
    std::vector<double> scratch(r.size());
    EXPECT_EQ(residual(c.problem, r, scratch), residual(c.problem, r));
    EXPECT_EQ(verdict(c.problem, r, scratch), verdict(c.problem, r));
}

TEST(Verdict, DetectsDivergedReactions) {
    // Two walls that close on a body: the larger the reactions, the better the quotient.
    const FrictionProblem p =
        problem_of((Matrix(2, 2) << 1, -1, -1, 1).finished(), {-1, -1}, {unilateral(), unilateral()}, {1, 1});
    const std::vector<double> far{1e9, 1e9};
    EXPECT_LT(residual(p, far), 1e-8);
    EXPECT_GT(verdict(p, far), 0.5);
}

TEST(Verdict, DoesNotTrustReactionsInWhichTheVelocitiesAreLost) {
    // The reactions are inside the cone, so that v = 0 is needed, but v_N = -0.0625. Its product with the step is half
    // a unit in the last place of the reactions, which absorb it: F is zero.
    FrictionProblem p =
        problem_of((Matrix(3, 3) << 2.0625, 1.5, 1.6875, 1.5, 6.84375, -0.5625, 1.6875, -0.5625, 1.9375).finished(),
                   {-0.4375, 5.6875, -2.1875}, {spatial(1.4375)}, {3});
    const std::vector<double> r{640921914957209.9, -190912910838318.56, -613648641980306.4};
    EXPECT_EQ(residual(p, r), 0.0);
    EXPECT_GT(verdict(p, r), 1e-2);
    const Solution s = solve(p, Automatic{});
    EXPECT_FALSE(s.status == Status::converged && s.r[0] > 1e12);
}

TEST(Verdict, DoesNotAcceptVelocitiesThatBreakTheLawForTheSakeOfLargeReactions) {
    // A body with a slip velocity of five times its normal one. v = 0 in both rows is impossible, because q is not
    // parallel to (1, 5); but for reactions of 4.5e10 a velocity of 1e-3 is 1e-12 of them. The true solution would
    // slip, and then r_N (1 − 2.5) = 1.8 asks for r_N < 0: there is none.
    const FrictionProblem p = problem_of((Matrix(2, 2) << 1, 5, 5, 25).finished(), {-1.8, -8.995}, {planar(0.5)}, {2});
    const double T = -9.1e9;
    const std::vector<double> r{1.799 - 5.0 * T, T};  // v = (-0.001, 0)
    EXPECT_LT(residual(p, r), 1e-10);
    EXPECT_GT(verdict(p, r), 1e-5);
    const Solution s = solve(p, Automatic{});
    EXPECT_FALSE(usable(s.status)) << to_string(s.status) << " " << s.r[0];
}

TEST(Verdict, IsTheResidualOfReactionsOfUsualSize) {
    Recipe recipe;
    recipe.condition = 10.0;
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Constructed c = constructed(seed, mixed(seed, monotone, 3), recipe);
        std::vector<double> r = c.r;
        for (double& x : r) x *= 1.1;
        EXPECT_EQ(verdict(c.problem, r), residual(c.problem, r)) << seed;
    }
}

TEST(Residual, OfComplementarityProblemsIsZeroForSolutionsOnly) {
    const LinearComplementarity lcp{(Matrix(2, 2) << 2, 1, 1, 2).finished(), (Vector(2) << -2, 3).finished()};
    EXPECT_EQ(residual(lcp, std::vector<double>{1, 0}), 0.0);
    EXPECT_GT(residual(lcp, std::vector<double>{1, 0.1}), 1e-2);
    EXPECT_GT(residual(lcp, std::vector<double>{0, 0}), 1e-2);
    const Relay relay{Matrix::Identity(2, 2), (Vector(2) << -3, 0.5).finished(), Vector::Constant(2, -1),
                      Vector::Constant(2, 1)};
    EXPECT_EQ(residual(relay, std::vector<double>{1, -0.5}), 0.0);
    EXPECT_GT(residual(relay, std::vector<double>{-1, -0.5}), 1e-2);
    const MixedComplementarity mixed{
        (Matrix(2, 2) << 2, 1, 1, 2).finished(), (Vector(2) << -2, 3).finished(), {true, false}};
    EXPECT_EQ(residual(mixed, std::vector<double>{1, 0}), 0.0);
    EXPECT_GT(residual(mixed, std::vector<double>{1.1, 0}), 1e-2);
}

}  // namespace
}  // namespace saltus::solvers::residual_test
