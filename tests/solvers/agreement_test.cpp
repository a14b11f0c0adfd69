// SPDX-License-Identifier: Apache-2.0
// If the solution is unique, all methods find the same one.
#include <gtest/gtest.h>

#include "problems.hpp"
#include "saltus/solvers/detail/residual.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::solvers::agreement_test {
namespace {

using namespace test;

constexpr double tolerance = 1e-12;

struct Method {
    const char* name;
    FrictionMethod method;
};

std::vector<Method> methods() {
    GaussSeidel gauss_seidel;
    gauss_seidel.tolerance = tolerance;
    Newton newton;
    newton.tolerance = tolerance;
    Proximal proximal;
    proximal.tolerance = tolerance;
    return {{"automatic", Automatic{tolerance}},
            {"gauss-seidel", gauss_seidel},
            {"newton", newton},
            {"proximal", proximal}};
}

Method lemke() {
    Lemke method;
    method.tolerance = tolerance;
    return {"lemke", method};
}

struct Case {
    const char* name;
    std::vector<Sort> sorts;
    bool linear;  // Lemke's method applies
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class OneAnswer : public testing::TestWithParam<Case> {};

/// With eigenvalues of W in [1/c, 1] and c √Σμ² < 1 the map r ↦ v̂ is strongly monotone: one solution, the one the
/// problem was made from. Distance and residual differ by a factor below (1/ρ + L)/m < 75 (residual_test.cpp).
TEST_P(OneAnswer, IsFoundByAllMethods) {
    Recipe recipe;
    recipe.condition = 5.0;
    recipe.friction = 0.2;
    std::vector<Method> list = methods();
    if (GetParam().linear) list.push_back(lemke());
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Constructed c = constructed(seed, mixed(seed, GetParam().sorts, 1 + static_cast<int>(seed % 9)), recipe);
        const Vector known = to_eigen(c.r);
        const double rho = 1.0 / c.problem.W.diagonal_mean();
        const double scale = std::max(rho * to_eigen(c.problem.q).norm(), known.norm());
        for (const Method& m : list) {
            const Solution s = solve(c.problem, m.method);
            EXPECT_EQ(s.status, Status::converged) << m.name << " seed " << seed << " residual " << s.residual;
            EXPECT_LE((to_eigen(s.r) - known).norm(), 100 * tolerance * scale) << m.name << " seed " << seed;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Laws, OneAnswer,
    testing::Values(Case{"unilateral", {Sort::unilateral}, true}, Case{"planar", {Sort::planar}, true},
                    Case{"planarAmongOthers", {Sort::planar, Sort::unilateral, Sort::bilateral, Sort::slider}, true},
                    Case{"spatial", {Sort::spatial}, false}, Case{"drilling", {Sort::drilling}, false},
                    Case{"rolling", {Sort::rolling}, false},
                    Case{"rollingAndDrilling", {Sort::rolling_and_drilling}, false},
                    Case{"patch", {Sort::patch}, false},
                    Case{"mixed",
                         {Sort::unilateral, Sort::planar, Sort::spatial, Sort::drilling, Sort::rolling, Sort::slider,
                          Sort::slider_in_the_plane, Sort::bilateral, Sort::rolling_and_drilling, Sort::patch},
                         false}),
    [](const auto& c) { return std::string(c.param.name); });

TEST(OneAnswerForEllipses, IsFoundByAllMethods) {
    // The same with the larger half axis, up to 3 · 0.8 · 0.2 = 0.48, for μ: c = 2.
    Recipe recipe;
    recipe.condition = 2.0;
    recipe.friction = 0.2;
    for (unsigned seed = 0; seed < 100; ++seed) {
        const Constructed c =
            constructed(seed, mixed(seed, {Sort::orthotropic, Sort::spatial}, 1 + static_cast<int>(seed % 9)), recipe);
        const double scale = std::max(to_eigen(c.problem.q).norm() / c.problem.W.diagonal_mean(), to_eigen(c.r).norm());
        for (const Method& m : methods()) {
            const Solution s = solve(c.problem, m.method);
            EXPECT_LT(s.residual, 10 * tolerance) << m.name << " seed " << seed;  // half axes: a factor 3 at most
            EXPECT_LE((to_eigen(s.r) - to_eigen(c.r)).norm(), 1e4 * tolerance * scale) << m.name << " seed " << seed;
        }
    }
}

TEST(OneVelocity, OfFrictionlessProblemsIsFoundByAllMethodsEvenForSingularMatrices) {
    // Laws that do not depend on r_N are monotone: (r − r')ᵀ W (r − r') <= 0 for two solutions, so W (r − r') = 0. For
    // two approximate solutions with the residual δ the left side is up to about δ ‖r‖‖v‖, so that ‖v − v'‖ is up to
    // 2 √δ times the larger of ‖v‖ and ‖W‖‖r‖.
    const std::vector<Sort> sorts{Sort::unilateral, Sort::slider, Sort::bilateral, Sort::unilateral,
                                  Sort::slider_in_the_plane};
    int converged = 0, total = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
        Recipe recipe;
        if (seed % 2 == 0)
            recipe.bodies = 2;
        else
            recipe.rank = 0.5;
        recipe.condition = 10.0;
        const Constructed c = constructed(seed, mixed(seed, sorts, 2 + static_cast<int>(seed % 12)), recipe);
        const Vector known = to_eigen(c.v);
        const double norm = c.problem.W.diagonal_mean() * static_cast<double>(c.r.size());  // the trace: >= ‖W‖
        const double scale = std::max({to_eigen(c.problem.q).norm(), known.norm(), norm * to_eigen(c.r).norm()});
        for (const Method& m : methods()) {
            const Solution s = solve(c.problem, m.method);
            ++total;
            if (s.status != Status::converged) {  // a single method need not get there when W is singular
                EXPECT_STRNE(m.name, "automatic") << seed << " residual " << s.residual;
                continue;
            }
            ++converged;
            EXPECT_LE((to_eigen(s.v) - known).norm(), 2e-6 * scale) << m.name << " seed " << seed;
        }
    }
    EXPECT_GT(converged, total * 9 / 10);
}

TEST(OneNormalVelocity, OfPilesWithoutFrictionIsFoundByLemkeToo) {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const FrictionProblem p = pile(seed, mixed(seed, {Sort::unilateral}, 10 + static_cast<int>(seed % 10)), 2);
        const Solution s = solve(p, Automatic{tolerance}), t = solve(p, lemke().method);
        ASSERT_EQ(s.status, Status::converged) << seed << " residual " << s.residual;
        ASSERT_EQ(t.status, Status::converged) << seed << " residual " << t.residual;
        EXPECT_LT((to_eigen(s.v) - to_eigen(t.v)).norm(), 2e-6 * to_eigen(p.q).norm()) << seed;  // as above
    }
}

}  // namespace
}  // namespace saltus::solvers::agreement_test
