// SPDX-License-Identifier: Apache-2.0
#include <numbers>

#include "physics/motion.hpp"

namespace saltus::balls_test {
namespace {

using namespace saltus::test;

// Closed forms need no tolerance of their own: what is left is the integrator at its default 1e-9, event times 1e-10.
constexpr double event_time = 1e-10;

// --- the bouncing ball: t1 = sqrt(2 y0/g), then every 2 e^n t1, accumulation at t1 (1 + e)/(1 − e) -------------------

TEST(BouncingBall, AccumulatesAtItsLimitTimeAndRests) {
    for (const double e : {0.2, 0.5, 0.8, 0.95}) {
        const double g = 9.81, t1 = std::sqrt(2.0 / g), limit = t1 * (1.0 + e) / (1.0 - e);
        const Model model = shipped("bouncing-ball", {{"e", e}});
        const Trajectory motion = motion_of(model, limit + 1.0);
        const std::vector<Event> ends = events_of(motion, EventKind::accumulation);
        ASSERT_EQ(ends.size(), 1U) << "e = " << e << ": " << story(motion);
        EXPECT_TRUE(matches(ends[0].t, limit, event_time)) << "e = " << e;
        EXPECT_EQ(ends[0].impacts, static_cast<int>(events_of(motion, EventKind::impact).size()));
        EXPECT_EQ(&motion.events.back() - &motion.events.front(), ends[0].impacts) << story(motion);
        EXPECT_EQ(motion.end.u[0], 0.0);
        EXPECT_NEAR(motion.end.q[0], 0.0, 1e-15);
        EXPECT_TRUE(matches(motion.forces.at(0).N, g, 1e-12));
    }
}

TEST(BouncingBall, HitsTheFloorAtTheTimesAndSpeedsOfTheClosedForm) {
    const double g = 9.81, e = 0.8;
    const Trajectory motion = motion_of(shipped("bouncing-ball"), 5.0);
    double t = std::sqrt(2.0 / g), v = std::sqrt(2.0 * g), flight = 2.0 * t;
    for (const Event& impact : events_of(motion, EventKind::impact)) {
        EXPECT_TRUE(matches(impact.t, t, event_time));
        EXPECT_TRUE(matches(impact.u_minus[0], -v, 1e-9));
        EXPECT_NEAR(impact.u_plus[0], e * v, 1e-9);
        EXPECT_NEAR(impact.work, 0.5 * (e * e - 1.0) * v * v, 1e-8);
        EXPECT_NEAR(normal_impulse(impact, 0), (1.0 + e) * v, 1e-9);
        flight *= e;
        t += flight;
        v *= e;
    }
}

TEST(BouncingBall, WithoutRestitutionStopsAtOnce) {
    const Trajectory motion = motion_of(shipped("bouncing-ball", {{"e", 0.0}}), 2.0);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(motion.events[0].t, std::sqrt(2.0 / 9.81), event_time));
    EXPECT_EQ(motion.end.u[0], 0.0);
}

// --- the ball on a vibrating table -----------------------------------------------------------------------------------

double phase(double t, double w) { return std::remainder(w * t, 2.0 * std::numbers::pi); }

TEST(BallOnMovingPlane, SettlesToOneBounceAPeriodAtThePhaseOfTheClosedForm) {
    const double e = 0.5, w = 20.0 * std::numbers::pi, g = 9.81;
    for (const double Gamma : {1.2, 1.3, 1.4}) {
        const Trajectory motion = motion_of(shipped("ball-on-moving-plane", {{"Gamma", Gamma}}), 6.0);
        const std::vector<Event> impacts = events_of(motion, EventKind::impact);
        ASSERT_GT(impacts.size(), 50U) << story(motion);
        const double settled = std::acos(std::numbers::pi * (1.0 - e) / ((1.0 + e) * Gamma));
        for (std::size_t i = impacts.size() - 10; i < impacts.size(); ++i) {
            EXPECT_NEAR(phase(impacts[i].t, w), settled, 1e-8) << "Gamma = " << Gamma;
            EXPECT_NEAR(impacts[i].t - impacts[i - 1].t, 0.1, 1e-9) << "Gamma = " << Gamma;
            // Over a period the flight needs u⁺ = π g/w; the speed of approach to the table is then u⁺ (1 + ...)/e.
            EXPECT_NEAR(impacts[i].u_plus[0], std::numbers::pi * g / w, 1e-8);
        }
    }
}

TEST(BallOnMovingPlane, ImpactsCostWhatTheContactWorksNotWhatTheBallLoses) {
    const double e = 0.5, w = 20.0 * std::numbers::pi, A = 1.3 * 9.81 / (w * w);
    for (const Event& impact : events_of(motion_of(shipped("ball-on-moving-plane"), 2.0), EventKind::impact)) {
        const double approach = impact.u_minus[0] - A * w * std::cos(w * impact.t);
        EXPECT_NEAR(impact.work, 0.5 * (e * e - 1.0) * approach * approach, 1e-12);
        EXPECT_NEAR(impact.u_plus[0] - A * w * std::cos(w * impact.t), -e * approach, 1e-12);
    }
}

TEST(BallOnMovingPlane, ChattersToRestAndIsThrownOffWhereTheTableFallsFasterThanTheBall) {
    model::Description d = description_of("ball-on-moving-plane");
    d.initial.q = {{"y", 0.01, {}}};
    d.initial.u.clear();
    const double w = 20.0 * std::numbers::pi, thrown = std::asin(1.0 / 1.3);
    const Trajectory motion = motion_of(built(d), 2.0);
    const std::vector<Event> rests = events_of(motion, EventKind::accumulation);
    const std::vector<Event> offs = events_of(motion, EventKind::lift_off);
    ASSERT_GE(rests.size(), 1U) << story(motion);
    ASSERT_GE(offs.size(), 1U) << story(motion);
    for (const Event& off : offs) EXPECT_NEAR(phase(off.t, w), thrown, 1e-8);
}

// --- Glocker's walls: the contact work of the first instant ----------------------------------------------------------

TEST(MovingWall, GivesTheMassEnergyAndTakesItOutOfTheContact) {
    const double m = 1.5, v = 2.0;
    const Trajectory motion = motion_of(shipped("moving-wall"), 1.0);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    const Event& impact = motion.events[0];
    EXPECT_EQ(impact.kind, EventKind::impact);
    EXPECT_EQ(impact.t, 0.0);
    EXPECT_NEAR(impact.u_plus[0], v, 1e-14);
    EXPECT_NEAR(impact.work, -0.5 * m * v * v, 1e-14);
    EXPECT_NEAR(impact.energy_after - impact.energy_before, 0.5 * m * v * v, 1e-14);
    EXPECT_NEAR(motion.end.q[0], v, 1e-14);
}

TEST(MassAndLift, RidesOnTheLift) {
    const Trajectory motion = motion_of(shipped("mass-and-lift"), 1.0);
    EXPECT_NEAR(motion.end.q[0], 2.0, 1e-12);
    EXPECT_NEAR(motion.forces.at(0).N, 0.0, 1e-12);
    EXPECT_NEAR(motion.forces.at(1).N, 1.5 * 9.81, 1e-10);
}

TEST(Forklift, RaisesTheLoadOnTheForkAlone) {
    const Trajectory motion = motion_of(shipped("forklift"), 1.0);
    EXPECT_NEAR(motion.end.q[0], 1.3, 1e-12);
    EXPECT_NEAR(motion.end.q[1], 0.0, 1e-12);
    EXPECT_NEAR(motion.forces.at(1).N, 2.0 * 9.81, 1e-10);
}

}  // namespace
}  // namespace saltus::balls_test
