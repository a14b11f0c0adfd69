// SPDX-License-Identifier: Apache-2.0
// Admissible reactions that hold everything, against closed forms and against problems constructed from such reactions.
#include "saltus/solvers/friction/holding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "problems.hpp"
#include "saltus/base/index.hpp"

namespace saltus::solvers::holding_test {
namespace {

using namespace test;

/// A unit mass with the rows A (one per line of coordinates), pulled by f: W = A Aᵀ, q = A f.
FrictionProblem mass_on(const Matrix& A, const Vector& f, const std::vector<int>& sizes, const std::vector<Law>& laws) {
    FrictionProblem problem;
    problem.W = BlockMatrix::from_dense(A * A.transpose(), sizes);
    const Vector q = A * f;
    problem.q.assign(q.data(), q.data() + q.size());
    problem.laws = laws;
    return problem;
}

Law planar(double mu) {
    Law law;
    law.kind = LawKind::friction2;
    law.mu = mu;
    return law;
}

Holding held(const FrictionProblem& problem, std::vector<double>& r) {
    return holding_reactions(problem, std::vector<double>(problem.q.size(), 1.0), 1e-9, r);
}

TEST(HoldingReactions, OfTwoFeetAtOnePlaceExistUpToTheLargerCoefficient) {
    Matrix A(4, 2);  // coordinates x, y; rows y, x of both feet
    A << 0, 1, 1, 0, 0, 1, 1, 0;
    std::vector<double> r;
    for (const double pull : {0.0, 3.0, 5.99, 6.01, 9.0}) {
        const auto problem = mass_on(A, Vector{{pull, -10.0}}, {2, 2}, {planar(0.2), planar(0.6)});
        EXPECT_EQ(held(problem, r), pull < 6.0 ? Holding::found : Holding::none) << pull;
        if (pull > 6.0) continue;
        EXPECT_NEAR(r[0] + r[2], 10.0, 1e-8);
        EXPECT_NEAR(r[1] + r[3], -pull, 1e-8);
        EXPECT_LE(std::abs(r[1]), 0.2 * r[0] + 1e-8);
        EXPECT_LE(std::abs(r[3]), 0.6 * r[2] + 1e-8);
    }
}

TEST(HoldingReactions, OfLeastNormShareTheLoadAsTheirCoefficientsAllow) {
    // N1 + N2 = 10 and T1 + T2 = -pull. Up to the pull 2 the feet carry the same. Beyond it the foot with the small
    // coefficient is at its bound, T1 = -0.2 N1, and near the pull 6 the other one, too.
    Matrix A(4, 2);
    A << 0, 1, 1, 0, 0, 1, 1, 0;
    const std::vector<double> signs(4, 1.0);
    std::vector<double> r;
    for (const double pull : {0.0, 1.0, 1.9, 3.0, 5.9}) {
        const auto problem = mass_on(A, Vector{{pull, -10.0}}, {2, 2}, {planar(0.2), planar(0.6)});
        ASSERT_EQ(least_holding_reactions(problem, signs, 1e-9, r), Holding::found) << pull;
        double N1 = 5.0, T1 = -pull / 2.0;
        if (pull > 2.0) {
            // min N1² + (10 − N1)² + (0.2 N1)² + (pull − 0.2 N1)² with pull − 0.2 N1 <= 0.6 (10 − N1)
            N1 = std::min((20.0 + 0.4 * pull) / 4.16, (6.0 - pull) / 0.4);
            T1 = -0.2 * N1;
        }
        EXPECT_NEAR(r[0], N1, 1e-6) << pull;
        EXPECT_NEAR(r[1], T1, 1e-6) << pull;
        EXPECT_NEAR(r[2], 10.0 - N1, 1e-6) << pull;
        EXPECT_NEAR(r[3], -pull - T1, 1e-6) << pull;
    }
    const auto problem = mass_on(A, Vector{{6.01, -10.0}}, {2, 2}, {planar(0.2), planar(0.6)});
    EXPECT_NE(least_holding_reactions(problem, signs, 1e-9, r), Holding::found);
}

TEST(HoldingReserve, OfTwoFeetAtOnePlaceFallsEvenlyToZeroAndBeyond) {
    // N1 + N2 = 10. With n = N − s >= 0 the friction is at most 0.2 n1 + 0.6 n2 <= 0.6 (10 − 2 s).
    Matrix A(4, 2);
    A << 0, 1, 1, 0, 0, 1, 1, 0;
    for (const double pull : {0.0, 0.5, 3.0, 5.99, 5.9999, 6.0001, 6.01, 9.0}) {
        const auto problem = mass_on(A, Vector{{pull, -10.0}}, {2, 2}, {planar(0.2), planar(0.6)});
        const auto reserve = holding_reserve(problem, std::vector<double>(4, 1.0));
        ASSERT_TRUE(reserve) << pull;
        EXPECT_NEAR(*reserve, 0.5 * (10.0 - pull / 0.6), 1e-7) << pull;
    }
}

TEST(HoldingReserve, OfSlidersInAPlaneIsThatOfTheirSum) {
    // Two sliders with the bounds 2 and 3 on a mass in a plane: each keeps ‖r‖ <= bound − s.
    Law first, second;
    first.kind = second.kind = LawKind::slider;
    first.bound = 2.0;
    second.bound = 3.0;
    Matrix A(4, 2);
    A << 1, 0, 0, 1, 1, 0, 0, 1;
    for (const double pull : {4.0, 4.999, 5.001}) {
        const auto problem = mass_on(A, Vector{{0.6 * pull, 0.8 * pull}}, {2, 2}, {first, second});
        const auto reserve = holding_reserve(problem, std::vector<double>(4, 1.0));
        ASSERT_TRUE(reserve) << pull;
        EXPECT_NEAR(*reserve, 0.5 * (5.0 - pull), 1e-7) << pull;
    }
}

TEST(HoldingReserve, IsUnknownForAPatchAndForEquationsThatNothingFulfils) {
    Law patch;
    patch.kind = LawKind::contensou4;
    patch.mu = 0.3;
    patch.radius = 0.1;
    EXPECT_FALSE(holding_reserve(one(Matrix::Identity(4, 4), {-1, 0, 0, 0}, patch), std::vector<double>(4, 1.0)));
    Law bilateral;
    bilateral.kind = LawKind::bilateral;
    FrictionProblem contradicted;
    contradicted.W = BlockMatrix::from_dense(Matrix::Ones(2, 2), std::vector<int>{1, 1});
    contradicted.q = {1.0, 2.0};
    contradicted.laws = {bilateral, bilateral};
    EXPECT_FALSE(holding_reserve(contradicted, std::vector<double>(2, 1.0)));
}

TEST(HoldingReactions, OfALiftedFootDoNotExist) {
    Matrix A(4, 2);
    A << 0, 1, 1, 0, 0, 1, 1, 0;
    std::vector<double> r;
    EXPECT_EQ(held(mass_on(A, Vector{{0.0, 1.0}}, {2, 2}, {planar(0.2), planar(0.6)}), r), Holding::none);
}

TEST(HoldingReactions, OfASliderAcrossTheNormalCanPressAFootDown) {
    // The foot holds x up to 0.5 N. A slider along (−1, 1)/√2 with the bound 2 can add 2/√2 to N and 2/√2 to the pull.
    Matrix A(3, 2);
    const double c = std::sqrt(0.5);
    A << 0, 1, 1, 0, -c, c;
    Law slider;
    slider.kind = LawKind::slider;
    slider.bound = 2.0;
    // Largest pull: r_T + c·2·s with N = 10 + c·2·s', where the force of the slider is s(−c, c), |s| <= 2. For s = 2
    // the normal force is 10 − 2c and the slider pulls against x by 2c; for s = −2 it is 10 + 2c and it pushes along x.
    const double largest = std::max(0.5 * (10.0 - 2.0 * c) + 2.0 * c, 0.5 * (10.0 + 2.0 * c) - 2.0 * c);
    std::vector<double> r;
    EXPECT_EQ(held(mass_on(A, Vector{{largest - 1e-3, -10.0}}, {2, 1}, {planar(0.5), slider}), r), Holding::found);
    EXPECT_EQ(held(mass_on(A, Vector{{largest + 1e-3, -10.0}}, {2, 1}, {planar(0.5), slider}), r), Holding::none);
}

TEST(HoldingReactions, OfAllLawsAreFoundIfTheProblemIsMadeFromThem) {
    const std::vector<Sort> sorts{Sort::unilateral,
                                  Sort::planar,
                                  Sort::spatial,
                                  Sort::orthotropic,
                                  Sort::drilling,
                                  Sort::rolling,
                                  Sort::rolling_and_drilling,
                                  Sort::slider,
                                  Sort::slider_in_the_plane,
                                  Sort::bilateral,
                                  Sort::orthotropic_slider,
                                  Sort::rail};
    int found = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        Random random(seed);
        std::vector<Piece> pieces;
        const int count = 1 + random.below(5);
        for (int k = 0; k < count; ++k) append(sorts[ix(random.below(static_cast<int>(sorts.size())))], random, pieces);
        FrictionProblem problem;
        int rows = 0;
        for (const Piece& piece : pieces) rows += piece.size;
        const int rank = std::max(1, rows - random.below(3));
        problem.W = BlockMatrix::from_dense(with_condition(random, rows, 1e2, rank), sizes_of(pieces));
        // Normal forces of 1 and friction in the middle of its set: all reactions but these are zero.
        std::vector<double> inside(ix(rows), 0.0), v(ix(rows));
        for (int b = 0; b < problem.W.blocks(); ++b) {
            problem.laws.push_back(pieces[ix(b)].law);
            if (problem.laws.back().kind != LawKind::slider && problem.laws.back().kind != LawKind::scaled_slider)
                inside[ix(problem.W.start[ix(b)])] = 1.0;
        }
        problem.W.multiply(inside, v);
        for (const double value : v) problem.q.push_back(-value);
        std::vector<double> r;
        ASSERT_EQ(held(problem, r), Holding::found) << seed;
        problem.W.multiply(r, v);
        for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(v[i] + problem.q[i], 0.0, 1e-8) << seed;
        ++found;
    }
    EXPECT_EQ(found, 60);
}

TEST(HoldingReactions, OfAPatchAreUnknown) {
    Law patch;
    patch.kind = LawKind::contensou4;
    patch.mu = 0.3;
    patch.radius = 0.1;
    std::vector<double> r;
    EXPECT_EQ(held(mass_on(Matrix::Identity(4, 4), Vector{{-1.0, 0.0, 0.0, 0.0}}, {4}, {patch}), r), Holding::unknown);
}

}  // namespace
}  // namespace saltus::solvers::holding_test
