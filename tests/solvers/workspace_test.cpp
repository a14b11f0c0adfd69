// SPDX-License-Identifier: Apache-2.0
// The shared memory of repeated solves: no allocation from the second solve on, and no influence on the result.
#include <gtest/gtest.h>
#include <thread>

#include "allocations.hpp"
#include "problems.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers::workspace_test {
namespace {

using namespace test;
using saltus::test::allocations;

const std::vector<Sort> contacts{Sort::spatial, Sort::unilateral, Sort::planar, Sort::bilateral};

/// Problems with the same pattern and different numbers: bodies and positions are equal, velocities differ.
std::vector<FrictionProblem> similar(unsigned seed, const std::vector<Sort>& sorts, int bodies, int count) {
    const FrictionProblem first = pile(seed, mixed(seed, sorts, 3 * bodies), bodies);
    Random random(seed);
    std::vector<FrictionProblem> list(ix(count), first);
    for (FrictionProblem& p : list)
        for (double& q : p.q) q *= random.uniform(0.5, 1.5);
    return list;
}

bool same_bits(const Solution& s, const Solution& t) {
    return s.status == t.status && s.r == t.r && s.v == t.v && s.residual == t.residual && s.method == t.method &&
           s.iterations == t.iterations && s.attempts.size() == t.attempts.size();
}

struct Case {
    const char* name;
    FrictionMethod method;
    int bodies;  // three contacts each
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class SharedWorkspace : public testing::TestWithParam<Case> {};

TEST_P(SharedWorkspace, AllocatesNothingForProblemsLikeThoseBefore) {
    // A little compliance keeps W regular, so that no Jacobian needs pivots over the whole matrix.
    std::vector<FrictionProblem> list =
        similar(3, {Sort::spatial, Sort::planar, Sort::unilateral}, GetParam().bodies, 6);
    for (FrictionProblem& p : list)
        for (int a = 0; a < p.W.blocks(); ++a)
            for (int i = 0; i < p.W.block_size(a); ++i)
                p.W.values[p.W.offset[ix(p.W.find(a, a))] + ix(i * (p.W.block_size(a) + 1))] += 0.3;
    Workspace workspace;
    Solution s;
    const auto solve_all = [&] {
        for (FrictionProblem& p : list) {
            solve(p, GetParam().method, workspace, s);
            EXPECT_EQ(s.status, Status::converged) << s.residual;
            p.q[0] *= 1.0 + 1e-3;  // the next time a little different
        }
    };
    solve_all();  // every method that these problems need has been used once
    const std::size_t before = allocations();
    solve_all();
    EXPECT_EQ(allocations() - before, 0U);
}

TEST(SharedWorkspaceForEveryLaw, AllocatesNothingForProblemsLikeThoseBefore) {
    const std::vector<Sort> sorts{Sort::unilateral,           Sort::planar,    Sort::spatial,
                                  Sort::orthotropic,          Sort::drilling,  Sort::rolling,
                                  Sort::rolling_and_drilling, Sort::patch,     Sort::slider,
                                  Sort::slider_in_the_plane,  Sort::bilateral, Sort::rail,
                                  Sort::rail_in_the_plane};
    const FrictionMethod methods[] = {Automatic{1e-9}, GaussSeidel{5000, 1e-8}, Newton{200, 1e-9},
                                      Proximal{.tolerance = 1e-9}};
    for (const int count : {6, 40})  // dense and block LU
        for (const Sort sort : sorts) {
            Recipe recipe;
            recipe.condition = 3.0;  // every method gets there
            FrictionProblem p = constructed(11, std::vector<Sort>(ix(count), sort), recipe).problem;
            for (const FrictionMethod& method : methods) {
                Workspace workspace;
                Solution s;
                solve(p, method, workspace, s);
                ASSERT_EQ(s.status, Status::converged)
                    << "sort " << static_cast<int>(sort) << " " << s.method << " " << s.residual;
                for (double& q : p.q) q *= 1.001;
                const std::size_t before = allocations();
                solve(p, method, workspace, s);
                EXPECT_EQ(allocations() - before, 0U) << "sort " << static_cast<int>(sort) << " " << s.method;
            }
        }
}

TEST(SharedWorkspaceForExtremeUnits, AllocatesNothingForProblemsLikeThoseBefore) {
    Recipe recipe;
    recipe.condition = 3.0;
    recipe.w_unit = 1e-120;
    FrictionProblem p = constructed(1, {Sort::spatial, Sort::planar, Sort::orthotropic}, recipe).problem;
    Workspace workspace;
    Solution s;
    solve(p, Automatic{1e-9}, workspace, s);
    ASSERT_EQ(s.status, Status::converged);
    const std::size_t before = allocations();
    solve(p, Automatic{1e-9}, workspace, s);
    EXPECT_EQ(allocations() - before, 0U);
}

TEST_P(SharedWorkspace, GivesTheBitsOfAFreshOne) {
    Workspace workspace;
    Solution shared;
    for (const FrictionProblem& p : similar(4, contacts, GetParam().bodies, 5)) {
        solve(p, GetParam().method, workspace, shared);
        EXPECT_TRUE(same_bits(shared, solve(p, GetParam().method)));
    }
}

TEST_P(SharedWorkspace, TakesPatternsAndSizesInTurn) {
    Workspace workspace;
    Solution shared;
    std::vector<FrictionProblem> list;
    for (unsigned seed = 0; seed < 6; ++seed) {
        const int bodies = seed % 2 == 0 ? GetParam().bodies : 1 + static_cast<int>(seed % 5);
        list.push_back(pile(seed, mixed(seed, {Sort::spatial, Sort::unilateral}, 2 * bodies), bodies));
    }
    list.push_back(constructed(1, {Sort::rail, Sort::spatial, Sort::rail_in_the_plane}, {}).problem);
    list.push_back(constructed(2, {Sort::slider, Sort::drilling}, {}).problem);
    list.push_back(FrictionProblem{});
    list.push_back(constructed(3, {Sort::orthotropic, Sort::orthotropic}, {}).problem);
    for (int round = 0; round < 2; ++round)
        for (std::size_t k = 0; k < list.size(); ++k) {
            solve(list[k], GetParam().method, workspace, shared);
            EXPECT_TRUE(same_bits(shared, solve(list[k], GetParam().method))) << round << " " << k;
        }
}

TEST_P(SharedWorkspace, InEachOfTwoThreadsGivesTheSameBits) {
    const std::vector<FrictionProblem> list = similar(5, contacts, GetParam().bodies, 8);
    std::vector<Solution> results[2];
    const auto work = [&](std::vector<Solution>& result) {
        Workspace workspace;
        Solution s;
        for (const FrictionProblem& p : list) {
            solve(p, GetParam().method, workspace, s);
            result.push_back(s);
        }
    };
    std::thread other(work, std::ref(results[1]));
    work(results[0]);
    other.join();
    for (std::size_t k = 0; k < list.size(); ++k) EXPECT_TRUE(same_bits(results[0][k], results[1][k])) << k;
}

INSTANTIATE_TEST_SUITE_P(Methods, SharedWorkspace,
                         testing::Values(Case{"automaticSmall", Automatic{1e-9}, 3},
                                         Case{"automaticLarge", Automatic{1e-9}, 40},  // 240 rows: block LU
                                         Case{"gaussSeidelSmall", GaussSeidel{5000, 1e-8}, 3},
                                         Case{"gaussSeidelLarge", GaussSeidel{5000, 1e-8}, 40},
                                         Case{"newtonSmall", Newton{200, 1e-9}, 3},
                                         Case{"newtonLarge", Newton{200, 1e-9}, 40},
                                         Case{"proximalSmall", Proximal{.tolerance = 1e-9}, 3},
                                         Case{"proximalLarge", Proximal{.tolerance = 1e-9}, 40}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(Guess, ThatIsASolutionCostsNoIterations) {
    const FrictionProblem p = pile(1, mixed(1, {Sort::spatial, Sort::planar}, 12), 3);
    const Solution first = solve(p, Automatic{1e-9});
    ASSERT_EQ(first.status, Status::converged);
    for (const FrictionMethod& method : std::vector<FrictionMethod>{Automatic{1e-9}, GaussSeidel{100, 1e-9},
                                                                    Newton{100, 1e-9}, Proximal{.tolerance = 1e-9}}) {
        const Solution s = solve(p, method, first.r);
        EXPECT_EQ(s.status, Status::converged);
        EXPECT_EQ(s.iterations, 0) << s.method;
        EXPECT_EQ(s.r, first.r) << s.method;
    }
}

TEST(Guess, ForEllipsesIsGivenInTheirOwnCoordinates) {
    Recipe recipe;
    recipe.condition = 10.0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        const Constructed c = constructed(seed, {Sort::orthotropic, Sort::spatial, Sort::orthotropic}, recipe);
        const Solution s = solve(c.problem, Automatic{1e-11}, c.r);
        EXPECT_EQ(s.iterations, 0) << seed;
        EXPECT_LE((to_eigen(s.r) - to_eigen(c.r)).norm(), 1e-14 * to_eigen(c.r).norm()) << seed;  // scaled and back
    }
}

TEST(Guess, NearASolutionSavesIterations) {
    int cold = 0, warm = 0;
    for (unsigned seed = 0; seed < 20; ++seed) {
        FrictionProblem p = pile(seed, mixed(seed, {Sort::spatial}, 12), 4);
        const Solution first = solve(p, GaussSeidel{20000, 1e-8});
        for (double& q : p.q) q *= 1.0 + 1e-6;
        cold += solve(p, GaussSeidel{20000, 1e-8}).iterations;
        warm += solve(p, GaussSeidel{20000, 1e-8}, first.r).iterations;
    }
    EXPECT_LT(warm, cold / 2);
}

TEST(Guess, MayBeTheReactionsThatAreOverwritten) {
    const std::vector<FrictionProblem> list = similar(6, {Sort::spatial, Sort::planar}, 4, 5);
    for (const FrictionMethod& method : std::vector<FrictionMethod>{
             Automatic{1e-9}, GaussSeidel{2000, 1e-8}, Newton{200, 1e-9}, Proximal{.tolerance = 1e-9}, Lemke{}}) {
        Workspace workspace;
        Solution s = solve(list[0], method);
        for (std::size_t k = 1; k < list.size(); ++k) {
            const std::vector<double> copy = s.r;
            const Solution expected = solve(list[k], method, copy);
            solve(list[k], method, workspace, s, s.r);
            EXPECT_TRUE(same_bits(s, expected)) << s.method << " " << k;
        }
    }
    // Orthotropic contacts are solved in other coordinates, in which they are isotropic.
    const Constructed c = constructed(1, {Sort::orthotropic, Sort::orthotropic}, {});
    Workspace workspace;
    Solution s = solve(c.problem);
    const Solution expected = solve(c.problem, Automatic{}, s.r);
    solve(c.problem, Automatic{}, workspace, s, s.r);
    EXPECT_TRUE(same_bits(s, expected));
}

TEST(Guess, ThatIsNotFiniteIsIgnored) {
    const FrictionProblem p = pile(1, mixed(1, {Sort::spatial, Sort::planar}, 12), 3);
    for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()}) {
        std::vector<double> guess(p.q.size(), 1.0);
        guess.back() = bad;
        EXPECT_TRUE(same_bits(solve(p, Automatic{}, guess), solve(p)));
    }
}

TEST(SolutionThatIsUsedAgain, KeepsNothingOfTheSolveBefore) {
    Workspace workspace;
    Solution s;
    const FrictionProblem hopeless =
        problem_of((Matrix(2, 2) << 1, -1, -1, 1).finished(), {-1, -1}, {unilateral(), unilateral()}, {1, 1});
    solve(hopeless, Automatic{}, workspace, s);
    ASSERT_EQ(s.status, Status::infeasible);
    const FrictionProblem easy = one(Matrix::Identity(3, 3), {-1, 3, 4}, spatial(0.3));
    solve(easy, Automatic{}, workspace, s);
    EXPECT_TRUE(s.certificate.empty());
    EXPECT_TRUE(same_bits(s, solve(easy)));
    FrictionProblem broken = easy;
    broken.q[0] = std::nan("");
    solve(broken, Automatic{}, workspace, s);
    EXPECT_EQ(s.status, Status::non_finite);
    EXPECT_TRUE(s.attempts.empty());
    solve(easy, Automatic{}, workspace, s);
    EXPECT_TRUE(same_bits(s, solve(easy)));
}

}  // namespace
}  // namespace saltus::solvers::workspace_test
