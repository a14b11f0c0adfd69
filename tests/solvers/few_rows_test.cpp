// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/few_rows.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers::few_rows_test {
namespace {

Law law_of(LawKind kind, double mu = 0.0) {
    Law law;
    law.kind = kind;
    law.mu = mu;
    return law;
}

struct Case {
    FrictionProblem problem;
    std::vector<int> first{0};
    std::vector<double> D;
};

/// Blocks of all kinds that fit, on a body of `degrees` coordinates: fewer than rows make D singular.
Case random_case(std::mt19937& random, int degrees) {
    std::uniform_real_distribution<double> number(-1.0, 1.0), positive(0.05, 1.2);
    std::uniform_int_distribution<int> kind(0, 4), blocks(1, 4);
    Case c;
    const int count = blocks(random);
    int bilateral = -1;
    for (int b = 0; b < count; ++b) {
        switch (kind(random)) {
            case 0:
                bilateral = c.first.back();
                c.problem.laws.push_back(law_of(LawKind::bilateral));
                c.first.push_back(c.first.back() + 1);
                break;
            case 1:
                c.problem.laws.push_back(law_of(LawKind::unilateral));
                c.first.push_back(c.first.back() + 1);
                break;
            case 2: {
                Law law = law_of(LawKind::slider);
                law.bound = positive(random);
                c.problem.laws.push_back(law);
                c.first.push_back(c.first.back() + 1);
                break;
            }
            case 3:
                if (bilateral >= 0) {
                    Law law = law_of(LawKind::scaled_slider, 0.3 * positive(random));
                    law.row = bilateral;
                    c.problem.laws.push_back(law);
                    c.first.push_back(c.first.back() + 1);
                    break;
                }
                [[fallthrough]];
            default:
                c.problem.laws.push_back(law_of(LawKind::friction2, positive(random)));
                c.first.push_back(c.first.back() + 2);
        }
    }
    const int rows = c.first.back();
    Matrix W(rows, degrees);
    for (Eigen::Index i = 0; i < W.rows(); ++i)
        for (Eigen::Index j = 0; j < W.cols(); ++j) W(i, j) = number(random);
    const Matrix D = W * W.transpose();
    Vector u(degrees);
    for (Eigen::Index j = 0; j < u.size(); ++j) u(j) = number(random);
    const Vector q = W * u;  // velocities of the body: sticking everything is possible
    std::vector<int> sizes;
    for (std::size_t b = 0; b + 1 < c.first.size(); ++b) sizes.push_back(c.first[b + 1] - c.first[b]);
    c.problem.W = BlockMatrix::from_dense(D, sizes);
    c.problem.q.assign(q.data(), q.data() + rows);
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < rows; ++j) c.D.push_back(D(i, j));
    return c;
}

TEST(FewRows, AreSolvedInTheSenseOfTheSolvers) {
    std::mt19937 random(7);
    FewRows few;
    int solved = 0;
    for (int trial = 0; trial < 4000; ++trial) {
        const Case c = random_case(random, trial % 2 == 0 ? 9 : 3);
        ASSERT_TRUE(FewRows::fits(c.problem.laws, c.first));
        if (!few.solve(c.problem.laws, c.first, c.D, c.problem.q, {}, 1e-10)) continue;
        ++solved;
        // The verdict is its own, and must be that of the independent residual.
        const double measured = residual(c.problem, few.r());
        EXPECT_LE(measured, 1e-10) << trial;
        EXPECT_LE(measured, few.residual() + 1e-13) << trial;
        std::vector<double> v(c.problem.q.size());
        c.problem.W.multiply(few.r(), v);
        for (std::size_t i = 0; i < v.size(); ++i) EXPECT_NEAR(few.v()[i], v[i] + c.problem.q[i], 1e-10) << trial;
    }
    EXPECT_GT(solved, 3600);  // the others are for the solvers
}

TEST(FewRows, FindTheSameModeAgainFromTheirOwnSolution) {
    std::mt19937 random(8);
    FewRows few;
    for (int trial = 0; trial < 500; ++trial) {
        const Case c = random_case(random, 9);
        if (!few.solve(c.problem.laws, c.first, c.D, c.problem.q, {}, 1e-10)) continue;
        const std::vector<double> r(few.r().begin(), few.r().end());
        ASSERT_TRUE(few.solve(c.problem.laws, c.first, c.D, c.problem.q, r, 1e-10)) << trial;
        for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(few.r()[i], r[i], 1e-9 * (1.0 + std::abs(r[i])));
    }
}

TEST(FewRows, KeepWhatRedundantRowsHad) {
    // A table with three legs in a plane: any shares with the right sum and moment will do; 1 and 3 kept 0.2 more.
    const std::vector<Law> laws(3, law_of(LawKind::unilateral));
    const std::vector<int> first{0, 1, 2, 3};
    const std::vector<double> D{2, 1, 0, 1, 1, 1, 0, 1, 2}, q{-1, -1, -1}, before{0.45, 0.1, 0.45};
    FewRows few;
    ASSERT_TRUE(few.solve(laws, first, D, q, before, 1e-12));
    EXPECT_NEAR(few.r()[0] + few.r()[1] + few.r()[2], 1.0, 1e-12);
    EXPECT_NEAR(few.r()[0], 0.45, 1e-12);
    EXPECT_NEAR(few.r()[1], 0.1, 1e-12);
    ASSERT_TRUE(few.solve(laws, first, D, q, {}, 1e-12));
    EXPECT_NEAR(few.r()[0] + few.r()[1] + few.r()[2], 1.0, 1e-12);
}

TEST(FewRows, SayWhenTheyAreNotSolved) {
    // Walls that close in from both sides.
    const std::vector<Law> laws(2, law_of(LawKind::unilateral));
    const std::vector<int> first{0, 1, 2};
    FewRows few;
    EXPECT_FALSE(few.solve(laws, first, std::vector<double>{1, -1, -1, 1}, std::vector<double>{-1, -1}, {}, 1e-10));
    EXPECT_FALSE(few.solve(laws, first, std::vector<double>{0, 0, 0, 0}, std::vector<double>{-1, 1}, {}, 1e-10));
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_FALSE(few.solve(laws, first, std::vector<double>{1, 0, 0, 1}, std::vector<double>{nan, 1}, {}, 1e-10));
}

TEST(FewRows, DoNotFitLargeOrSpatialProblems) {
    const auto fits = [](const std::vector<Law>& laws, const std::vector<int>& first) {
        return FewRows::fits(laws, first);
    };
    EXPECT_FALSE(fits({law_of(LawKind::friction3, 0.3)}, {0, 3}));
    std::vector<int> first(14);
    std::iota(first.begin(), first.end(), 0);
    EXPECT_FALSE(fits(std::vector<Law>(13, law_of(LawKind::unilateral)), first));
    EXPECT_FALSE(fits({law_of(LawKind::slider)}, {0, 2}));
    // A slider that follows the reaction of a row behind it.
    Law guide = law_of(LawKind::scaled_slider, 0.3);
    guide.row = 1;
    EXPECT_FALSE(fits({guide, law_of(LawKind::bilateral)}, {0, 1, 2}));
    guide.row = 0;
    EXPECT_TRUE(fits({law_of(LawKind::bilateral), guide}, {0, 1, 2}));
}

}  // namespace
}  // namespace saltus::solvers::few_rows_test
