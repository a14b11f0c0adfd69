// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/regulation.hpp"

#include <cmath>
#include <numbers>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "support.hpp"

namespace saltus::regulation_test {
namespace {

using namespace saltus::control;
using namespace saltus::test;
using proof::Outcome;
using proof::Verdict;

std::string table(const RegulationCertificate& c) {
    std::string text;
    for (const proof::Condition& row : c.table.conditions)
        text += "\n  " + row.id + " " + to_string(row.verdict) + ": " + row.evidence;
    return text;
}

/// The rows that fail, by their ids.
std::vector<std::string> failing(const RegulationCertificate& c) {
    std::vector<std::string> list;
    for (const proof::Condition& row : c.table.conditions)
        if (row.verdict == Verdict::fails) list.push_back(row.id);
    return list;
}

double value(const RegulationCertificate& c, const std::string& name) {
    for (const auto& [key, x] : c.table.values)
        if (key == name) return x;
    return std::nan("");
}

// --- covered by the theorems -----------------------------------------------------------------------------------------

TEST(Regulation, OfTheArmIsGlobalAndProved) {
    for (const auto& [Kp, q0, k] : {std::array{1.0, 0.5, 1e6}, std::array{2.5, 0.7, 1e3}}) {
        const RegulationCertificate c =
            certify_regulation(shipped("single-link-arm", {{"Kp", Kp}, {"q0", q0}, {"k1", 0.5 * k}, {"k2", k}}));
        EXPECT_TRUE(failing(c).empty()) << table(c);
        EXPECT_EQ(c.table.outcome, Outcome::attractive) << table(c);
        EXPECT_EQ(c.table.grade, proof::Grade::proved) << table(c);
        EXPECT_EQ(c.rigid, Scope::global) << table(c);
        EXPECT_EQ(c.springs, Scope::global) << table(c);
        EXPECT_NEAR(c.table.q[0], q0, 1e-14);
        EXPECT_NEAR(c.table.forces.at(1).N, Kp * q0, 1e-13) << "lower";
        EXPECT_EQ(c.table.forces.at(0).N, 0.0);
        EXPECT_NEAR(c.spring_rest.q[0], k / (k + Kp) * q0, 1e-14);
        EXPECT_NEAR(c.spring_rest.lambda(1), k * Kp / (k + Kp) * q0, 1e-12);
        EXPECT_NEAR(value(c, "b_lower"), 0.045216, 1e-12);
        EXPECT_NEAR(value(c, "b_upper"), 0.045216, 1e-12);
        EXPECT_NEAR(value(c, "a_lower"), Kp, 1e-9);
        EXPECT_TRUE(std::isinf(value(c, "a_upper"))) << "Assumption 4 literally fails: the force makes U grow linearly";
        EXPECT_NEAR(value(c, "penalty_a_lower"), Kp, 1e-9);  // tornambe_penalty_static_A
        EXPECT_NEAR(value(c, "penalty_a_upper"), k + Kp, 1e-6 * k);
        EXPECT_EQ(c.table.find("2")->verdict, Verdict::assumed);
    }
}

TEST(Regulation, OfTheArmExcludesTheFarSideByItsSign) {  // (27) has a second algebraic root
    const RegulationCertificate c = certify_regulation(shipped("single-link-arm"));
    ASSERT_EQ(c.solutions.size(), 2U) << table(c);
    EXPECT_TRUE(c.solutions[0].pushes);
    EXPECT_FALSE(c.solutions[1].pushes);
    EXPECT_NEAR(c.solutions[1].rest.q[0], 0.5 + 2.0 * std::numbers::pi, 1e-10);
    EXPECT_NEAR(c.solutions[1].rest.lambda(0), -(0.5 + 2.0 * std::numbers::pi), 1e-9);
    EXPECT_NE(c.table.find("3")->evidence.find("excluded by its sign"), std::string::npos) << table(c);
}

TEST(Regulation, OfTheArmWithoutForceHasQuadraticBounds) {  // tornambe_violation_q0_negative
    const RegulationCertificate c = certify_regulation(shipped("single-link-arm", {{"q0", -0.3}}));
    EXPECT_EQ(c.rigid, Scope::global) << table(c);
    EXPECT_NEAR(c.table.q[0], 0.0, 1e-15);
    EXPECT_NEAR(c.table.forces.at(1).N, 0.0, 1e-15);
    EXPECT_NEAR(value(c, "a_upper"), 1.0, 1e-9);
    const RegulationCertificate touching = certify_regulation(shipped("single-link-arm", {{"q0", 0.0}}));
    EXPECT_EQ(touching.rigid, Scope::global) << table(touching);
    EXPECT_NEAR(touching.table.forces.at(1).N, 0.0, 1e-15);
}

TEST(Regulation, OfTheUnderactuatedPairRestsOnTheInvarianceCondition) {
    const RegulationCertificate c = certify_regulation(shipped("two-link-underactuated"));
    EXPECT_TRUE(failing(c).empty()) << table(c);
    EXPECT_EQ(c.rigid, Scope::global) << table(c);
    EXPECT_EQ(c.table.grade, proof::Grade::proved) << table(c);
    EXPECT_EQ(c.table.find("R6")->verdict, Verdict::proved) << table(c);
    EXPECT_EQ(c.table.find("R13")->verdict, Verdict::proved) << table(c);
    const test::reference::Value rest = test::reference::entry("tornambe_underactuated_A_e0.5")["outputs"];
    EXPECT_NEAR(c.table.q[0], rest["q_R"][0], 1e-13);
    EXPECT_NEAR(c.table.q[1], rest["q_R"][1], 1e-13);
    EXPECT_NEAR(c.table.forces.at(0).N, rest["lambda_R"], 1e-12);
    EXPECT_EQ(c.table.basis, "Theorem 5 with Remark 6");
}

TEST(Regulation, WithoutStiffnessHasALineOfEquilibria) {
    // U = ks/2 (q1 − q2)²: wherever the two are together; the wall at the end of the line presses nothing.
    const RegulationCertificate c = certify_regulation(shipped("two-link-underactuated", {{"Kp", 0.0}}));
    EXPECT_EQ(c.rigid, Scope::inconclusive) << table(c);
    const proof::Condition& row = *c.table.find("3");
    EXPECT_EQ(row.verdict, Verdict::fails) << table(c);
    ASSERT_EQ(row.witness.q.size(), 2U);
    EXPECT_NEAR(row.witness.q[0], row.witness.q[1], 1e-9);
}

TEST(Regulation, OfTheFlexibleArmIsGlobal) {
    const RegulationCertificate c = certify_regulation(shipped("flexible-arm"));
    EXPECT_EQ(c.rigid, Scope::global) << table(c);
    EXPECT_NEAR(c.table.q[0], 0.5 / (1.0 + 0.6 / 16.8), 1e-12);
    // Without damping in the material the motor alone observes the beam.
    const RegulationCertificate light = certify_regulation(shipped("flexible-arm", {{"beta", 0.0}}));
    EXPECT_EQ(light.rigid, Scope::global) << table(light);
    EXPECT_TRUE(light.table.find("R6")->verdict == Verdict::proved ||
                light.table.find("R6")->verdict == Verdict::numerical)
        << table(light);
}

// --- not covered -----------------------------------------------------------------------------------------------------

TEST(Regulation, OfTheDecoupledPairFailsInTheInvarianceRowAlone) {  // tornambe_violation_decoupled
    const RegulationCertificate c = certify_regulation(shipped("decoupled-pair"));
    EXPECT_EQ(failing(c), (std::vector<std::string>{"R6", "R13"})) << table(c);
    EXPECT_EQ(c.table.outcome, Outcome::inconclusive);
    EXPECT_EQ(c.rigid, Scope::inconclusive);
    EXPECT_EQ(c.springs, Scope::inconclusive);
    const proof::Witness& w = c.table.find("R6")->witness;
    ASSERT_EQ(w.u.size(), 2U);
    EXPECT_NEAR(w.u[0], 0.0, 1e-12);
    EXPECT_NEAR(std::abs(w.u[1]), 1.0, 1e-12) << "the second mass moves alone";
    EXPECT_NEAR(w.values.at(0).second, 3.0, 1e-10) << "with its own frequency";
    const RegulationCertificate joined = certify_regulation(shipped("decoupled-pair", {{"ks", 20.0}}));
    EXPECT_EQ(joined.rigid, Scope::global) << table(joined);
}

TEST(Regulation, WithoutDampingFails) {
    const RegulationCertificate c = certify_regulation(shipped("single-link-arm", {{"Kv", 0.0}}));
    EXPECT_EQ(failing(c), (std::vector<std::string>{"R6", "R13"})) << table(c);
    const RegulationCertificate driven = certify_regulation(shipped("single-link-arm", {{"Kv", -0.1}}));
    EXPECT_EQ(driven.table.outcome, Outcome::inconclusive);
    EXPECT_EQ(driven.table.conditions.at(0).verdict, Verdict::fails) << table(driven);
}

TEST(Regulation, WithAPositiveFeedbackRestsOnTheFarSide) {
    // Kp < 0 is not what (44) asks for, but the potential has one minimum between the stops all the same.
    const RegulationCertificate c = certify_regulation(shipped("single-link-arm", {{"Kp", -1.0}}));
    const double far = 0.5 + 2.0 * std::numbers::pi;
    EXPECT_EQ(c.rigid, Scope::global) << table(c);
    EXPECT_NEAR(c.table.q[0], far, 1e-12);
    EXPECT_NEAR(c.table.forces.at(0).N, far, 1e-12);
    EXPECT_NEAR(c.spring_rest.q[0], 1e6 * far / (1e6 - 1.0), 1e-12);
    ASSERT_EQ(c.solutions.size(), 2U);
    EXPECT_NEAR(c.solutions[1].rest.lambda(1), -0.5, 1e-12) << "the near side would have to pull";
}

TEST(Regulation, DoesNotCoverFriction) {
    const Model rough = from_text(R"toml(
[system]
name = "rough"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = 0.3
[control]
actuated = ["x", "y"]
Kp = 1.0
Kv = 1.0
[initial]
q = { x = 1.0, y = 1.0 }
)toml");
    const RegulationCertificate c = certify_regulation(rough);
    EXPECT_EQ(failing(c), std::vector<std::string>{"law"}) << table(c);
    EXPECT_NE(c.table.conditions[0].evidence.find("friction"), std::string::npos);
}

TEST(Regulation, NeedsAController) {
    EXPECT_NE(refusal_of([] { certify_regulation(shipped("bouncing-ball")); }).find("models without control"),
              std::string::npos);
}

// --- potentials that are not convex ----------------------------------------------------------------------------------

const std::string pendulum = R"toml(
[system]
name = "pendulum"
q = ["phi"]
T = "1/2*phi'^2"
U = "a*cos(w*phi)/w^2"
[parameters]
a = 1.0
w = 1.0
Kp = 2.0
[[contact]]
name = "stop"
gN = "phi + 0.5"
eN = 0.5
[control]
actuated = ["phi"]
Kp = "Kp"
Kv = 0.3
[penalty]
k = 1e5
[initial]
q = { phi = 1.0 }
)toml";

TEST(Regulation, OfAnInvertedPendulumIsGlobalIfTheGainExceedsGravity) {
    const RegulationCertificate c = certify_regulation(from_text(pendulum));
    EXPECT_EQ(c.rigid, Scope::global) << table(c);
    EXPECT_NEAR(c.table.q[0], 0.0, 1e-14);
    EXPECT_NEAR(value(c, "a_lower"), 1.0, 1e-9) << "Kp - a";
    EXPECT_EQ(c.table.grade, proof::Grade::proved) << table(c);
}

TEST(Regulation, OfAnInvertedPendulumIsLocalIfTheGainIsTooSmall) {
    // Kp phi = a sin(phi) has 0, a maximum now, and two minima, one of them behind the stop.
    const RegulationCertificate c = certify_regulation(from_text(pendulum, {{"Kp", 0.5}}));
    double fallen = 2.0;
    for (int k = 0; k < 60; ++k) fallen -= (0.5 * fallen - std::sin(fallen)) / (0.5 - std::cos(fallen));
    EXPECT_EQ(c.rigid, Scope::local) << table(c);
    EXPECT_NEAR(c.table.q[0], fallen, 1e-12);
    EXPECT_EQ(c.table.outcome, Outcome::attractive);
    // The level of the maximum at 0 is what limits the region.
    const auto U = [](double x) { return std::cos(x) + 0.25 * x * x; };
    ASSERT_TRUE(c.table.has_rho) << table(c);
    EXPECT_LE(c.table.rho, U(0.0) - U(fallen));
    EXPECT_GE(c.table.rho, (1.0 - 1e-6) * (U(0.0) - U(fallen)));
    EXPECT_EQ(c.table.rho_verified, c.table.rho);
    EXPECT_EQ(c.table.find("R4")->verdict, Verdict::proved) << table(c);
    EXPECT_EQ(failing(c), (std::vector<std::string>{"3", "6"})) << table(c);
    EXPECT_GE(c.solutions.size(), 3U);
    // From the other side the stop carries it: another equilibrium, with a force.
    RegulationOptions o;
    o.at = std::vector<double>{-0.4};
    const RegulationCertificate stop = certify_regulation(from_text(pendulum, {{"Kp", 0.5}}), o);
    EXPECT_NEAR(stop.table.q[0], -0.5, 1e-12);
    EXPECT_NEAR(stop.table.forces.at(0).N, std::sin(0.5) - 0.25, 1e-12);
    EXPECT_EQ(stop.rigid, Scope::local) << table(stop);
}

TEST(Regulation, OfAWavyPotentialWithOneEquilibriumReachesEverywhere) {
    // phi + 0.4 sin(3 phi) = 0 only at 0, although the curvature 1 + 1.2 cos(3 phi) changes its sign.
    const RegulationCertificate c = certify_regulation(from_text(pendulum, {{"a", -1.2}, {"w", 3.0}, {"Kp", 1.0}}));
    EXPECT_EQ(c.rigid, Scope::global) << table(c);
    EXPECT_NEAR(c.table.q[0], 0.0, 1e-12);
}

// --- inertia ---------------------------------------------------------------------------------------------------------

TEST(Inertia, OfATwoJointArmIsBoundedOverAllAngles) {
    const Model robot = from_text(R"toml(
[system]
name = "robot"
q = ["a", "b"]
T = "(1 + 0.5 + 2*0.4*cos(b))/2*a'^2 + (0.5 + 0.4*cos(b))*a'*b' + 0.5/2*b'^2"
[[contact]]
name = "table"
gN = "sin(a) + sin(a + b) + 1.2"
eN = 1.0
[control]
actuated = ["a", "b"]
Kp = [3.0, 2.0]
Kv = 1.0
[penalty]
k = 1e5
[initial]
q = { a = 0.5, b = 0.5 }
)toml");
    const Domain domain(robot);
    const InertiaBounds bounds = inertia_bounds(domain, robot.q0, ContactModel::rigid, 100000);
    EXPECT_TRUE(bounds.proved) << bounds.how;
    double least = 1e9, most = 0.0;
    for (int i = 0; i < 1000; ++i) {
        const double c = 0.4 * std::cos(2.0 * std::numbers::pi * i / 1000.0);
        const double p = 1.5 + 2.0 * c, r = 0.5 + c, s = 0.5, mean = 0.5 * (p + s), root = std::hypot(0.5 * (p - s), r);
        least = std::min(least, mean - root);
        most = std::max(most, mean + root);
    }
    EXPECT_LE(bounds.lower, least);
    EXPECT_GE(bounds.lower, 0.99 * least);
    EXPECT_GE(bounds.upper, most);
    EXPECT_LE(bounds.upper, 1.01 * most);
    const RegulationCertificate c = certify_regulation(robot);
    EXPECT_NE(c.rigid, Scope::inconclusive) << table(c);
    EXPECT_NEAR(c.table.q[0], 0.0, 1e-12);
}

// --- V along motions -------------------------------------------------------------------------------------------------

/// The largest rise of V = T + U (with the springs' energy) from one time to a later one, at all ends of steps, between
/// them, and on both sides of events, relative to the first V above the rest's.
double largest_rise(const Model& model, const Trajectory& motion, bool springs) {
    model::Workspace workspace(model);
    const auto n = static_cast<std::size_t>(model.size());
    std::vector<double> positions(static_cast<std::size_t>(model.layout().positions())),
        coefficients(static_cast<std::size_t>(model.layout().coefficients));
    double least = 1e300, rise = 0.0, first = std::nan(""), lowest = 1e300;
    std::vector<double> x(2 * n);
    for (const trajectory::Arc& arc : motion.arcs)
        for (const ode::Dense& step : arc.steps)
            for (int k = 0; k <= 4; ++k) {
                const double t = step.t_old() + (std::min(step.t_new(), arc.t_end) - step.t_old()) * k / 4.0;
                step.evaluate(t, x.data(), static_cast<int>(2 * n));
                const model::At at = model::at(model, t, {x.data(), n}, {x.data() + n, n});
                const model::Energy e = model.system->energy(at, workspace.scratch());
                double V = e.kinetic + e.potential;
                if (springs) {
                    model.system->positions(at, workspace.scratch(), positions);
                    model.system->coefficients(at, workspace.scratch(), coefficients);
                    for (const model::Contact& c : model.contacts) {
                        const double depth = std::max(0.0, -positions[static_cast<std::size_t>(c.row)]);
                        V += 0.5 * coefficients[static_cast<std::size_t>(c.penalty_k)] * depth * depth;
                    }
                }
                if (std::isnan(first)) first = V;
                least = std::min(least, V);
                lowest = std::min(lowest, V);
                rise = std::max(rise, V - least);
            }
    return rise / (first - lowest);
}

/// The shipped models with a controller, each with impacts that keep energy, lose it, and stop.
TEST(ClosedLoop, VNeverRisesThroughAllImpacts) {
    for (const auto& [name, set, t_end] : {std::tuple{"single-link-arm", Values{{"e", 1.0}}, 3.0},
                                           {"single-link-arm", Values{{"e", 0.8}, {"Kp", 3.0}}, 2.0},
                                           {"single-link-arm", Values{{"e", 0.0}}, 1.0},
                                           {"two-link-underactuated", Values{{"e", 1.0}}, 4.0},
                                           {"two-link-underactuated", Values{{"e", 0.5}, {"ks", 5.0}}, 5.0},
                                           {"two-link-underactuated", Values{{"e", 0.0}}, 4.0},
                                           {"decoupled-pair", Values{}, 3.0},
                                           {"decoupled-pair", Values{{"e", 0.7}}, 3.0},
                                           {"flexible-arm", Values{}, 0.6},
                                           {"flexible-arm", Values{{"e", 1.0}}, 0.4}}) {
        const Model model = shipped(name, set);
        const Trajectory motion = motion_of(model, t_end);
        EXPECT_GE(events_of(motion, EventKind::impact).size(), 1U) << name;
        EXPECT_LE(largest_rise(model, motion, false), 1e-9) << name;
    }
    const Model arm = shipped("single-link-arm", {{"k1", 1e5}, {"k2", 1e5}});
    EXPECT_LE(largest_rise(arm, motion_of(arm, 2.0, Penalty{}), true), 1e-8) << "with springs";
}

TEST(ClosedLoop, VNeverRisesWithARestitutionThatDependsOnTheVelocity) {  // (45)
    const std::string text = R"toml(
[system]
name = "two masses"
q = ["q1", "q2"]
T = "1/2*q1'^2 + 3/10*q2'^2"
U = "10*(q1 - q2)^2"
[[contact]]
name = "wall"
gN = "q2 - 0.3"
impact = "energy"
c = 0.05
[control]
actuated = ["q1", "q2"]
Kp = [8.0, 1.0]
Kv = [1.5, 0.1]
[initial]
q = { q1 = 1.0, q2 = 1.0 }
)toml";
    const Model model = from_text(text);
    const Trajectory motion = motion_of(model, 3.0);
    EXPECT_GE(events_of(motion, EventKind::impact).size(), 3U);
    EXPECT_LE(largest_rise(model, motion, false), 1e-9);
}

}  // namespace
}  // namespace saltus::regulation_test
