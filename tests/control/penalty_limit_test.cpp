// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/penalty/penalty_limit.hpp"

#include <cmath>
#include <numbers>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/control/penalty/detail/second_variation.hpp"
#include "support.hpp"

namespace saltus::penalty_limit_test {
namespace {

using namespace saltus::control;
using namespace saltus::test;
using reference::entry;
using reference::Value;

PenaltyLimit limit_of(const model::Description& d, const std::string& stiffness, double t_end, const Values& set = {}) {
    PenaltyLimitOptions o;
    o.t_end = t_end;
    for (const auto& [name, value] : set) o.build.set.emplace_back(name, number_text(value));
    return penalty_limit(d, penalty_from_text(stiffness), o);
}

// --- the arm ---------------------------------------------------------------------------------------------------------

TEST(PenaltyLimit, OfTheArmMatchesClosedForms) {
    const Value rows = entry("tornambe_penalty_convergence_A")["outputs"]["rows"];
    const Value steady = entry("tornambe_penalty_static_A")["outputs"];
    const PenaltyLimit limit = limit_of(description_of("single-link-arm"), "k=1e3:1e9:7", 2.0);
    ASSERT_EQ(limit.runs.size(), 7U);
    EXPECT_TRUE(limit.complete);
    EXPECT_EQ(limit.impacts, 8);
    ASSERT_TRUE(limit.steady.found);
    EXPECT_NEAR(limit.steady.q[0], 0.5, 1e-14);
    EXPECT_NEAR(limit.steady.lambda(1), steady["limit_force"], 1e-14);
    for (std::size_t i = 0; i < 7; ++i) {
        const PenaltyRun& run = limit.runs[i];
        const double k = rows[i]["k2"];
        EXPECT_EQ(run.k, k) << "even ratios, rounded to the powers of ten";
        EXPECT_TRUE(matches(run.distance.q, rows[i]["sup_q"], 1e-9)) << k;  // the reference states 1e-7
        EXPECT_NEAR(run.distance.q_at, rows[i]["at_t"], 1e-6) << k;
        EXPECT_TRUE(matches(run.distance.u, rows[i]["sup_qdot"], 1e-7)) << "velocities do not converge";
        EXPECT_EQ(static_cast<double>(run.phases), rows[i]["n_contact_phases"].number());
        ASSERT_TRUE(run.first_duration && run.first_restitution);
        EXPECT_NEAR(*run.first_duration, rows[i]["first_contact_duration"], 1e-9);
        EXPECT_NEAR(*run.first_restitution, rows[i]["effective_restitution_first"], 1e-8);
        EXPECT_NEAR(run.steady.q[0], steady["rows"][i]["q_R"], 1e-14);
        EXPECT_NEAR(run.steady.lambda(1), steady["rows"][i]["force"], 1e-14);
    }
    EXPECT_NEAR(*limit.runs[1].order, rows[1]["order_vs_previous"], 1e-6);
    EXPECT_NEAR(*limit.runs[6].order, rows[6]["order_vs_previous"], 1e-5);
    EXPECT_NEAR(*limit.order, 0.5, 0.02);
    EXPECT_NEAR(*limit.steady_order, 1.0, 1e-3);
}

TEST(PenaltyLimit, OfTheArmSaysOnWhichHorizonsTheActionCanBeMinimal) {
    const Value expected = entry("tornambe_minimum_horizon_arm")["outputs"];
    const PenaltyLimit limit = limit_of(description_of("single-link-arm"), "k=1e3,1e6,1e9", 2.0);
    ASSERT_TRUE(limit.action.available) << limit.action.why_not;
    EXPECT_NEAR(limit.action.free_horizon.value(), expected["free_horizon_for_min_of_S"], 1e-12);
    for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(limit.action.paths[i].contact_horizon.value(), expected["contact_horizon"][i], 1e-12);
    for (const StationaryPath& path : limit.action.paths) {
        ASSERT_TRUE(path.found) << path.reason;
        EXPECT_EQ(path.morse_index, 1) << "one bounce";
        EXPECT_LT(*path.contact_horizon, *path.contact_duration) << "shorter than the contact: never minimal";
    }
}

// --- the bounce of a point mass
// ---------------------------------------------------------------------------------------

const std::string bounce = R"toml(
[system]
name = "bounce"
q = ["q"]
T = "1/2*q'^2"
[[contact]]
name = "wall"
gN = "q"
[initial]
q = { q = 1.0 }
u = { q = -1.0 }
)toml";

TEST(Theorem1, SequencesOfTheBounceAreMonotoneAlthoughNoPathIsAMinimum) {
    const PenaltyLimit limit = limit_of(io::parse_model(bounce, "test"), "k=1e2:1e5:4", 2.0);
    const ActionSequence& a = limit.action;
    ASSERT_TRUE(a.available) << a.why_not;
    EXPECT_EQ(a.horizon, 2.0) << "one impact: all of it";
    EXPECT_NEAR(a.rigid.A, -1.0, 1e-12);
    ASSERT_EQ(a.corner_slopes.size(), 1U);
    EXPECT_NEAR(a.corner_slopes[0], -2.0, 1e-12) << "S falls by 2 I of the corner's height";
    const Value rows = entry("tornambe_theorem12_bounce_A")["outputs"]["rows"];
    // The bound state of a well of depth k and width π/√k: z/(π/2) = cos z, λ = −k sin²z.
    double z = 1.0;
    for (int i = 0; i < 60; ++i)
        z -= (z - 0.5 * std::numbers::pi * std::cos(z)) / (1.0 + 0.5 * std::numbers::pi * std::sin(z));
    for (std::size_t i = 0; i < 4; ++i) {
        const StationaryPath& path = a.paths[i];
        ASSERT_TRUE(path.found) << path.reason;
        EXPECT_NEAR(-path.u_start[0], rows[i]["v"], 1e-10);
        EXPECT_NEAR(path.action.A_tilde, rows[i]["A_tilde"], 1e-10);
        EXPECT_NEAR(path.action.penalty_integral, rows[i]["int_P_f"], 1e-12);
        EXPECT_NEAR(path.action.A, rows[i]["A"], 1e-10);
        EXPECT_NEAR(*path.contact_duration, rows[i]["contact_duration"], 1e-10);
        EXPECT_EQ(path.morse_index, 1);
        ASSERT_EQ(path.conjugate_times.size(), 1U);
        EXPECT_NEAR(path.conjugate_times[0], rows[i]["conjugate_time"], 1e-10);
        EXPECT_NEAR(*path.lowest_eigenvalue / (-rows[i]["k"] * std::sin(z) * std::sin(z)), 1.0, 1e-3);
    }
    EXPECT_TRUE(a.A_tilde_grows);
    EXPECT_TRUE(a.penalty_falls);
    EXPECT_TRUE(a.A_grows);
    EXPECT_TRUE(a.bounded_by_rigid);
}

TEST(Theorem1, IsNotAvailableWithConstraintsOrFriction) {
    const PenaltyLimit limit = limit_of(description_of("rocking-bar"), "k=1e4,1e5", 0.2);
    EXPECT_FALSE(limit.action.available);
    EXPECT_NE(limit.action.why_not.find("friction"), std::string::npos) << limit.action.why_not;
    EXPECT_FALSE(limit.steady.found);
}

TEST(PenaltyLimit, OfTheUnderactuatedPairApproachesItsRigidRest) {
    const PenaltyLimit limit = limit_of(description_of("two-link-underactuated"), "k=1e4:1e6:3", 3.0);
    EXPECT_NEAR(limit.steady.lambda(0), entry("tornambe_underactuated_A_e0.5")["outputs"]["lambda_R"], 1e-12);
    for (const PenaltyRun& run : limit.runs) {  // q2 = c − λ/k, λ = Kp ks/(Kp + ks) q2
        const double stiffness = 8.0 * 20.0 / 28.0, q2 = 0.3 * run.k / (run.k + stiffness);
        EXPECT_NEAR(run.steady.q[1], q2, 1e-13);
        EXPECT_NEAR(run.steady.lambda(0), stiffness * q2, 1e-11);
    }
    EXPECT_NEAR(*limit.order, 0.5, 0.1);
}

TEST(PenaltyLimit, RefusesInvalidStiffnesses) {
    for (const char* const text : {"k", "=1:2:3", "k=1:2:0", "k=-1:2:3", "k=a", "k=0,1"})
        EXPECT_NE(refusal_of([&] { penalty_from_text(text); }), "accepted") << text;
    EXPECT_EQ(penalty_from_text("k=1e3:1e9:7").values(), (std::vector<double>{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9}));
}

// --- second variation ------------------------------------------------------------------------------------------------

TEST(SecondVariation, OfAnIsotropicOscillatorCountsConjugateTimesTwice) {
    const Model isotropic = from_text(R"toml(
[system]
name = "isotropic"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "2*(x^2 + y^2)"
[initial]
q = { x = 1.0 }
u = { y = 1.0 }
)toml");
    const Trajectory motion = motion_of(isotropic, 4.0, Penalty{});
    const SecondVariation variation(isotropic, motion, 1.0);  // conjugate at π/2, π
    EXPECT_EQ(variation.morse_index(), 4);
    const std::vector<double> times = variation.conjugate_times();
    ASSERT_EQ(times.size(), 4U);
    for (std::size_t k = 0; k < 4; ++k)
        EXPECT_NEAR(times[k], std::numbers::pi / 2.0 * static_cast<double>(1 + k / 2), 1e-10);
    EXPECT_NEAR(*variation.lowest_eigenvalue(), std::pow(std::numbers::pi / 4.0, 2) - 4.0, 1e-3);
}

TEST(SecondVariation, OfAGreatCircleHasItsConjugatePointOnTheOtherSide) {
    const Model sphere = from_text(R"toml(
[system]
name = "sphere"
q = ["theta", "phi"]
T = "1/2*(theta'^2 + sin(theta)^2*phi'^2)"
[initial]
q = { theta = 1.2, phi = 0.0 }
u = { theta = 0.3, phi = 0.5 }
)toml");
    const double speed = std::sqrt(0.09 + std::pow(std::sin(1.2) * 0.5, 2)), other_side = std::numbers::pi / speed;
    const Trajectory shorter = motion_of(sphere, 0.99 * other_side, Penalty{});
    EXPECT_EQ(SecondVariation(sphere, shorter, 1.0).morse_index(), 0);
    const Trajectory longer = motion_of(sphere, 1.5 * other_side, Penalty{});
    const SecondVariation after(sphere, longer, 1.0);
    EXPECT_EQ(after.morse_index(), 1) << "along the circle nothing focuses";
    ASSERT_EQ(after.conjugate_times().size(), 1U);
    EXPECT_NEAR(after.conjugate_times()[0], other_side, 1e-8);
    EXPECT_FALSE(after.lowest_eigenvalue().has_value()) << "the mass is not constant";
}

TEST(SecondVariation, EndsWhenItIsInterrupted) {
    const Model oscillator = from_text(R"toml(
[system]
name = "oscillator"
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
[initial]
q = { x = 1.0 }
)toml");
    const Trajectory motion = motion_of(oscillator, 10.0, Penalty{});
    bool stop = false;
    const SecondVariation variation(oscillator, motion, 1.0, [&] { return stop; });
    ASSERT_TRUE(variation.available());
    EXPECT_TRUE(variation.lowest_eigenvalue().has_value());
    stop = true;
    EXPECT_FALSE(variation.lowest_eigenvalue().has_value());
    EXPECT_FALSE(SecondVariation(oscillator, motion, 1.0, [] { return true; }).available());
}

TEST(MotionDistance, FindsTheHighestPointBetweenSteps) {
    const Model swing = from_text(R"toml(
[system]
name = "swing"
q = ["q"]
T = "1/2*q'^2"
U = "k/2*q^2"
[parameters]
k = 1.0
[initial]
q = { q = 1.0 }
)toml");
    const Trajectory slow = motion_of(swing, 2.0);
    Model other = swing;
    const Trajectory still = motion_of(other, 2.0, EventDriven{}, State{0.0, {1e-30}, {1.0}});  // sin t
    const MotionDistance d = distance(slow, still);  // |cos t − sin t| is largest at t = 2 or 0: 1 or 1.3254
    EXPECT_NEAR(d.q, std::sin(2.0) - std::cos(2.0), 1e-9);
    EXPECT_NEAR(d.u, std::sqrt(2.0), 1e-9);
    EXPECT_NEAR(d.u_at, std::numbers::pi / 4.0, 1e-6);
}

}  // namespace
}  // namespace saltus::penalty_limit_test
