// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/integrate/moreau/detail/moreau.hpp"

#include <cmath>
#include <numbers>

#include "allocations.hpp"
#include "integrate/moreau_runs.hpp"

namespace saltus::integrate::moreau_test {
namespace {

using namespace saltus::integrate::test;
using trajectory::EventKind;
using trajectory::Status;
using trajectory::Trajectory;

// --- impacts -------------------------------------------------------------------------------------------------

TEST(MoreauBall, ConvergesWithOrderOneThroughAnImpact) {
    const model::Model ball = shipped("bouncing-ball");
    const double g = 9.81, t_1 = std::sqrt(2.0 / g), v = 0.8 * g * t_1, tau = 1.0 - t_1;
    const double y = v * tau - 0.5 * g * tau * tau;
    const auto error = [&](double h) {
        return mean_over_steps(h, [&](double step) { return std::abs(run(ball, 1.0, step).end.q[0] - y); });
    };
    const double coarse = error(4e-3), fine = error(2.5e-4);
    EXPECT_LT(coarse, 10 * 4e-3);
    EXPECT_NEAR(std::log(coarse / fine) / std::log(16.0), 1.0, 0.15);
}

TEST(MoreauBall, HasItsImpactsWhereTheyBelong) {
    const model::Model ball = shipped("bouncing-ball");
    const double h = 1e-4;
    const Trajectory motion = run(ball, 5.0, h, true);
    EXPECT_EQ(motion.status, Status::completed);
    EXPECT_TRUE(motion.stepped);
    ASSERT_GT(count(motion, EventKind::impact), 20);
    const double t_1 = std::sqrt(2.0 / 9.81);
    double t = t_1, flight = 2.0 * t_1;
    for (std::size_t k = 0; k < 8; ++k) {
        const trajectory::Event& e = motion.events[k];
        ASSERT_EQ(e.kind, EventKind::impact);
        ASSERT_EQ(e.elements, std::vector<int>{0});
        // Each impact is late or early by a step, and the error of the velocity carries on.
        EXPECT_NEAR(e.t, t, 10.0 * h);
        EXPECT_LE(e.t_right - e.t_left, h * (1.0 + 1e-9));
        EXPECT_NEAR(e.u_plus[0], -0.8 * e.u_minus[0], 1e-12);
        ASSERT_EQ(e.impulses.size(), 1u);
        EXPECT_NEAR(e.impulses[0].N, e.u_plus[0] - e.u_minus[0] + 9.81 * h, 1e-12);
        EXPECT_NEAR(e.energy_after - e.energy_before, 0.5 * (0.64 - 1.0) * e.u_minus[0] * e.u_minus[0], 1e-12);
        // The motion jumps there, to the bit.
        EXPECT_EQ(motion.left(e.t).u, e.u_minus);
        EXPECT_EQ(motion.right(e.t).u, e.u_plus);
        EXPECT_EQ(motion.right(e.t).q, e.q);
        flight *= 0.8;
        t += flight;
    }
    // The far side of the accumulation: at rest, once.
    EXPECT_EQ(motion.events.back().kind, EventKind::contact);
    EXPECT_NEAR(motion.events.back().t, t_1 * (1.0 + 0.8) / (1.0 - 0.8), 0.01);
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-12);
    EXPECT_NEAR(motion.forces[0].N, 9.81, 1e-9);
    EXPECT_EQ(motion.arcs.back().modes, std::vector<trajectory::Mode>{trajectory::Mode::closed});
}

TEST(MoreauBall, NeverFallsThroughTheFloor) {
    for (const double e : {0.0, 0.3, 0.8, 0.95})
        for (const double h : {1e-2, 1e-3}) {
            const Trajectory motion = run(shipped("bouncing-ball", {{"e", number_text(e)}}), 20.0, h);
            // No deeper than one step of the fastest approach, and out of it again or at rest.
            const double fastest = std::sqrt(2.0 * 9.81) + 9.81 * h;
            EXPECT_LE(motion.violation.gap, fastest * h) << e << " " << h;
            EXPECT_GE(motion.end.q[0], -fastest * h);
            EXPECT_LE(motion.end.q[0], 1.0);
            if (e <= 0.8) {
                EXPECT_NEAR(motion.end.u[0], 0.0, 1e-12);
            }
        }
}

TEST(MoreauWalls, WithoutLossKeepTheEnergy) {
    const model::Model model = written(R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + 3/2*y'^2"
[[contact]]
name = "left"
gN = "x + 1"
eN = 1
[[contact]]
name = "between"
gN = "y - x"
eN = 1
[[contact]]
name = "right"
gN = "1 - y"
eN = 1
[initial]
q = { x = -0.5, y = 0.3 }
u = { x = 1.0, y = -0.7 }
)toml");
    const Trajectory motion = run(model, 100.0, 1e-3);
    EXPECT_GT(motion.events.size(), 100u);
    const double rounding = 1e-15 * static_cast<double>(motion.events.size());
    EXPECT_NEAR(motion.energy.final, motion.energy.initial, 10 * rounding);
    EXPECT_LE(motion.energy.balance_error, 10 * rounding);
    for (const trajectory::Event& e : motion.events) EXPECT_NEAR(e.work, 0.0, 1e-13);
}

TEST(MoreauCradle, GainsNoEnergy) {
    for (const char* e : {"1", "0.7"}) {
        const Trajectory motion = run(shipped("newtons-cradle", {{"e", e}}), 2.0, 1e-4);
        EXPECT_LE(motion.energy.final, motion.energy.initial * (1.0 + 1e-6));
        EXPECT_LE(motion.energy.balance_error, 1e-6);
        for (const trajectory::Event& event : motion.events) EXPECT_LE(event.work, 1e-12);
    }
    // The first impact closes four contacts at once: 3/5 back, 2/5 on.
    const Trajectory motion = run(shipped("newtons-cradle"), 0.3, 1e-5);
    const trajectory::Event& first = motion.events.front();
    const double v = first.u_minus[0];
    EXPECT_NEAR(first.u_plus[0] / v, -0.6, 1e-3);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_NEAR(first.u_plus[i] / v, 0.4, 1e-3);
}

TEST(MoreauSuperBall, ComesBack) {
    const Trajectory motion = run(shipped("super-ball"), 0.5, 1e-4);
    ASSERT_EQ(motion.events.size(), 3u);
    const double fractions[] = {3.0 / 7.0, -31.0 / 49.0, -333.0 / 343.0};
    for (std::size_t k = 0; k < 3; ++k) EXPECT_NEAR(motion.events[k].u_plus[0], 4.0 * fractions[k], 1e-11);
    EXPECT_NEAR(motion.energy.final, motion.energy.initial, 1e-12);
}

TEST(MoreauMovingWall, CarriesTheMassOn) {
    const Trajectory motion = run(shipped("moving-wall"), 1.0, 1e-3);
    ASSERT_EQ(motion.events.size(), 1u);
    EXPECT_NEAR(motion.events[0].work, -0.5 * 1.5 * 4.0, 1e-12);
    EXPECT_NEAR(motion.end.u[0], 2.0, 1e-12);
    EXPECT_NEAR(motion.energy.work, motion.energy.final - motion.energy.initial, 1e-12);
}

// --- resting contacts and friction ---------------------------------------------------------------------------

const char* const incline = R"toml(
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "m*g*y"
[parameters]
m = 2.0
g = 9.81
alpha = 0.4
mu = 0.5
e = 0.6
[[contact]]
name = "slope"
gN = "y*cos(alpha) - x*sin(alpha)"
gammaT = "x'*cos(alpha) + y'*sin(alpha)"
mu = "mu"
eN = "e"
eT = 0.3
[initial]
q = { x = 0.7, y = "0.7*tan(alpha)" }
)toml";

TEST(MoreauIncline, BelowTheFrictionAngleDoesNotCreep) {
    const model::Model block = written(incline);
    for (const double h : {1e-2, 1e-3}) {
        const Trajectory motion = run(block, 100.0, h);
        EXPECT_EQ(motion.events.size(), 0u);
        EXPECT_NEAR(motion.end.q[0], 0.7, 1e-12);
        EXPECT_NEAR(motion.end.q[1], 0.7 * std::tan(0.4), 1e-12);
        EXPECT_NEAR(motion.forces[0].N, 2.0 * 9.81 * std::cos(0.4), 1e-9);
        EXPECT_NEAR(motion.forces[0].T[0], 2.0 * 9.81 * std::sin(0.4), 1e-9);
    }
}

TEST(MoreauIncline, AboveItSlidesWithTheRightAcceleration) {
    const Trajectory motion = run(written(incline, {{"mu", "0.2"}}), 1.0, 1e-3);
    const double a = 9.81 * (std::sin(0.4) - 0.2 * std::cos(0.4));
    EXPECT_NEAR(std::hypot(motion.end.u[0], motion.end.u[1]), a, 1e-9);
    EXPECT_NEAR(std::hypot(motion.end.q[0] - 0.7, motion.end.q[1] - 0.7 * std::tan(0.4)), 0.5 * a, 1e-9);
    EXPECT_EQ(motion.arcs.back().modes, std::vector<trajectory::Mode>{trajectory::Mode::slip});
}

TEST(MoreauRest, OnAFloorThatShakesHasNoBounces) {
    // The floor never falls away faster than g, so a block with restitution stays on it.
    const model::Model model = written(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "10*y"
[parameters]
A = 0.08
w = 10.0
[[contact]]
name = "floor"
gN = "y - A*sin(w*t)"
eN = 0.9
[initial]
q = { y = 0.0 }
u = { y = "A*w" }
)toml");
    for (const double h : {1e-3, 1e-4}) {
        const Trajectory motion = run(model, 3.0, h);
        EXPECT_EQ(count(motion, EventKind::impact), 0);
        EXPECT_EQ(count(motion, EventKind::lift_off), 0);
        EXPECT_NEAR(motion.end.q[0], 0.08 * std::sin(30.0), 100 * h * h + 0.08 * 10.0 * h);
        EXPECT_NEAR(motion.end.u[0], 0.8 * std::cos(30.0), 20.0 * h);
    }
}

TEST(MoreauRest, EndsWithALiftOffWhenTheFloorFallsAway) {
    // y'' of the floor is −A w² sin(wt) < −g from sin(wt) = 1/1.6 on.
    const model::Model model = written(R"toml(
[system]
q = ["y"]
T = "y'^2/2"
U = "10*y"
[[contact]]
name = "floor"
gN = "y - 0.16*sin(10*t)"
[initial]
q = { y = 0.0 }
u = { y = 1.6 }
)toml");
    const Trajectory motion = run(model, 0.2, 1e-4);
    ASSERT_EQ(motion.events.size(), 1u);
    EXPECT_EQ(motion.events[0].kind, EventKind::lift_off);
    // The parting is slow at first: gap ~ t³, and the penetration comes on top.
    EXPECT_NEAR(motion.events[0].t, std::asin(1.0 / 1.6) / 10.0, 5e-3);
}

TEST(MoreauBar, ComesToRestOnBothEnds) {
    const Trajectory motion = run(shipped("rocking-bar"), 3.0, 1e-3);
    EXPECT_EQ(motion.status, Status::completed);
    EXPECT_NEAR(motion.forces[0].N + motion.forces[1].N, 9.81, 1e-6);
    EXPECT_NEAR(motion.end.q[2], 0.0, 1e-4);
    EXPECT_LE(motion.energy.final, motion.energy.initial);
    EXPECT_LE(test::balance_at_end(motion), 1e-9);
}

TEST(MoreauBlock, ApproachesTheEventDrivenMotionWithOrderOne) {
    // Chattering on one corner, then on the other, with tangential restitution in both: to rest.
    const model::Model block = shipped("rocking-block");
    const double x = event_driven(block, 1.0).end.q[0];
    const auto error = [&](double h) {
        return mean_over_steps(h, [&](double step) { return std::abs(run(block, 1.0, step).end.q[0] - x); });
    };
    const double coarse = error(1e-3), fine = error(6.25e-5);
    EXPECT_LT(coarse, 1e-3);
    EXPECT_NEAR(std::log(coarse / fine) / std::log(16.0), 1.0, 0.25);
}

TEST(MoreauSlider, MakesTheLimitCycleOfTheFrictionOscillator) {
    // Sticks with x' = v until k x = 1 N, slips, sticks again; period 12.0 s.
    const Trajectory motion = run(shipped("friction-oscillator"), 50.0, 1e-3, true);
    std::vector<double> upward;
    double largest = 0.0, before = motion.start.q[0];
    int sticking = 0;
    const std::vector<ode::Dense>& steps = motion.arcs[0].steps;
    for (const ode::Dense& step : steps) {
        const double x = step.component(0, step.t_new()), v = step.component(1, step.t_new());
        if (before < 0.0 && x >= 0.0) upward.push_back(step.t_new());
        largest = std::max(largest, x);
        sticking += std::abs(v - 0.2) < 1e-12 ? 1 : 0;
        before = x;
    }
    ASSERT_GE(upward.size(), 3u);
    EXPECT_NEAR(upward[2] - upward[1], 12.0, 0.05);
    EXPECT_GT(largest, 1.0);
    EXPECT_LT(largest, 1.2);
    EXPECT_GT(sticking, static_cast<int>(steps.size()) / 2);
}

TEST(MoreauClutch, LocksAndOverruns) {
    // One turns the other through the clutch for a second, then falls behind: by hand.
    const model::Model model = written(R"toml(
[system]
q = ["a", "b"]
T = "(a'^2 + b'^2)/2"
f = { b = "if(t < 1, 1, -1)" }
[[clutch]]
gamma = "a' - b'"
)toml");
    const Trajectory locked = run(model, 1.0, 1e-3);
    EXPECT_NEAR(locked.end.u[0], 0.5, 1e-9);
    EXPECT_NEAR(locked.end.u[1], 0.5, 1e-9);
    EXPECT_NEAR(locked.forces[0].N, 0.5, 1e-9);
    EXPECT_EQ(locked.arcs.back().modes, std::vector<trajectory::Mode>{trajectory::Mode::closed});
    const Trajectory free = run(model, 2.0, 1e-3);
    EXPECT_NEAR(free.end.u[0], 0.5, 1e-9);
    EXPECT_NEAR(free.end.u[1], -0.5, 1e-9);
    EXPECT_NEAR(free.end.q[0], 0.75, 1e-6);
    EXPECT_NEAR(free.end.q[1], 0.25, 1e-6);
    EXPECT_EQ(free.forces[0].N, 0.0);
}

// --- constraints ---------------------------------------------------------------------------------------------

TEST(MoreauBeam, StaysInItsGrooves) {
    for (const double h : {1e-2, 1e-3}) {
        const Trajectory motion = run(shipped("constrained-beam"), 10.0, h);
        EXPECT_EQ(motion.status, Status::completed) << motion.reason;
        EXPECT_LE(motion.violation.constraint, 1e-10);
        EXPECT_LE(std::abs(motion.end.q[2]), 0.5829);  // [Leine] the equilibrium set
        EXPECT_NEAR(motion.end.u[2], 0.0, 1e-9);
        ASSERT_EQ(motion.warnings.size(), 1U);  // the beam rests in both grooves, which share the load
        EXPECT_NE(motion.warnings[0].find("not unique"), std::string::npos) << motion.warnings[0];
    }
}

TEST(MoreauBeam, ConvergesWithOrderTwoWithoutImpacts) {
    const model::Model beam = shipped("constrained-beam", {{"mu1", "0"}, {"mu2", "0"}});
    const double reference = run(beam, 1.0, 1e-5).end.q[2];
    const double coarse = std::abs(run(beam, 1.0, 1e-2).end.q[2] - reference);
    const double fine = std::abs(run(beam, 1.0, 2.5e-3).end.q[2] - reference);
    EXPECT_NEAR(std::log(coarse / fine) / std::log(4.0), 2.0, 0.1);
}

TEST(MoreauConstraints, MayBeRedundant) {
    const char* const text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "9.81*y"
[[constraint]]
name = "rod"
g = "x^2 + y^2 - 1"
[[constraint]]
name = "the same rod"
g = "sqrt(x^2 + y^2) - 1"
[initial]
q = { x = 1.0, y = 0.0 }
)toml";
    const Trajectory motion = run(written(text), 2.0, 1e-3);
    EXPECT_EQ(motion.status, Status::completed) << motion.reason;
    EXPECT_LE(motion.violation.constraint, 1e-10);
    EXPECT_NEAR(motion.energy.final, motion.energy.initial, 1e-4);
    ASSERT_EQ(motion.warnings.size(), 2u);
    EXPECT_NE(motion.warnings[0].find("not unique"), std::string::npos) << motion.warnings[0];
    EXPECT_NE(motion.warnings[1].find("constraint the same rod is redundant"), std::string::npos);
    // A pendulum: the rod's force is 3 m g cos(angle), of a row that is twice as long as the unit vector.
    EXPECT_NEAR(2.0 * motion.forces[0].N, 3.0 * 9.81 * motion.end.q[1], 0.05);
    EXPECT_EQ(motion.forces[1].N, 0.0);
}

TEST(MoreauConstraints, BecomeIndependentWhereTheStartHidesIt) {
    // A parallelogram, stretched out at the start: there the closure along x has no gradient.
    const Trajectory motion = run(written(R"toml(
[system]
q = ["a", "b", "c"]
T = "(a'^2 + b'^2 + c'^2)/2"
f = { a = 1.0 }
[[constraint]]
name = "closure along x"
g = "cos(a) + 2*cos(b) - cos(c) - 2"
[[constraint]]
name = "closure along y"
g = "sin(a) + 2*sin(b) - sin(c)"
[initial]
u = { a = 1.0, c = 1.0 }
)toml"),
                                  1.0, 1e-3);
    EXPECT_EQ(motion.status, Status::completed) << motion.reason;
    EXPECT_LE(motion.violation.constraint, 1e-10);
    // It stays one: both cranks turn by t + t²/4.
    EXPECT_NEAR(motion.end.q[0], 1.25, 1e-3);
    EXPECT_NEAR(motion.end.q[1], 0.0, 1e-3);
    EXPECT_NEAR(motion.end.q[2], 1.25, 1e-3);
}

TEST(MoreauConstraints, ThatMoveAreFollowed) {
    // A mass on a rail that is lifted as t²/2: y, y' are given, x keeps its velocity.
    const Trajectory motion = run(written(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
[[constraint]]
name = "rail"
g = "y - t^2/2"
[initial]
u = { x = 3.0 }
)toml"),
                                  1.0, 1e-3);
    EXPECT_NEAR(motion.end.q[0], 3.0, 1e-12);
    EXPECT_NEAR(motion.end.q[1], 0.5, 1e-10);
    EXPECT_NEAR(motion.end.u[1], 1.0, 1e-10);
    EXPECT_NEAR(motion.forces[0].N, 1.0, 1e-9);
}

TEST(MoreauSkeleton, HitsAndLeavesTheWall) {
    const Trajectory motion = run(shipped("hydrostatic-skeleton"), 0.6, 1e-4);
    EXPECT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_EQ(motion.events.size(), 2u);
    EXPECT_EQ(motion.events[0].elements.size(), 4u);
    EXPECT_NEAR(motion.events[0].t, 0.23, 2e-4);
    EXPECT_EQ(motion.events[1].kind, EventKind::lift_off);
    EXPECT_NEAR(motion.events[1].t, 0.5024, 1e-3);
    EXPECT_LE(motion.violation.constraint, 1e-10);
    EXPECT_LE(test::balance_at_end(motion), 1e-6);
}

// --- the run -------------------------------------------------------------------------------------------------

TEST(MoreauRun, EndsExactlyAndStartsWhereItIsTold) {
    const model::Model ball = shipped("bouncing-ball");
    Moreau method;
    method.h = 0.003;
    Options options;
    options.t_end = 1.0;
    options.start = trajectory::State{0.5, {2.0}, {1.0}};
    const Trajectory motion = run_moreau(ball, method, options).motion;
    EXPECT_EQ(motion.start.t, 0.5);
    EXPECT_EQ(motion.start.q, std::vector<double>{2.0});
    EXPECT_EQ(motion.end.t, 1.0);
    EXPECT_NEAR(motion.end.q[0], 2.0 + 0.5 - 9.81 / 8.0, 1e-12);  // the midpoint rule is exact here
    EXPECT_EQ(motion.statistics.steps, 167);
    ASSERT_EQ(motion.arcs.size(), 1u);
    EXPECT_EQ(motion.arcs[0].steps.size(), 167u);
    EXPECT_EQ(motion.arcs[0].t_begin, 0.5);
    EXPECT_EQ(motion.arcs[0].t_end, 1.0);
    EXPECT_EQ(motion.statistics.contact_solves, 0);
    for (std::size_t k = 1; k < motion.arcs[0].steps.size(); ++k)
        ASSERT_EQ(motion.arcs[0].steps[k].t_old(), motion.arcs[0].steps[k - 1].t_new());
}

TEST(MoreauRun, WithoutArcsKeepsEventsAndTheEnd) {
    const model::Model ball = shipped("bouncing-ball");
    const Trajectory with = run(ball, 2.0, 1e-3, true), without = run(ball, 2.0, 1e-3, false);
    EXPECT_EQ(with.end.q, without.end.q);
    EXPECT_EQ(with.events.size(), without.events.size());
    ASSERT_EQ(without.arcs.size(), 1u);
    EXPECT_TRUE(without.arcs[0].steps.empty());
}

TEST(MoreauRun, IsInterruptedWithWhatThereIs) {
    const model::Model ball = shipped("bouncing-ball");
    Moreau method;
    Options options;
    options.t_end = 5.0;
    int asked = 0;
    double told = 0.0;
    options.interrupted = [&] { return ++asked == 8; };
    options.progress = [&](double t) { told = t; };
    const Trajectory motion = run_moreau(ball, method, options).motion;
    EXPECT_EQ(motion.status, Status::interrupted);
    EXPECT_EQ(asked, 8);
    EXPECT_NEAR(motion.end.t, 0.8, 2e-3);
    EXPECT_NEAR(told, 0.7, 2e-3);
    EXPECT_EQ(motion.events.size(), 1u);
}

TEST(MoreauRun, FailsBetweenClosingWallsWithAReason) {
    const model::Model model = written(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
[[contact]]
name = "left"
gN = "x + 1 - t"
[[contact]]
name = "right"
gN = "1 - t - x"
)toml");
    const Trajectory motion = run(model, 2.0, 1e-3, true);
    EXPECT_EQ(motion.status, Status::failed);
    EXPECT_NE(motion.reason.find("the contact problem is not solved (infeasible"), std::string::npos) << motion.reason;
    EXPECT_NEAR(motion.end.t, 1.0, 2e-3);
    EXPECT_NEAR(static_cast<double>(motion.arcs[0].steps.size()), 1000.0, 2.0);
}

TEST(MoreauRun, SaysWhenTheMotionIsNotFinite) {
    const model::Model model = written(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "-x^4"
[initial]
q = { x = 1.0 }
)toml");
    const Trajectory motion = run(model, 100.0, 1e-2);
    EXPECT_EQ(motion.status, Status::failed);
    EXPECT_NE(motion.reason.find("not finite"), std::string::npos);
    EXPECT_TRUE(std::isfinite(motion.end.q[0]));
}

TEST(MoreauRun, TakesForcesWhereThetaSays) {
    // An oscillator: ½ is of second order, 1 (symplectic Euler) of first.
    const model::Model model =
        written("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\n[initial]\nq = { x = 1.0 }\n");
    const auto error = [&](double theta, double h) {
        Moreau method;
        method.h = h;
        method.theta = theta;
        Options options;
        options.t_end = 1.0;
        return std::abs(run_moreau(model, method, options).motion.end.q[0] - std::cos(1.0));
    };
    EXPECT_NEAR(std::log2(error(0.5, 1e-2) / error(0.5, 5e-3)), 2.0, 0.05);
    EXPECT_NEAR(std::log2(error(1.0, 1e-2) / error(1.0, 5e-3)), 1.0, 0.05);
}

TEST(MoreauAdaptive, FollowsTheTolerance) {
    const model::Model beam = shipped("constrained-beam", {{"mu1", "0"}, {"mu2", "0"}});
    const double reference = run(beam, 1.0, 1e-5).end.q[2];
    double before = 1.0;
    for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
        Moreau method;
        method.h = 0.1;
        method.adaptive = true;
        method.tolerance = tolerance;
        Options options;
        options.t_end = 1.0;
        const Trajectory motion = run_moreau(beam, method, options).motion;
        ASSERT_EQ(motion.status, Status::completed);
        EXPECT_EQ(motion.end.t, 1.0);
        const double error = std::abs(motion.end.q[2] - reference);
        EXPECT_LT(error, 0.2 * before);
        EXPECT_LT(error, 100 * tolerance);
        before = error;
    }
}

TEST(MoreauAdaptive, PassesImpacts) {
    Moreau method;
    method.h = 1e-2;
    method.adaptive = true;
    method.tolerance = 1e-6;
    Options options;
    options.t_end = 5.0;
    const Trajectory motion = run_moreau(shipped("bouncing-ball"), method, options).motion;
    EXPECT_EQ(motion.status, Status::completed);
    EXPECT_NEAR(motion.end.q[0], 0.0, 0.05);
    EXPECT_NEAR(motion.end.u[0], 0.0, 1e-9);
    for (std::size_t k = 1; k < motion.arcs[0].steps.size(); ++k)
        ASSERT_EQ(motion.arcs[0].steps[k].t_old(), motion.arcs[0].steps[k - 1].t_new());
}

/// Allocations of a run do not depend on its length once its contacts are what they are.
void expect_no_allocations(const model::Model& model, double t_early, double t_late, double h, bool implicit = false) {
    const auto allocations = [&](double t_end) {
        Moreau method;
        method.h = h;
        method.keep_arcs = false;
        method.implicit = implicit;
        const std::size_t before = saltus::test::allocations();
        const Trajectory motion = run(model, t_end, method);
        const std::size_t made = saltus::test::allocations() - before;
        EXPECT_EQ(motion.status, Status::completed) << motion.reason;
        return made;
    };
    allocations(t_early);
    EXPECT_EQ(allocations(t_early), allocations(t_late)) << model.name;
}

TEST(MoreauRun, AllocatesNothingInItsSteps) {
    expect_no_allocations(shipped("bouncing-ball", {{"y0", "1000"}}), 1.0, 10.0, 1e-3);
    expect_no_allocations(shipped("bouncing-ball"), 5.0, 10.0, 1e-3);  // at rest
    expect_no_allocations(shipped("rocking-bar"), 3.0, 6.0, 1e-3);     // on both ends, one of them redundant
    expect_no_allocations(shipped("friction-oscillator"), 60.0, 120.0, 1e-3);
    expect_no_allocations(shipped("constrained-beam"), 5.0, 10.0, 1e-3);
    expect_no_allocations(shipped("sphere-on-plane"), 0.5, 1.0, 1e-3);
    expect_no_allocations(shipped("constrained-beam"), 5.0, 10.0, 1e-3, true);
}

/// Three feet at one height, the middle one rougher: a load on it alone holds a pull of 4, equal loads hold 2. A step
/// of the scheme loads them equally. One foot has one load only.
TEST(MoreauRun, SaysWhereFrictionLetsGoThatOtherForcesHold) {
    const auto told_at = [](const std::string& feet, double t_end, double h = 1e-3) {
        const model::Model block = written(
            "[system]\nq = [\"x\", \"y\", \"p\"]\nT = \"(x'^2 + y'^2 + 0.2*p'^2)/2\"\nU = \"10*y\"\nf = { x = \"t\" "
            "}\n" +
            feet);
        const Trajectory motion = run(block, t_end, h);
        std::string told;
        for (const std::string& warning : motion.warnings)
            if (warning.starts_with("the motion is not unique")) told += warning;
        return told;
    };
    const auto foot = [](const std::string& name, const std::string& gap, const std::string& mu) {
        return "[[contact]]\nname = \"" + name + "\"\ngN = \"" + gap + "\"\ngammaT = \"x'\"\nmu = " + mu + "\n";
    };
    const std::string middle = foot("m", "y", "0.4");
    const std::string three = foot("l", "y - p", "0.1") + middle + foot("r", "y + p", "0.1");
    EXPECT_TRUE(told_at(three, 1.9).empty());
    const std::string text = told_at(three, 3.0);
    EXPECT_TRUE(text.starts_with("the motion is not unique at t = 2.00") &&
                text.find("l, m and r") != std::string::npos)
        << text;
    for (const double h : {1e-4, 2e-5}) {  // slip begins with the velocity h^2
        const std::string same = told_at(three, 2.1, h);
        EXPECT_TRUE(same.starts_with("the motion is not unique at t = 2.00")) << "h = " << h << ": " << same;
    }
    EXPECT_TRUE(told_at(middle, 6.0).empty());
    // The normal force of the contact is given, so that one pull is the limit of both together.
    const std::string slider = "[[slider]]\nname = \"s\"\ngammaT = \"x'\"\nmu = 0.5\nFN = 3\n";
    EXPECT_TRUE(told_at(middle + slider, 7.0).empty());
}

}  // namespace
}  // namespace saltus::integrate::moreau_test
