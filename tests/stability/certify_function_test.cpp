// SPDX-License-Identifier: Apache-2.0
//
// certify --V: Lyapunov's method and Theorem 2 with a function of the user.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/base/error.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_function_test {
namespace {

using proof::Certificate;
using proof::Condition;
using proof::Grade;
using proof::Outcome;
using proof::Verdict;
using test::from_text;
using test::replaced;
using test::story;

CertifyOptions with(const std::string& V) {
    CertifyOptions options;
    options.V = V;
    return options;
}

/// A spring and a damper that are written as a force and not as an energy.
const std::string oscillator = R"toml(
[system]
q = ["x"]
T = "m/2*x'^2"
f = { x = "-k*x - c*x'" }
[parameters]
m = 2.0
k = 3.0
c = 0.5
[initial]
q = { x = 0.5 }
[simulate]
t_end = 10.0
)toml";

TEST(CertifyFunction, TheEnergyGivesTheCertificateOfTheoremOne) {
    const model::Model block = from_text(test::block);
    const Certificate plain = certify(block, Theorem::attractivity), own = certify(block, {}, with("T + U"));
    EXPECT_EQ(own.outcome, Outcome::attractive) << story(own);
    EXPECT_EQ(own.grade, Grade::proved) << story(own);
    EXPECT_EQ(own.rho_verified, plain.rho_verified);
    ASSERT_EQ(own.conditions.size(), plain.conditions.size());
    for (std::size_t k = 0; k < own.conditions.size(); ++k)
        EXPECT_EQ(own.conditions[k].verdict, plain.conditions[k].verdict) << own.conditions[k].id;
}

TEST(CertifyFunction, LevelsBelongToTheFunctionThatWasGiven) {
    const model::Model block = test::shipped("rocking-block");
    const Certificate one = certify(block, {}, with("T + U")), three = certify(block, {}, with("3*T + 3*U - 7"));
    ASSERT_TRUE(std::isfinite(one.rho_verified)) << story(one);
    EXPECT_EQ(three.outcome, Outcome::attractive) << story(three);
    EXPECT_NEAR(three.rho_verified, 3.0 * one.rho_verified, 1e-9 * one.rho_verified);
    EXPECT_NEAR(three.reference, 3.0 * one.reference - 7.0, 1e-12);
}

TEST(CertifyFunction, AForceWithAPotentialIsAccountedForByTheFunction) {
    const model::Model m = from_text(oscillator);
    EXPECT_EQ(certify(m, Theorem::attractivity).outcome, Outcome::inconclusive);
    const Certificate c = certify(m, {}, with("m/2*x'^2 + k/2*x^2"));
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_TRUE(std::isinf(c.rho)) << story(c);
}

TEST(CertifyFunction, AStrictFunctionNeedsNoInvariance) {
    const Certificate c = certify(from_text(oscillator), {}, with("T + k/2*x^2 + 0.1*x*x'"));
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_TRUE(c.assumptions.empty()) << story(c);
    EXPECT_TRUE(std::isinf(c.rho)) << story(c);
}

// With V = T + k/2 x² + a x x', −V̇ = (c − a) x'² + (a k/m) x² + (a c/m) x x' is positive definite up to an a with
// (a c/m)² = 4 (c − a) a k/m: for these numbers a = 0.4948...
TEST(CertifyFunction, ACrossTermThatIsTooLargeIsRefusedWithAMotionAlongWhichTheFunctionGrows) {
    const model::Model m = from_text(oscillator);
    EXPECT_EQ(certify(m, {}, with("T + k/2*x^2 + 0.49*x*x'")).outcome, Outcome::attractive);
    const Certificate c = certify(m, {}, with("T + k/2*x^2 + 0.7*x*x'"));
    EXPECT_EQ(c.outcome, Outcome::inconclusive) << story(c);
    const Condition* row = c.find("3");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->verdict, Verdict::fails) << story(c);
    ASSERT_EQ(row->witness.q.size(), 1U);
    // Independent check at the witness: V̇ = −(c − a) x'² − (a k/m) x² − (a c/m) x x' > 0 there or soon after.
    model::Model start = m;
    start.q0 = row->witness.q;
    start.u0 = row->witness.u;
    const auto V = [](double x, double v) { return v * v + 1.5 * x * x + 0.7 * x * v; };
    const double within = test::of_witness(*row, "within");
    const trajectory::Trajectory motion = test::motion_of(start, within);
    EXPECT_GT(V(motion.end.q[0], motion.end.u[0]), V(start.q0[0], start.u0[0]));
}

TEST(CertifyFunction, AFunctionThatIsNotPositiveIsRefusedWithAState) {
    const model::Model m = from_text(oscillator);
    for (const char* const V : {"x'^2", "x*x'", "T - k/2*x^2"}) {
        const Certificate c = certify(m, Theorem::attractivity, with(V));
        EXPECT_EQ(c.outcome, Outcome::inconclusive) << V << "\n" << story(c);
        const Condition* row = c.find("2");
        ASSERT_NE(row, nullptr) << V;
        EXPECT_EQ(row->verdict, Verdict::fails) << V << "\n" << story(c);
        EXPECT_LE(test::of_witness(*row, "V - V_e"), 0.0) << V;
    }
}

TEST(CertifyFunction, ALocalFunctionGivesALocalLevelSet) {
    // A damped pendulum: the strict function is proved in a box that does not reach the upper equilibrium.
    const std::string pendulum =
        replaced(replaced(oscillator, "-k*x - c*x'", "-k*sin(x) - c*x'"), "x = 0.5", "x = 0.1");
    const Certificate c = certify(from_text(pendulum), {}, with("T + k*(1 - cos(x)) + 0.1*x*x'"));
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_GT(c.rho, 0.5) << story(c);
    EXPECT_LT(c.rho, 6.0) << story(c);  // V of the upper equilibrium is at least 2k = 6
    ASSERT_EQ(c.domain.size(), 1U);
    EXPECT_LT(c.domain[0].second, 3.14159);
}

TEST(CertifyFunction, FrictionMakesACrossTermGrow) {
    // With dry friction V = T + U + a x x' grows next to rest: its rate contains −a x μ N sign(x').
    const std::string rubbed =
        replaced(oscillator, "f = { x = \"-k*x - c*x'\" }", "U = \"k/2*x^2\"\nR = \"c/2*x'^2\"") +
        "[[slider]]\ngammaT = \"x'\"\nmu = 0.2\nFN = 3.0\n";
    const Certificate energy = certify(from_text(rubbed), {}, with("T + U"));
    EXPECT_EQ(energy.outcome, Outcome::attractive) << story(energy);
    const Certificate cross = certify(from_text(rubbed), {}, with("T + U + 0.3*x*x'"));
    EXPECT_EQ(cross.find("3")->verdict, Verdict::fails) << story(cross);
    EXPECT_EQ(cross.outcome, Outcome::inconclusive) << story(cross);
}

TEST(CertifyFunction, AFunctionThatGrowsAtImpactsIsRefused) {
    // A ball that bounces: V = T + U + 2 x' rises at every impact, because x' changes its sign.
    const std::string ball = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "10*x"
[[contact]]
name = "floor"
gN = "x"
eN = 0.9
[initial]
q = { x = 0.2 }
[simulate]
t_end = 2.0
)toml";
    const Certificate good = certify(from_text(ball), {}, with("T + U"));
    EXPECT_EQ(good.outcome, Outcome::attractive) << story(good);
    const Certificate bad = certify(from_text(ball), {}, with("T + U + 2*x'"));
    const Condition* row = bad.find("4");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->verdict, Verdict::fails) << story(bad);
    const double v = row->witness.u[0];
    EXPECT_NEAR(test::of_witness(*row, "jump of V"), -0.095 * v * v - 2.0 * 1.9 * v, 1e-9);
    EXPECT_GT(test::of_witness(*row, "jump of V"), 0.0);
}

TEST(CertifyFunction, StatementOneOfTheoremTwoProvesInstability) {
    // A saddle: V = x x' has the rate x'² + x²(k/m) with the sign of a negative stiffness.
    const std::string saddle = replaced(oscillator, "-k*x - c*x'", "k*x");
    const Certificate c = certify(from_text(saddle), Theorem::instability, with("x*x'"));
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    ASSERT_EQ(c.further.size(), 3U);
    for (const Condition& row : c.further) EXPECT_EQ(row.verdict, Verdict::proved) << row.id;
}

TEST(CertifyFunction, NegativeDampingIsProvedUnstableByStatementThree) {
    const std::string driven = replaced(replaced(oscillator, "-k*x - c*x'", "c*x'"), "T = ", "U = \"k/2*x^2\"\nT = ");
    const Certificate c = certify(from_text(driven), Theorem::instability, with("T + U"));
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    ASSERT_EQ(c.further.size(), 3U);
    EXPECT_EQ(c.further[0].verdict, Verdict::not_examined);  // statement 1: the rate vanishes at rest
    EXPECT_EQ(c.further[2].verdict, Verdict::proved);
    // The same function with the damper the right way round does not grow.
    const Certificate damped =
        certify(from_text(replaced(driven, "\"c*x'\"", "\"-c*x'\"")), Theorem::instability, with("T + U"));
    EXPECT_NE(damped.outcome, Outcome::unstable) << story(damped);
    EXPECT_EQ(damped.find("3")->verdict, Verdict::fails) << story(damped);
}

TEST(CertifyFunction, TheFunctionOfThePaperProvesTheUpperSetOfTheBeamUnstable) {
    const model::Model beam = test::shipped("constrained-beam");
    const Certificate c = certify(beam, {}, with("-T - U"));
    EXPECT_EQ(c.theorem, Theorem::instability);
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
}

/// Two masses on springs with dry friction of their own.
const std::string rubbed_pair = R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + y'^2/2"
U = "2*x^2 + y^2/2"
R = "c/2*y'^2"
[parameters]
c = 0.2
[[slider]]
name = "a"
gammaT = "x'"
mu = 0.2
FN = 1.0
[[slider]]
name = "b"
gammaT = "y'"
mu = 0.1
FN = 1.0
[initial]
q = { x = 0.5, y = 0.5 }
[simulate]
t_end = 10.0
)toml";
/// Another factor for each of the two energies.
const char* const weighted = "x'^2/2 + 2*x^2 + 3*(y'^2/2 + y^2/2)";

TEST(CertifyFunction, WeightedEnergiesOfRubbedMassesAreProvedToFall) {
    const Certificate c = certify(from_text(rubbed_pair), {}, with(weighted));
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_TRUE(std::isinf(c.rho)) << story(c);
    ASSERT_EQ(c.assumptions.size(), 1U);
    // Friction holds |4x| <= 0.2 and |y| <= 0.1: V is at most 2·0.05² + 1.5·0.1² = 0.02 there.
    EXPECT_GE(test::value(c, "V_max_on_E"), 0.02);
    EXPECT_LE(test::value(c, "V_max_on_E"), 0.03);
}

TEST(CertifyFunction, FrictionBetweenMassesOfDifferentWeightIsNotProvedToTakeV) {
    // Friction between x and y turns energy of x into energy of y, which counts three times.
    const std::string coupled = replaced(rubbed_pair, "gammaT = \"x'\"", "gammaT = \"x' - y'\"");
    const Certificate c = certify(from_text(coupled), {}, with(weighted));
    EXPECT_NE(c.grade, Grade::proved) << story(c);
    EXPECT_NE(c.find("3")->verdict, Verdict::proved) << story(c);
    // The same friction with equal weights.
    const Certificate equal = certify(from_text(coupled), {}, with("log(2 + T + U)"));
    EXPECT_EQ(equal.outcome, Outcome::attractive) << story(equal);
    EXPECT_EQ(equal.grade, Grade::proved) << story(equal);
}

TEST(CertifyFunction, AMassThatNothingBrakesIsNotProvedToComeToRest) {
    const std::string free = replaced(replaced(rubbed_pair, "mu = 0.1", "mu = 0.0"), "c = 0.2", "c = 0.0");
    const Certificate c = certify(from_text(free), {}, with(weighted));
    EXPECT_NE(c.outcome, Outcome::attractive) << story(c);
    // The witness is a motion of y alone, after x has come to rest: it keeps V.
    ASSERT_EQ(c.find("5")->verdict, Verdict::fails) << story(c);
    EXPECT_NEAR(c.find("5")->witness.u[0], 0.0, 1e-9);
    // Damping of the wrong sign: V grows.
    const Certificate driven = certify(from_text(replaced(rubbed_pair, "c = 0.2", "c = -0.5")), {}, with(weighted));
    EXPECT_NE(driven.find("3")->verdict, Verdict::proved) << story(driven);
    EXPECT_NE(driven.outcome, Outcome::attractive) << story(driven);
}

/// A damped oscillator with a stop on one side.
const std::string stopped = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
R = "c/2*x'^2"
[parameters]
c = 0.3
e = 0.5
a = -0.2
[[contact]]
name = "stop"
gN = "x - a"
eN = "e"
[initial]
q = { x = 0.5 }
[simulate]
t_end = 10.0
)toml";

TEST(CertifyFunction, AStrictFunctionIsProvedThroughImpacts) {
    for (const char* const place : {"a = -0.2", "a = 0.0"}) {
        const Certificate c = certify(from_text(replaced(stopped, "a = -0.2", place)), {}, with("T + U + 0.1*x*x'"));
        EXPECT_EQ(c.outcome, Outcome::attractive) << place << "\n" << story(c);
        EXPECT_EQ(c.grade, Grade::proved) << place << "\n" << story(c);
        EXPECT_TRUE(c.assumptions.empty()) << place << "\n" << story(c);
        EXPECT_EQ(c.find("4")->verdict, Verdict::proved) << place << "\n" << story(c);
    }
}

TEST(CertifyFunction, FalseFunctionsOfAnOscillatorWithAStopAreNotProved) {
    const auto refused = [](const std::string& text, const char* V) {
        const Certificate c = certify(from_text(text), Theorem::attractivity, with(V));
        EXPECT_FALSE(c.outcome == Outcome::attractive && c.grade == Grade::proved) << V << "\n" << story(c);
        return c;
    };
    // The cross term has the wrong sign: V grows between impacts.
    EXPECT_NE(refused(stopped, "T + U - 0.2*x*x'").find("3")->verdict, Verdict::proved);
    // The damper drives.
    refused(replaced(stopped, "c = 0.3", "c = -0.3"), "T + U + 0.1*x*x'");
    // x' itself changes its sign at the stop.
    EXPECT_NE(refused(stopped, "T + U + 0.05*x'").find("4")->verdict, Verdict::proved);
    // At the stop a = 0, V jumps by e³v³ + v³ − (1 − e²)v²/2 with e = 0.9, which is positive for v > 0.055. The
    // velocity box of a proof must be smaller.
    const Certificate cubic =
        certify(from_text(replaced(replaced(stopped, "a = -0.2", "a = 0.0"), "e = 0.5", "e = 0.9")),
                Theorem::attractivity, with("T + U + 0.1*x*x' + x'^3"));
    if (cubic.outcome == Outcome::attractive && cubic.grade == Grade::proved) {
        EXPECT_LT(cubic.rho, 0.5 * 0.055 * 0.055) << story(cubic);
    }
    // A stop that pushes the mass away from 0: the equilibrium is at the stop, where ∂V/∂x' is not 0.
    refused(replaced(stopped, "a = -0.2", "a = 0.2"), "T + U + 0.1*x*x'");
    // eN = 1 is outside of the proof for impacts.
    refused(replaced(replaced(stopped, "e = 0.5", "e = 1.0"), "a = -0.2", "a = 0.0"), "T + U + 0.1*x*x'");
}

TEST(CertifyFunction, AFunctionOfTheEnergyHasTheCertificateOfTheEnergy) {
    const model::Model block = test::shipped("rocking-block");
    const Certificate energy = certify(block, Theorem::attractivity);
    const Certificate own = certify(block, {}, with("log(1 + T + U)"));
    EXPECT_EQ(own.outcome, Outcome::attractive) << story(own);
    EXPECT_EQ(own.grade, Grade::proved) << story(own);
    const double U_e = energy.reference;
    EXPECT_NEAR(own.rho, std::log((1.0 + U_e + energy.rho) / (1.0 + U_e)), 1e-9) << story(own);
    EXPECT_LE(own.rho_verified, own.rho * (1.0 + 1e-12));
    EXPECT_NE(own.summary.find(" V_e + "), std::string::npos) << own.summary;
    // −V has the wrong sign for attractivity.
    const Certificate wrong = certify(block, Theorem::attractivity, with("-log(1 + T + U)"));
    EXPECT_NE(wrong.outcome, Outcome::attractive) << story(wrong);
}

TEST(CertifyFunction, AFunctionThatComesBackToSmallValuesIsNotProvedByTheEnergy) {
    // sin(T + U) is small again at T + U = π: its level sets are not those of the energy.
    const Certificate c = certify(test::shipped("falling-block"), Theorem::attractivity, with("sin(T + U)"));
    EXPECT_NE(c.grade, Grade::proved) << story(c);
}

TEST(CertifyFunction, ADecreasingFunctionOfTheEnergyProvesTheUpperSetOfTheBlockUnstable) {
    CertifyOptions options = with("-exp(T + U)");
    options.at = {0.0, 0.58, 1.03038};
    const Certificate c = certify(test::shipped("rocking-block"), {}, options);
    EXPECT_EQ(c.theorem, Theorem::instability);
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
}

TEST(CertifyFunction, StatementOneProvesASaddleWithAStopUnstable) {
    // A saddle next to a stop: V = x x' grows at all states, and the stop at x = −0.2 is struck outwards only.
    const std::string saddle = replaced(replaced(stopped, "U = \"x^2/2\"", "U = \"-x^2/2\""), "c = 0.3", "c = 0.0");
    const Certificate c = certify(from_text(saddle), Theorem::instability, with("x*x'"));
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    for (const Condition& row : c.further) EXPECT_EQ(row.verdict, Verdict::proved) << row.id;
    // With a spring it is stable.
    const Certificate stable = certify(from_text(stopped), Theorem::instability, with("x*x'"));
    EXPECT_NE(stable.outcome, Outcome::unstable) << story(stable);
}

TEST(CertifyFunction, AConstraintThatExcludesTheDirectionOfGrowthPreventsTheProofOfInstability) {
    // The saddle of x and y, with V = x x' - y y'. The constraint x = 0 leaves the motion of y, which is stable.
    const std::string held = R"toml(
[system]
q = ["x", "y"]
T = "x'^2/2 + y'^2/2"
U = "-x^2/2 + y^2/2"
R = "y'^2/10"
[[constraint]]
name = "guide"
g = "x"
[initial]
q = { y = 0.1 }
[simulate]
t_end = 5.0
)toml";
    for (const char* const V : {"x*x' - y*y'/10", "x*x'"}) {
        const Certificate c = certify(from_text(held), Theorem::instability, with(V));
        EXPECT_NE(c.outcome, Outcome::unstable) << V << "\n" << story(c);
    }
}

TEST(CertifyFunction, FrictionThatThePotentialOfVDoesNotBalanceIsNotProved) {
    // V = T + 3U is no energy of the system: between rest positions its rate is 2U'x', which friction exceeds only
    // where |2·4x| < 0.2. A proof of the whole space would be false.
    const Certificate c = certify(from_text(rubbed_pair), {}, with("T + 3*U"));
    EXPECT_FALSE(c.grade == Grade::proved && c.outcome == Outcome::attractive) << story(c);
    // A kinetic energy that counts more on one side: V = (2 - x) T + U grows while x falls.
    const Certificate sided = certify(from_text(rubbed_pair), {}, with("(2 - x)*T + U"));
    EXPECT_FALSE(sided.grade == Grade::proved && std::isinf(sided.rho)) << story(sided);
}

TEST(CertifyFunction, LevelsInTheSummaryAreThoseOfTheFunction) {
    const Certificate c = certify(test::shipped("rocking-block"), {}, with("T/10 + U/10"));
    EXPECT_NEAR(c.rho, 0.0953361, 1e-7) << story(c);
    EXPECT_NE(c.summary.find("{ V < V_e + 0.0953361 }"), std::string::npos) << c.summary;
}

TEST(CertifyFunction, OfMassPointsIsRefusedBecauseTheyHaveNoExpressions) {
    const model::Model m = test::shipped("crawling-skeleton");
    try {
        certify(m, {}, with("T + U"));
        ADD_FAILURE() << "was accepted";
    } catch (const Error& e) {
        EXPECT_EQ(e.place().file, "--V");
        EXPECT_NE(e.message().find("equations that are not expressions"), std::string::npos) << e.message();
    }
}

TEST(CertifyFunction, AWrongExpressionIsAnErrorWithItsPlace) {
    const model::Model m = from_text(oscillator);
    for (const char* const V : {"T + y", "T + t", "3", "T +", "T + k/2*x^2 + sin(t)"}) {
        try {
            certify(m, {}, with(V));
            ADD_FAILURE() << V << " was accepted";
        } catch (const Error& e) {
            EXPECT_EQ(e.place().file, "--V") << V;
        }
    }
}

}  // namespace
}  // namespace saltus::stability::certify_function_test
