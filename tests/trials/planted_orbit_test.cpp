// SPDX-License-Identifier: Apache-2.0
//
// Planted false statements about jumps, orbits, branches and diagrams, and closed forms for the plain integrator.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "machine/judge_flow.hpp"
#include "machine/judge_motion.hpp"
#include "machine/plain_flow.hpp"
#include "machine/time_stepping.hpp"

using namespace trials;

namespace {

constexpr double pi = std::numbers::pi;

bool has(const Findings& findings, const std::string& sort) {
    return std::ranges::any_of(findings.violations, [&](const Violation& v) { return v.sort == sort; });
}

/// x'' + 0.4 x' + 4.04 x = p cos t: x = A cos t + B sin t with 3.04 A + 0.4 B = p, 3.04 B = 0.4 A. The eigenvalues are
/// −0.2 ± 2i, so that both multipliers of the period 2π are exp(−0.4 π).
Model damped_oscillator() {
    Model model = point_masses(1, 1.0);
    model.potential = {Expression(2.02) * power(Expression::position(0), 2)};
    model.dissipation = {Expression(0.2) * power(Expression::velocity(0), 2)};
    model.forces[0] = {Expression::parameter(1.0) * cosine(Expression::time())};
    model.parameter = 1.0;
    model.period = "2*pi/1";
    return model;
}

const double orbit_x = 1.0 / (3.04 + 0.16 / 3.04), orbit_u = 0.4 / 3.04 * orbit_x, multiplier = std::exp(-0.4 * pi);

nlohmann::json orbit_document(double x, double m, bool stable) {
    return {{"parameter", {{"p", 1.0}}},
            {"period", 2.0 * pi},
            {"state", {{"q", {{"x", x}}}, {"u", {{"x", orbit_u}}}}},
            {"multipliers", {{m, 0.0}, {m, 0.0}}},
            {"stable", stable},
            {"unstable_count", stable ? 0 : 1}};
}

Findings judged(const nlohmann::json& document) {
    Findings findings;
    judge_closed_motion(damped_oscillator(), document, true, findings);
    return findings;
}

/// A mass that is turned round at x = 0.5.
Model turned_mass() {
    Model model = point_masses(1, 1.0);
    Jump jump{"turn", Expression::position(0) - 0.5, 1, {}, {{}}, {}};
    jump.u = {Expression(-0.5) * Expression::velocity(0)};
    model.jumps = {jump};
    model.u0 = {1.0};
    return model;
}

/// Its motion if it turns at the place `at` and leaves with the velocity `v`.
Motion turned_motion(double at, double v) {
    Motion motion;
    motion.arcs.resize(2);
    for (int i = 0; i <= 50; ++i) motion.arcs[0].push_back({at * i / 50, {at * i / 50}, {1.0}});
    for (int i = 0; i <= 50; ++i)
        motion.arcs[1].push_back({at + (1.0 - at) * i / 50, {at + v * (1.0 - at) * i / 50}, {v}});
    motion.events = {{"jump", motion.arcs[0].back(), motion.arcs[1].front(), nlohmann::json::object(), {}, "turn"}};
    motion.document = {{"violation", {{"gap", 0.0}}},
                       {"events", nlohmann::json::array()},
                       {"forces", nlohmann::json::object()},
                       {"energy", {{"initial", 0.5}, {"final", v * v / 2}, {"balance_error", 0.0}}}};
    return motion;
}

}  // namespace

TEST(JudgeOfOrbits, AcceptsAnOrbitAndFindsWrongOnes) {
    const Findings right = judged(orbit_document(orbit_x, multiplier, true));
    EXPECT_TRUE(right.violations.empty()) << right.violations[0].text;
    EXPECT_GE(right.statements, 3);
    EXPECT_TRUE(has(judged(orbit_document(orbit_x + 1e-4, multiplier, true)), "orbit-open"));
    EXPECT_TRUE(has(judged(orbit_document(orbit_x, multiplier + 0.02, true)), "multipliers"));
    EXPECT_TRUE(has(judged(orbit_document(orbit_x, multiplier, false)), "verdict"));
}

TEST(JudgeOfBranches, FindsMissingAndWronglyNamedSpecialPoints) {
    const nlohmann::json orbit = orbit_document(orbit_x, multiplier, true);
    nlohmann::json branch = {{"points", {orbit, orbit}}, {"special", nlohmann::json::array()}, {"branches", {}}};
    EXPECT_TRUE(judge_branch(damped_oscillator(), branch).violations.empty());
    nlohmann::json changed = branch;
    changed["points"][1]["stable"] = false;
    changed["points"][1]["unstable_count"] = 1;
    EXPECT_TRUE(has(judge_branch(damped_oscillator(), changed), "special-missing"));
    nlohmann::json named = branch;
    named["special"] = {{{"kind", "period doubling"}, {"index", 1}, {"parameter", {{"p", 1.0}}}, {"at", orbit}}};
    EXPECT_TRUE(has(judge_branch(damped_oscillator(), named), "special-multiplier"));
    nlohmann::json turning = branch;
    turning["points"] = {orbit, orbit, orbit};
    turning["points"][1]["parameter"]["p"] = 1.1;
    turning["points"][1]["state"]["q"]["x"] = 1.1 * orbit_x;
    turning["points"][1]["state"]["u"]["x"] = 1.1 * orbit_u;
    EXPECT_TRUE(has(judge_branch(damped_oscillator(), turning), "fold-missing"));
}

TEST(JudgeOfDiagrams, FindsWrongPointsAndExponents) {
    const nlohmann::json point = {orbit_x, orbit_u};
    nlohmann::json document = {{"parameter", {{"name", "p"}, {"values", {1.0}}}},
                               {"section", nlohmann::json::array({nlohmann::json::array()})},
                               {"exponents", {{-0.2, -0.2}}}};
    for (int i = 0; i < 8; ++i) document["section"][0].push_back(point);
    EXPECT_TRUE(judge_diagram_document(damped_oscillator(), document).violations.empty());
    nlohmann::json unstable = document;
    unstable["exponents"] = {{0.2, -0.2}};
    EXPECT_TRUE(has(judge_diagram_document(damped_oscillator(), unstable), "exponent"));
    nlohmann::json moved = document;
    moved["section"][0][3][0] = orbit_x + 1e-3;
    EXPECT_TRUE(has(judge_diagram_document(damped_oscillator(), moved), "section-point"));
}

TEST(JudgeOfMotions, FindsJumpsThatAreMissedMisplacedOrFalse) {
    const Model model = turned_mass();
    const Findings right = judge_laws(model, turned_motion(0.5, -0.5));
    EXPECT_TRUE(right.violations.empty()) << right.violations[0].text;
    EXPECT_TRUE(has(judge_laws(model, turned_motion(0.5, -0.4)), "jump-values"));
    EXPECT_TRUE(has(judge_laws(model, turned_motion(0.45, -0.5)), "jump-place"));
    EXPECT_TRUE(has(judge_laws(model, turned_motion(0.6, -0.5)), "jump-missed"));
}

// A block is pulled with the force t. It is held until t = 0.4, then x'' = t − 0.2. So x' = t²/2 − t/5, x = t³/6 −
// t²/10 + c, and x(1) = 0.072, x'(1) = 0.3.
TEST(PlainFlow, HoldsUpToStaticFrictionAndSlidesWithLess) {
    Model model = point_masses(1, 1.0);
    model.forces[0] = {Expression::time()};
    Slider slider{"ground", {Expression::velocity(0)}, {FrictionLaw::Kind::planar, {0.2}, 0.0}, 1.0, {}};
    slider.friction.mu_static = 0.4;
    model.sliders = {slider};
    const double velocity = 0.42 - 0.12, x = (1.0 / 6 - 0.1) - (0.064 / 6 - 0.016);
    const auto course = PlainFlow(model).run({0.0, {0.0}, {0.0}}, 1.0, 100);
    ASSERT_TRUE(course);
    EXPECT_EQ(course->events, "s");
    EXPECT_NEAR(course->end.u[0], velocity, 1e-9);
    EXPECT_NEAR(course->end.q[0], x, 1e-9);
    const auto stepped = TimeStepping(model).run({0.0, {0.0}, {0.0}}, 1.0, 4000);
    ASSERT_TRUE(stepped);
    EXPECT_NEAR(stepped->q[0], x, 1e-3);
}

TEST(PlainFlow, FollowsImpactsJumpsAndSprings) {
    const auto turned = PlainFlow(turned_mass()).run({0.0, {0.0}, {1.0}}, 1.0, 100);
    ASSERT_TRUE(turned);
    EXPECT_NEAR(turned->end.q[0], 0.25, 1e-9);
    const auto stepped = TimeStepping(turned_mass()).run({0.0, {0.0}, {1.0}}, 1.0, 1000);
    ASSERT_TRUE(stepped);
    EXPECT_NEAR(stepped->q[0], 0.25, 1e-6);
    // A ball from the height 0.5 with g = 1 falls for 1 s, and rises with half its speed: 0.5 t − t²/2.
    Model ball = point_masses(1, 1.0);
    ball.potential = {Expression::position(0)};
    Contact floor;
    floor.name = "floor";
    floor.gap = Expression::position(0);
    floor.e_n = 0.5;
    ball.contacts = {floor};
    const auto bounced = PlainFlow(ball).run({0.0, {0.5}, {0.0}}, 1.5, 100);
    ASSERT_TRUE(bounced);
    EXPECT_NEAR(bounced->end.q[0], 0.125, 1e-9);
    // On a spring with k = 100 it leaves the floor with the speed of its arrival, because the energy is kept.
    ball.penalty = Penalty{100.0, 0.0};
    const auto sprung = PlainFlow(ball).run({0.0, {0.5}, {0.0}}, 2.0, 2000);
    ASSERT_TRUE(sprung);
    EXPECT_EQ(sprung->events, "pp");
    EXPECT_NEAR(sprung->end.u[0] * sprung->end.u[0] / 2 + sprung->end.q[0], 0.5, 1e-8);
}
