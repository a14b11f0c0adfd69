// SPDX-License-Identifier: Apache-2.0
//
// Condition 7 on the friction cones, the verdicts without losses (mu = 0, eN = 1), and the propositions as rows.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_restitution_test {
namespace {

using proof::Certificate;
using proof::Condition;
using proof::Grade;
using proof::Outcome;
using proof::Verdict;
using test::block;
using test::from_text;
using test::replaced;
using test::shipped;
using test::story;

const Condition* further(const Certificate& c, const std::string& id) {
    for (const Condition& row : c.further)
        if (row.id == id) return &row;
    return nullptr;
}

/// A block whose coordinates are coupled by its inertia, M = [1 c; c 1]: D_NN = D_TT = 1/(1 − c²), D_NT = −c/(1 − c²).
model::Model coupled(double c, double mu, double eN, double eT) {
    return from_text(replaced(block, "m/2*(x'^2 + y'^2)", "m/2*(x'^2 + y'^2) + (" + number_text(c) + ")*x'*y'"),
                     {{"mu", mu}, {"eN", eN}, {"eT", eT}});
}

TEST(CertifyImpacts, SmallFrictionKeepsTheImpulsesWhereTheirWorkIsPositive) {
    // With b = (1 − e)/(1 + e) the work is b_N + (b_N + b_T)(−c) t + b_T t² with t = Λ_T/Λ_N, |t| <= mu. For eN = 0.9,
    // eT = 0, c = 0.8 it is not positive for all t (4 b_N b_T < (b_N + b_T)² c²), but it is for |t| <= 0.05.
    const Certificate c = certify(coupled(0.8, 0.05, 0.9, 0.0), Theorem::attractivity);
    ASSERT_NE(c.find("7"), nullptr);
    EXPECT_EQ(c.find("7")->verdict, Verdict::proved) << story(c);
    EXPECT_NE(c.find("7")->evidence.find("copositive"), std::string::npos) << story(c);
    // The root of the work is at t = 0.0666 for c = 0.8: just inside and just outside.
    const double b = 0.1 / 1.9, s = (1.0 + b) * 0.8, root = (s - std::sqrt(s * s - 4.0 * b)) / 2.0;
    EXPECT_EQ(certify(coupled(0.8, 0.999 * root, 0.9, 0.0), Theorem::attractivity).find("7")->verdict, Verdict::proved);
    for (const double mu : {1.001 * root, 0.3})
        EXPECT_NE(certify(coupled(0.8, mu, 0.9, 0.0), Theorem::attractivity).find("7")->verdict, Verdict::proved) << mu;
}

TEST(CertifyImpacts, AProvedConditionMeansThatNoSimulatedMotionGainsEnergy) {
    const model::Model model = coupled(0.8, 0.05, 0.9, 0.0);
    const auto V = [](const std::vector<double>& q, const std::vector<double>& u) {
        return 0.5 * (u[0] * u[0] + u[1] * u[1]) + 0.8 * u[0] * u[1] + 5.0 * q[0] * q[0] + 9.81 * q[1];
    };
    for (int k = 0; k < 8; ++k) {
        model::Model start = model;
        start.q0 = {0.1 * k - 0.4, 0.3};
        start.u0 = {2.0 * std::cos(k), 2.0 * std::sin(3 * k)};
        const trajectory::Trajectory motion = test::motion_of(start, 1.0);
        EXPECT_LE(V(motion.end.q, motion.end.u), V(start.q0, start.u0) * (1.0 + 1e-9)) << k;
    }
}

TEST(CertifyFallingBlock, WithoutFrictionIsStableAndNotAttractive) {
    for (const double eN : {0.0, 0.5, 1.0}) {
        const Certificate c = certify(shipped("falling-block", {{"mu", 0.0}, {"eN", eN}}), Theorem::attractivity);
        EXPECT_EQ(c.outcome, Outcome::stable) << story(c);
        EXPECT_EQ(c.grade, Grade::proved) << story(c);
        EXPECT_TRUE(c.assumptions.empty());
        ASSERT_NE(further(c, "A"), nullptr) << story(c);
        EXPECT_EQ(further(c, "A")->verdict, Verdict::fails);
        EXPECT_NEAR(std::fabs(further(c, "A")->witness.u[0]), 1.0, 1e-12) << "it slides along the floor";
    }
}

TEST(CertifyFallingBlock, WithoutLossInItsImpactsBouncesForEver) {
    const model::Model model = shipped("falling-block", {{"eN", 1.0}});
    const Certificate c = certify(model, Theorem::attractivity);
    EXPECT_EQ(c.outcome, Outcome::stable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_EQ(c.find("6")->verdict, Verdict::fails) << story(c);
    EXPECT_EQ(c.find("7")->verdict, Verdict::proved) << story(c);
    const Condition* row = further(c, "A");
    ASSERT_NE(row, nullptr) << story(c);
    model::Model start = model;
    start.q0 = row->witness.q;
    start.u0 = row->witness.u;
    const trajectory::Trajectory motion = test::motion_of(start, 1.0);
    const double V0 = 9.81 * start.q0[1],
                 V1 = 0.5 * (motion.end.u[0] * motion.end.u[0] + motion.end.u[1] * motion.end.u[1]) +
                      9.81 * motion.end.q[1];
    EXPECT_GT(V0, 0.0);
    EXPECT_NEAR(V1, V0, 1e-9 * V0);
    EXPECT_EQ(motion.end.q[0], 0.0);
}

TEST(CertifyFallingBlock, LossesAreNotOverlooked) {
    // A little damping of x or a little loss in the impacts: no motion keeps its energy, and none is claimed.
    const std::string damped = replaced(block, "[parameters]", "R = \"0.01*x'^2\"\n[parameters]");
    const Certificate c = certify(from_text(damped, {{"mu", 0.0}}), Theorem::attractivity);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(further(c, "A"), nullptr);
    const Certificate lossy = certify(shipped("falling-block", {{"eN", 0.999}}), Theorem::attractivity);
    EXPECT_EQ(lossy.outcome, Outcome::attractive) << story(lossy);
    EXPECT_EQ(further(lossy, "A"), nullptr);
    // Air drag along y stops the bouncing.
    const std::string drag = replaced(block, "[parameters]", "R = \"0.01*y'^2\"\n[parameters]");
    EXPECT_EQ(further(certify(from_text(drag, {{"eN", 1.0}}), Theorem::attractivity), "A"), nullptr);
}

TEST(CertifyPropositions, ArePrintedWhereTheyApply) {
    const Certificate c = certify(shipped("falling-block"), Theorem::attractivity);
    for (const char* const id : {"P1", "P3", "P4"}) {
        ASSERT_NE(further(c, id), nullptr) << id;
        EXPECT_EQ(further(c, id)->verdict, Verdict::proved) << id;
    }
    EXPECT_EQ(further(c, "P2"), nullptr) << "there is no damping";
    const Certificate bar = certify(shipped("rocking-bar"), Theorem::attractivity);
    EXPECT_EQ(further(bar, "P1"), nullptr) << "turning couples friction and gaps";
    EXPECT_EQ(further(bar, "P4"), nullptr) << "all coefficients are equal";
    EXPECT_NE(further(bar, "P3"), nullptr);
    // Proposition 2 with a damping matrix that is not symmetric.
    const std::string gyro =
        "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"(x^2 + y^2)/2\"\n"
        "f = { x = \"-x' - y'\", y = \"x'\" }\n[initial]\nq = { x = 0.1, y = 0 }\n";
    const Certificate skew = certify(from_text(gyro), Theorem::attractivity);
    ASSERT_NE(further(skew, "P2"), nullptr) << story(skew);
    EXPECT_NE(further(skew, "P2")->evidence.find("dimension 1"), std::string::npos) << further(skew, "P2")->evidence;
    EXPECT_NE(further(skew, "P2")->evidence.find("not symmetric"), std::string::npos);
}

}  // namespace
}  // namespace saltus::stability::certify_restitution_test
