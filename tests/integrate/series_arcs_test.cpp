// SPDX-License-Identifier: Apache-2.0
// Motions on which the coefficients of a Taylor series at the start of a step do not show what happens on the step. All
// values are closed forms, or agree with the method of order 8 at two tolerances.
#include <gtest/gtest.h>

#include <fmt/core.h>

#include <cmath>
#include <numbers>
#include <string>

#include "integrate/small_models.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/model.hpp"

namespace saltus::integrate::series_arcs_test {
namespace {

using test::model_of;
using trajectory::EventKind;

trajectory::Trajectory motion_of(const std::string& text, double t_end) {
    Options options;
    options.t_end = t_end;
    trajectory::Trajectory motion = simulate(model_of(text), EventDriven{}, options);
    EXPECT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    return motion;
}

std::string mass(const std::string& force, const std::string& more, double u = 1.0) {
    return "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nf = { x = \"" + force + "\" }\n" + more +
           "\n[initial]\nu = { x = " + std::to_string(u) + " }\n";
}

int count(const trajectory::Trajectory& motion, EventKind kind) {
    int n = 0;
    for (const trajectory::Event& e : motion.events) n += e.kind == kind ? 1 : 0;
    return n;
}

TEST(SeriesArcs, FollowABeltThatSwingsFasterThanTheMassMoves) {
    const auto motion =
        motion_of(mass("0.3", "[[slider]]\nname = \"s\"\ngammaT = \"x' - 2*sin(20*t)\"\nmu = 0.2\nFN = 1.0", 0.5), 5.0);
    EXPECT_EQ(count(motion, EventKind::reversal), 32);
    EXPECT_NEAR(motion.end.q[0], 5.54220595, 1e-7);
    EXPECT_NEAR(motion.end.u[0], 1.62665968, 1e-7);
}

TEST(SeriesArcs, FindABriefJerkOfABelt) {
    const auto motion = motion_of(
        mass("-0.05", "[[slider]]\nname = \"s\"\ngammaT = \"x' - 5*exp(-((t-1)/0.02)^2)\"\nmu = 0.2\nFN = 1.0"), 3.0);
    EXPECT_EQ(count(motion, EventKind::reversal), 2);
}

TEST(SeriesArcs, FeelABriefNormalForce) {
    // Braking by μ(1 + 30 e^(−((t − 1.5)/0.02)²)): the pulse takes 0.2·30·0.02·√π of the velocity.
    const auto motion = motion_of(
        mass("0", "[[slider]]\nname = \"s\"\ngammaT = \"x'\"\nmu = 0.2\nFN = \"1 + 30*exp(-((t-1.5)/0.02)^2)\""), 3.0);
    EXPECT_NEAR(motion.end.u[0], 0.4 - 0.12 * std::sqrt(std::numbers::pi), 1e-9);
}

TEST(SeriesArcs, LetGoWhileTheFrictionCoefficientIsBrieflySmall) {
    const auto motion = motion_of(
        mass("0.5", "[[slider]]\nname = \"s\"\ngammaT = \"x'\"\nmu = \"1 - 0.9*exp(-((t-1)/0.02)^2)\"\nFN = 1.0", 0.0),
        3.0);
    ASSERT_EQ(motion.events.size(), 2U);
    // It slips where 0.9 e^(−((t − 1)/0.02)²) = 0.5.
    EXPECT_NEAR(motion.events[0].t, 1.0 - 0.02 * std::sqrt(std::log(1.8)), 1e-9);
    EXPECT_EQ(motion.events[1].kind, EventKind::stick);
}

TEST(SeriesArcs, FollowForcesThatGrowFromNothing) {
    EXPECT_NEAR(motion_of(mass("exp(50*(t - 2))", ""), 2.2).end.u[0], 1.0 + (std::exp(10.0) - std::exp(-100.0)) / 50.0,
                1e-6);
    EXPECT_NEAR(motion_of(mass("100*t^40", ""), 1.5).end.u[0] / (1.0 + 100.0 * std::pow(1.5, 41.0) / 41.0), 1.0, 1e-9);
}

TEST(SeriesArcs, FollowAnAngleAcrossItsBranchCut) {
    const auto motion = motion_of(
        "[system]\nq = [\"x\", \"y\"]\nT = \"0.5*(x'^2 + y'^2)\"\nf = { y = \"-0.1*atan2(y, x)\" }\n[initial]\n"
        "q = { x = -1, y = 1 }\nu = { x = 0.1, y = -1 }\n",
        5.0);
    EXPECT_NEAR(motion.end.q[1], -3.21006458, 1e-6);
    EXPECT_TRUE(motion.events_certain);
}

TEST(SeriesArcs, FindAnImpactAtTheEndOfTheRun) {
    const std::string wall = "[[contact]]\nname = \"wall\"\ngN = \"2 - x\"\neN = 0.5\n";
    const auto at_the_end = motion_of(mass("0", wall), 2.0);
    ASSERT_EQ(at_the_end.events.size(), 1U);
    EXPECT_EQ(at_the_end.events[0].t, 2.0);
    EXPECT_EQ(at_the_end.end.u[0], -0.5);
    EXPECT_TRUE(motion_of(mass("0", wall), 2.0 - 1e-9).events.empty());
    // t_end = √(2/g) is rounded: the ball touches the floor one rounding error later.
    const auto ball = motion_of(
        "[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"9.81*y\"\n[[contact]]\nname = \"c\"\n"
        "gN = \"y\"\neN = 0.5\n[initial]\nq = { y = 1 }\n",
        std::sqrt(2.0 / 9.81));
    EXPECT_EQ(ball.events.size(), 1U);
}

TEST(SeriesArcs, LeaveABarrierThatNearlyTurnsThemRound) {
    // The barrier takes all but 1e-4 of the energy. The way on which the mass would turn round behind it is 4000 times
    // shorter than the barrier, and its duration is tiny compared with that of the run, which is one step.
    const double width = 1.3e-6, force = 9.0e5, place = 2.2595, left = 0.0229;
    const double start = std::sqrt(left * left + 4.0 * force * width);
    const std::string text = "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nf = { x = \"if(abs(x - " + std::to_string(place) +
                             ") < 1.3e-6, -9.0e5, 0)\" }\n[initial]\nu = { x = " + fmt::format("{:.17g}", start) +
                             " }\n";
    EXPECT_NEAR(motion_of(text, 3.0).end.u[0], left, 1e-5);
}

TEST(SeriesArcs, MeasureTheBalanceByEnergiesInsideTheSteps) {
    // Friction holds the mass, lets it go at sin t = 1/4 and stops it again. All events are at rest, without energy.
    const auto motion =
        motion_of(mass("4*sin(t)", "[[slider]]\nname = \"s\"\ngammaT = \"x'\"\nmu = 1.0\nFN = 1.0", 0.0), 2.95);
    ASSERT_EQ(count(motion, EventKind::slip), 1);
    EXPECT_LT(motion.energy.balance_error, 1e-10);
}

TEST(SeriesArcs, TurnAroundOnAnAngleManyTimes) {
    // A point on a circle, x = cos 3t and y = sin 3t, with a third coordinate that the angle drives: z' grows by the
    // integral of atan2 = 3t − 2πk, which is zero over every whole turn.
    const double turn = 2.0 * std::numbers::pi / 3.0, part = 0.25;
    const auto motion = motion_of(
        "[system]\nq = [\"x\", \"y\", \"z\"]\nT = \"0.5*(x'^2 + y'^2 + z'^2)\"\nU = \"4.5*(x^2 + y^2)\"\n"
        "f = { z = \"atan2(y, x)\" }\n[initial]\nq = { x = 1 }\nu = { y = 3 }\n",
        4.0 * turn + part);
    EXPECT_NEAR(motion.end.u[2], 1.5 * part * part, 1e-8);
    EXPECT_TRUE(motion.events_certain);
}

TEST(SeriesArcs, StickWhereTheFrictionCoefficientHasItsKink) {
    // The switch of abs(y') and the slip velocity have the same zero.
    const auto motion = motion_of(
        "[system]\nq = [\"y\"]\nT = \"0.5*y'^2\"\nf = { y = \"-0.703 + 6*t\" }\n[[slider]]\nname = \"s\"\n"
        "gammaT = \"y'\"\nmu = \"0.4 + 0.3*exp(-5*abs(y'))\"\nFN = 1.0\n",
        0.5);
    ASSERT_EQ(motion.events.size(), 2U);
    EXPECT_EQ(motion.events[0].kind, EventKind::stick);
    EXPECT_NEAR(motion.events[0].t, 0.00100025, 1e-8);
    EXPECT_EQ(motion.events[1].kind, EventKind::slip);
    EXPECT_NEAR(motion.events[1].t, (0.7 + 0.703) / 6.0, 1e-9);
}

TEST(SeriesArcs, KeepTheirCertaintyUnderALimitOfTheStep) {
    EventDriven method;
    method.max_step = 1e-3;
    Options options;
    options.t_end = 1.0;
    const auto motion = simulate(
        model_of(mass("-100*x + 0.001*sin(3*t)", "[[contact]]\nname = \"c\"\ngN = \"x + 0.2\"")), method, options);
    EXPECT_TRUE(motion.events_certain);
    EXPECT_GE(motion.statistics.steps, 1000);
}

TEST(SeriesArcs, StartInAContactThatClosesInManyShortSteps) {
    Penalty method;
    Options options;
    options.t_end = 0.05;
    const auto motion = simulate(model_of(R"toml(
[system]
q = ["x", "y"]
T = "0.5*x'^2 + 0.5*y'^2"
U = "4.4933*x"
f = { x = "0.5*abs(y')", y = "0.5*x^3" }
[[contact]]
name = "c0"
gN = "x"
[penalty]
k = 1e4
d = 0
)toml"),
                                 method, options);
    // x = −g/k (1 − cos ωt) with ω = 100: five radians.
    EXPECT_NEAR(motion.end.q[0], -4.4933e-4 * (1.0 - std::cos(5.0)), 1e-10);
}

}  // namespace
}  // namespace saltus::integrate::series_arcs_test
