// SPDX-License-Identifier: Apache-2.0
//
// Corners of gaps, constraints and slip velocities, and impacts with lift-offs that accumulate. Masses are 1 kg,
// gravity is 10 m/s². Each motion is followed by Taylor series and by steps whose events are searched at samples.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "integrate/small_models.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate::corner_test {

namespace {

using namespace test;
using trajectory::EventKind;
using trajectory::Status;
using trajectory::Trajectory;

Trajectory run(const model::Model& m, double t_end, bool series) {
    EventDriven method;
    method.series = series;
    Options options;
    options.t_end = t_end;
    return simulate(m, method, options);
}

/// A block on a floor of height `height`, which starts at x = 0 with the velocity 2 m/s.
model::Model block_on(const std::string& height, double e, const std::string& gap = "") {
    return model_of(
        "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*y\"\n[[contact]]\nname = "
        "\"floor\"\ngN = \"" +
        (gap.empty() ? "y - (" + height + ")" : gap) + "\"\neN = " + number_text(e) + "\n[initial]\nu = { x = 2 }\n");
}

class Corner : public testing::TestWithParam<bool> {};

// The ramp has the slope ½ and the normal n = (−½, 1). With u⁻ = (2, 0) and γ⁻ = n·u⁻ = −1 the impulse is
// Λ = (1 + e)/(n·n) = (1 + e)/1.25, and u⁺ = u⁻ + Λ n.
TEST_P(Corner, ABlockThatSlidesAgainstARampStrikesIt) {
    for (const char* height : {"0.5*max(x - 1, 0)", "if(x < 1, 0, 0.5*(x - 1))", "0.25*(x - 1 + abs(x - 1))"}) {
        const Trajectory motion = run(block_on(height, 0.0), 0.75, GetParam());
        ASSERT_EQ(motion.status, Status::completed) << motion.reason;
        ASSERT_EQ(motion.events.size(), 1U) << height;
        EXPECT_EQ(motion.events[0].kind, EventKind::impact);
        EXPECT_NEAR(motion.events[0].t, 0.5, 1e-9);
        EXPECT_NEAR(motion.events[0].u_plus[0], 1.6, 1e-9);
        EXPECT_NEAR(motion.events[0].u_plus[1], 0.8, 1e-9);
        // It goes up the ramp with the acceleration −g s/(1 + s²) = −4 along x.
        EXPECT_NEAR(motion.end.q[0], 1.0 + 1.6 * 0.25 - 2.0 * 0.0625, 1e-9);
        EXPECT_NEAR(motion.end.q[1], 0.5 * (motion.end.q[0] - 1.0), 1e-12);
        EXPECT_LT(std::abs(motion.energy.balance_error), 1e-9);
    }
}

TEST_P(Corner, RestitutionThrowsTheBlockOffTheRamp) {
    const Trajectory motion = run(block_on("0.5*max(x - 1, 0)", 0.5), 0.59, GetParam());
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_EQ(motion.events.size(), 1U);
    EXPECT_NEAR(motion.events[0].u_plus[0], 2.0 - 0.5 * 1.2, 1e-9);
    EXPECT_NEAR(motion.events[0].u_plus[1], 1.2, 1e-9);
    EXPECT_NEAR(motion.end.q[1], 1.2 * 0.09 - 5.0 * 0.0081, 1e-9) << "it flies";
}

// Behind the edge the floor falls with the slope ½: γ = y' + ½ x' jumps from 0 to 1, and the gap is τ − 5 τ².
TEST_P(Corner, ABlockLeavesTheFloorAtAnEdge) {
    const Trajectory motion = run(block_on("-0.5*max(x - 1, 0)", 0.0), 0.8, GetParam());
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_EQ(motion.events.size(), 2U);
    EXPECT_EQ(motion.events[0].kind, EventKind::lift_off);
    EXPECT_NEAR(motion.events[0].t, 0.5, 1e-9);
    EXPECT_EQ(motion.events[1].kind, EventKind::impact);
    EXPECT_NEAR(motion.events[1].t, 0.7, 1e-9);
    EXPECT_NEAR(motion.events[1].u_plus[0], 2.0 + 0.5 * 0.8, 1e-9);
    EXPECT_NEAR(motion.events[1].u_plus[1], -2.0 + 0.8, 1e-9);
}

TEST_P(Corner, ATableThatStartsToRiseStrikesTheBody) {
    const model::Model m = model_of(
        "[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"10*y\"\n[[contact]]\nname = \"table\"\ngN = \"y - 0.5*max(t - "
        "0.5, 0)\"\neN = 0.5\n");
    const Trajectory motion = run(m, 0.52, GetParam());
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_EQ(motion.events.size(), 1U);
    EXPECT_EQ(motion.events[0].kind, EventKind::impact);
    EXPECT_NEAR(motion.events[0].u_plus[0], 0.75, 1e-9) << "0.5 of the table and 0.25 of restitution";
}

TEST_P(Corner, ABodyThatSticksSlipsIfTheBeltStartsAtOnce) {
    const model::Model m = model_of(
        "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*y\"\n[[contact]]\nname = \"belt\"\ngN = "
        "\"y\"\ngammaT = \"x' - if(t < 0.5, 0, 1)\"\nmu = 0.1\n");
    const Trajectory motion = run(m, 1.0, GetParam());
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_EQ(motion.events.size(), 1U);
    EXPECT_EQ(motion.events[0].kind, EventKind::slip);
    EXPECT_NEAR(motion.end.u[0], 0.5, 1e-9) << "friction accelerates it by 1 m/s²";
    EXPECT_NEAR(motion.end.q[0], 0.125, 1e-9);
}

TEST_P(Corner, SlipIsReversedIfTheBeltTurnsAtOnce) {
    const model::Model m = model_of(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[[slider]]\nname = \"belt\"\ngammaT = \"x' - if(t < 0.5, 2, "
        "-2)\"\nmu = 0.1\nFN = \"10\"\n");
    const Trajectory motion = run(m, 1.25, GetParam());
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_EQ(motion.events.size(), 1U);
    EXPECT_EQ(motion.events[0].kind, EventKind::reversal);
    EXPECT_NEAR(motion.end.u[0], 0.5 - 0.75, 1e-9);
}

TEST_P(Corner, ABeadTakesAnImpulseAtTheBendOfItsWire) {
    const model::Model m = model_of(
        "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\n[[constraint]]\nname = \"wire\"\ng = \"y - max(x - 1, "
        "0)\"\n[initial]\nu = { x = 2 }\n");
    const Trajectory motion = run(m, 1.0, GetParam());
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    ASSERT_EQ(motion.events.size(), 1U);
    EXPECT_EQ(motion.events[0].kind, EventKind::impact);
    EXPECT_NEAR(motion.end.u[0], 1.0, 1e-9);
    EXPECT_NEAR(motion.end.u[1], 1.0, 1e-9);
    EXPECT_NEAR(motion.energy.final, 1.0, 1e-9) << "half of the energy";
}

TEST_P(Corner, AStartInTheCornerStrikesAtOnce) {
    const model::Model m = model_of(
        "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*y\"\n[[contact]]\nname = \"floor\"\ngN = \"y "
        "- "
        "0.5*max(x - 1, 0)\"\n[initial]\nq = { x = 1 }\nu = { x = 2 }\n");
    const Trajectory motion = run(m, 0.25, GetParam());
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    EXPECT_NEAR(motion.end.q[0], 1.0 + 1.6 * 0.25 - 2.0 * 0.0625, 1e-9);
}

TEST_P(Corner, SmoothJoinsAreNoCorners) {
    const Trajectory motion = run(block_on("max(x - 1, 0)^2", 0.0), 0.6, GetParam());
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    EXPECT_TRUE(motion.events.empty());
}

Trajectory stepped(const model::Model& m, double t_end, double h, Restitution restitution = Restitution::impacts) {
    Moreau method;
    method.h = h;
    method.restitution = restitution;
    Options options;
    options.t_end = t_end;
    return simulate(m, method, options);
}

/// The error of the final state against the event-driven motion.
double error_of_steps(const model::Model& m, double t_end, double h) {
    const Trajectory exact = run(m, t_end, true), steps = stepped(m, t_end, h);
    EXPECT_EQ(exact.status, Status::completed) << exact.reason;
    double error = 0.0;
    for (std::size_t i = 0; i < exact.end.q.size(); ++i)
        error = std::max({error, std::abs(exact.end.q[i] - steps.end.q[i]), std::abs(exact.end.u[i] - steps.end.u[i])});
    return error;
}

// The motions end in flight or on the ramp, at an instant that no step length divides. Time-stepping is of first order
// there. Without the rebound the error stays above 0.1.
TEST(CornerBySteps, MotionsAcrossCornersConvergeToTheEventDrivenOnes) {
    struct Case {
        const char* height;
        double e, t_end;
    };
    for (const Case& c : {Case{"0.5*max(x - 1, 0)", 0.5, 0.593},
                          {"0.5*max(x - 1, 0)", 0.9, 0.593},
                          {"0.5*max(x - 1, 0)", 0.0, 0.753},
                          {"0.3*max(x - 0.5, 0) + 0.3*max(x - 1, 0)", 0.0, 0.671},
                          {"max(0, 0.6*x - 0.6)", 0.3, 0.541},
                          {"-0.5*max(x - 1, 0)", 0.5, 0.787}}) {
        const model::Model m = block_on(c.height, c.e);
        const double coarse = error_of_steps(m, c.t_end, 1e-3), fine = error_of_steps(m, c.t_end, 1e-5);
        EXPECT_LT(coarse, 0.03) << c.height << " " << c.e;
        EXPECT_LT(fine, 3e-4) << c.height << " " << c.e;
    }
    const model::Model table = model_of(
        "[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"10*y\"\n[[contact]]\nname = \"table\"\ngN = \"y - 0.5*max(t - "
        "0.5, 0)\"\neN = 0.5\n");
    EXPECT_LT(error_of_steps(table, 0.52, 1e-5), 1e-3) << "the velocity of the obstacle jumps";
}

TEST(CornerBySteps, ACornerIsOneImpactAndCurvedGroundIsNone) {
    for (const Restitution r : {Restitution::impacts, Restitution::literal}) {
        const Trajectory corner = stepped(block_on("0.5*max(x - 1, 0)", 0.5), 0.55, 1e-4, r);
        ASSERT_FALSE(corner.events.empty());
        EXPECT_EQ(corner.events[0].kind, EventKind::impact);
        EXPECT_NEAR(corner.events[0].u_plus[1], 1.2, 1e-2);
        EXPECT_LT(std::abs(corner.energy.balance_error), 1e-9);
    }
    // A circular arc of radius 0.5 m, which turns by 0.4 rad in 1000 steps.
    const Trajectory arc = stepped(block_on("0.5 - sqrt(0.25 - max(0, min(x - 1, 0.2))^2)", 0.5), 0.59, 1e-4);
    EXPECT_TRUE(arc.events.empty());
}

// One formula describes both sides of a valley, so that the body cannot be held by both at the same time. It may come
// to rest at the bottom, or the run ends with a reason; it never goes on.
TEST(CornerOfAValley, ABodyThatComesToTheBottomStaysThere) {
    for (const char* push : {"0", "1"}) {
        const model::Model m =
            model_of("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*y + " + std::string(push) +
                     "*x\"\n[[contact]]\nname = \"valley\"\ngN = \"y - abs(x)\"\n[initial]\nq = { x = -1, y = 1 }\n");
        const Trajectory motion = run(m, 2.0, true);
        ASSERT_FALSE(motion.events.empty());
        EXPECT_EQ(motion.events[0].kind, EventKind::impact);
        EXPECT_TRUE(motion.status == Status::completed || !motion.reason.empty());
        EXPECT_NEAR(motion.end.q[0], 0.0, 1e-6) << motion.reason;
        EXPECT_NEAR(motion.end.q[1], 0.0, 1e-6);
    }
}

// The force −1 − 3 sin(20 log(1 − t)) repeats itself if 1 − t shrinks by exp(−2π/20), and so do lift-offs and impacts:
// their times accumulate at t = 1.
// A body without forces passes a thin obstacle in the shape of a tent, whose sides are steep: near the tip the gap
// changes by 3·10⁵ m in a second. On the branch before the tip it would be zero a moment later.
TEST(CornerOfAnObstacle, ATipThatIsMissedIsNotTouched) {
    const double speed = 5.1650727187253418, tip = 5.4081610847864399, half_width = 1.5731964951950178e-05;
    const auto motion_at = [](double height) {
        const model::Model m = model_of(
            "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"0\"\n[[contact]]\nname = \"tent\"\n"
            "gN = \"y + min(1, abs((x - 5.4081610847864399)/1.5731964951950178e-05))\"\neN = 0.5\n"
            "[initial]\nq = { y = " +
            number_text(height) + " }\nu = { x = 5.1650727187253418 }\n");
        return run(m, 2.0, true);
    };
    for (const double margin : {1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-5, 1e-3}) {
        const Trajectory motion = motion_at(margin);
        EXPECT_EQ(motion.status, Status::completed) << margin << ' ' << motion.inaccuracy.what;
        EXPECT_TRUE(motion.events.empty()) << margin;
        EXPECT_NEAR(motion.end.q[0], 2.0 * speed, 1e-12) << margin;
        EXPECT_EQ(motion.end.u[0], speed) << margin;
    }
    for (const double depth : {1e-8, 1e-6, 1e-3}) {
        const Trajectory motion = motion_at(-depth);
        ASSERT_EQ(motion.status, Status::completed) << depth;
        ASSERT_EQ(motion.events.size(), 1U) << depth;
        EXPECT_EQ(motion.events[0].kind, EventKind::impact) << depth;
        EXPECT_NEAR(motion.events[0].t, (tip - depth * half_width) / speed, 1e-14) << depth;
        EXPECT_LT(motion.end.u[0], 0.0) << depth << ", it is thrown back";
    }
}

// A tip that is pierced by less than the rounding error of its gap, about 1e-16 times the slope 1e8: the gap turns
// round at its zero. The body passes, or it is struck, but it does not lose its velocity at the tip.
TEST(CornerOfAnObstacle, ATipThatIsPiercedByLessThanRoundingTakesNoEnergyAway) {
    const struct {
        const char *gap, *q, *u;
    } cases[] = {
        {"y-(-0.04717218948630368)-0.054223061635660035*max(0,1-abs(x-(0.015293219658160058))/6.595160968918084e-10)",
         "y=0.002827810513696322", "x=0.02361461293493874,y=0.006520926793985374"},
        {"y-(-4.0267894152692)-5.355954681877332*max(0,1-abs(x-(2.121759602359655))/3.307485146157233e-07)",
         "y=0.9732105847307996", "x=1.7432979949038325,y=0.2924624835525909"},
        {"y-(-4.699471547286219)-5.344649270342507*max(0,1-abs(x-(-2.5688441401864095))/2.9796889450894417e-06)",
         "y=0.3005284527137812", "x=-1.6291440401463444,y=0.21857429781543475"},
    };
    for (const auto& c : cases) {
        const model::Model m = model_of(std::string("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = "
                                                    "\"0\"\n[[contact]]\nname = \"tip\"\ngN = \"") +
                                        c.gap + "\"\neN = 1\n[initial]\nq = {" + c.q + "}\nu = {" + c.u + "}\n");
        const Trajectory motion = run(m, 2.0, true);
        EXPECT_EQ(motion.status, Status::completed) << c.gap << motion.reason;
        EXPECT_LT(motion.energy.balance_error, 1e-12) << c.gap;
        EXPECT_NEAR(motion.energy.final, motion.energy.initial, 1e-12 * motion.energy.initial) << c.gap;
    }
}

// A body flies past a thin bump of the height 1.1 while it rises: at x = 16.5, where the bump is, y = 0.9 + 0.4 t = 1.1
// − ε. Near the bump the other curve is 1e-27. Where the bump begins it exceeds this curve at once, although both are
// zero to rounding, and on a long step the coefficients of the bump hide that it does.
TEST(CornerOfAnObstacle, AThinBumpBesideASteepCurveIsStruck) {
    for (const double depth : {1e-3, 1e-2, 0.1}) {
        const model::Model m = model_of(
            "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"0\"\n[[contact]]\nname = \"bump\"\n"
            "gN = \"y - max(1.1*max(0, 1 - ((x - 16.5)/5e-05)^2)^2, 3.45/cosh((x - 56)/0.638))\"\neN = 0.5\n"
            "[initial]\nq = { y = " +
            number_text(0.9 - depth) + " }\nu = { x = 33, y = 0.4 }\n");
        const Trajectory motion = run(m, 0.7, true);
        EXPECT_EQ(motion.status, Status::completed) << motion.reason;
        ASSERT_EQ(motion.events.size(), 1U) << depth;
        EXPECT_EQ(motion.events[0].kind, EventKind::impact);
        // The gap is zero where 1.1 (1 − z²)² = 1.1 − depth, up to the rise of y over the bump.
        const double z = -std::sqrt(1.0 - std::sqrt(1.0 - depth / 1.1));
        EXPECT_NEAR(motion.events[0].t, (16.5 + 5e-5 * z) / 33.0, 2e-9) << depth;
    }
}

TEST(AccumulationOfLiftOffs, IsFollowedToItsLimitAndPassed) {
    const model::Model m = model_of(
        "[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nf = { y = \"-1 - 3*sin(log(abs(1 - t))*20)\" }\n[[contact]]\nname = "
        "\"table\"\ngN = \"y\"\neN = 0\n");
    const Trajectory motion = run(m, 2.0, true);
    ASSERT_EQ(motion.status, Status::completed) << motion.reason;
    const auto found = std::find_if(motion.events.begin(), motion.events.end(),
                                    [](const trajectory::Event& e) { return e.kind == EventKind::accumulation; });
    ASSERT_NE(found, motion.events.end());
    EXPECT_NEAR(found->t, 1.0, 1e-7);
    EXPECT_LT(std::abs(motion.energy.balance_error), 1e-9);
}

// The table oscillates ever faster with an amplitude that vanishes at t = 1, where its motion is below the resolution.
// The run may give up there, but it must not end with a false motion.
TEST(AccumulationOfLiftOffs, WithoutAConstantFactorIsPassedOrEndsWithAReason) {
    const model::Model m = model_of(
        "[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"10*y\"\n[[contact]]\nname = \"table\"\ngN = \"y - (1 - "
        "t)^3*sin(1/(1 - t))\"\neN = 0\n[initial]\nq = { y = 1 }\n");
    const Trajectory motion = run(m, 1.5, true);
    EXPECT_LT(motion.violation.gap, 1e-12);
    if (motion.status != Status::completed) {
        EXPECT_EQ(motion.status, Status::failed);
        EXPECT_NE(motion.reason.find("change without end"), std::string::npos) << motion.reason;
        EXPECT_NEAR(motion.end.t, 1.0, 1e-3);
        return;
    }
    EXPECT_LT(motion.energy.balance_error, 1e-9);
    // Landings with e = 0 forget what was before: a motion that begins on the table a little later ends alike.
    const double t = 1.02, s = 1.0 - t, phase = 1.0 / s;
    integrate::Options options;
    options.t_end = 1.5;
    options.start =
        trajectory::State{t, {s * s * s * std::sin(phase)}, {-3.0 * s * s * std::sin(phase) + s * std::cos(phase)}};
    const Trajectory later = integrate::simulate(m, integrate::EventDriven{}, options);
    EXPECT_NEAR(motion.end.q[0], later.end.q[0], 1e-9);
    EXPECT_NEAR(motion.end.u[0], later.end.u[0], 1e-9);
}

TEST(ChangesWithoutEnd, OfFrictionThatAreFarTooManyEndTheRunWithAReason) {
    const model::Model m = model_of(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nf = { x = \"6*sin(1e9*t)\" }\n[[slider]]\nname = "
        "\"floor\"\nFN = \"10\"\ngammaT = \"x'\"\nmu = 0.3\n");
    const Trajectory motion = run(m, 2.0, true);
    EXPECT_EQ(motion.status, Status::failed);
    EXPECT_NE(motion.reason.find("change without end"), std::string::npos) << motion.reason;
    EXPECT_LT(motion.end.t, 1e-4);
}

INSTANTIATE_TEST_SUITE_P(BothWays, Corner, testing::Bool(),
                         [](const testing::TestParamInfo<bool>& way) { return way.param ? "Series" : "Samples"; });

}  // namespace

}  // namespace saltus::integrate::corner_test
