// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "physics/motion.hpp"

namespace saltus::long_runs_test {
namespace {

using namespace saltus::test;

TEST(LongRun, AnElasticBallBetweenFloorAndCeilingKeepsItsEnergy) {
    const std::string room = R"toml(
[system]
name = "ball between floor and ceiling"
q = ["y"]
T = "1/2*y'^2"
U = "9.81*y"
[[contact]]
name = "floor"
gN = "y"
eN = 1.0
[[contact]]
name = "ceiling"
gN = "1 - y"
eN = 1.0
[initial]
q = { y = 0.3 }
u = { y = 7.0 }
)toml";
    // Floor to ceiling and back takes 2(v0 − v1)/g: 200 000 impacts.
    const double v0 = std::sqrt(49.0 + 2.0 * 9.81 * 0.3), v1 = std::sqrt(v0 * v0 - 2.0 * 9.81);
    const double round = 2.0 * (v0 - v1) / 9.81;
    const Model model = from_text(room);
    const Trajectory motion = motion_of(model, 1e5 * round, EventDriven{.keep_arcs = false});
    EXPECT_EQ(motion.events.size(), 200000U);
    EXPECT_NEAR(motion.energy.final / motion.energy.initial, 1.0, 1e-12);
    EXPECT_TRUE(matches(motion.events.back().t - motion.events.front().t, (1e5 - 0.5) * round, 1e-9));
    RecordProperty("seconds", std::to_string(motion.statistics.seconds));
}

TEST(LongRun, AnElasticBallComesBackToTenMetresAThousandTimes) {
    const Trajectory motion = motion_of(shipped("bouncing-ball", {{"e", 1.0}, {"y0", 10.0}}), 2858.0);
    const double fall = std::sqrt(20.0 / 9.81);
    ASSERT_GE(motion.events.size(), 1000U);
    double lowest = 10.0;
    for (int k = 1; k <= 1000; ++k) lowest = std::min(lowest, motion.right(2.0 * fall * k).q[0]);
    EXPECT_NEAR(lowest, 10.0, 1e-8);
    for (std::size_t k = 0; k < 1000; ++k)
        EXPECT_TRUE(matches(motion.events[k].t, fall * (2.0 * static_cast<double>(k) + 1.0), 1e-10));
}

TEST(LongRun, NewtonsCradleDoesNotGainEnergy) {
    for (const double s : {0.0, 1e-5, 1e-3})
        for (const double e : {1.0, 0.9}) {
            const Trajectory motion = motion_of(shipped("newtons-cradle", {{"s", s}, {"e", e}}), 10.0);
            for (const Event& impact : events_of(motion, EventKind::impact))
                EXPECT_LE(impact.work, 1e-12 * motion.energy.initial) << "s = " << s << ", e = " << e;
            EXPECT_LE(motion.energy.final, motion.energy.initial * (1.0 + 1e-9)) << "s = " << s << ", e = " << e;
            if (e == 1.0) {
                EXPECT_GE(motion.energy.final, motion.energy.initial * (1.0 - 1e-9)) << "s = " << s;
            }
        }
}

TEST(LongRun, NewtonsCradleSendsTheLastBallOffWhenThereIsRoom) {
    const Trajectory motion = motion_of(shipped("newtons-cradle", {{"s", 1e-6}}), 0.3);
    const double speed = 0.03 * std::sqrt(9.81 / 0.2);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(impacts.size(), 4U) << story(motion);
    EXPECT_NEAR(impacts[3].u_plus[4], speed, 1e-6 * speed);
    for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(impacts[3].u_plus[i], 0.0, 1e-3 * speed);
    // Without room, the closed form of the model file: 3/5 back, 2/5 on.
    const Trajectory together = motion_of(shipped("newtons-cradle"), 0.3);
    ASSERT_GE(together.events.size(), 1U);
    EXPECT_NEAR(together.events[0].u_plus[0], -0.6 * speed, 1e-9);
    for (std::size_t i = 1; i < 5; ++i) EXPECT_NEAR(together.events[0].u_plus[i], 0.4 * speed, 1e-9);
}

TEST(LongRun, TheWoodpeckerReachesItsPeriodicMotion) {
    const Trajectory motion = motion_of(shipped("woodpecker"), 16.0);
    std::vector<double> pecks;
    for (const Event& e : events_of(motion, EventKind::impact))
        if (std::find(e.elements.begin(), e.elements.end(), 0) != e.elements.end()) pecks.push_back(e.t);
    ASSERT_GE(pecks.size(), 100U) << story(motion, 30);
    const double period = pecks.back() - pecks[pecks.size() - 2];
    EXPECT_NEAR(period, 0.146, 1e-3);
    // Each cycle takes off a sixth of the distance to the periodic motion (its multiplier is near −0.84).
    for (std::size_t i = pecks.size() - 4; i < pecks.size(); ++i)
        EXPECT_NEAR(pecks[i] - pecks[i - 1], period, 1e-8 * period) << "peck " << i;
}

TEST(LongRun, TheFrictionOscillatorMissesNoStickOrSlipInTenThousandSeconds) {
    const Trajectory motion = motion_of(shipped("friction-oscillator"), 1e4, EventDriven{.keep_arcs = false});
    const std::vector<Event> sticks = events_of(motion, EventKind::stick), slips = events_of(motion, EventKind::slip);
    ASSERT_GE(sticks.size(), 3U) << story(motion);
    const double period = sticks[2].t - sticks[1].t;
    EXPECT_NEAR(period, 12.0, 0.1);
    // The limit cycle is reached with the first stick: slip begins at x = 1 whatever was before.
    EXPECT_NEAR(slips.front().q[0], 1.0, 1e-9);
    for (std::size_t i = 2; i < sticks.size(); ++i)
        EXPECT_NEAR(sticks[i].t - sticks[i - 1].t, period, 1e-7) << "stick " << i;
    for (std::size_t i = 0; i < slips.size(); ++i) EXPECT_NEAR(slips[i].q[0], 1.0, 1e-9) << "slip " << i;
    EXPECT_EQ(sticks.size(), 1 + static_cast<std::size_t>((1e4 - sticks[0].t) / period));
    EXPECT_EQ(slips.size(), 1 + static_cast<std::size_t>((1e4 - slips[0].t) / period));
    EXPECT_EQ(sticks.size() + slips.size(), motion.events.size()) << story(motion);
}

}  // namespace
}  // namespace saltus::long_runs_test
