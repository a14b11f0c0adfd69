// SPDX-License-Identifier: Apache-2.0
// The examples of [Tornambe], against tests/reference/tornambe.json.
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "physics/motion.hpp"
#include "reference/reference.hpp"

namespace saltus::tornambe_test {
namespace {

using namespace saltus::test;
using reference::entry;
using reference::Value;

const EventDriven tight{.rtol = 1e-11, .atol = 1e-13};

/// The arm with the law e = 1 − c·(approach speed).
Model arm_with_c(double c) {
    model::Description d = description_of("single-link-arm");
    for (model::ContactDescription& contact : d.contacts) contact.eN = {}, contact.c = c;
    return built(d);
}

// --- the arm between rigid obstacles
// ----------------------------------------------------------------------------------

/// The first impacts of an entry tornambe_arm_rigid_A_*.
void expect_impacts(const Trajectory& motion, const Value& given) {
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    const std::vector<Value> expected = given["outputs"]["impacts"].items();
    const double tolerance = given.tolerance();
    ASSERT_GE(impacts.size(), expected.size()) << story(motion);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(matches(impacts[i].t, expected[i]["t"], tolerance)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_minus[0], expected[i]["v_minus"], tolerance)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_plus[0], expected[i]["v_plus"], tolerance)) << "impact " << i + 1;
        EXPECT_EQ(impacts[i].elements, std::vector<int>{1}) << "the lower side";
    }
}

/// Impacts that do not accumulate: their number before t = 2, and the 400th.
void expect_no_accumulation(const Trajectory& motion, const Value& given) {
    const Value expected = given["outputs"];
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    EXPECT_EQ(impacts.size(), motion.events.size()) << "nothing but impacts";
    const auto early = std::count_if(impacts.begin(), impacts.end(), [](const Event& e) { return e.t < 2.0; });
    EXPECT_EQ(static_cast<double>(early), expected["n_impacts_before_t2"].number());
    ASSERT_GE(impacts.size(), 400U);
    EXPECT_TRUE(matches(impacts[399].t, expected["t_400"], given.tolerance()));
    EXPECT_TRUE(matches(impacts[399].u_plus[0], expected["v_plus_400"], given.tolerance()));
}

TEST(TornambeArm, BouncesForEverWithE1) {
    const Value given = entry("tornambe_arm_rigid_A_e1"), rate = entry("tornambe_eq29d_fails_for_e1");
    const Trajectory motion = motion_of(shipped("single-link-arm"), 7.16, tight);
    expect_impacts(motion, given);
    expect_no_accumulation(motion, given);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    double impulse = 0.0;
    for (std::size_t i = 100; i < 400; ++i) impulse += normal_impulse(impacts[i], 1);
    EXPECT_TRUE(matches(impulse / (impacts[399].t - impacts[99].t),
                        rate["outputs"]["mean_impulse_rate_impacts_101_to_400"], rate.tolerance()));
}

TEST(TornambeArm, ComesToRestWithE08) {
    const Value given = entry("tornambe_arm_rigid_A_e0.8");
    const Trajectory motion = motion_of(shipped("single-link-arm", {{"e", 0.8}}), 2.0, tight);
    expect_impacts(motion, given);
    const std::vector<Event> rests = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(rests.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(rests[0].t, given["outputs"]["zeno_time"], given.tolerance()));
    EXPECT_TRUE(matches(motion.end.q[0], given["outputs"]["q_final"], given.tolerance()));
    EXPECT_TRUE(matches(motion.forces.at(1).N, given["outputs"]["steady_contact_torque"], given.tolerance()));
}

TEST(TornambeArm, ComesToRestWithE05) {
    const Value given = entry("tornambe_arm_rigid_A_e0.5");
    const Trajectory motion = motion_of(shipped("single-link-arm", {{"e", 0.5}}), 2.0, tight);
    expect_impacts(motion, given);
    const std::vector<Event> rests = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(rests.size(), 1U) << story(motion);
    EXPECT_TRUE(matches(rests[0].t, given["outputs"]["zeno_time"], given.tolerance()));
    EXPECT_TRUE(matches(motion.forces.at(1).N, given["outputs"]["steady_contact_torque"], given.tolerance()));
}

TEST(TornambeArm, WithRestitutionThatDependsOnTheSpeedNeverComesToRest) {
    const Value given = entry("tornambe_arm_rigid_A_c0.1");
    const Trajectory motion = motion_of(arm_with_c(given["inputs"]["c"]), 4.33, tight);
    expect_impacts(motion, given);
    expect_no_accumulation(motion, given);
}

TEST(TornambeArm, RestsFreeOrPressedDependingOnTheSignOfTheObstaclesAngle) {  // tornambe_violation_q0_negative
    const Trajectory free = motion_of(shipped("single-link-arm", {{"q0", -0.3}, {"e", 0.5}}), 40.0);
    EXPECT_NEAR(free.end.q[0], 0.0, 1e-12);
    EXPECT_EQ(free.forces.at(1).N, 0.0);
    const Trajectory pressed = motion_of(shipped("single-link-arm", {{"q0", 0.3}, {"e", 0.5}}), 40.0);
    EXPECT_NEAR(pressed.end.q[0], 0.3, 1e-12);
    EXPECT_NEAR(pressed.forces.at(1).N, 0.3, 1e-10);
    // The obstacle where the spring is relaxed: impacts every half period, at speeds that only fade.
    const Trajectory grazes = motion_of(shipped("single-link-arm", {{"q0", 0.0}, {"e", 0.5}}), 20.0);
    const std::vector<Event> impacts = events_of(grazes, EventKind::impact);
    const double I = 0.045216, damping = 0.1 / (2.0 * I),
                 half = std::numbers::pi / std::sqrt(1.0 / I - damping * damping);
    ASSERT_GE(impacts.size(), 10U);
    for (std::size_t i = 1; i < 10; ++i) {
        EXPECT_NEAR(impacts[i].t - impacts[i - 1].t, half, 1e-9);
        EXPECT_NEAR(impacts[i].u_minus[0], -impacts[i - 1].u_plus[0] * std::exp(-damping * half), 1e-9);
    }
    EXPECT_NEAR(grazes.end.q[0], 0.0, 1e-10);
}

// --- the arm against springs
// ------------------------------------------------------------------------------------------

/// The largest |q_k − q| of two motions: everywhere on a fine grid, refined around the largest.
double largest_distance(const Trajectory& a, const Trajectory& b, double t_end) {
    const auto distance = [&](double t) { return std::abs(a.right(t).q[0] - b.right(t).q[0]); };
    std::vector<double> times;
    for (int i = 0; i <= 4000; ++i) times.push_back(t_end * i / 4000.0);
    for (const Trajectory* motion : {&a, &b})
        for (const Event& e : motion->events)
            if (e.t < t_end) times.push_back(e.t);
    std::sort(times.begin(), times.end());
    std::size_t largest = 0;
    std::vector<double> values;
    for (const double t : times) {
        values.push_back(distance(t));
        if (values.back() > values[largest]) largest = values.size() - 1;
    }
    double low = times[std::max<std::size_t>(largest, 1) - 1], high = times[std::min(largest + 1, times.size() - 1)];
    for (int i = 0; i < 80; ++i) {
        const double m1 = low + 0.382 * (high - low), m2 = low + 0.618 * (high - low);
        (distance(m1) < distance(m2) ? low : high) = distance(m1) < distance(m2) ? m1 : m2;
    }
    return std::max(values[largest], distance(0.5 * (low + high)));
}

TEST(TornambePenalty, ApproachesTheRigidArmLikeOneOverTheRootOfTheStiffness) {
    const Value given = entry("tornambe_penalty_convergence_A");
    const Trajectory rigid = motion_of(shipped("single-link-arm"), 2.0, tight);
    std::vector<double> stiffness, distances;
    for (const Value& row : given["outputs"]["rows"].items()) {
        const double k = row["k2"];
        const Trajectory soft =
            motion_of(shipped("single-link-arm", {{"k1", k}, {"k2", k}}), 2.0, Penalty{.rtol = 1e-11, .atol = 1e-13});
        const double distance = largest_distance(rigid, soft, 2.0);
        EXPECT_TRUE(matches(distance, row["sup_q"], given.tolerance())) << "k = " << k;
        const std::vector<Event> in = events_of(soft, EventKind::contact), out = events_of(soft, EventKind::lift_off);
        ASSERT_EQ(static_cast<double>(in.size()), row["n_contact_phases"].number())
            << "k = " << k << ": " << story(soft);
        ASSERT_GE(out.size(), 1U);
        EXPECT_NEAR(out[0].t - in[0].t, row["first_contact_duration"], 1e-9) << "k = " << k;
        EXPECT_NEAR(-out[0].u_plus[0] / in[0].u_plus[0], row["effective_restitution_first"], 1e-8) << "k = " << k;
        stiffness.push_back(k);
        distances.push_back(distance);
    }
    EXPECT_NEAR(slope(stiffness, distances), -given["outputs"]["expected_order"], 0.02);
    const std::size_t last = distances.size() - 1;
    EXPECT_NEAR(std::log10(distances[last] / distances[last - 1]), -given["outputs"]["rows"][last]["order_vs_previous"],
                1e-3);
}

TEST(TornambePenalty, RestsWhereTheSpringsBalance) {
    const Value rows = entry("tornambe_penalty_static_A")["outputs"]["rows"];
    for (const Value& row : {rows[0], rows[1]}) {  // stiffer springs take longer to come to rest
        const double k = row["k2"];
        const Trajectory motion = motion_of(shipped("single-link-arm", {{"k2", k}}), 60.0, Penalty{});
        EXPECT_NEAR(motion.end.q[0], row["q_R"], 1e-12) << "k = " << k;
        EXPECT_NEAR(motion.forces.at(1).N, row["force"], 1e-8) << "k = " << k;
    }
}

TEST(TornambePenalty, BounceReturnsAtTheEndOfTheHorizon) {
    const std::string bounce = R"toml(
[system]
name = "bounce"
q = ["q"]
T = "1/2*q'^2"
[parameters]
v = 1.0
k = 1.0
[[contact]]
name = "wall"
gN = "q"
[penalty]
k = "k"
[initial]
q = { q = 1.0 }
u = { q = "-v" }
)toml";
    const Value given = entry("tornambe_theorem12_bounce_A");
    for (const Value& row : given["outputs"]["rows"].items()) {
        const Model model = from_text(bounce, {{"k", row["k"]}, {"v", row["v"]}});
        const Trajectory motion = motion_of(model, given["inputs"]["T"], Penalty{});
        EXPECT_NEAR(motion.end.q[0], given["inputs"]["q_end"], 1e-9);
        ASSERT_EQ(motion.events.size(), 2U) << story(motion);
        EXPECT_NEAR(motion.events[1].t - motion.events[0].t, row["contact_duration"], given.tolerance());
    }
}

// --- the traps of the energy law -------------------------------------------------------------------------------------

const std::string oblique = R"toml(
[system]
name = "oblique impact"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
[parameters]
e = 0.5
[[contact]]
name = "wall"
gN = "x"
eN = "e"
impact = "energy"
[initial]
q = { x = 1.0 }
u = { x = -1.0, y = 1.0 }
)toml";

TEST(TornambeEnergyLaw, ScalesTheTotalEnergyIfThatIsPossible) {
    const Value given = entry("tornambe_eq46_no_solution");
    const Trajectory motion = motion_of(from_text(oblique, {{"e", 0.8}}), 2.0);
    ASSERT_EQ(motion.events.size(), 1U) << story(motion);
    EXPECT_TRUE(
        matches(motion.events[0].u_plus[0], given["outputs"]["e_energy_0_8_gives_newton_eN"], given.tolerance()));
    EXPECT_TRUE(matches(motion.events[0].u_plus[1], 1.0, given.tolerance()));
}

TEST(TornambeEnergyLaw, WithoutASolutionEndsTheRunAndKeepsTheMotionBeforeIt) {
    const double e_min = entry("tornambe_eq46_no_solution")["outputs"]["e_min_for_real_solution"];
    for (const double e : {0.5, e_min - 1e-6}) {
        const Trajectory motion = attempt(from_text(oblique, {{"e", e}}), 2.0);
        EXPECT_EQ(status_of(motion), "failed");
        EXPECT_NE(motion.reason.find("no solution"), std::string::npos) << motion.reason;
        EXPECT_NEAR(motion.end.t, 1.0, 1e-10);
        EXPECT_NEAR(motion.end.q[0], 0.0, 1e-10);
        EXPECT_NEAR(motion.end.q[1], 1.0, 1e-10);
        EXPECT_NEAR(motion.left(0.5).q[0], 0.5, 1e-12) << "the flight before is kept";
    }
}

TEST(TornambeEnergyLaw, ClampsARestitutionBelowZeroAndSaysSo) {
    const std::string fast = R"toml(
[system]
name = "fast impact"
q = ["x"]
T = "1/2*x'^2"
[parameters]
v = -3.0
[[contact]]
name = "wall"
gN = "x"
c = 0.1
impact = "energy"
[initial]
q = { x = 1.0 }
u = { x = "v" }
)toml";
    const Value given = entry("tornambe_eq45_negative_e");
    for (std::size_t i = 0; i < given["inputs"]["v_minus"].size(); ++i) {
        const double v = given["inputs"]["v_minus"][i], e = std::max(0.0, given["outputs"]["e"][i].number());
        const Trajectory motion = motion_of(from_text(fast, {{"v", v}}), 1.0);
        ASSERT_GE(motion.events.size(), 1U) << v;
        EXPECT_NEAR(motion.events[0].u_plus[0], -e * v, 1e-12) << v;
        EXPECT_EQ(motion.warnings.empty(), v >= -10.0) << v << first_words(motion.warnings);
    }
}

// --- the underactuated pair
// -------------------------------------------------------------------------------------------

void expect_underactuated_impacts(const Trajectory& motion, const Value& given) {
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    const std::vector<Value> expected = given["outputs"]["impacts"].items();
    const double tolerance = given.tolerance();
    ASSERT_GE(impacts.size(), expected.size()) << story(motion);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(matches(impacts[i].t, expected[i]["t"], tolerance)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].q[0], expected[i]["q1"], tolerance)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_minus[0], expected[i]["q1dot"], tolerance)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_minus[1], expected[i]["v2_minus"], tolerance)) << "impact " << i + 1;
        EXPECT_TRUE(matches(impacts[i].u_plus[1], expected[i]["v2_plus"], tolerance)) << "impact " << i + 1;
    }
}

void expect_state(const State& s, const Value& expected, double tolerance) {
    for (std::size_t k = 0; k < 2; ++k) {
        EXPECT_TRUE(matches(s.q[k], expected["q"][k], tolerance)) << "at " << s.t;
        EXPECT_TRUE(matches(s.u[k], expected["qdot"][k], tolerance)) << "at " << s.t;
    }
}

/// The states at t = 1, 2, 5 and at the end.
void expect_states(const Trajectory& motion, const Value& given) {
    const Value at = given["outputs"]["state_at"];
    expect_state(motion.right(1.0), at["1.0"], given.tolerance());
    expect_state(motion.right(2.0), at["2.0"], given.tolerance());
    expect_state(motion.right(5.0), at["5.0"], given.tolerance());
    expect_state(motion.end, given["outputs"]["state_T"], given.tolerance());
}

TEST(TornambeUnderactuated, PairComesToRestAtTheWallWithE05) {
    const Value given = entry("tornambe_underactuated_A_e0.5");
    const Trajectory motion =
        motion_of(shipped("two-link-underactuated"), given["inputs"]["T"], EventDriven{.rtol = 1e-10});
    expect_underactuated_impacts(motion, given);
    const std::vector<Event> rests = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(rests.size(), 1U) << story(motion, 100);
    EXPECT_TRUE(matches(rests[0].t, given["outputs"]["zeno"][0]["t"], given.tolerance()));
    expect_states(motion, given);
    EXPECT_NEAR(motion.forces.at(0).N, given["outputs"]["lambda_R"], 1e-3);  // the first link still moves a little
}

TEST(TornambeUnderactuated, PairKeepsBouncingWithE1) {
    const Value given = entry("tornambe_underactuated_A_e1");
    const Trajectory motion =
        motion_of(shipped("two-link-underactuated", {{"e", 1.0}}), given["inputs"]["T"], EventDriven{.rtol = 1e-10});
    expect_underactuated_impacts(motion, given);
    EXPECT_EQ(static_cast<double>(motion.events.size()), given["outputs"]["n_impacts_until_T"].number())
        << story(motion);
    expect_states(motion, given);
}

TEST(TornambeUnderactuated, ADecoupledMassBouncesForEver) {
    const std::string decoupled = R"toml(
[system]
name = "decoupled"
q = ["q1", "q2"]
T = "1/2*(q1'^2 + q2'^2)"
U = "9/2*q2^2"
[[contact]]
name = "wall"
gN = "q2 - 0.5"
eN = 1.0
[control]
actuated = ["q1"]
Kp = 4.0
Kv = 2.0
[initial]
q = { q1 = 1.0, q2 = 1.2 }
)toml";
    const Trajectory motion = motion_of(from_text(decoupled), 50.0, tight);
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_EQ(impacts.size(), 66U) << story(motion);
    const Value expected = entry("tornambe_violation_decoupled")["outputs"];
    for (std::size_t i = 0; i < impacts.size(); ++i) {
        const double t = expected["first_impact"] + static_cast<double>(i) * expected["period_q2"];
        EXPECT_TRUE(matches(impacts[i].t, t, 1e-11));
        EXPECT_NEAR(impacts[i].u_plus[1], expected["impact_speed"], 1e-10);
    }
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-12);
}

}  // namespace
}  // namespace saltus::tornambe_test
