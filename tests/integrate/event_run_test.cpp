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

}  // namespace

}  // namespace saltus::integrate::event_run_test
