// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "physics/motion.hpp"

namespace saltus::accumulating_contacts_test {
namespace {

using namespace saltus::test;

// A point that leaves and strikes a floor infinitely often in finite time without a rebound: the example after
// Definition 2.1 of [Alscher], with a countable set of events that accumulates at T. The force does not change if the
// time T − t that is left is divided by 4. So each cycle of flight and contact is the one before on a scale of time of
// 1/4: velocities at collisions fall by 1/4, heights by 1/16.

constexpr double A = 100.0, phi = 0.6706449333161663;

double force(double left, double T) {
    const double w = 2.0 * std::numbers::pi / std::log(4.0);
    return A * (std::cos(w * std::log(4.0 * left / T) + phi) - std::cos(phi));
}

/// Velocity and height after the first flight up to the time t, by Simpson's rule from f alone: u = ∫ f, x = ∫ (t − s)
/// f.
std::pair<double, double> flight(double t, double T) {
    constexpr int n = 20000;
    double u = 0.0, x = 0.0;
    for (int k = 0; k <= n; ++k) {
        const double s = t * k / n, weight = (k == 0 || k == n ? 1.0 : k % 2 == 1 ? 4.0 : 2.0) * t / n / 3.0;
        u += weight * force(T - s, T);
        x += weight * (t - s) * force(T - s, T);
    }
    return {u, x};
}

TEST(AccumulatingContacts, CollisionsAndLiftOffsAreAtTheTimesOfTheSelfSimilarForce) {
    // The extrapolated limit has rounding errors. For T = 3 the run used to stop one unit in the last place before T.
    for (const double T : {1.0, 4.0, 3.0, 0.7, 5.1, 11.3}) {
        const Trajectory motion = motion_of(shipped("accumulating-contacts", {{"limit", T}}), 1.5 * T);
        EXPECT_EQ(motion.status, trajectory::Status::completed) << story(motion);
        const std::vector<Event> impacts = events_of(motion, EventKind::impact),
                                 away = events_of(motion, EventKind::lift_off);
        ASSERT_GE(impacts.size(), 8U) << story(motion);
        ASSERT_GE(away.size(), 8U);
        for (std::size_t k = 0; k < 8; ++k) {
            EXPECT_NEAR(impacts[k].t, T * (1.0 - std::pow(4.0, -static_cast<double>(k)) / 2.0), 1e-9 * T) << k;
            EXPECT_NEAR(away[k].t, T * (1.0 - std::pow(4.0, -static_cast<double>(k))), 1e-9 * T) << k;
        }
    }
}

TEST(AccumulatingContacts, EachCycleIsAQuarterOfTheOneBefore) {
    const Trajectory motion = motion_of(shipped("accumulating-contacts"), 1.5);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    const auto [u, x] = flight(0.5, 1.0);
    EXPECT_NEAR(x, 0.0, 1e-9) << "the flight ends on the floor";
    EXPECT_NEAR(impacts[0].u_minus[0], u, 1e-8);
    for (std::size_t k = 0; k + 1 < 9; ++k) {
        EXPECT_EQ(impacts[k].u_plus[0], 0.0) << "no rebound";
        EXPECT_NEAR(impacts[k + 1].u_minus[0] / impacts[k].u_minus[0], 0.25, 1e-6) << k;
    }
    for (const double t : {0.1, 0.25, 0.4}) {
        const auto [speed, height] = flight(t, 1.0);
        EXPECT_NEAR(motion.right(t).q[0], height, 1e-8) << t;
        EXPECT_NEAR(motion.right(t).u[0], speed, 1e-8) << t;
        EXPECT_NEAR(motion.right(0.75 + t / 4.0).q[0], height / 16.0, 1e-8) << "the second cycle, " << t;
    }
}

TEST(AccumulatingContacts, MotionIsFollowedToItsLimitAndBeyond) {
    const Trajectory motion = motion_of(shipped("accumulating-contacts"), 1.5);
    const std::vector<Event> limits = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(limits.size(), 1U) << story(motion);
    EXPECT_NEAR(limits[0].t, 1.0, 1e-7);
    for (const Event& e : motion.events) EXPECT_LE(e.t, limits[0].t) << "nothing happens after the limit";
    EXPECT_NEAR(motion.right(1.2).q[0], 0.0, 1e-16) << "a rounding error of the height before";
    EXPECT_EQ(motion.right(1.2).u[0], 0.0);
    ASSERT_EQ(motion.forces.size(), 1U);
    EXPECT_NEAR(motion.forces[0].N, A, 1e-9) << "the force presses the point on the floor";
}

TEST(AccumulatingContacts, EndsBeforeTheLimitIfTheRunDoes) {
    const Trajectory motion = motion_of(shipped("accumulating-contacts"), 0.99);
    EXPECT_TRUE(events_of(motion, EventKind::accumulation).empty());
    EXPECT_EQ(events_of(motion, EventKind::impact).size(), 3U) << "at 1/2, 7/8 and 31/32";
}

}  // namespace
}  // namespace saltus::accumulating_contacts_test
