// SPDX-License-Identifier: Apache-2.0
//
// Steady sliding on a moving surface: the friction oscillator on its belt.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/stability/basin/basin_capture.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_sliding_test {
namespace {

using proof::Certificate;
using proof::Grade;
using proof::Outcome;
using proof::Verdict;
using test::from_text;
using test::story;

/// A block on a belt of speed v: friction F(s) = F0/(1 + delta s) at the sliding speed s = v − x'.
const std::string belt = R"toml(
[system]
q = ["x"]
T = "m/2*x'^2"
U = "k/2*x^2"
R = "c/2*x'^2"
[parameters]
m = 1.0
k = 1.0
c = 0.0
delta = 3.0
v = 0.2
[[slider]]
name = "belt"
gammaT = "x' - v"
mu = 1.0
FN = "1/(1 + delta*abs(x' - v))"
[initial]
q = { x = 0.0 }
)toml";

/// x_e = F(v)/k, and the linearised motion is m y'' + (c − F'(v)) y' + k y = 0 with −F'(v) = delta/(1 + delta v)².
double growth(double c, double delta) {
    const double d = c - delta / std::pow(1.0 + 0.2 * delta, 2);
    return d * d < 4.0 ? -d / 2.0 : (-d + std::sqrt(d * d - 4.0)) / 2.0;
}

TEST(CertifySliding, FrictionThatWeakensWithSpeedMakesSteadySlidingUnstable) {
    const Certificate c = certify(from_text(belt));
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    ASSERT_EQ(c.q.size(), 1U);
    EXPECT_NEAR(c.q[0], 0.625, 1e-12);
    EXPECT_NEAR(test::value(c, "growth rate"), growth(0.0, 3.0), 1e-9);
    EXPECT_TRUE(c.assumptions.empty());
    // A motion that begins next to it leaves its neighbourhood.
    model::Model start = from_text(belt);
    start.q0 = {0.625 + 1e-4};
    start.u0 = {0.0};
    double farthest = 0.0;
    const trajectory::Trajectory motion = test::motion_of(start, 60.0);
    for (int k = 0; k <= 400; ++k)
        farthest = std::max(farthest, std::fabs(motion.right(motion.sample_time(k, 400)).q[0] - 0.625));
    EXPECT_GT(farthest, 0.1);
}

TEST(CertifySliding, DampingThatExceedsTheWeakeningMakesSteadySlidingAttractive) {
    // −F'(v) = 3/1.6² = 1.171875.
    const Certificate c = certify(from_text(belt, {{"c", 1.4}}));
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    const Certificate less = certify(from_text(belt, {{"c", 1.1}}));
    EXPECT_EQ(less.outcome, Outcome::unstable) << story(less);
}

TEST(CertifySliding, ConstantFrictionWithDampingAttractsAsLongAsTheSlipKeepsItsSign) {
    const Certificate c = certify(from_text(belt, {{"c", 0.5}, {"delta", 0.0}}), Theorem::attractivity);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_NEAR(c.q[0], 1.0, 1e-12);
    // V = T + k/2 (x − 1)² < m v²/2 keeps x' < v.
    EXPECT_NEAR(c.rho, 0.02, 1e-9) << story(c);
    // V is not T + U: a basin must not take rho for a level of the energy.
    EXPECT_TRUE(std::isnan(c.reference));
    EXPECT_FALSE(capture_set(c).has_value());
    for (const double angle : {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0}) {
        model::Model start = from_text(belt, {{"c", 0.5}, {"delta", 0.0}});
        const double r = std::sqrt(2.0 * 0.0199);
        start.q0 = {1.0 + r * std::cos(angle)};
        start.u0 = {r * std::sin(angle)};
        EXPECT_NEAR(test::motion_of(start, 60.0).end.q[0], 1.0, 1e-5) << angle;
    }
}

TEST(CertifySliding, ConstantFrictionWithoutDampingIsStableAndNotAttractive) {
    const Certificate c = certify(from_text(belt, {{"delta", 0.0}}));
    EXPECT_EQ(c.outcome, Outcome::stable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
}

TEST(CertifySliding, ForcesOfSteadySlidingAndOfRestOnTheBeltAreReported) {
    const Certificate c = certify(from_text(belt));
    ASSERT_EQ(c.forces.size(), 1U);
    EXPECT_NEAR(c.forces[0].N, 0.625, 1e-12);
    ASSERT_EQ(c.forces[0].T.size(), 1U);
    EXPECT_NEAR(c.forces[0].T[0], 0.625, 1e-12);
    const auto carried =
        std::find_if(c.further.begin(), c.further.end(), [](const proof::Condition& r) { return r.id == "B"; });
    ASSERT_NE(carried, c.further.end());
    EXPECT_EQ(carried->verdict, Verdict::fails);
    EXPECT_NEAR(test::of_witness(*carried, "rate of the load"), 0.2, 1e-12);  // k v
}

TEST(CertifySliding, EquilibriaHaveTheEigenvaluesOfSteadySliding) {
    const Equilibria found = equilibria(from_text(belt));
    ASSERT_EQ(found.sets.size(), 1U);
    ASSERT_TRUE(found.sets[0].stability);
    EXPECT_EQ(found.sets[0].stability->verdict, LocalVerdict::unstable);
    EXPECT_NEAR(found.sets[0].stability->eigenvalues[0].real(), growth(0.0, 3.0), 1e-9);
    const Equilibria damped = equilibria(from_text(belt, {{"c", 1.4}}));
    ASSERT_TRUE(damped.sets.at(0).stability);
    EXPECT_EQ(damped.sets[0].stability->verdict, LocalVerdict::asymptotically_stable);
}

}  // namespace
}  // namespace saltus::stability::certify_sliding_test
