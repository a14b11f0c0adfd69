// SPDX-License-Identifier: Apache-2.0
// Problems constructed from a known solution, for every law and several kinds of matrices, solved automatically.
#include <gtest/gtest.h>
#include <sstream>

#include "problems.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers::constructed_test {
namespace {

using namespace test;

constexpr double wanted = 1e-8;

/// Counts the solved problems and lists the others.
struct Tally {
    int solved = 0, total = 0;
    std::ostringstream missed;

    void add(const FrictionProblem& p, unsigned seed) {
        ++total;
        const Solution s = solve(p, Automatic{wanted});
        const double own = residual(p, s.r);  // not what the solver says of itself
        if (s.status == Status::converged && own <= wanted)
            ++solved;
        else
            missed << " " << seed << " (" << to_string(s.status) << " " << own << ")";
    }
};

struct Family {
    const char* name;
    std::vector<Sort> sorts;
    int problems = 150;  // of each recipe
};

void PrintTo(const Family& family, std::ostream* out) { *out << family.name; }

const std::vector<Sort> all_sorts{Sort::unilateral,
                                  Sort::planar,
                                  Sort::spatial,
                                  Sort::orthotropic,
                                  Sort::drilling,
                                  Sort::rolling,
                                  Sort::rolling_and_drilling,
                                  Sort::patch,
                                  Sort::slider,
                                  Sort::slider_in_the_plane,
                                  Sort::bilateral,
                                  Sort::rail,
                                  Sort::rail_in_the_plane,
                                  Sort::orthotropic_slider,
                                  Sort::orthotropic_rail};

Tally solve_family(const Family& family, const Recipe& recipe) {
    Tally tally;
    for (int k = 0; k < family.problems; ++k) {
        const auto seed = static_cast<unsigned>(k);
        const Constructed c = constructed(seed, mixed(seed, family.sorts, 1 + k % 10), recipe);
        // q = v − W r is rounded to n ε ‖W‖‖r‖, and ρ‖W‖ <= n: 60² ε for the largest ones here.
        EXPECT_LE(residual(c.problem, c.r), 1e-12) << "the test's own solution, seed " << seed;
        tally.add(c.problem, seed);
    }
    return tally;
}

void expect_solved(const Family& family, const Recipe& recipe, const std::string& what) {
    const Tally tally = solve_family(family, recipe);
    EXPECT_EQ(tally.solved, tally.total) << what << ":" << tally.missed.str();
}

class ConstructedProblems : public testing::TestWithParam<Family> {};

TEST_P(ConstructedProblems, AreSolvedWhateverTheConditionOfTheMatrix) {
    for (const int exponent : {0, 2, 4, 8, 12}) {
        Recipe recipe;
        recipe.condition = std::pow(10.0, exponent);
        expect_solved(GetParam(), recipe, "condition 1e" + std::to_string(exponent));
    }
}

TEST_P(ConstructedProblems, AreSolvedForSingularMatrices) {
    Recipe half;
    half.condition = 1e2;
    half.rank = 0.5;
    expect_solved(GetParam(), half, "rank n/2");
    Recipe structure;
    structure.bodies = 2;
    expect_solved(GetParam(), structure, "two bodies, up to ten contacts");
    structure.bodies = 8;
    expect_solved(GetParam(), structure, "eight bodies, sparse");
}

TEST_P(ConstructedProblems, AreSolvedForSlightlyUnsymmetricMatrices) {
    for (const int exponent : {-6, -3}) {
        Recipe recipe;
        recipe.condition = 1e2;
        recipe.asymmetry = std::pow(10.0, exponent);
        expect_solved(GetParam(), recipe, "asymmetry 1e" + std::to_string(exponent));
    }
}

/// Singular with an antisymmetric part, W is not monotone any more, and the known
/// solution attracts only nearby iterates.
TEST_P(ConstructedProblems, AreSolvedForSingularAndUnsymmetricMatrices) {
    for (const int exponent : {-6, -3}) {
        Recipe recipe;
        recipe.bodies = 2;
        recipe.asymmetry = std::pow(10.0, exponent);
        expect_solved(GetParam(), recipe, "two bodies, asymmetry 1e" + std::to_string(exponent));
        recipe.bodies = 0;
        recipe.rank = 0.5;
        recipe.condition = 1e2;
        expect_solved(GetParam(), recipe, "rank n/2, asymmetry 1e" + std::to_string(exponent));
    }
}

TEST_P(ConstructedProblems, AreSolvedInAllUnits) {
    const struct {
        double w, q;
        const char* name;
    } units[] = {{1e-9, 1e-6, "W in 1e-9, q in 1e-6"},
                 {1e9, 1e6, "W in 1e9, q in 1e6"},
                 {1e-9, 1e6, "W in 1e-9, q in 1e6"},
                 {1e12, 1e-9, "W in 1e12, q in 1e-9"}};
    for (const auto& unit : units) {
        Recipe recipe;
        recipe.condition = 1e4;
        recipe.w_unit = unit.w;
        recipe.q_unit = unit.q;
        expect_solved(GetParam(), recipe, unit.name);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Laws, ConstructedProblems,
    testing::Values(Family{"unilateral", {Sort::unilateral}}, Family{"planar", {Sort::planar}},
                    Family{"spatial", {Sort::spatial}}, Family{"orthotropic", {Sort::orthotropic}},
                    Family{"drilling", {Sort::drilling}}, Family{"rolling", {Sort::rolling}},
                    Family{"rollingAndDrilling", {Sort::rolling_and_drilling}}, Family{"slider", {Sort::slider}},
                    Family{"sliderInThePlane", {Sort::slider_in_the_plane}}, Family{"bilateral", {Sort::bilateral}},
                    Family{"patch", {Sort::patch}, 100}, Family{"rail", {Sort::rail}},
                    Family{"railInThePlane", {Sort::rail_in_the_plane}},
                    Family{"orthotropicSlider", {Sort::orthotropic_slider}},
                    Family{"orthotropicRail", {Sort::orthotropic_rail}}, Family{"mixed", all_sorts, 400}),
    [](const auto& family) { return std::string(family.param.name); });

struct Heap {
    const char* name;
    std::vector<Sort> sorts;
};
void PrintTo(const Heap& heap, std::ostream* out) { *out << heap.name; }

class Piles : public testing::TestWithParam<Heap> {};

TEST_P(Piles, OfBodiesWithAWayOutAreSolved) {
    const struct {
        int contacts, bodies, problems;
    } shapes[] = {{6, 1, 150}, {12, 2, 150}, {20, 3, 100}, {20, 10, 100}, {60, 10, 20}, {60, 40, 20}, {200, 60, 4}};
    for (const auto& shape : shapes) {
        Tally tally;
        for (unsigned seed = 0; seed < static_cast<unsigned>(shape.problems); ++seed)
            tally.add(pile(seed, mixed(seed, GetParam().sorts, shape.contacts), shape.bodies), seed);
        EXPECT_EQ(tally.solved, tally.total)
            << shape.contacts << " contacts, " << shape.bodies << " bodies:" << tally.missed.str();
    }
}

INSTANTIATE_TEST_SUITE_P(Laws, Piles,
                         testing::Values(Heap{"unilateral", {Sort::unilateral}}, Heap{"planar", {Sort::planar}},
                                         Heap{"spatial", {Sort::spatial}},
                                         Heap{"mixed", {Sort::unilateral, Sort::planar, Sort::spatial}}),
                         [](const auto& heap) { return std::string(heap.param.name); });

TEST(LargeConstructedProblems, AreSolvedInSparseBlocks) {
    for (const double compliance : {0.0, 1e-3}) {
        Tally tally;
        for (unsigned seed = 0; seed < 10; ++seed) {
            Recipe recipe;
            recipe.bodies = 60;
            recipe.compliance = compliance;
            tally.add(constructed(seed, mixed(seed, all_sorts, 100), recipe).problem, seed);
        }
        EXPECT_EQ(tally.solved, tally.total) << "compliance " << compliance << ":" << tally.missed.str();
    }
}

TEST(LargeConstructedProblems, WithABilateralBlockOfAHundredRowsAreSolved) {
    Random random(3);
    const int n = 100 + 30;
    std::vector<Law> laws{bilateral()};
    std::vector<int> sizes{100};
    for (int i = 0; i < 10; ++i) laws.push_back(spatial(0.4)), sizes.push_back(3);
    const FrictionProblem p = problem_of(with_condition(random, n, 1e2, n), to_vector(random.vector(n)), laws, sizes);
    Tally tally;
    tally.add(p, 3);
    EXPECT_EQ(tally.solved, 1) << tally.missed.str();
}

TEST(ConstructedProblemsSolvedTwice, GiveTheSameBits) {
    Recipe recipe;
    recipe.condition = 1e6;
    recipe.rank = 0.5;
    const Constructed c = constructed(5, mixed(5, all_sorts, 8), recipe);
    EXPECT_EQ(solve(c.problem).r, solve(c.problem).r);
}

}  // namespace
}  // namespace saltus::solvers::constructed_test
