// SPDX-License-Identifier: Apache-2.0
// The meaning of each status; no solve claims more than its residual shows.
#include <gtest/gtest.h>

#include "problems.hpp"
#include "saltus/solvers/complementarity/complementarity.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers::status_test {
namespace {

using namespace test;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<FrictionMethod> all_methods() { return {Automatic{}, GaussSeidel{}, Newton{}, Proximal{}, Lemke{}}; }

/// Two spatial contacts that share a body.
FrictionProblem coupled() {
    Recipe recipe;
    recipe.condition = 1e4;
    return constructed(12, {Sort::spatial, Sort::spatial, Sort::spatial, Sort::spatial}, recipe).problem;
}

TEST(Statuses, HaveNames) {
    EXPECT_EQ(to_string(Status::converged), "converged");
    EXPECT_EQ(to_string(Status::infeasible), "infeasible");
    EXPECT_TRUE(usable(Status::converged));
    for (const Status status : {Status::stalled, Status::limit, Status::infeasible, Status::non_finite})
        EXPECT_FALSE(usable(status)) << to_string(status);
}

TEST(Statuses, NonFiniteNumbersAreSeenBeforeAnyWork) {
    for (const double bad : {std::nan(""), infinity, -infinity})
        for (const FrictionMethod& method : all_methods()) {
            FrictionProblem p = one(Matrix::Identity(2, 2), {-1, 0}, planar(0.3));
            p.q[1] = bad;
            Solution s = solve(p, method);
            EXPECT_EQ(s.status, Status::non_finite);
            EXPECT_EQ(s.residual, infinity);
            EXPECT_EQ(s.iterations, 0);
            p = one(Matrix::Identity(2, 2), {-1, 0}, planar(0.3));
            p.W.values[2] = bad;
            s = solve(p, method);
            EXPECT_EQ(s.status, Status::non_finite);
        }
    FrictionProblem ellipse = one(Matrix::Identity(3, 3), {-1, std::nan(""), 0}, spatial(0.3));
    ellipse.laws[0].mu_second = 0.2;
    EXPECT_EQ(solve(ellipse).status, Status::non_finite);
    const Matrix M = Matrix::Constant(1, 1, std::nan(""));
    const Vector q = Vector::Constant(1, 1.0);
    EXPECT_EQ(solve(LinearComplementarity{M, q}).status, Status::non_finite);
    EXPECT_EQ(solve(LinearComplementarity{M, q}, Lemke{}).status, Status::non_finite);
    EXPECT_EQ(solve(MixedComplementarity{M, q, {false}}).status, Status::non_finite);
    EXPECT_EQ(solve(Relay{M, q, q, q}).status, Status::non_finite);
    EXPECT_EQ(solve(Relay{Matrix::Identity(1, 1), q, Vector::Constant(1, std::nan("")), q}).status, Status::non_finite);
}

TEST(Statuses, LimitIsSaidWhenTheIterationsAreUsedUp) {
    const FrictionProblem p = coupled();
    GaussSeidel one_sweep;
    one_sweep.max_sweeps = 1;
    const Solution s = solve(p, one_sweep);
    EXPECT_EQ(s.status, Status::limit);
    EXPECT_EQ(s.iterations, 1);
    EXPECT_GT(s.residual, one_sweep.tolerance);
    Newton one_step;
    one_step.max_iterations = 1;
    EXPECT_EQ(solve(p, one_step).status, Status::limit);
    EXPECT_EQ(solve(p, one_step).iterations, 1);
    Proximal few;
    few.max_steps = 1;
    EXPECT_EQ(solve(p, few).status, Status::limit);
    EXPECT_EQ(solve(p, few).iterations, 1);
}

TEST(Statuses, LimitIsSaidWhenTheWorkIsUsedUp) {
    Automatic hasty;
    hasty.tolerance = 1e-14;
    hasty.work = 1.0;
    Recipe recipe;
    recipe.condition = 1e8;
    const FrictionProblem p = constructed(12, mixed(12, {Sort::spatial}, 10), recipe).problem;
    const Solution s = solve(p, hasty);
    EXPECT_EQ(s.status, Status::limit) << s.residual;
    EXPECT_LE(s.attempts.size(), 2U);  // the sweeps with which it opens, and no new attempt
    EXPECT_EQ(s.residual, residual(p, s.r));
}

TEST(Statuses, LimitIsSaidWhenTheTimeIsUp) {
    Automatic hasty;
    hasty.tolerance = 1e-14;
    hasty.seconds = 1e-9;
    Recipe recipe;
    recipe.condition = 1e8;
    const Solution s = solve(constructed(12, mixed(12, {Sort::spatial}, 10), recipe).problem, hasty);
    EXPECT_EQ(s.status, Status::limit) << s.residual;
}

TEST(Statuses, StalledIsSaidWhenNothingHelpsAnyMore) {
    // Two closing walls: there is no solution, which sweeps alone cannot prove.
    const FrictionProblem walls =
        problem_of((Matrix(2, 2) << 1, -1, -1, 1).finished(), {-1, -1}, {unilateral(), unilateral()}, {1, 1});
    EXPECT_EQ(solve(walls, Newton{}).status, Status::stalled);
    EXPECT_EQ(solve(walls, Proximal{}).status, Status::stalled);
    EXPECT_EQ(solve(walls, Lemke{}).status, Status::stalled);
    // A tolerance below rounding.
    EXPECT_EQ(solve(coupled(), Automatic{1e-40}).status, Status::stalled);
}

TEST(Statuses, ConvergedIsSaidOfWhatTheResidualSays) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        Recipe recipe;
        recipe.condition = 1e4;
        const Constructed c = constructed(seed, mixed(seed, {Sort::spatial, Sort::planar}, 6), recipe);
        for (const FrictionMethod& method : all_methods()) {
            const Solution s = solve(c.problem, method);
            EXPECT_EQ(s.residual, verdict(c.problem, s.r)) << seed;
            EXPECT_EQ(s.status == Status::converged, s.residual <= 1e-10) << seed;
            ASSERT_FALSE(s.attempts.empty());
            std::vector<double> v(s.r.size());
            c.problem.W.multiply(s.r, v);
            for (std::size_t i = 0; i < v.size(); ++i) EXPECT_EQ(s.v[i], v[i] + c.problem.q[i]);
        }
    }
}

TEST(Statuses, TheResultIsTheBestOfTheAttempts) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        Recipe recipe;
        recipe.condition = 1e12;
        const Solution s = solve(constructed(seed, mixed(seed, {Sort::spatial}, 8), recipe).problem, Automatic{1e-13});
        for (const Attempt& attempt : s.attempts) EXPECT_LE(s.residual, attempt.residual) << seed;
    }
}

TEST(Statuses, OfProblemsWithoutContactsIsConverged) {
    for (const FrictionMethod& method : all_methods()) {
        const Solution s = solve(FrictionProblem{}, method);
        EXPECT_EQ(s.status, Status::converged);
        EXPECT_EQ(s.residual, 0.0);
        EXPECT_TRUE(s.r.empty());
    }
    EXPECT_EQ(solve(MixedComplementarity{Matrix(0, 0), Vector(0), {}}).status, Status::converged);
    EXPECT_EQ(solve(LinearComplementarity{Matrix(0, 0), Vector(0)}).status, Status::converged);
    EXPECT_EQ(solve(LinearComplementarity{Matrix(0, 0), Vector(0)}, Lemke{}).status, Status::converged);
    EXPECT_EQ(solve(Relay{Matrix(0, 0), Vector(0), Vector(0), Vector(0)}).status, Status::converged);
}

TEST(Statuses, OfProblemsAtRestIsConvergedAtOnce) {
    for (const FrictionMethod& method : all_methods()) {
        const Solution s = solve(one(Matrix::Identity(2, 2), {0, 0}, planar(0.3)), method);
        EXPECT_EQ(s.status, Status::converged);
        EXPECT_EQ(s.r, (std::vector<double>{0, 0}));
    }
}

TEST(WeightlessProblems, AreInfeasibleOrSolvedByZero) {
    EXPECT_EQ(solve(one(Matrix::Zero(1, 1), {-1}, unilateral())).status, Status::infeasible);
    EXPECT_EQ(solve(one(Matrix::Zero(2, 2), {-1, 1}, planar(0.3))).status, Status::infeasible);
    EXPECT_NE(solve(one(Matrix::Zero(3, 3), {-1, 1, 1}, spatial(0.3))).status, Status::converged);
    const Solution s = solve(one(Matrix::Zero(3, 3), {1, 1, 1}, spatial(0.3)));
    EXPECT_EQ(s.status, Status::converged);
    EXPECT_EQ(s.r, (std::vector<double>{0, 0, 0}));
}

TEST(ProblemsWithoutFriction, InOneDirectionAreSolved) {
    // Ellipses with one half axis 0. W is regular, so there is a solution.
    for (const auto& [first, second] : {std::pair{0.5, 0.0}, std::pair{0.0, 0.5}})
        for (unsigned seed = 0; seed < 100; ++seed) {
            Random random(seed);
            const int contacts = 1 + static_cast<int>(seed % 5), n = 3 * contacts;
            Law law = spatial(first);
            law.mu_second = second;
            const FrictionProblem p =
                problem_of(with_condition(random, n, 1e2, n), to_vector(random.vector(n)),
                           std::vector<Law>(ix(contacts), law), std::vector<int>(ix(contacts), 3));
            const Solution s = solve(p, Automatic{1e-10});
            EXPECT_LE(residual(p, s.r), 1e-9) << seed;  // solved in coordinates of its own, to 1e-10 there
            for (int a = 0; a < contacts; ++a) EXPECT_EQ(s.r[ix(3 * a + (second == 0.0 ? 2 : 1))], 0.0) << seed;
        }
}

TEST(ProblemsWithoutFriction, AreSolvedAsFrictionlessOnes) {
    // μ = 0 in laws of every kind: the reactions are those of unilateral rows.
    const std::vector<LawKind> kinds{LawKind::friction2, LawKind::friction3,  LawKind::drilling4,
                                     LawKind::rolling5,  LawKind::contensou4, LawKind::rolling6};
    for (unsigned seed = 0; seed < 60; ++seed) {
        Random random(seed);
        std::vector<int> sizes;
        std::vector<Law> laws;
        int n = 0;
        for (int a = 0; a < 4; ++a) {
            laws.push_back(law_of(kinds[ix(random.below(static_cast<int>(kinds.size())))]));
            sizes.push_back(law_size(laws.back().kind));
            n += sizes.back();
        }
        const Matrix W = with_condition(random, n, 10.0, n);
        const Vector q = random.vector(n);
        const Solution s = solve(problem_of(W, to_vector(q), laws, sizes), Automatic{1e-12});
        ASSERT_EQ(s.status, Status::converged) << seed << " residual " << s.residual;
        Matrix N(4, 4);
        Vector q_normal(4);
        int rows[4] = {0, sizes[0], sizes[0] + sizes[1], sizes[0] + sizes[1] + sizes[2]};
        for (int a = 0; a < 4; ++a) {
            q_normal(a) = q(rows[a]);
            for (int b = 0; b < 4; ++b) N(a, b) = W(rows[a], rows[b]);
        }
        const Solution normal = solve(LinearComplementarity{N, q_normal});
        ASSERT_EQ(normal.status, Status::converged);
        for (int a = 0; a < 4; ++a) {
            EXPECT_NEAR(s.r[ix(rows[a])], normal.r[ix(a)], 1e-9) << seed;  // condition 10, tolerances 1e-10
            for (int i = 1; i < sizes[ix(a)]; ++i) EXPECT_EQ(s.r[ix(rows[a] + i)], 0.0) << seed;
        }
    }
}

// --- numbers near the limits of double ---------------------------------------------------------------------

TEST(HugeNumbers, AreSolvedOrNotButNeverCalledSolvedWrongly) {
    // W = 1e308 I, q = (−1e308, 2, 3): r_N = 1, sticking with r_T = −(2, 3)e-308. r = 0 is not a solution.
    const FrictionProblem p = one(1e308 * Matrix::Identity(3, 3), {-1e308, 2, 3}, spatial(0.1));
    for (const FrictionMethod& method : all_methods()) {
        const Solution s = solve(p, method);
        if (s.status == Status::converged) {
            EXPECT_NEAR(s.r[0], 1.0, 1e-9) << s.method;
        }
    }
    EXPECT_GT(residual(p, std::vector<double>{0, 0, 0}), 0.1);
}

TEST(HugeNumbers, DoNotChangeTheAnswerOverHundredsOfOrders) {
    // The same contact in units from 1e-300 to 1e300: r = (1, −0.18, −0.24) q_unit/w_unit, as long as that is
    // representable; not every square is.
    int judged = 0;
    for (int w = -300; w <= 300; w += 50)
        for (int q = -300; q <= 300; q += 50) {
            if (std::abs(q - w) > 300) continue;
            const double w_unit = std::pow(10.0, w), q_unit = std::pow(10.0, q), r_unit = std::pow(10.0, q - w);
            const FrictionProblem p =
                one(w_unit * Matrix::Identity(3, 3), {-q_unit, 3 * q_unit, 4 * q_unit}, spatial(0.3));
            const Solution s = solve(p);
            EXPECT_EQ(s.status, Status::converged) << w << " " << q;
            EXPECT_NEAR(s.r[0], r_unit, 1e-9 * r_unit) << w << " " << q;  // ten times the tolerance
            EXPECT_NEAR(s.r[1], -0.18 * r_unit, 1e-9 * r_unit) << w << " " << q;
            EXPECT_NEAR(s.r[2], -0.24 * r_unit, 1e-9 * r_unit) << w << " " << q;
            ++judged;
        }
    EXPECT_EQ(judged, 13 * 13 - 2 * (1 + 2 + 3 + 4 + 5 + 6));
}

TEST(HugeNumbers, InOneOfSeveralContactsHideNothing) {
    // Units of the contacts 1e12 apart. A converged solution satisfies each law relative to the size of its own
    // contact.
    const Matrix W = (Vector(2) << 1.0, 1.0).finished().asDiagonal();
    const FrictionProblem p = problem_of(W, {-1e12, -1.0}, {unilateral(), unilateral()}, {1, 1});
    const Solution s = solve(p, Automatic{1e-14});
    ASSERT_EQ(s.status, Status::converged);
    EXPECT_NEAR(s.r[1], 1.0, 0.02);  // 1e-14 of 1e12
}

}  // namespace
}  // namespace saltus::solvers::status_test
