// SPDX-License-Identifier: Apache-2.0
// The examples of [Leine], against tests/reference/leine.json.
#include <gtest/gtest.h>

#include <numbers>

#include "physics/motion.hpp"
#include "reference/reference.hpp"

namespace saltus::leine_test {
namespace {

using namespace saltus::test;
using reference::entry;
using reference::Value;

// --- the falling block
// ------------------------------------------------------------------------------------------------

TEST(LeineFallingBlock, HitsTheFloorSlippingAsTheClosedFormSays) {
    const Value given = entry("leine_falling_block_trajectory_A");
    const double tolerance = given.tolerance();
    const std::vector<Value> expected = given["outputs"]["first_impacts"].items();
    const Trajectory motion = motion_of(shipped("falling-block"), 5.0, EventDriven{.rtol = 1e-11, .atol = 1e-13});
    const std::vector<Event> impacts = events_of(motion, EventKind::impact);
    ASSERT_GE(impacts.size(), expected.size()) << story(motion);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        EXPECT_TRUE(matches(impacts[i].t, expected[i]["t"], tolerance));
        EXPECT_TRUE(matches(impacts[i].q[0], expected[i]["x"], tolerance));
        EXPECT_TRUE(matches(impacts[i].u_minus[0], expected[i]["vx_minus"], tolerance));
        EXPECT_TRUE(matches(impacts[i].u_plus[0], expected[i]["vx_plus"], tolerance));
        EXPECT_TRUE(matches(impacts[i].u_plus[1], expected[i]["vy_plus"], tolerance));
        EXPECT_TRUE(matches(normal_impulse(impacts[i], 0), expected[i]["LambdaN"], tolerance));
        EXPECT_TRUE(matches(tangential_impulse(impacts[i], 0), expected[i]["LambdaT"], tolerance));
    }
}

TEST(LeineFallingBlock, ComesToRestOnTheFloorThenSlidesAndSticksInTheEquilibriumSet) {
    const Value given = entry("leine_falling_block_trajectory_A");
    const Value expected = given["outputs"];
    const double tolerance = given.tolerance();
    const Trajectory motion = motion_of(shipped("falling-block"), 5.0, EventDriven{.rtol = 1e-11, .atol = 1e-13});
    const std::vector<Event> zeno = events_of(motion, EventKind::accumulation);
    ASSERT_EQ(zeno.size(), 1U) << story(motion, 100);
    EXPECT_TRUE(matches(zeno[0].t, expected["zeno_time"], tolerance));
    EXPECT_TRUE(matches(zeno[0].q[0], expected["x_at_zeno"], tolerance));
    EXPECT_TRUE(matches(zeno[0].u_plus[0], expected["vx_at_zeno"], tolerance));
    const std::vector<Event> reversals = events_of(motion, EventKind::reversal);
    const std::vector<Event> sticks = events_of(motion, EventKind::stick);
    ASSERT_EQ(reversals.size(), 1U) << story(motion, 100);
    ASSERT_EQ(sticks.size(), 1U) << story(motion, 100);
    EXPECT_TRUE(matches(reversals[0].t, expected["after_contact"][0]["t"], tolerance));
    EXPECT_TRUE(matches(reversals[0].q[0], expected["after_contact"][0]["x"], tolerance));
    EXPECT_TRUE(matches(sticks[0].t, expected["t_final_rest"], tolerance));
    EXPECT_TRUE(matches(motion.end.q[0], expected["x_final"], tolerance));
    EXPECT_EQ(motion.end.u[0], 0.0);
}

TEST(LeineFallingBlock, MeetsTheReferenceAtDefaultTolerancesToo) {
    const Value expected = entry("leine_falling_block_trajectory_A")["outputs"];
    const Trajectory motion = motion_of(shipped("falling-block"), 5.0);
    EXPECT_TRUE(matches(motion.end.q[0], expected["x_final"], 1e-9));
    ASSERT_FALSE(events_of(motion, EventKind::stick).empty()) << story(motion, 100);
    EXPECT_TRUE(matches(events_of(motion, EventKind::stick).back().t, expected["t_final_rest"], 1e-9));
}

// --- the rocking bar and block: below ρ* they end on both corners, leine_rocking_bar_A and leine_rocking_block_A -----

TEST(LeineRocking, BarAndBlockComeToRestOnBothCornersInTheEquilibriumSet) {
    for (const char* name : {"rocking-bar", "rocking-block"}) {
        const Model model = shipped(name);
        const Trajectory motion = motion_of(model, 10.0);
        const double k = 10.0, mu = 0.3, weight = 9.81;
        EXPECT_LE(k * std::abs(motion.end.q[0]), mu * weight * (1.0 + 1e-9)) << name;
        EXPECT_NEAR(motion.end.q[2], 0.0, 1e-9) << name;
        for (const double u : motion.end.u) EXPECT_NEAR(u, 0.0, 1e-12) << name;
        EXPECT_NEAR(motion.forces.at(0).N + motion.forces.at(1).N, weight, 1e-9) << name;
        EXPECT_NEAR(motion.forces.at(0).T.at(0) + motion.forces.at(1).T.at(0), k * motion.end.q[0], 1e-9) << name;
        for (const Event& e : events_of(motion, EventKind::impact)) EXPECT_LE(e.work, 1e-12) << "eN = eT: condition 7b";
    }
}

// --- the constrained beam
// ---------------------------------------------------------------------------------------------

/// The motion number `GetParam()` of the paper's beam.
class LeineBeam : public ::testing::TestWithParam<int> {
protected:
    const Value given = entry("leine_beam_trajectory_paper_" + std::to_string(GetParam()));
    const Value expected = given["outputs"];
    const double tolerance = given.tolerance();

    Trajectory motion() const {
        const Value inputs = given["inputs"];
        const Model model = shipped("constrained-beam", {{"theta0", inputs["theta0"]}, {"omega0", inputs["omega0"]}});
        return motion_of(model, inputs["T"], EventDriven{.rtol = 1e-10, .atol = 1e-12});
    }

    /// The events whose type contains this word.
    std::vector<Value> events(const std::string& word) const {
        std::vector<Value> list;
        for (const Value& e : expected["events"].items())
            if (e["type"].text().find(word) != std::string::npos) list.push_back(e);
        return list;
    }
};

TEST_P(LeineBeam, FollowsTheReferenceAndSticksAtItsTimeAndAngle) {
    const Trajectory motion = this->motion();
    for (const Value& sample : expected["samples"].items()) {
        const State s = motion.right(sample["t"]);
        EXPECT_TRUE(matches(s.q[2], sample["theta"], tolerance)) << "theta at " << s.t;
        EXPECT_TRUE(matches(s.u[2], sample["omega"], tolerance)) << "omega at " << s.t;
    }
    EXPECT_TRUE(matches(motion.end.q[2], expected["theta_final"], tolerance));
    EXPECT_NEAR(motion.end.u[2], 0.0, 1e-12);
    if (expected["t_stick"] > 0.0) {
        const std::vector<Event> sticks = events_of(motion, EventKind::stick);
        ASSERT_EQ(sticks.size(), 1U) << story(motion);
        EXPECT_TRUE(matches(sticks[0].t, expected["t_stick"], tolerance));
        EXPECT_EQ(sticks[0].elements.size(), 2U) << "both sliders stick";
    } else {
        EXPECT_TRUE(motion.events.empty()) << story(motion);
    }
}

TEST_P(LeineBeam, ReversesItsSlidersAndHasNoEventWhereAReactionChangesSign) {
    const Trajectory motion = this->motion();
    const std::vector<Event> reversals = events_of(motion, EventKind::reversal);
    const std::vector<Value> expected_reversals = events("reversal");
    ASSERT_EQ(reversals.size(), expected_reversals.size()) << story(motion);
    for (std::size_t i = 0; i < reversals.size(); ++i) {
        EXPECT_TRUE(matches(reversals[i].t, expected_reversals[i]["t"], tolerance));
        EXPECT_TRUE(matches(reversals[i].q[2], expected_reversals[i]["theta"], tolerance));
    }
    for (const Value& change : events("changes sign"))
        for (const Event& e : motion.events) EXPECT_GT(std::abs(e.t - change["t"]), 1e-6) << story(motion);
}

INSTANTIATE_TEST_SUITE_P(Paper, LeineBeam, ::testing::Range(1, 7),
                         [](const auto& paper) { return std::to_string(paper.param); });

TEST(LeineBeamForces, SolveTheAbsoluteValueEquationAtEveryTabulatedState) {
    const Value given = entry("leine_beam_forces_paper");
    const double tolerance = given.tolerance();
    for (const Value& row : given["outputs"]["rows"].items()) {
        const double theta = row["theta"];
        const Model model = shipped("constrained-beam", {{"theta0", theta}, {"omega0", row["omega"]}});
        const Trajectory start = motion_of(model, 0.0);
        ASSERT_EQ(start.forces.size(), 2U);
        EXPECT_TRUE(matches(start.forces[0].N, row["lambda_N1"], tolerance)) << "theta = " << theta;
        EXPECT_TRUE(matches(start.forces[1].N, row["lambda_N2"], tolerance)) << "theta = " << theta;
        EXPECT_TRUE(matches(start.forces[0].T.at(0), row["lambda_T1"], tolerance)) << "theta = " << theta;
        EXPECT_TRUE(matches(start.forces[1].T.at(0), row["lambda_T2"], tolerance)) << "theta = " << theta;
    }
}

// --- frictional impacts of Newton's type that create energy
// -----------------------------------------------------------

/// A uniform rod of mass 1 and length 2 that comes down at 45° onto its end: D = [[5/2, 3/2], [3/2, 5/2]].
const std::string rod = R"toml(
[system]
name = "rod"
q = ["x", "y", "theta"]
T = "1/2*(x'^2 + y'^2) + 1/6*theta'^2"
[parameters]
gammaN = -1.0
gammaT = -0.6
eN = 0.9
eT = 0.0
mu = 0.5
h = 0.1
[[contact]]
name = "end"
gN = "y - sin(theta)"
gammaT = "x' + sin(theta)*theta'"
mu = "mu"
eN = "eN"
eT = "eT"
[initial]
q = { y = "sin(3*pi/4) + h", theta = "3*pi/4" }
u = { x = "gammaT", y = "gammaN" }
)toml";

TEST(LeineImpact, OfTheRodHasTheTabulatedImpulsesAndEnergy) {
    for (const std::string name : {"leine_impact_rod_energy_increase", "leine_impact_rod_equal_e",
                                   "leine_impact_rod_negative_eT_violates_theorem"}) {
        const Value given = entry(name);
        const Value inputs = given["inputs"], expected = given["outputs"];
        const double tolerance = given.tolerance(), gammaN = inputs["gamma_minus"][0];
        for (const double h : {0.0, 0.1}) {  // from the first instant, and after a flight
            const Values set{{"eN", inputs["eN"]},
                             {"eT", inputs["eT"]},
                             {"gammaN", gammaN},
                             {"gammaT", inputs["gamma_minus"][1]},
                             {"h", h}};
            const Trajectory motion = motion_of(from_text(rod, set), 0.3);
            ASSERT_GE(motion.events.size(), 1U) << name;
            const Event& impact = motion.events[0];
            EXPECT_TRUE(matches(impact.t, h / -gammaN, tolerance)) << name;
            EXPECT_TRUE(matches(normal_impulse(impact, 0), expected["Lambda_N"], tolerance)) << name;
            EXPECT_TRUE(matches(tangential_impulse(impact, 0), expected["Lambda_T"], tolerance)) << name;
            const double arm = std::sin(3.0 * std::numbers::pi / 4.0);
            const Value gamma_plus = expected["gamma_plus"];
            EXPECT_TRUE(matches(impact.u_plus[1] + arm * impact.u_plus[2], gamma_plus[0], tolerance)) << name;
            EXPECT_TRUE(matches(impact.u_plus[0] + arm * impact.u_plus[2], gamma_plus[1], tolerance)) << name;
            const double energy_change = expected["delta_T_exact"];
            EXPECT_TRUE(matches(impact.energy_after - impact.energy_before, energy_change, tolerance)) << name;
            EXPECT_TRUE(matches(impact.work, energy_change, tolerance)) << name;
        }
    }
}

/// Two uniform rods of mass and length 1, 20° and 30° from the vertical, the tip on the floor.
const std::string double_pendulum = R"toml(
[system]
name = "double pendulum"
q = ["theta1", "theta2"]
T = "2/3*theta1'^2 + 1/6*theta2'^2 + 1/2*cos(theta1 - theta2)*theta1'*theta2'"
[parameters]
a = "pi/9"
b = "pi/6"
eN = 0.7
eT = 0.0
[[contact]]
name = "tip"
gN = "cos(a) + cos(b) - cos(theta1) - cos(theta2)"
gammaT = "cos(theta1)*theta1' + cos(theta2)*theta2'"
mu = 0.5
eN = "eN"
eT = "eT"
[initial]
q = { theta1 = "a", theta2 = "b" }
u = { theta1 = -0.1, theta2 = -0.2 }
)toml";

TEST(LeineImpact, OfTheDoublePendulumCreatesEnergyWithUnequalCoefficientsOnly) {
    const double a = std::numbers::pi / 9.0, b = std::numbers::pi / 6.0;
    for (const std::string name :
         {"leine_impact_double_pendulum_energy_increase", "leine_impact_double_pendulum_equal_e"}) {
        const Value given = entry(name);
        const Value expected = given["outputs"];
        const double tolerance = given.tolerance();
        const Trajectory motion = motion_of(from_text(double_pendulum, {{"eT", given["inputs"]["eT"]}}), 0.1);
        ASSERT_GE(motion.events.size(), 1U) << name;
        const Event& impact = motion.events[0];
        EXPECT_EQ(impact.t, 0.0);
        EXPECT_TRUE(matches(normal_impulse(impact, 0), expected["Lambda_N"], tolerance)) << name;
        EXPECT_TRUE(matches(tangential_impulse(impact, 0), expected["Lambda_T"], tolerance)) << name;
        const double gammaN = std::sin(a) * impact.u_plus[0] + std::sin(b) * impact.u_plus[1];
        const double gammaT = std::cos(a) * impact.u_plus[0] + std::cos(b) * impact.u_plus[1];
        EXPECT_TRUE(matches(gammaN, expected["gamma_plus"][0], tolerance)) << name;
        EXPECT_TRUE(matches(gammaT, expected["gamma_plus"][1], tolerance)) << name;
        EXPECT_TRUE(matches(impact.work, expected["delta_T"], tolerance)) << name;
    }
}

// --- leine_wedge_internal_impulse: friction cones that carry an impulse without moving anything ----------------------

TEST(LeineWedge, HoldsAParticleThatIsThrownIntoIt) {
    const std::string wedge = R"toml(
[system]
name = "particle in a wedge"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y"
[parameters]
a = 1.2
[[contact]]
name = "left"
gN = "x*sin(a) + y*cos(a)"
gammaT = "x'*cos(a) - y'*sin(a)"
mu = 0.5
[[contact]]
name = "right"
gN = "-x*sin(a) + y*cos(a)"
gammaT = "x'*cos(a) + y'*sin(a)"
mu = 0.5
[initial]
q = { y = 0.1 }
u = { y = -1.0 }
)toml";
    const Trajectory motion = motion_of(from_text(wedge), 1.0);
    EXPECT_NEAR(motion.end.q[0], 0.0, 1e-12);
    EXPECT_NEAR(motion.end.q[1], 0.0, 1e-12);
    EXPECT_NEAR(motion.end.u[1], 0.0, 1e-12);
}

// --- linear systems with dry friction
// ---------------------------------------------------------------------------------

const std::string one_dof = R"toml(
[system]
name = "linear oscillator with dry friction"
q = ["q"]
T = "m/2*q'^2"
U = "k/2*q^2"
R = "c/2*q'^2"
[parameters]
m = 1.0
c = 0.0
k = 10.0
F = 3.0
start = 2.0
[[slider]]
gammaT = "q'"
mu = 1.0
FN = "F"
[initial]
q = { q = "start" }
)toml";

/// The motion of an entry leine_linear_1dof_*.
Trajectory linear_motion(const Value& given, double t_end) {
    const Value inputs = given["inputs"];
    return motion_of(from_text(one_dof, {{"m", inputs["m"]},
                                         {"c", inputs["c"]},
                                         {"k", inputs["k"]},
                                         {"F", inputs["friction_force"]},
                                         {"start", inputs["q0"]}}),
                     t_end, EventDriven{.rtol = 1e-11, .atol = 1e-13});
}

TEST(LeineLinear, ComesToRestAfterAFiniteNumberOfHalfSwings) {
    const Value given = entry("leine_linear_1dof_stable_A");
    const Value expected = given["outputs"];
    const double tolerance = given.tolerance(), half_period = expected["half_period"];
    const Trajectory motion = linear_motion(given, 5.0);
    ASSERT_EQ(motion.events.size(), 3U) << story(motion);
    for (std::size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(motion.events[i].kind, i < 2 ? EventKind::reversal : EventKind::stick);
        EXPECT_TRUE(matches(motion.events[i].t, half_period * static_cast<double>(i + 1), tolerance));
        EXPECT_TRUE(matches(motion.events[i].q[0], expected["turning_points"][i], tolerance));
    }
    EXPECT_TRUE(matches(motion.events[2].t, expected["t_final"], tolerance));
    EXPECT_TRUE(matches(motion.end.q[0], expected["final_q"], tolerance));
}

TEST(LeineLinear, WithNegativeDampingConvergesInsideTheUnstableCycle) {
    const Value given = entry("leine_linear_1dof_negdamp_A");
    const Value expected = given["outputs"];
    const std::vector<double> turns = expected["turning_points"].numbers();
    const Trajectory motion = linear_motion(given, 20.0);
    ASSERT_GT(motion.events.size(), turns.size()) << story(motion);
    for (std::size_t i = 0; i < turns.size(); ++i)
        EXPECT_TRUE(matches(motion.events[i].q[0], turns[i], given.tolerance()));
    EXPECT_EQ(motion.events.back().kind, EventKind::stick);
    EXPECT_TRUE(matches(motion.events.back().t, expected["t_final"], given.tolerance()));
    EXPECT_TRUE(matches(motion.end.q[0], expected["final_q"], given.tolerance()));
}

TEST(LeineLinear, WithNegativeDampingDivergesOutsideTheUnstableCycle) {
    const Value given = entry("leine_linear_1dof_negdamp_A_out");
    const std::vector<double> turns = given["outputs"]["turning_points"].numbers();
    const Trajectory motion = linear_motion(given, 13.0);
    ASSERT_GE(motion.events.size(), turns.size()) << story(motion);
    for (std::size_t i = 0; i < turns.size(); ++i)
        EXPECT_TRUE(matches(motion.events[i].q[0], turns[i], given.tolerance()));
}

TEST(LeineLinear, WithNegativeStiffnessLeavesFromJustOutsideTheSetOnly) {
    const Value given = entry("leine_linear_1dof_negstiff_A");
    const Value inputs = given["inputs"], expected = given["outputs"];
    const double inside_start = expected["E_half_width"] - inputs["q0_minus_tip"];
    const Values set{{"c", inputs["c"]}, {"k", inputs["k_negative"]}, {"F", inputs["friction_force"]}};
    Values outside = set, inside = set;
    outside.emplace_back("start", inputs["q0"]);
    inside.emplace_back("start", inside_start);
    const Trajectory leaves =
        motion_of(from_text(one_dof, outside), expected["time_to_target"], EventDriven{.rtol = 1e-11, .atol = 1e-13});
    EXPECT_TRUE(matches(leaves.end.q[0], inputs["target"], given.tolerance()));
    EXPECT_EQ(motion_of(from_text(one_dof, inside), 5.0).end.q[0], inside_start);
}

const std::string two_dof = R"toml(
[system]
name = "two masses with dry friction"
q = ["q1", "q2"]
T = "1/2*m1*q1'^2 + 1/2*m2*q2'^2"
U = "1/2*k11*q1^2 + k12*q1*q2 + 1/2*k22*q2^2"
R = "1/2*c11*q1'^2 + c12*q1'*q2' + 1/2*c22*q2'^2"
[parameters]
m1 = 1.0
m2 = 2.0
k11 = 12.0
k12 = -4.0
k22 = 6.0
c11 = 0.3
c12 = -0.1
c22 = 0.2
F1 = 1.0
F2 = 0.8
s1 = 2.0
s2 = -1.0
[[slider]]
name = "1"
gammaT = "q1'"
mu = 1.0
FN = "F1"
[[slider]]
name = "2"
gammaT = "q2'"
mu = 1.0
FN = "F2"
[initial]
q = { q1 = "s1", q2 = "s2" }
)toml";

/// The model of an entry leine_linear_2dof_*.
Model two_masses(const Value& inputs) {
    const Value C = inputs["C"], K = inputs["K"];
    return from_text(two_dof, {{"m1", inputs["M_diag"][0]},
                               {"m2", inputs["M_diag"][1]},
                               {"c11", C[0][0]},
                               {"c12", C[0][1]},
                               {"c22", C[1][1]},
                               {"k11", K[0][0]},
                               {"k12", K[0][1]},
                               {"k22", K[1][1]},
                               {"F1", inputs["friction"][0]},
                               {"F2", inputs["friction"][1]},
                               {"s1", inputs["q_init"][0]},
                               {"s2", inputs["q_init"][1]}});
}

/// "coordinate 2 velocity zero -> stick": what comes after the arrow.
EventKind kind_of(const std::string& type) {
    if (type.ends_with("reversal")) return EventKind::reversal;
    return type.ends_with("stick") ? EventKind::stick : EventKind::slip;
}

TEST(LeineLinear, TwoMassesGoThroughTheTabulatedEventsToRest) {
    for (const std::string name : {"leine_linear_2dof_stable_A", "leine_linear_2dof_negdamp_in"}) {
        SCOPED_TRACE(name);
        const Value given = entry(name);
        const Value expected = given["outputs"];
        const double tolerance = given.tolerance();
        const Trajectory motion =
            motion_of(two_masses(given["inputs"]), given["inputs"]["T"], EventDriven{.rtol = 1e-10, .atol = 1e-12});
        ASSERT_EQ(static_cast<double>(motion.events.size()), expected["n_events"].number()) << story(motion, 30);
        const std::vector<Value> first = expected["events"].items();
        for (std::size_t i = 0; i < first.size(); ++i) {
            const Event& e = motion.events[i];
            const std::string type = first[i]["type"].text();
            EXPECT_EQ(e.kind, kind_of(type)) << i;
            EXPECT_EQ(e.elements, std::vector<int>{type.starts_with("coordinate 1") ? 0 : 1}) << i;
            EXPECT_TRUE(matches(e.t, first[i]["t"], tolerance));
            for (std::size_t k = 0; k < 2; ++k) {
                EXPECT_TRUE(matches(e.q[k], first[i]["q"][k], tolerance));
                EXPECT_TRUE(matches(e.u_plus[k], first[i]["u"][k], tolerance));
            }
        }
        EXPECT_TRUE(matches(motion.events.back().t, expected["t_rest"], tolerance));
        for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_TRUE(matches(motion.end.q[k], expected["q_final"][k], tolerance));
            EXPECT_TRUE(matches(motion.forces.at(k).T.at(0), expected["lambda_final"][k], 1e-7));
        }
    }
}

TEST(LeineLinear, TwoMassesLeaveWithNegativeStiffness) {
    const Value inputs = entry("leine_linear_2dof_negstiff_A")["inputs"];
    const Trajectory motion = motion_of(two_masses(inputs), inputs["T"]);
    EXPECT_TRUE(motion.events.empty()) << story(motion);
    EXPECT_GT(motion.end.q[0], 1e10);  // growth like exp(0.951 t)
}

}  // namespace
}  // namespace saltus::leine_test
