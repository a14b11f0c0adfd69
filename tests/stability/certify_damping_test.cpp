// SPDX-License-Identifier: Apache-2.0
//
// Damping that is not linear in the velocities is proved to take energy, next to u = 0 too. Beside each damping that
// does stands one that does not.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "stability/certificates.hpp"

namespace saltus::stability::certify_damping_test {
namespace {

using proof::Certificate;
using proof::Grade;
using proof::Outcome;
using proof::Verdict;
using test::from_text;
using test::story;

Certificate oscillator(const std::string& damping) {
    return certify(from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\n" + damping +
                             "\n[initial]\nq = { x = 0.1 }\n"),
                   Theorem::attractivity);
}
Certificate pair(const std::string& damping) {
    return certify(
        from_text("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"(x^2 + y^2 + (x - y)^2)/2\"\n" +
                  damping + "\n[initial]\nq = { x = 0.1, y = 0 }\n"),
        Theorem::attractivity);
}

void expect_global(const Certificate& c) {
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_TRUE(std::isinf(c.rho)) << story(c);
}

TEST(CertifyNonlinearDamping, PowersOfTheSpeedAttractFromEverywhere) {
    expect_global(oscillator("f = { x = \"-0.5*x'^3\" }"));
    expect_global(oscillator("f = { x = \"-0.5*abs(x')*x'\" }"));
    expect_global(oscillator("f = { x = \"-0.5*x' - 2*x'^5\" }"));
    expect_global(oscillator("f = { x = \"-0.1*sqrt(abs(x'))*x'\" }"));
    expect_global(oscillator("f = { x = \"-(2 + sin(x))*x'^3\" }"));
    expect_global(oscillator("R = \"0.25*x'^4\""));
    expect_global(pair("R = \"0.25*(x' - y')^4 + 0.3*abs(y')^3\""));
    expect_global(pair("f = { x = \"-0.2*sqrt(x'^2 + y'^2)*x'\", y = \"-0.2*sqrt(x'^2 + y'^2)*y'\" }"));
    expect_global(pair("f = { x = \"-x'^3 - y'\", y = \"x' - 0.1*y'\" }"));  // gyroscopic terms take nothing
}

TEST(CertifyNonlinearDamping, LossesForSmallVelocitiesOnlyGiveALocalVerdict) {
    // D = x'²/2 − x'⁴ is positive for x'² < 1/2, that is T < 1/4.
    const Certificate c = oscillator("f = { x = \"-0.5*x' + x'^3\" }");
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_LE(c.rho, 0.25 * (1.0 + 1e-9)) << story(c);
    EXPECT_GE(c.rho, 0.24) << story(c);
    // tanh is bounded by its slope over bounded velocities.
    const Certificate saturated = oscillator("f = { x = \"-0.5*tanh(x')\" }");
    EXPECT_EQ(saturated.outcome, Outcome::attractive) << story(saturated);
    EXPECT_EQ(saturated.grade, Grade::proved) << story(saturated);
}

TEST(CertifyNonlinearDamping, AVelocityWithoutLossThatTheLevelSetExcludesIsNoWitness) {
    // D = x'²(1 − x') and D = x'²(1 − x'²) vanish at x' = 1, where T = 1/2. All smaller velocities lose energy.
    for (const char* force : {"-x' + x'^2", "-x' + x'^3", "-x'^3 + x'^5"}) {
        const Certificate c = oscillator("f = { x = \"" + std::string(force) + "\" }");
        EXPECT_EQ(c.outcome, Outcome::attractive) << force << story(c);
        EXPECT_LE(c.rho, 0.5) << force << story(c);
        EXPECT_GE(c.rho, 0.49) << force << story(c);
    }
    // No velocity with |x'| <= 0.1 loses energy.
    const Certificate dead = oscillator("f = { x = \"-if(abs(x') > 0.1, x' - 0.1*sign(x'), 0)\" }");
    EXPECT_NE(dead.outcome, Outcome::attractive) << story(dead);
}

TEST(CertifyNonlinearDamping, ForcesThatSupplyEnergyAreNotCertified) {
    for (const char* const f :
         {"f = { x = \"0.5*x' - x'^3\" }", "f = { x = \"0.1*abs(x')*x'\" }", "f = { x = \"-x'^3 + 1e-3*x'\" }",
          "f = { x = \"x'^2\" }", "f = { x = \"-abs(x')\" }"}) {
        const Certificate c = oscillator(f);
        EXPECT_EQ(c.outcome, Outcome::inconclusive) << f << story(c);
        EXPECT_NE(c.find("3")->verdict, Verdict::proved) << f << story(c);
    }
}

TEST(CertifyNonlinearDamping, AVelocityWithoutLossIsNotOverlooked) {
    // x + y moves without any damping.
    const Certificate c = pair("R = \"0.25*(x' - y')^4\"");
    EXPECT_NE(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.find("3")->verdict, Verdict::proved) << story(c);
    EXPECT_NE(c.find("4")->verdict, Verdict::proved) << story(c);
    EXPECT_NE(pair("f = { x = \"-x'^3\" }").outcome, Outcome::attractive);
}

// Friction with a negative coefficient, or under a negative normal force, supplies energy. With the damping 0.05 and
// F_N = 1 - x^2 the start x' = 8 (V = 32) runs away. F_N >= 0 holds for V < 1/2, and 0.1 + 0.1 x >= 0 as well.
TEST(CertifyFriction, LevelSetsExcludePositionsAtWhichFrictionWouldSupplyEnergy) {
    for (const auto& [mu, FN] : {std::pair{"0.1", "1 - x^2"}, {"0.1 + 0.1*x", "1"}}) {
        const Certificate c = oscillator(std::string("R = \"0.05*x'^2\"\n[[slider]]\ngammaT = \"x'\"\nmu = \"") + mu +
                                         "\"\nFN = \"" + FN + "\"");
        EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
        EXPECT_LE(c.rho, 0.5 + 1e-9) << story(c);
        EXPECT_GT(c.rho, 0.4) << story(c);
    }
    expect_global(oscillator("R = \"0.05*x'^2\"\n[[slider]]\ngammaT = \"x'\"\nmu = 0.1\nFN = \"2 + sin(x)\""));
}

}  // namespace
}  // namespace saltus::stability::certify_damping_test
