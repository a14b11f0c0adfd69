// SPDX-License-Identifier: Apache-2.0
//
// One-way clutches hold every position on one side: their equilibrium sets are unbounded.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_clutch_test {
namespace {

using proof::Certificate;
using proof::Grade;
using proof::Outcome;
using test::from_text;
using test::replaced;
using test::story;

/// A damped oscillator whose clutch allows x' >= 0 only: every x >= 0 is an equilibrium.
const std::string ratchet = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
R = "c/2*x'^2"
[parameters]
c = 0.2
[[clutch]]
gamma = "x'"
[initial]
q = { x = -0.5 }
)toml";

TEST(CertifyClutch, AnUnboundedSetOfEquilibriaIsGloballyAttractive) {
    const Certificate c = certify(from_text(ratchet), Theorem::attractivity);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_TRUE(std::isinf(c.rho)) << story(c);
    // Starts on both sides come to rest at some x >= 0.
    for (const double x : {-2.0, -0.3, 1.5}) {
        model::Model start = from_text(ratchet);
        start.q0 = {x};
        const trajectory::Trajectory motion = test::motion_of(start, 60.0);
        EXPECT_NEAR(motion.end.u[0], 0.0, 1e-6) << x;
        EXPECT_GE(motion.end.q[0], -1e-6) << x;
    }
}

TEST(CertifyClutch, WithoutDampingOrWithTwoValleysNothingGlobalIsClaimed) {
    const Certificate undamped = certify(from_text(ratchet, {{"c", 0.0}}), Theorem::attractivity);
    EXPECT_NE(undamped.outcome, Outcome::attractive) << story(undamped);
    const Certificate driven = certify(from_text(ratchet, {{"c", -0.2}}), Theorem::attractivity);
    EXPECT_NE(driven.outcome, Outcome::attractive) << story(driven);
    const Certificate valleys =
        certify(from_text(replaced(ratchet, "x^2/2\"\nR", "x^4/4 - x^2/2\"\nR")), Theorem::attractivity);
    EXPECT_FALSE(valleys.outcome == Outcome::attractive && std::isinf(valleys.rho)) << story(valleys);
}

/// A body on a hill whose clutch allows x' >= 0 only: every x <= 0 is an equilibrium, and from 0 it runs away.
const std::string hill = replaced(ratchet, "U = \"x^2/2\"", "U = \"-x^2/2\"");

TEST(CertifyClutch, AnUnboundedSetIsUnstableIfTheFreeClutchLetsAMotionLeave) {
    const model::Model m = from_text(hill);
    CertifyOptions options;
    options.at = {0.0};
    const Certificate c = certify(m, Theorem::instability, options);
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    // x'' + c x' − x = 0 grows with (−c + √(c² + 4))/2, forwards.
    EXPECT_NEAR(test::value(c, "escape rate"), (-0.2 + std::sqrt(0.04 + 4.0)) / 2.0, 1e-9);
    EXPECT_GT(test::value(c, "v x"), 0.0);
    model::Model start = m;
    start.q0 = {1e-6};
    EXPECT_GT(test::motion_of(start, 20.0).end.q[0], 1.0);
    start.q0 = {-0.3};
    EXPECT_EQ(test::motion_of(start, 20.0).end.q[0], -0.3);
}

TEST(CertifyClutch, AClutchThatLocksTheOnlyWayDownDoesNotCountAsUnstable) {
    // A second clutch in the other direction: the body cannot move at all.
    const Certificate c =
        certify(from_text(hill + "[[clutch]]\nname = \"back\"\ngamma = \"-x'\"\n"), Theorem::instability);
    EXPECT_NE(c.outcome, Outcome::unstable) << story(c);
}

TEST(CertifyClutch, ALockedClutchCanTransmitTheForceOfTheMotionThatLeaves) {
    // Two bodies on a hill; the clutch x2' >= x1' is locked if body 1, on the steeper hill, pushes body 2.
    const std::string pair = R"toml(
[system]
q = ["x1", "x2"]
T = "x1'^2/2 + x2'^2/2"
U = "-2*x1^2 + x2^2/2"
[[clutch]]
gamma = "x2' - x1'"
[initial]
q = { x1 = 0.0, x2 = 0.0 }
)toml";
    const Certificate c = certify(from_text(pair), Theorem::instability);
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    // Locked: 2 x'' = (4 − 1) x, forwards; the clutch pushes with 5/2 x. Backwards body 1 would leave body 2 behind.
    EXPECT_NEAR(test::value(c, "escape rate"), std::sqrt(1.5), 1e-9) << story(c);
    EXPECT_GT(test::value(c, "v x1"), 0.0);
    EXPECT_NEAR(test::value(c, "v x1"), test::value(c, "v x2"), 1e-9);
}

}  // namespace
}  // namespace saltus::stability::certify_clutch_test
