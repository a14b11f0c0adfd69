// SPDX-License-Identifier: Apache-2.0
//
// One-way clutches hold every position on one side: their equilibrium sets are unbounded.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability {
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

}  // namespace
}  // namespace saltus::stability
