// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibria.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability::equilibria_test {
namespace {

using std::numbers::pi;
using test::from_text;
using test::shipped;

constexpr double promised = 1e-9;  // of extents, relative to 1 + |q|

std::string story(const Equilibria& e) {
    std::string text = std::string(to_string(e.status)) + "\n";
    for (std::size_t k = 0; k < e.sets.size(); ++k) {
        const EquilibriumSet& s = e.sets[k];
        text += Equilibria::label(k) + " " + std::string(to_string(s.shape)) + " closed";
        for (std::size_t i = 0; i < s.closed.size(); ++i)
            if (s.closed[i] != 0) text += " " + e.contacts[i];
        for (Eigen::Index i = 0; i < s.lower.size(); ++i)
            text += ", " + e.coordinates[static_cast<std::size_t>(i)] + " " + number_text(s.lower(i)) + " .. " +
                    number_text(s.upper(i));
        text += "\n";
    }
    return text;
}

void expect_extent(const EquilibriumSet& s, Eigen::Index i, double lower, double upper) {
    EXPECT_NEAR(s.lower(i), lower, promised * (1.0 + std::abs(lower))) << i;
    EXPECT_NEAR(s.upper(i), upper, promised * (1.0 + std::abs(upper))) << i;
}

// leine_falling_block_static_A and closed forms: k|x| <= mu m g, y = 0.
TEST(Equilibria, FallingBlockRestsOnAnIntervalOfTheFloor) {
    for (const auto& [m, k, g, mu] :
         {std::array{1.0, 10.0, 9.81, 0.3}, {2.5, 40.0, 1.62, 0.9}, {0.1, 3.0, 9.81, 0.01}}) {
        const Equilibria e = equilibria(shipped("falling-block", {{"m", m}, {"k", k}, {"g", g}, {"mu", mu}}));
        ASSERT_EQ(e.sets.size(), 1U) << story(e);
        const EquilibriumSet& s = e.sets[0];
        EXPECT_TRUE(s.exact);
        EXPECT_EQ(s.shape, SetShape::interval);
        EXPECT_TRUE(s.contains_frictionless);
        EXPECT_TRUE(s.isolated);
        expect_extent(s, 0, -mu * m * g / k, mu * m * g / k);
        expect_extent(s, 1, 0.0, 0.0);
        // V_max_on_E
        EXPECT_NEAR(s.potential_greatest, 0.5 * k * std::pow(mu * m * g / k, 2), 1e-12);
    }
}

TEST(Equilibria, FallingBlockWithoutFrictionHasOnePoint) {
    const Equilibria e = equilibria(shipped("falling-block", {{"mu", 0.0}}));
    ASSERT_EQ(e.sets.size(), 1U) << story(e);
    EXPECT_EQ(e.sets[0].dimension, 0);
    expect_extent(e.sets[0], 0, 0.0, 0.0);
    EXPECT_TRUE(e.sets[0].contains_frictionless);
}

// leine_rocking_bar_A, _C; leine_rocking_block_A, _D. On one corner it stands where the reaction points at the centre
// of mass: tan of the lean is at most mu.
TEST(Equilibria, RockingBarAndBlockRestOnBothEndsAndStandOnOne) {
    struct Case {
        const char* model;
        double k, a, b;
    };
    for (const Case& c : {Case{"rocking-bar", 10.0, 0.5, 0.0},
                          {"rocking-bar", 3.0, 0.5, 0.0},
                          {"rocking-block", 10.0, 0.5, 0.3},
                          {"rocking-block", 4.0, 0.5, 0.3},
                          {"rocking-block", 7.0, 0.2, 0.6}}) {
        test::Values set{{"k", c.k}, {"a", c.a}};
        if (c.b > 0.0) set.emplace_back("b", c.b);
        const Equilibria e = equilibria(shipped(c.model, set));
        const double reach = 0.3 * 9.81 / c.k;
        ASSERT_EQ(e.sets.size(), 4U) << story(e);
        const EquilibriumSet& both = e.sets[0];
        EXPECT_EQ(both.closed, (std::vector<char>{1, 1}));
        EXPECT_TRUE(both.exact);
        EXPECT_TRUE(both.contains_frictionless);
        expect_extent(both, 0, -reach, reach);
        expect_extent(both, 1, c.b, c.b);
        expect_extent(both, 2, 0.0, 0.0);
        // The corner lies straight below the centre at this angle, and may be off by the angle of friction.
        const double upright = std::atan2(c.a, c.b), lean = std::atan(0.3);
        const double height = std::hypot(c.a, c.b);
        for (const std::size_t k : {1U, 2U}) {
            const EquilibriumSet& one = e.sets[k];
            EXPECT_FALSE(one.exact);
            EXPECT_EQ(one.shape, SetShape::curve);
            EXPECT_TRUE(one.contains_frictionless);
            const double side = one.closed[0] != 0 ? 1.0 : -1.0;
            expect_extent(one, 0, -reach, reach);
            expect_extent(one, 1, height * std::cos(lean), height);
            expect_extent(one, 2, side > 0.0 ? upright - lean : -upright - lean,
                          side > 0.0 ? upright + lean : -upright + lean);
        }
        EXPECT_NEAR(e.periods[2], 2.0 * pi, 1e-15);
    }
}

// A tall block with much friction tips before it slips: k|x| <= m g min(mu, a/b). Then it can stand on one corner from
// phi = 0 on, and these sets touch.
TEST(Equilibria, TallBlockTipsBeforeItSlips) {
    std::mt19937 random(4);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int trial = 0; trial < 6; ++trial) {
        const double m = 0.2 + 3.0 * uniform(random), k = 1.0 + 30.0 * uniform(random),
                     g = 2.0 + 10.0 * uniform(random);
        const double mu = 0.1 + 1.3 * uniform(random), a = 0.1 + 0.2 * uniform(random),
                     b = 0.15 + 0.4 * uniform(random);
        model::BuildOptions options;
        for (const auto& [name, value] : test::Values{{"m", m}, {"k", k}, {"g", g}, {"mu", mu}, {"a", a}, {"b", b}})
            options.set.emplace_back(name, number_text(value));
        options.project_initial = true;
        const Equilibria e = equilibria(model::build(test::description_of("rocking-block"), options));
        const double reach = std::min(mu, a / b) * m * g / k;
        const EquilibriumSet& both = e.sets.at(0);
        ASSERT_EQ(both.closed, (std::vector<char>{1, 1})) << story(e);
        EXPECT_TRUE(both.exact);
        expect_extent(both, 0, -reach, reach);
        EXPECT_EQ(both.isolated, mu < a / b) << mu << " " << a / b;
        for (const SetLimit& limit : both.limits) EXPECT_EQ(limit.opens.empty(), mu < a / b);
        const double upright = std::atan2(a, b), lean = std::atan(mu);
        for (const EquilibriumSet& one : e.sets) {
            if (one.closed != std::vector<char>{1, 0} || std::abs(one.representative(2) - upright) > 0.1) continue;
            expect_extent(one, 2, std::max(0.0, upright - lean), upright + lean);
            EXPECT_EQ(one.touches.empty(), mu < a / b);
        }
    }
}

// leine_beam_static_paper and others: tan a = 2 mu2/(1 − mu1 mu2), around 0 and π; merged from mu1 mu2 = 1 on.
TEST(Equilibria, BeamInGroovesHasTwoSetsUntilTheyMerge) {
    for (const auto& [mu1, mu2] : {std::pair{0.3, 0.3}, {0.05, 0.6}, {1.5, 0.2}, {0.5, 1.9}, {1.0, 0.9999}}) {
        const Equilibria e = equilibria(shipped("constrained-beam", {{"mu1", mu1}, {"mu2", mu2}}));
        ASSERT_EQ(e.sets.size(), 2U) << story(e);
        const double a = std::atan2(2.0 * mu2, 1.0 - mu1 * mu2);
        for (const std::size_t k : {0U, 1U}) {
            const double centre = k == 0 ? 0.0 : pi;
            expect_extent(e.sets[k], 2, centre - a, centre + a);
            expect_extent(e.sets[k], 0, -std::sin(a), std::sin(a));
            expect_extent(e.sets[k], 1, k == 0 ? -1.0 : std::cos(a), k == 0 ? -std::cos(a) : 1.0);
            EXPECT_TRUE(e.sets[k].contains_frictionless);
            EXPECT_TRUE(e.sets[k].isolated);
        }
    }
    for (const auto& [mu1, mu2] : {std::pair{1.0, 1.0}, {0.5, 2.5}, {2.0, 3.0}}) {
        const Equilibria e = equilibria(shipped("constrained-beam", {{"mu1", mu1}, {"mu2", mu2}}));
        ASSERT_EQ(e.sets.size(), 1U) << story(e);
        EXPECT_EQ(e.sets[0].around, (std::vector<char>{0, 0, 1}));
        expect_extent(e.sets[0], 0, -1.0, 1.0);
        expect_extent(e.sets[0], 2, -pi, pi);
    }
}

const char* const linear = R"TOML(
[system]
name = "two degrees of freedom with friction"
q = ["a", "b"]
T = "1/2*a'^2 + b'^2"
U = "k11/2*a^2 + k12*a*b + k22/2*b^2"
[parameters]
k11 = 12.0
k12 = -4.0
k22 = 6.0
f1 = 1.0
f2 = 0.8
[[slider]]
name = "first"
gammaT = "a'"
mu = 1.0
FN = "f1"
[[slider]]
name = "second"
gammaT = "b'"
mu = 1.0
FN = "f2"
[initial]
q = { a = 2.0, b = -1.0 }
)TOML";

// The corners are K⁻¹(±f1, ±f2).
TEST(Equilibria, LinearSystemsWithFrictionHaveParallelograms) {
    const auto corners_of = [](const char* name) {
        return test::reference::entry(name)["outputs"]["E_vertices"].rows();
    };
    const std::vector<std::pair<test::Values, std::vector<std::vector<double>>>> cases{
        {{}, corners_of("leine_linear_2dof_stable_A")},
        {{{"k11", 2.0}, {"k12", -3.0}, {"k22", 2.0}, {"f1", 0.5}, {"f2", 0.2}},
         corners_of("leine_linear_2dof_negstiff_A")}};
    for (const auto& [set, corners] : cases) {
        const Equilibria e = equilibria(from_text(linear, set));
        ASSERT_EQ(e.sets.size(), 1U) << story(e);
        const EquilibriumSet& s = e.sets[0];
        EXPECT_TRUE(s.exact);
        EXPECT_EQ(s.shape, SetShape::polytope);
        ASSERT_EQ(s.boundary.size(), 4U) << story(e);
        for (const auto& corner : corners) {
            double nearest = 1.0;
            for (const Vector& v : s.boundary)
                nearest = std::min(nearest, std::hypot(v(0) - corner[0], v(1) - corner[1]));
            EXPECT_LE(nearest, 1e-12);
        }
    }
}

TEST(Equilibria, SpatialFrictionGivesAnEllipse) {
    // The spring's force K (x, y) is at most mu m g: x² reaches (K⁻²)₁₁ (mu m g)².
    const char* const text = R"TOML(
[system]
name = "block on a plane"
q = ["x", "y", "z"]
T = "1/2*(x'^2 + y'^2 + z'^2)"
U = "9.81*z + 5*x^2 + 10*y^2 + 2*x*y"
[[contact]]
name = "plane"
gN = "z"
gammaT = ["x'", "y'"]
mu = 0.5
)TOML";
    const Equilibria e = equilibria(from_text(text));
    ASSERT_EQ(e.sets.size(), 1U) << story(e);
    const EquilibriumSet& s = e.sets[0];
    EXPECT_TRUE(s.exact);
    EXPECT_EQ(s.shape, SetShape::convex);
    Eigen::Matrix2d K;
    K << 10.0, 2.0, 2.0, 20.0;
    const Matrix square = solve_columns(K * K, Matrix::Identity(2, 2));
    for (Eigen::Index i = 0; i < 2; ++i) {
        const double reach = 0.5 * 9.81 * std::sqrt(square(i, i));
        expect_extent(s, i, -reach, reach);
    }
    EXPECT_GE(s.boundary.size(), 20U);
    for (const Vector& q : s.boundary) EXPECT_NEAR((K * q.head<2>()).norm(), 0.5 * 9.81, 1e-8);
}

TEST(Equilibria, SphereRestsAnywhereOnThePlane) {
    const Equilibria e = equilibria(shipped("sphere-on-plane"));
    ASSERT_EQ(e.sets.size(), 1U) << story(e);
    const EquilibriumSet& s = e.sets[0];
    EXPECT_TRUE(s.exact);
    EXPECT_EQ(s.dimension, 5);
    EXPECT_TRUE(std::isinf(s.lower(0)) && std::isinf(s.upper(1)));
    expect_extent(s, 2, 0.03, 0.03);
    EXPECT_EQ(s.around, (std::vector<char>{0, 0, 0, 1, 1, 0}));
}

// |m g l sin a| <= M: around 0 and around π.
TEST(Equilibria, PendulumWithFrictionInTheJointHasTwoSets) {
    const char* const text = R"TOML(
[system]
name = "pendulum"
q = ["a"]
T = "1/2*a'^2"
U = "-10*cos(a)"
[parameters]
M = 4.0
[[slider]]
name = "joint"
gammaT = "a'"
mu = 1.0
FN = "M"
)TOML";
    for (const double M : {4.0, 0.5, 9.999}) {
        const Equilibria e = equilibria(from_text(text, {{"M", M}}));
        ASSERT_EQ(e.sets.size(), 2U) << story(e);
        const double a = std::asin(M / 10.0);
        expect_extent(e.sets[0], 0, -a, a);
        expect_extent(e.sets[1], 0, pi - a, pi + a);
    }
    const Equilibria held = equilibria(from_text(text, {{"M", 10.5}}));
    ASSERT_EQ(held.sets.size(), 1U) << story(held);
    EXPECT_EQ(held.sets[0].around[0], 1);
}

TEST(Equilibria, ModelsWithoutEquilibriaReportTheReason) {
    EXPECT_EQ(equilibria(shipped("moving-wall")).status, SearchStatus::time_dependent);
    EXPECT_EQ(equilibria(shipped("impact-oscillator")).status, SearchStatus::time_dependent);
    EXPECT_EQ(equilibria(shipped("hydrostatic-skeleton")).status, SearchStatus::too_large);
    const Equilibria falling = equilibria(from_text(R"TOML(
[system]
name = "falling"
q = ["y"]
T = "1/2*y'^2"
U = "9.81*y"
)TOML"));
    EXPECT_EQ(falling.status, SearchStatus::searched);
    EXPECT_TRUE(falling.sets.empty());
}

}  // namespace
}  // namespace saltus::stability::equilibria_test
