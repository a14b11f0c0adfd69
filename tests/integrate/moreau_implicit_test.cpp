// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "integrate/moreau_runs.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::integrate::moreau_implicit_test {
namespace {

using namespace saltus::integrate::test;
using trajectory::EventKind;
using trajectory::Status;
using trajectory::Trajectory;

Moreau implicit(double h, double theta = 0.5) {
    Moreau method;
    method.h = h;
    method.theta = theta;
    method.implicit = true;
    method.keep_arcs = false;
    return method;
}

/// A pendulum with a spring and a damper, all of it nonlinear: M, h depend on q and u.
const char* const smooth = R"toml(
[system]
q = ["x", "a"]
T = "x'^2/2*2 + x'*a'*cos(a) + a'^2/2"
U = "x^4/4 + 3*x^2 - 9.81*cos(a)"
R = "x'^4/40 + a'^2/20"
f = { x = "cos(3*t)" }
[initial]
q = { x = 0.3, a = 1.0 }
)toml";

TEST(MoreauImplicit, IsOfSecondOrderAtTheMidpointAndOfFirstOtherwise) {
    const model::Model model = written(smooth);
    const double exact = event_driven(model, 1.0).end.q[1];
    const auto error = [&](double h, double theta) {
        return std::abs(run(model, 1.0, implicit(h, theta)).end.q[1] - exact);
    };
    // M is taken in the middle but not differentiated: velocities at the ends of the steps are of first order in
    // models where it changes.
    EXPECT_NEAR(std::log2(error(4e-3, 1.0) / error(2e-3, 1.0)), 1.0, 0.1);
    EXPECT_LT(error(1e-3, 0.5), 1e-3);
    const model::Model linear = written(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"2*x^2 + x^4\"\nR = \"x'^2/8\"\n[initial]\nq = { x = 1.0 }\n");
    const double reference = event_driven(linear, 1.0).end.q[0];
    const auto of_linear = [&](double h) { return std::abs(run(linear, 1.0, implicit(h)).end.q[0] - reference); };
    EXPECT_NEAR(std::log2(of_linear(1e-2) / of_linear(5e-3)), 2.0, 0.1);
}

const char* const stiff_spring = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*x + k/2*(y - x - 1)^2"
R = "c/2*(y' - x')^2"
[parameters]
k = 1e8
c = 0.0
e = 0.5
[[contact]]
name = "floor"
gN = "x"
eN = "e"
[initial]
q = { x = 0.5, y = 1.5 }
)toml";

TEST(MoreauImplicit, IsTakenWhereForcesAreStiff) {
    // ωh = 14: explicit steps explode at once.
    const Trajectory motion = run(written(stiff_spring), 2.0, 1e-3);
    EXPECT_EQ(motion.status, Status::inaccurate) << motion.reason;  // the fast oscillation is not resolved
    ASSERT_EQ(motion.warnings.size(), 1u);
    EXPECT_EQ(motion.warnings[0], "the forces are stiff for the step: implicit from t = 0");
    EXPECT_LE(motion.energy.final, motion.energy.initial);
    EXPECT_GT(count(motion, EventKind::impact), 2);
    EXPECT_NEAR(motion.end.q[1] - motion.end.q[0], 1.0, 1e-3);
    // A dashpot by itself, c h/m = 100.
    Moreau method;
    method.h = 1e-3;
    for (const double theta : {0.5, 1.0}) {
        method.theta = theta;
        const Trajectory damped = run(written(stiff_spring, {{"k", "1"}, {"c", "1e5"}}), 0.5, method);
        EXPECT_EQ(damped.status, Status::completed) << damped.reason;
        ASSERT_EQ(damped.warnings.size(), 1u);
        // The midpoint keeps fast motion from growing, the end of the step takes it away.
        EXPECT_NEAR(damped.end.u[0], damped.end.u[1], theta == 1.0 ? 1e-3 : 1.0);
    }
}

TEST(MoreauImplicit, IsNotTakenWhereTheyAreNot) {
    for (const char* name : {"bouncing-ball", "rocking-bar", "impact-oscillator", "newtons-cradle", "woodpecker"}) {
        const model::Model model = shipped(name);
        const Trajectory motion = run(model, 0.1, model.settings->simulate.h.value_or(1e-3));
        for (const std::string& warning : motion.warnings)
            EXPECT_EQ(warning.find("stiff"), std::string::npos) << name << ": " << warning;
    }
    // Forces that drive apart are not stiff, however strong.
    const Trajectory motion = run(
        written("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"-2e6*x^2\"\n[initial]\nq = { x = 1e-29 }\n"), 0.01, 1e-3);
    EXPECT_TRUE(motion.warnings.empty());
}

TEST(MoreauImplicit, IsTakenFromWhereForcesBecomeStiff) {
    // A spring that hardens with time: k = e^(5 t), ωh = 1.6 at t = 2.95.
    const model::Model model =
        written("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"exp(5*t)/2*x^2\"\n[initial]\nq = { x = 1.0 }\n");
    const Trajectory motion = run(model, 4.0, 1e-3);
    EXPECT_EQ(motion.status, Status::inaccurate) << motion.reason;  // the fast oscillation is not resolved
    ASSERT_EQ(motion.warnings.size(), 1u);
    EXPECT_EQ(motion.warnings[0].find("the forces are stiff for the step: implicit from t = 3"), 0u);
    EXPECT_LT(std::abs(motion.end.q[0]), 1.0);
}

TEST(MoreauImplicit, GivesTheMotionOfTheSoftModes) {
    // With the spring this stiff the two masses are one.
    const model::Model both = written(stiff_spring, {{"c", "2e4"}, {"e", "0"}});
    const Trajectory motion = run(both, 1.0, 1e-3);
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    EXPECT_NEAR(motion.end.q[0], 0.0, 5e-3);
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-6);
    EXPECT_NEAR(motion.forces[0].N, 9.81, 1e-3);
    // Order one in h through the impact, with steps all beyond the explicit bound: the weight of one
    // mass moves two, and the floor is hit at √(2·½·2/9.81).
    const auto late = [&](double h) {
        return mean_over_steps(h, [&](double step) {
            const Trajectory m = run(both, 1.0, step);
            return std::abs(m.events.front().t + 0.5 * step - std::sqrt(2.0 / 9.81));
        });
    };
    EXPECT_LT(late(1e-3), 1e-3);
    EXPECT_LT(late(2.5e-4), 2.5e-4);
}

TEST(MoreauImplicit, StepsOverTheSkeletonsSprings) {
    // Explicit steps need h < 2e-4. Collision and lift-off are those of the paper, to the first order of h.
    const Trajectory motion = run(shipped("hydrostatic-skeleton"), 0.6, 1e-3);
    EXPECT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_EQ(motion.warnings.size(), 1u);
    EXPECT_EQ(motion.warnings[0], "the forces are stiff for the step: implicit from t = 0");
    ASSERT_GE(motion.events.size(), 2u);
    EXPECT_EQ(motion.events[0].elements.size(), 4u);
    EXPECT_NEAR(motion.events[0].t, 0.23, 2e-3);
    EXPECT_EQ(motion.events.back().kind, EventKind::lift_off);
    EXPECT_NEAR(motion.events.back().t, 0.5024, 1e-2);
    EXPECT_LE(motion.violation.constraint, 1e-10);
}

TEST(MoreauImplicit, HoldsConstraintsAndFriction) {
    for (const double h : {1e-2, 1e-3}) {
        const Trajectory motion = run(shipped("constrained-beam"), 10.0, implicit(h));
        EXPECT_EQ(motion.status, Status::completed) << motion.reason;
        EXPECT_LE(motion.violation.constraint, 1e-10);
        EXPECT_NEAR(motion.end.u[2], 0.0, 1e-9);
    }
    const Trajectory bar = run(shipped("rocking-bar", {{"k", "1e7"}}), 3.0, implicit(1e-3, 1.0));
    EXPECT_EQ(bar.status, Status::inaccurate) << bar.reason;  // the energy of the stiff spring is lost at once
    EXPECT_NEAR(bar.forces[0].N + bar.forces[1].N, 9.81, 1e-6);
}

}  // namespace
}  // namespace saltus::integrate::moreau_implicit_test
