// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/detail/event_driven.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "integrate/small_models.hpp"

namespace saltus::integrate::event_run_test {

namespace {

using namespace test;
using trajectory::EventKind;

RecordedMotion recorded(const model::Model& m, const trajectory::State& start, double t_end) {
    Options options;
    options.t_end = t_end;
    options.start = start;
    return run_event_driven(m, {}, options, Record::yes);
}

/// The recorded changes that a watched quantity of this kind led to.
std::vector<RecordedChange> changes(const Recording& recording, Watch::What what) {
    std::vector<RecordedChange> list;
    for (const RecordedPiece& piece : recording.pieces)
        if (const auto* const change = std::get_if<RecordedChange>(&piece))
            for (const Watch& w : change->found)
                if (w.what == what) {
                    list.push_back(*change);
                    break;
                }
    return list;
}

TEST(EventRun, ABlockStopsAndSticksWhereFrictionHasUsedUpItsVelocity) {
    const model::Model m = block_on_floor(0.3);
    const RecordedMotion run = recorded(m, {0.0, {0, 0}, {1.5, 0}}, 1.0);  // stops at t = 1.5/3
    ASSERT_EQ(run.motion.events.size(), 1U);
    EXPECT_EQ(run.motion.events[0].kind, EventKind::stick);
    EXPECT_NEAR(run.motion.events[0].t, 0.5, 1e-9);
    EXPECT_NEAR(run.motion.end.q[0], 1.5 * 0.5 / 2.0, 1e-9);
    const std::vector<RecordedChange> stops = changes(run.recording, Watch::What::slip);
    ASSERT_EQ(stops.size(), 1U);
    EXPECT_TRUE(stops[0].mode_before->parts[0].slips);
    EXPECT_FALSE(stops[0].mode_after->parts[0].slips);
    EXPECT_FALSE(stops[0].unavoidable);
}

// A body of 1e-10 m above a floor: the unit of length hides that it is open.
TEST(EventRun, AnOpenGapThatCountsAsClosedAtTheStartIsReported) {
    const model::Model m = block_on_floor(0.3);
    const auto warnings = [&](double height) { return recorded(m, {0.0, {0, height}, {0, 0}}, 0.1).motion.warnings; };
    ASSERT_EQ(warnings(5e-11).size(), 1U);
    EXPECT_NE(warnings(5e-11)[0].find("counts as closed"), std::string::npos) << warnings(5e-11)[0];
    EXPECT_TRUE(warnings(1e-13).empty());  // rounding
    EXPECT_TRUE(warnings(1e-9).empty());   // open
}

TEST(EventRun, TwoBallsThatLandTogetherAreOneChange) {
    const model::Model m = two_balls(0.5);
    const RecordedMotion run = recorded(m, {0.0, {1.25, 1.25}, {0, 0}}, 0.6);  // land at t = 0.5
    ASSERT_EQ(run.motion.events.size(), 1U);
    EXPECT_EQ(run.motion.events[0].elements, (std::vector<int>{0, 1}));
    EXPECT_GE(run.motion.statistics.steps, 2);  // one to the impact and one after it
    const std::vector<RecordedChange> impacts = changes(run.recording, Watch::What::gap);
    ASSERT_EQ(impacts.size(), 1U);
    EXPECT_EQ(impacts[0].found.size(), 2U);
    EXPECT_FALSE(impacts[0].unavoidable);
}

TEST(EventRun, AFreeClutchTakesPartInAnImpactThatWouldMakeItRunBackwards) {
    // The elastic ball y strikes the lever a, which moves upwards slowly and must not move down. By itself the clutch
    // stops where the force has braked the lever.
    const char* const text = R"toml(
[system]
q = ["y", "a"]
T = "(y'^2 + a'^2)/2"
f = { a = "-1" }
[[contact]]
name = "lever"
gN = "y - a"
eN = 0.5
[[clutch]]
name = "clutch"
gamma = "a'"
)toml";
    const model::Model m = model_of(text);
    const RecordedMotion struck = recorded(m, {0.0, {1.0, 0.0}, {-3.0, 0.5}}, 0.4);
    ASSERT_EQ(struck.motion.events.size(), 1U);
    const trajectory::Event& impact = struck.motion.events[0];
    EXPECT_EQ(impact.elements, (std::vector<int>{0, 1}));
    EXPECT_NEAR(impact.u_plus[1], 0.0, 1e-15);
    // Newton's law of the pair: γ⁺ = −e γ⁻.
    EXPECT_NEAR(impact.u_plus[0], 0.5 * (3.0 + impact.u_minus[1]), 1e-12);
    const RecordedMotion braked = recorded(m, {0.0, {10.0, 0.0}, {0.0, 0.5}}, 1.0);
    const std::vector<RecordedChange> stopped = changes(braked.recording, Watch::What::clutch);
    ASSERT_EQ(stopped.size(), 1U);
    EXPECT_NEAR(stopped[0].t, 0.5, 1e-9);
    EXPECT_FALSE(stopped[0].unavoidable);
}

TEST(EventRun, AClutchThatAnImpactStopsLocksAtOnce) {
    // The mass runs into a stop without rebound. A force pulls it back, which its clutch does not allow.
    const model::Model m = model_of(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x\"\n[[contact]]\nname = \"stop\"\ngN = \"1 - x\"\neN = 0\n"
        "[[clutch]]\nname = \"clutch\"\ngamma = \"x'\"\n");
    const RecordedMotion run = recorded(m, {0.0, {0.0}, {2.0}}, 2.0);
    ASSERT_EQ(run.motion.events.size(), 1U);
    EXPECT_EQ(run.motion.events[0].kind, EventKind::impact);
    EXPECT_EQ(run.motion.end.u[0], 0.0);
    EXPECT_NEAR(run.motion.end.q[0], 1.0, 1e-15);
}

/// A block that a belt carries. A force across the belt grows until the block slips, and turns round. `belt` is the
/// speed of the belt, `air` that of the air: only the difference matters.
std::string carried_block(const std::string& belt, const std::string& air) {
    return "[system]\nq = [\"x\", \"y\", \"z\"]\nT = \"1.2*(x'^2 + y'^2 + z'^2)/2\"\nU = \"10*z\"\nR = \"0.8*(x' - " +
           air + ")^2 + 0.6*y'^2\"\nf = { y = \"7*sin(6*t)\" }\n[[contact]]\nname = \"plane\"\ngN = \"z\"\n" +
           "gammaT = [\"x' - " + belt + "\", \"y'\"]\nmu = 0.625\n";
}

TEST(EventRun, SlipInAPlaneBeginsOnABeltAsItDoesOnAFloor) {
    // The velocity of slip is the difference of two velocities on the belt, and has their rounding errors. Where slip
    // begins it is smaller than they are.
    Options options;
    options.t_end = 1.0;
    options.start = trajectory::State{0.0, {0, 0, 0}, {0.77, 0, 0}};
    const trajectory::Trajectory belt = run_event_driven(model_of(carried_block("0.77", "0")), {}, options).motion;
    options.start = trajectory::State{0.0, {0, 0, 0}, {0, 0, 0}};
    const trajectory::Trajectory floor = run_event_driven(model_of(carried_block("0", "-0.77")), {}, options).motion;
    ASSERT_EQ(belt.status, trajectory::Status::completed);
    ASSERT_EQ(floor.status, trajectory::Status::completed);
    ASSERT_EQ(belt.events.size(), 4U);
    ASSERT_EQ(floor.events.size(), 4U);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(belt.events[i].t, floor.events[i].t, 1e-9) << i;
    EXPECT_NEAR(belt.end.q[0] - 0.77, floor.end.q[0], 1e-9);
    EXPECT_NEAR(belt.end.q[1], floor.end.q[1], 1e-9);
    EXPECT_LT(belt.statistics.steps, 20000);
    EXPECT_LT(floor.statistics.steps, 2000);
}

/// A ball x whose bounces accumulate at t = 1 s, and a second body y in free flight. The last millionth of a second
/// before the limit is passed in one step.
constexpr const char* ball_that_comes_to_rest_at_one = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "10*x"
[initial]
u = { x = 0.5 }
[[contact]]
name = "floor"
gN = "x"
eN = 0.9
)toml";

TEST(EventRun, AnotherBodyStrikesJustBeforeALimitOfImpacts) {
    const model::Model m =
        model_of(std::string(ball_that_comes_to_rest_at_one) + "[[contact]]\nname = \"wall\"\ngN = \"y\"\neN = 0.5\n");
    for (const double before : {1e-8, 1e-7, 1e-6, 4e-6}) {
        Options options;
        options.t_end = 1.5;
        options.start = trajectory::State{0.0, {0.0, 10.0 * (1.0 - before)}, {0.5, -10.0}};
        const trajectory::Trajectory motion = run_event_driven(m, {}, options).motion;
        EXPECT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
        EXPECT_LT(motion.violation.gap, 1e-13) << before;
        int strikes = 0, limits = 0;
        for (const trajectory::Event& event : motion.events) {
            if (event.kind == EventKind::accumulation) {
                ++limits;
                // Bounces of 1e-13 m strike together with the wall, and rest begins when they are 1e-14 m high.
                EXPECT_NEAR(event.t, 1.0, 3e-6) << before;
                EXPECT_EQ(event.elements, std::vector<int>{0});
            } else if (event.elements.back() == 1) {
                ++strikes;
                EXPECT_NEAR(event.t, 1.0 - before, 1e-13);
            }
        }
        EXPECT_EQ(strikes, 1) << before;
        EXPECT_EQ(limits, 1) << before;
        EXPECT_NEAR(motion.end.q[1], 5.0 * (0.5 + before), 1e-12);
    }
}

TEST(EventRun, AJumpOfTheModelHappensJustBeforeALimitOfImpacts) {
    const model::Model m = model_of(std::string(ball_that_comes_to_rest_at_one) +
                                    "[[jump]]\nname = \"kick\"\nwhen = \"t - 0.9999999\"\nu = { y = \"7\" }\n");
    const trajectory::Trajectory motion = recorded(m, {0.0, {0.0, 0.0}, {0.5, 0.0}}, 1.5).motion;
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    EXPECT_NEAR(motion.end.q[1], 7.0 * 0.5000001, 1e-12) << "the kick is not late";
    EXPECT_EQ(motion.events.back().kind, EventKind::jump);
    EXPECT_NEAR(motion.events.back().t, 0.9999999, 1e-15);
}

TEST(EventRun, AGapIsNotClosedByTheAccumulationOfAnotherContactNearIt) {
    // A point falls into a corner between two walls. Its bounces at one wall accumulate again and again, each time
    // nearer to the other wall. If the other gap counted as closed at 1e-10 m, then the point would go on for ever.
    const model::Model m = model_of(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + 0.4368*y'^2)/2"
U = "5.211*x"
[initial]
q = { x = 0.443, y = 0.309 }
[[contact]]
name = "left"
gN = "x - 0.544*sin(y)"
eN = 0.122
[[contact]]
name = "right"
gN = "x + 0.544*sin(y)"
eN = 0.356
)toml");
    const trajectory::Trajectory motion = recorded(m, {0.0, {0.443, 0.309}, {0.396, -0.961}}, 1.756).motion;
    ASSERT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    EXPECT_TRUE(motion.warnings.empty()) << motion.warnings[0];
    EXPECT_LT(motion.events.size(), 200U);
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-12);
    EXPECT_NEAR(motion.end.q[1], 0.0, 1e-12);
}

TEST(EventRun, BeadsThatFallTogetherDoNotChangeTheirModeWithoutEnd) {
    // The lowest bead throws three others up that lie on each other. In free flight their contacts have no forces, and
    // their relative accelerations are rounding errors.
    const model::Model m = model_of(R"toml(
[system]
q = ["x0", "x1", "x2", "x3"]
T = "1.46/2*x0'^2 + 1/2*x1'^2 + 2.21/2*x2'^2 + 1/2*x3'^2"
U = "1.46*9.81*x0 + 1*9.81*x1 + 2.21*9.81*x2 + 1*9.81*x3"
[initial]
q = { x0 = 0.261, x1 = 0.86, x2 = 1.139, x3 = 1.662 }
[[contact]]
name = "c0"
gN = "x0 - 0.1"
eN = 0.7
[[contact]]
name = "c1"
gN = "x1 - x0 - 0.2"
eN = 0
[[contact]]
name = "c2"
gN = "x2 - x1 - 0.2"
eN = 0
[[contact]]
name = "c3"
gN = "x3 - x2 - 0.2"
eN = 0.5
)toml");
    const trajectory::Trajectory motion =
        recorded(m, {0.0, {0.261, 0.86, 1.139, 1.662}, {0.0, 0.0, 0.0, 0.0}}, 3.0).motion;
    EXPECT_EQ(motion.status, trajectory::Status::completed) << motion.reason;
    EXPECT_TRUE(motion.warnings.empty()) << motion.warnings[0];
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(motion.end.q[i], 0.1 + 0.2 * static_cast<double>(i), 1e-11) << i;
}

TEST(EventRun, ImpactsThatDoNotEndAndCannotBeFollowedMakeTheMotionInaccurate) {
    // A ball that keeps its energy and hops 5e-16 m high, for ever.
    const model::Model m = model_of(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"10*x\"\n[[contact]]\nname = \"floor\"\ngN = \"x\"\neN = 1\n");
    const trajectory::Trajectory motion = recorded(m, {0.0, {0.0}, {1e-7}}, 1.0).motion;
    EXPECT_EQ(motion.status, trajectory::Status::inaccurate);
    EXPECT_NE(motion.reason.find("the impacts of floor do not end"), std::string::npos) << motion.reason;
    EXPECT_EQ(motion.inaccuracy.what, "the velocity of floor");
    EXPECT_LT(motion.inaccuracy.since, 1e-5);
    // Beside a velocity of 1000 m/s the tolerances explain 1e-7 m/s.
    const model::Model beside = model_of(
        "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*x\"\n[[contact]]\nname = \"floor\"\ngN = "
        "\"x\"\neN = 1\n");
    const trajectory::Trajectory fast = recorded(beside, {0.0, {0.0, 0.0}, {1e-7, 1e3}}, 1.0).motion;
    EXPECT_EQ(fast.status, trajectory::Status::completed) << fast.reason;
    ASSERT_EQ(fast.warnings.size(), 1U);
    EXPECT_NE(fast.warnings[0].find("the impacts of floor do not end"), std::string::npos) << fast.warnings[0];
}

TEST(EventRun, RecordsOnlyWhenItIsAskedTo) {
    const model::Model m = two_balls(0.5);
    Options options;
    options.t_end = 0.6;
    options.start = trajectory::State{0.0, {1.25, 2.0}, {0, 0}};
    EXPECT_TRUE(run_event_driven(m, {}, options).recording.pieces.empty());
    const RecordedMotion with = run_event_driven(m, {}, options, Record::yes);
    EXPECT_FALSE(with.recording.pieces.empty());
    EXPECT_EQ(with.motion.end.u, run_event_driven(m, {}, options).motion.end.u);
}

// mu = 0.3 ((t - 2)^2 - 2) is negative from t = 2 - sqrt(2) to 2 + sqrt(2), and F_N = (t - 1)^2 - 0.01 for a short
// time. One step of a Taylor series can reach over all of that.
TEST(EventRun, FailsWhereFrictionBeginsToSupplyEnergyHoweverLongItsStepsAre) {
    for (const auto& [slider, begins] : {std::pair{"mu = \"0.3*((t-2)^2-2)\"\nFN = 1", 2.0 - std::sqrt(2.0)},
                                         {"mu = 0.1\nFN = \"(t-1)^2-1e-2\"", 0.9}}) {
        const model::Model m =
            model_of(std::string("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\n[[slider]]\ngammaT = \"x'\"\n") + slider +
                     "\n[initial]\nu = { x = 12 }\n");
        Options options;
        options.t_end = 4.0;
        const trajectory::Trajectory motion = simulate(m, EventDriven{}, options);
        EXPECT_EQ(motion.status, trajectory::Status::failed) << slider;
        EXPECT_NEAR(motion.end.t, begins, 1e-9) << slider;
        EXPECT_NE(motion.reason.find("friction would supply energy"), std::string::npos) << motion.reason;
    }
}

// mu = 0.1 + 0.1 x is negative for x < -1, and F_N = 1 - x^2 for |x| > 1. An oscillator that starts at x = 2, or with
// x' = 2, gets there.
TEST(EventRun, FailsWhereFrictionWouldSupplyEnergy) {
    struct Case {
        std::string slider, start, part;
    };
    for (const Case& c : {Case{"mu = \"0.1 + 0.1*x\"\nFN = 1", "q = { x = 2 }", "friction coefficient mu"},
                          Case{"mu = 0.1\nFN = \"1 - x^2\"", "u = { x = 2 }", "normal force FN"}}) {
        const model::Model m = model_of(
            "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\n[[slider]]\nname = \"brake\"\n"
            "gammaT = \"x'\"\n" +
            c.slider + "\n[initial]\n" + c.start + "\n");
        Options options;
        options.t_end = 10.0;
        for (const Method& method : {Method{EventDriven{}}, Method{Moreau{}}, Method{Penalty{}}}) {
            const trajectory::Trajectory motion = simulate(m, method, options);
            EXPECT_EQ(motion.status, trajectory::Status::failed) << c.slider;
            EXPECT_NE(motion.reason.find(c.part), std::string::npos) << motion.reason;
            EXPECT_NE(motion.reason.find("'brake'"), std::string::npos) << motion.reason;
            EXPECT_LT(motion.end.t, 6.0) << c.slider;
        }
    }
}

}  // namespace

}  // namespace saltus::integrate::event_run_test
