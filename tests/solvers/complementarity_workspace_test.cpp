// SPDX-License-Identifier: Apache-2.0
// Repeated solves of complementarity problems, and how their results are judged.
#include "allocations.hpp"
#include "complementary.hpp"

namespace saltus::solvers::complementarity_workspace_test {
namespace {

using namespace test;

TEST(ComplementarityWorkspace, IsAllThatRepeatedSolvesNeed) {
    Random random(16);
    for (const Index n : {1, 4, 9, 25, 32, 33, 60}) {
        Matrix M = monotone(random, n, n, 0.4);
        M.diagonal().array() += 0.1;
        LinearComplementarity linear = constructed_lcp(random, M, false);
        MixedComplementarity mixed = constructed_mixed(random, M, 0.4, false);
        Relay relay = constructed_relay(random, M);
        ComplementarityWorkspace workspace;
        Solution s, t, u;
        const AutomaticComplementarity method;
        const auto solve_all = [&] {
            solve(linear, method, workspace, s);
            solve(mixed, method, workspace, t);
            solve(relay, method, workspace, u);
        };
        solve_all();
        linear.q *= 1.5;
        const std::size_t before = saltus::test::allocations();
        solve_all();
        EXPECT_EQ(saltus::test::allocations() - before, 0U) << n;
        for (const Solution* solution : {&s, &t, &u}) {
            EXPECT_EQ(solution->status, Status::converged) << n;
            EXPECT_EQ(solution->method, "pivoting") << n;
        }
        const Solution alone = solve(linear);
        EXPECT_EQ(s.r, alone.r) << n;
        EXPECT_EQ(s.v, alone.v) << n;
    }
}

TEST(ComplementarityWorkspace, TakesProblemsOfAllKindsInTurn) {
    Random random(17);
    ComplementarityWorkspace workspace;
    Solution s;
    for (int k = 0; k < 300; ++k) {
        const Index n = 1 + random.below(50);
        const Matrix M = monotone(random, n, 1 + random.below(static_cast<int>(n)), 0.2);
        const int kind = random.below(3);
        const auto check = [&](const auto& p) {
            solve(p, {}, workspace, s);
            const Solution alone = solve(p);
            EXPECT_EQ(s.r, alone.r) << k;
            EXPECT_EQ(s.v, alone.v) << k;
            EXPECT_EQ(s.attempts.size(), alone.attempts.size()) << k;
            EXPECT_EQ(s.status, Status::converged) << k;
        };
        if (kind == 0) check(constructed_lcp(random, M, true));
        if (kind == 1) check(constructed_mixed(random, M, 0.3, true));
        if (kind == 2) check(constructed_relay(random, M));
    }
}

TEST(PlainResiduals, NoticeNonFiniteNumbersInEveryPlace) {
    const std::vector<double> z{0.0, 1.0, 0.0};
    const LinearComplementarity good{Matrix::Identity(3, 3), (Vector(3) << 1, -1, 1).finished()};
    EXPECT_EQ(residual(good, z), 0.0);
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
        for (Index k = 0; k < 12; ++k) {
            LinearComplementarity p = good;
            (k < 9 ? p.M.data()[k] : p.q(k - 9)) = bad;
            EXPECT_FALSE(residual(p, z) < 1e300) << k;
            EXPECT_EQ(solve(p).status, Status::non_finite) << k;
            EXPECT_EQ(solve(MixedComplementarity{p.M, p.q, {false, true, false}}).status, Status::non_finite) << k;
            EXPECT_EQ(solve(Relay{p.M, p.q, -Vector::Ones(3), Vector::Ones(3)}).status, Status::non_finite) << k;
        }
}

TEST(PlainResiduals, AreNotFooledByDivergedUnknowns) {
    // Two walls that close on each other: the larger z, the smaller the quotient ‖F‖/‖z‖.
    const LinearComplementarity p{(Matrix(2, 2) << 1, -1, -1, 1).finished(), -Vector::Ones(2)};
    const std::vector<double> z{1e11, 1e11};
    std::vector<double> w(2);
    EXPECT_LT(residual(p, z), 1e-10);
    EXPECT_GT(verdict(p, z, w), 0.5);
    EXPECT_EQ(w, (std::vector<double>{-1, -1}));
}

}  // namespace
}  // namespace saltus::solvers::complementarity_workspace_test
