// SPDX-License-Identifier: Apache-2.0
#include "physics/motion.hpp"

namespace saltus::velocity_constraints_test {
namespace {

using namespace saltus::test;

// --- the knife edge on an incline ------------------------------------------------------------------------------------

// The blade has the direction e = (cos φ, sin φ), φ = w t. Along it v̇ = g sin a cos(w t), so v = (g sin a/w) sin(w t)
// from rest. The velocity v e integrates to the cycloid, and the force across is N = −2 m g sin a sin(w t) along (sin
// φ, −cos φ).
struct Knife {
    double x, y, force;
};
Knife knife_at(double t, double m, double slope, double w) {
    const double s = 9.81 * std::sin(slope), c = s / (2.0 * w * w);
    return {c * std::sin(w * t) * std::sin(w * t), c * (w * t - 0.5 * std::sin(2.0 * w * t)),
            -2.0 * m * s * std::sin(w * t)};
}

TEST(VelocityConstraint, AKnifeEdgeOnAnInclineRunsAcrossOnACycloid) {
    const Model m = shipped("knife-edge");
    for (const double t_end : {0.3, 1.7, 6.0}) {
        const Trajectory motion = motion_of(m, t_end);
        const Knife exact = knife_at(t_end, 1.0, 0.2, 2.0);
        EXPECT_TRUE(matches(motion.end.q[0], exact.x, 1e-10));
        EXPECT_TRUE(matches(motion.end.q[1], exact.y, 1e-10));
        EXPECT_TRUE(matches(motion.forces[0].N, exact.force, 1e-9));
        EXPECT_TRUE(motion.events_certain);
        EXPECT_LE(motion.violation.constraint, 1e-12);
    }
}

TEST(VelocityConstraint, OtherIntegratorsOfTheEventDrivenMethodAgree) {
    const Model m = shipped("knife-edge");
    const Knife exact = knife_at(6.0, 1.0, 0.2, 2.0);
    for (const bool implicit : {false, true}) {
        EventDriven method;
        method.series = false;
        method.implicit = implicit;
        const Trajectory motion = motion_of(m, 6.0, method);
        EXPECT_TRUE(matches(motion.end.q[0], exact.x, 1e-7)) << implicit;
        EXPECT_TRUE(matches(motion.end.q[1], exact.y, 1e-7)) << implicit;
    }
}

TEST(VelocityConstraint, TimeSteppingConvergesWithOrderTwo) {
    const Model m = shipped("knife-edge");
    const Knife exact = knife_at(3.0, 1.0, 0.2, 2.0);
    std::vector<double> h, error;
    for (const double step : {4e-3, 2e-3, 1e-3}) {
        Moreau method;
        method.h = step;
        const Trajectory motion = motion_of(m, 3.0, method);
        h.push_back(step);
        error.push_back(std::hypot(motion.end.q[0] - exact.x, motion.end.q[1] - exact.y));
        EXPECT_LE(motion.violation.constraint, 10.0 * step * step);
        EXPECT_TRUE(matches(motion.forces[0].N, exact.force, 50.0 * step));
    }
    EXPECT_NEAR(slope(h, error), 2.0, 0.1);
}

// --- Chaplygin's sleigh ----------------------------------------------------------------------------------------------

// With the centre of mass at the distance a ahead of the blade: v̇ = a ω², I ω̇ = −m a v ω, I = J + m a². From v = 0 and
// ω = w0 the energy gives v = V tanh(k t), ω = w0/cosh(k t) with V = w0 √(I/m), k = a w0 √(m/I), and
// φ = (w0/k) · 2 atan(tanh(k t/2)).
TEST(VelocityConstraint, ChaplyginsSleighStopsTurningAndRunsStraightOn) {
    const Model m = shipped("chaplygin-sleigh");
    const double mass = 2.0, a = 0.4, w0 = 3.0, I = 0.5 + mass * a * a;
    const double V = w0 * std::sqrt(I / mass), k = a * w0 * std::sqrt(mass / I);
    for (const double t : {0.5, 2.0, 4.0}) {
        const Trajectory motion = motion_of(m, t);
        const double phi = motion.end.q[2];
        EXPECT_TRUE(matches(phi, w0 / k * 2.0 * std::atan(std::tanh(0.5 * k * t)), 1e-10));
        EXPECT_TRUE(matches(motion.end.u[2], w0 / std::cosh(k * t), 1e-10));
        EXPECT_TRUE(
            matches(motion.end.u[0] * std::cos(phi) + motion.end.u[1] * std::sin(phi), V * std::tanh(k * t), 1e-10));
        EXPECT_TRUE(matches(motion.energy.final, motion.energy.initial, 1e-12));
    }
}

// --- the rolling disk ------------------------------------------------------------------------------------------------

// Linearised about upright rolling of a uniform disk: (A + m r²) th'' = m g r th − (C + m r²)(C/A) w² th with A = m
// r²/4, C = m r²/2, so that the frequency is Ω² = 4/5 (3 w² − g/r), if the heading turns by psi' = (C/A) w th.
TEST(VelocityConstraint, ALeaningDiskOscillatesWithTheFrequencyOfTheLinearTheory) {
    const double th0 = 1e-4, w = 8.0, r = 0.1;
    const Model m = shipped("rolling-disk", {{"th0", th0}, {"w", w}});
    const double frequency = std::sqrt(0.8 * (3.0 * w * w - 9.81 / r));
    for (const double t : {0.1, 0.35, 1.0}) {
        const Trajectory motion = motion_of(m, t);
        EXPECT_NEAR(motion.end.q[3] / th0, std::cos(frequency * t), 1e-5);
        EXPECT_NEAR(motion.end.u[2] / (2.0 * w * th0), std::cos(frequency * t), 1e-5);
    }
}

TEST(VelocityConstraint, ASlowDiskFallsOver) {
    const Trajectory motion = motion_of(shipped("rolling-disk", {{"w", 4.0}, {"th0", 1e-3}}), 1.0);
    EXPECT_GT(std::abs(motion.end.q[3]), 0.05);
}

// --- impacts, moving constraints, friction, penalty
// ----------------------------------------------------------------------

const std::string blade_and_wall = R"toml(
[system]
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + J/2*phi'^2"
[parameters]
m = 2.0
J = 0.3
v = 1.5
e = 0.5
a = 0.7
[[constraint]]
name = "edge"
gamma = "x'*sin(phi) - y'*cos(phi)"
[[contact]]
name = "wall"
gN = "1 - x"
eN = "e"
[penalty]
k = 1e8
[initial]
q = { phi = "a" }
u = { x = "v*cos(a)", y = "v*sin(a)" }
)toml";

// The blade can only move along itself, so an impact with the coefficient e reverses its speed to −e v whatever the
// angle. The wall gives the impulse Λ with Λ cos a = (1 + e) m v along the blade; the edge takes the rest of it, Λ sin
// a.
TEST(VelocityConstraint, AnImpactReversesTheSpeedAlongTheBlade) {
    const Model m = from_text(blade_and_wall);
    const Trajectory motion = motion_of(m, 2.0);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(impacts[0].t, 1.0 / (1.5 * std::cos(0.7)), 1e-12));
    EXPECT_TRUE(matches(motion.end.u[0], -0.75 * std::cos(0.7), 1e-12));
    EXPECT_TRUE(matches(motion.end.u[1], -0.75 * std::sin(0.7), 1e-12));
    const double Lambda = 1.5 * 2.0 * 1.5 / std::cos(0.7);
    EXPECT_TRUE(matches(normal_impulse(impacts[0], 0), Lambda, 1e-12));
    EXPECT_TRUE(matches(normal_impulse(impacts[0], 1), Lambda * std::sin(0.7), 1e-12));
    EXPECT_TRUE(matches(motion_of(m, 2.0, Moreau{}).end.u[0], motion.end.u[0], 1e-9));
}

TEST(VelocityConstraint, ASpringReversesTheSpeedWithoutLoss) {
    const Model m = from_text(blade_and_wall);
    const Trajectory motion = motion_of(m, 2.0, Penalty{});
    EXPECT_TRUE(matches(motion.end.u[0], -1.5 * std::cos(0.7), 1e-7));
    EXPECT_TRUE(matches(motion.end.u[1], -1.5 * std::sin(0.7), 1e-7));
    EXPECT_LE(motion.violation.constraint, 1e-10);
}

// γ = x' − b t prescribes the speed. The force is m b, and its work is the kinetic energy m (b t)²/2.
TEST(VelocityConstraint, AVelocityThatDependsOnTimeDrivesTheMotion) {
    const Model m = from_text(R"toml(
[system]
q = ["x"]
T = "m/2*x'^2"
[parameters]
m = 3.0
b = 0.5
[[constraint]]
name = "drive"
gamma = "x' - b*t"
)toml");
    EXPECT_FALSE(m.scleronomic);
    for (const bool stepped : {false, true}) {
        const Trajectory motion = stepped ? motion_of(m, 2.0, Moreau{}) : motion_of(m, 2.0);
        EXPECT_TRUE(matches(motion.end.q[0], 1.0, 1e-9));
        EXPECT_TRUE(matches(motion.end.u[0], 1.0, 1e-9));
        EXPECT_TRUE(matches(motion.forces[0].N, 1.5, 1e-9));
        EXPECT_TRUE(matches(motion.energy.work, 1.5, 1e-9));
    }
}

// Friction along the blade scaled by the force N across it. On a plane with the force F across the blade, N = −F and
// the blade decelerates with μ F/m along itself; it stops at v/(μ F/m) and sticks.
TEST(VelocityConstraint, FrictionIsScaledByItsReaction) {
    const Model m = from_text(R"toml(
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
f = { y = "F" }
[parameters]
m = 2.0
F = 5.0
mu = 0.4
[[constraint]]
name = "edge"
gamma = "y'"
gammaT = "x'"
mu = "mu"
[initial]
u = { x = 3.0 }
)toml");
    const Trajectory motion = motion_of(m, 4.0);
    const std::vector<Event> sticks = events_of(motion, EventKind::stick);
    ASSERT_EQ(sticks.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(sticks[0].t, 3.0, 1e-10));
    EXPECT_TRUE(matches(motion.end.q[0], 4.5, 1e-10));
    EXPECT_TRUE(matches(motion_of(m, 4.0, Moreau{}).end.q[0], 4.5, 1e-2));
}

// An integrable velocity constraint is the holonomic one whose constant is that of the start.
TEST(VelocityConstraint, AnIntegrableOneIsAHolonomicConstraint) {
    const auto pendulum = [](const std::string& constraint) {
        return from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[[constraint]]
name = "rod"
)toml" + constraint + R"toml(
[initial]
q = { x = 1.0 }
)toml");
    };
    const Trajectory by_velocity = motion_of(pendulum("gamma = \"x*x' + y*y'\""), 3.0);
    const Trajectory by_position = motion_of(pendulum("g = \"(x^2 + y^2 - 1)/2\""), 3.0);
    EXPECT_TRUE(matches(by_velocity.end.q[0], by_position.end.q[0], 1e-8));
    EXPECT_TRUE(matches(by_velocity.end.q[1], by_position.end.q[1], 1e-8));
    EXPECT_TRUE(matches(by_velocity.forces[0].N, by_position.forces[0].N, 1e-7));
}

TEST(VelocityConstraint, ARedundantOneSharesTheForce) {
    const std::string twice = R"toml(
[system]
q = ["x", "y", "phi"]
T = "(x'^2 + y'^2)/2 + 0.05*phi'^2"
U = "-1.5*x"
[[constraint]]
name = "edge"
gamma = "x'*sin(phi) - y'*cos(phi)"
[[constraint]]
name = "same edge"
gamma = "2*x'*sin(phi) - 2*y'*cos(phi)"
[initial]
u = { phi = 2.0 }
)toml";
    const Trajectory event = motion_of(from_text(twice), 2.0), stepped = motion_of(from_text(twice), 2.0, Moreau{});
    const double c = 1.5 / 8.0;
    EXPECT_TRUE(matches(event.end.q[1], c * (4.0 - 0.5 * std::sin(8.0)), 1e-9));
    EXPECT_TRUE(matches(stepped.end.q[1], c * (4.0 - 0.5 * std::sin(8.0)), 1e-5));
}

}  // namespace
}  // namespace saltus::velocity_constraints_test
