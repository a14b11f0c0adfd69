// SPDX-License-Identifier: Apache-2.0
// One sweep solves every block exactly in turn while the others are held.
#include <gtest/gtest.h>

#include "saltus/solvers/friction/detail/sweep.hpp"

#include "problems.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/detail/one_contact.hpp"

namespace saltus::solvers::sweep_test {
namespace {

using namespace test;

/// The definition, on the dense matrix.
std::vector<double> sweep_by_hand(const FrictionProblem& p, std::vector<double> r, SweepOrder order) {
    const Matrix W = to_dense(p.W);
    for (int k = 0; k < p.contacts(); ++k) {
        const int a = order == SweepOrder::backward ? p.contacts() - 1 - k : k;
        const Eigen::Index i = p.W.start[ix(a)], n = p.W.block_size(a);
        Vector others = to_eigen(r);
        others.segment(i, n).setZero();
        const Vector rest = (W * others + to_eigen(p.q)).segment(i, n);
        const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> own = W.block(i, i, n, n);
        const Law& law = p.laws[ix(a)];
        const double bound = law.kind == LawKind::scaled_slider ? law.mu * std::abs(r[ix(law.row)]) : law.bound;
        const std::vector<double> old = r;
        if (!solve_one(law, static_cast<int>(n), own.data(), rest.data(), bound, r.data() + i)) r = old;
    }
    return r;
}

struct Case {
    const char* name;
    std::vector<Sort> sorts;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Sweep : public testing::TestWithParam<Case> {};

TEST_P(Sweep, IsTheExactSolutionOfEachBlockInTurn) {
    Sweeper sweeper;
    for (unsigned seed = 0; seed < 60; ++seed) {
        Recipe recipe;
        recipe.condition = 10.0;
        recipe.friction = 0.5;
        if (seed % 2 == 1) recipe.bodies = 4;  // sparse
        recipe.compliance = 0.5;
        const Constructed c = constructed(seed, mixed(seed, GetParam().sorts, 5), recipe);
        sweeper.prepare(c.problem);
        Random random(seed);
        std::vector<double> r = to_vector(random.vector(static_cast<Eigen::Index>(c.r.size())));
        for (const SweepOrder order : {SweepOrder::forward, SweepOrder::backward, SweepOrder::forward}) {
            const std::vector<double> expected = sweep_by_hand(c.problem, r, order);
            sweeper.sweep(c.problem, r, order);
            // The sums have another order: the difference is rounding, magnified by blocks of condition 10.
            EXPECT_LE((to_eigen(r) - to_eigen(expected)).norm(), 1e-12 * to_eigen(expected).norm())
                << seed << (order == SweepOrder::backward ? " backwards" : "");
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Sweep,
                         testing::Values(Case{"one", {Sort::unilateral, Sort::slider}}, Case{"two", {Sort::planar}},
                                         Case{"three", {Sort::spatial}},
                                         Case{"mixed",
                                              {Sort::unilateral, Sort::planar, Sort::spatial, Sort::bilateral,
                                               Sort::rail, Sort::rail_in_the_plane, Sort::slider_in_the_plane}}),
                         [](const auto& c) { return std::string(c.param.name); });

TEST(SweepOfTwoBlocks, DependsOnTheOrder) {
    // W = (2 1; 1 2), q = (−2, −2), from zero: forwards (1, ½), backwards (½, 1).
    const FrictionProblem p =
        problem_of((Matrix(2, 2) << 2, 1, 1, 2).finished(), {-2, -2}, {unilateral(), unilateral()}, {1, 1});
    Sweeper sweeper;
    sweeper.prepare(p);
    std::vector<double> r(2, 0.0);
    sweeper.sweep(p, r);
    EXPECT_EQ(r, (std::vector<double>{1, 0.5}));
    r.assign(2, 0.0);
    sweeper.sweep(p, r, SweepOrder::backward);
    EXPECT_EQ(r, (std::vector<double>{0.5, 1}));
}

TEST(SweepFromASolution, StaysThere) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        Recipe recipe;
        recipe.condition = 10.0;
        recipe.friction = 0.2;  // each block has one solution
        const Constructed c =
            constructed(seed, mixed(seed, {Sort::unilateral, Sort::planar, Sort::spatial, Sort::slider}, 6), recipe);
        Sweeper sweeper;
        sweeper.prepare(c.problem);
        std::vector<double> r = c.r;
        sweeper.sweep(c.problem, r);
        EXPECT_LE((to_eigen(r) - to_eigen(c.r)).norm(), 1e-13 * (1.0 + to_eigen(c.r).norm())) << seed;
    }
}

TEST(SweepOverABlockWithoutASolution, LeavesItAsItWas) {
    const FrictionProblem p =
        problem_of((Matrix(2, 2) << 0, 0, 0, 2).finished(), {-1, -2}, {unilateral(), unilateral()}, {1, 1});
    Sweeper sweeper;
    sweeper.prepare(p);
    std::vector<double> r{7, 7};
    sweeper.sweep(p, r);
    EXPECT_EQ(r, (std::vector<double>{7, 1}));
}

TEST(SweepsOfFrictionlessProblems, LowerTheEnergy) {
    // Each block minimises ½ rᵀ W r + qᵀ r over its own reaction.
    for (unsigned seed = 0; seed < 30; ++seed) {
        const FrictionProblem p = pile(seed, mixed(seed, {Sort::unilateral}, 12), 2);
        const Matrix W = to_dense(p.W);
        const auto energy = [&](const std::vector<double>& r) {
            return 0.5 * to_eigen(r).dot(W * to_eigen(r)) + to_eigen(p.q).dot(to_eigen(r));
        };
        Sweeper sweeper;
        sweeper.prepare(p);
        std::vector<double> r(p.q.size(), 0.0);
        double before = energy(r);
        for (int k = 0; k < 10; ++k) {
            sweeper.sweep(p, r, k % 2 == 1 ? SweepOrder::backward : SweepOrder::forward);
            const double now = energy(r);
            EXPECT_LE(now, before + 1e-13 * std::abs(before)) << seed;
            before = now;
        }
    }
}

}  // namespace
}  // namespace saltus::solvers::sweep_test
