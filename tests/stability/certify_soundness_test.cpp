// SPDX-License-Identifier: Apache-2.0
//
// Certificates say no more than they prove: models for which a statement that looks plausible is false. The levels are
// compared with closed forms.
#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_soundness_test {
namespace {

using proof::Certificate;
using proof::Condition;
using proof::Grade;
using proof::Outcome;
using proof::Verdict;
using test::block;
using test::from_text;
using test::of_witness;
using test::replaced;
using test::story;
using test::value;

std::string particle(const std::string& U, const std::string& more = "", const std::string& x0 = "0.1") {
    return "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"" + U + "\"\n" + more + "\n[initial]\nq = { x = " + x0 +
           " }\n";
}
std::string plane(const std::string& U, const std::string& more = "") {
    return "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"" + U + "\"\n" + more +
           "\n[initial]\nq = { x = 0.1, y = 0.0 }\n";
}
Certificate attractivity(const std::string& text) { return certify(from_text(text), Theorem::attractivity); }

/// The verdict of a row; not_examined if the table has no such row.
Verdict verdict(const Certificate& c, const std::string& id) {
    const Condition* row = c.find(id);
    EXPECT_NE(row, nullptr) << id << "\n" << story(c);
    return row == nullptr ? Verdict::not_examined : row->verdict;
}

/// A proved level, not above the largest one that is true and not far below it.
void expect_local(const Certificate& c, double largest, double sharpness) {
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_LE(c.rho, largest * (1.0 + 1e-9)) << story(c);
    EXPECT_GE(c.rho, largest * (1.0 - sharpness)) << story(c);
    EXPECT_LE(c.rho_verified, c.rho * (1.0 + 1e-15)) << story(c);
}

TEST(CertifyBoundedness, APotentialThatSaturatesAttractsOnlyBelowItsSupremum) {
    const std::string damping = "R = \"x'^2/(2*(1 + x^2))\"";
    expect_local(attractivity(particle("-1/(1 + x^2)", damping)), 1.0, 1e-9);
    expect_local(attractivity(particle("tanh(x^2)", "R = \"x'^2/2\"")), 1.0, 2e-6);
    expect_local(attractivity(particle("-exp(-x^2)", "R = \"x'^2/2\"")), 1.0, 2e-6);
    // In the plane: -1/(1 + x² + y²).
    expect_local(attractivity(plane("-1/(1 + x^2 + y^2)", "R = \"(x'^2 + y'^2)/2\"")), 1.0, 1e-3);
}

TEST(CertifyBoundedness, GrowthOfSeveralKindsIsProved) {
    for (const char* const U : {"x^2/2 + 0.3*cos(x)", "x^4/4 + x^2/2", "x*atan(x)", "exp(x) + exp(-x)"}) {
        const Certificate c = attractivity(particle(U, "R = \"x'^2/2\""));
        EXPECT_EQ(c.outcome, Outcome::attractive) << U << story(c);
        EXPECT_TRUE(std::isinf(c.rho)) << U << story(c);
        EXPECT_EQ(c.grade, Grade::proved) << U << story(c);
    }
    // log(1 + x²) grows without bound, but its slope tends to 0; the bounds of x⁴ − x³ at infinity are too wide. A
    // large level is proved, not all of them.
    for (const char* const U : {"log(1 + x^2)", "x^4/4 - x^3/10 + x^2/2"}) {
        const Certificate large = attractivity(particle(U, "R = \"x'^2/2\""));
        EXPECT_EQ(large.outcome, Outcome::attractive) << U << story(large);
        EXPECT_GT(large.rho, 10.0) << U << story(large);
    }
}

TEST(CertifyComponents, AWallThatDividesTheSpaceHidesNoEquilibrium) {
    // Behind the wall the spring presses against x = 0.9, with Q = 1.1²/2.
    const std::string wall = "[[contact]]\nname = \"wall\"\ngN = \"(x - 1)^2 - 0.01\"\neN = 0.5\n";
    const Certificate c = attractivity(particle("(x - 2)^2/2", "R = \"x'^2/2\"\n" + wall, "2.1"));
    expect_local(c, 0.5 * 1.1 * 1.1, 1e-5);
    // The other side is deeper: the level set is that of the box around q_e, whose face lies inside the wall.
    const std::string thick = "[[contact]]\nname = \"wall\"\ngN = \"x^2 - 0.25\"\neN = 0.5\n";
    const Certificate deep = attractivity(particle("(x^2 - 1)^2 + x/2", "R = \"x'^2/2\"\n" + thick, "1.0"));
    EXPECT_EQ(deep.outcome, Outcome::attractive) << story(deep);
    ASSERT_EQ(deep.domain.size(), 1U);
    EXPECT_GE(deep.domain[0].first, -0.5) << story(deep);
}

TEST(CertifyComponents, ARotationallySymmetricBarrierIsFoundByASmallerBox) {
    // Q = r²/2 − r⁴/8 has its maximum 1/2 on the circle r² = 2; its corners outside are lower.
    const Certificate c = attractivity(plane("(x^2 + y^2)/2 - (x^2 + y^2)^2/8", "R = \"0.1*(x'^2 + y'^2)\""));
    expect_local(c, 0.5, 0.2);
    ASSERT_EQ(c.domain.size(), 2U);
    // Every corner of the box is inside the circle or above the level.
    const double x = c.domain[0].second, y = c.domain[1].second, r2 = x * x + y * y;
    EXPECT_TRUE(r2 <= 2.0 || r2 / 2.0 - r2 * r2 / 8.0 >= c.rho) << story(c);
}

TEST(CertifyExamined, DampingThatVanishesOrTurnsLimitsTheLevel) {
    // Van der Pol's equation with reversed time: damping 1 − x² is positive for |x| < 1.
    expect_local(attractivity(particle("x^2/2", "f = { x = \"(x^2 - 1)*x'\" }")), 0.5, 1e-5);
    // No damping on the unit circle.
    expect_local(attractivity(plane("(x^2 + y^2)/2", "R = \"(1 - x^2 - y^2)^2/2*(x'^2 + y'^2)\"")), 0.5, 0.05);
    // Damping that is positive for slow motions only: −u·f = u²(1 − u²).
    const Certificate fast = attractivity(particle("x^2/2", "f = { x = \"-x' + x'^3\" }"));
    EXPECT_FALSE(fast.outcome == Outcome::attractive && fast.rho > 0.5) << story(fast);
}

TEST(CertifyExamined, ASmallNegativeEigenvalueIsNotRounding) {
    const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "1e6*x'^2/2 + 1e-8*y'^2/2"
U = "1e6*x^2/2 + 1e-8*y^2/2"
R = "1e6*x'^2/2 - 1e-10*y'^2/2"
[[slider]]
gammaT = "x'"
mu = 0.1
FN = 1
)toml";
    const Certificate c = attractivity(text);
    EXPECT_EQ(c.outcome, Outcome::inconclusive) << story(c);
    ASSERT_EQ(verdict(c, "3"), Verdict::fails) << story(c);
    const std::vector<double>& u = c.find("3")->witness.u;
    EXPECT_LT(1e6 * u[0] * u[0] - 1e-10 * u[1] * u[1], 0.0);
    EXPECT_NE(c.classification, "globally attractive");
    // The same with a small positive one is damped: the velocity along y has no friction, but is not without loss.
    const Certificate damped = attractivity(replaced(text, "- 1e-10", "+ 1e-10"));
    EXPECT_EQ(damped.outcome, Outcome::attractive) << story(damped);
    EXPECT_EQ(damped.grade, Grade::proved) << story(damped);
}

TEST(CertifyExamined, AQuarticMinimumIsNotCalledFlat) {
    const Certificate c = attractivity(particle("x^4", "R = \"x'^2/2\""));
    EXPECT_NE(verdict(c, "2"), Verdict::fails) << story(c);
    EXPECT_EQ(attractivity(particle("-x^4", "R = \"x'^2/2\"", "0.0")).find("2")->verdict, Verdict::fails);
}

TEST(CertifyExamined, TimeDependenceIsNotOverruledByFrictionAgainstNegativeDamping) {
    const std::string slider = "[[slider]]\ngammaT = \"x'\"\nmu = 1.0\nFN = 3.0\n";
    const Certificate still = attractivity(particle("5*x^2", "R = \"-0.1*x'^2\"\n" + slider));
    EXPECT_EQ(still.outcome, Outcome::attractive) << story(still);
    const Certificate timed = attractivity(particle("5*x^2*(1 + 0.5*sin(3*t)^2)", "R = \"-0.1*x'^2\"\n" + slider));
    EXPECT_EQ(timed.outcome, Outcome::inconclusive) << story(timed);
    EXPECT_NE(verdict(timed, "3"), Verdict::proved) << story(timed);
}

TEST(CertifyExamined, NonlinearModelsAreNotClassifiedAsLinear) {
    for (const std::string& text : {particle("x^2/2", "f = { x = \"(x^2 - 1)*x'\" }"),
                                    plane("(x^2 + y^2)/2 - (x^2 + y^2)^2/8", "R = \"0.1*(x'^2 + y'^2)\"")}) {
        const Certificate c = certify(from_text(text), Theorem::instability);
        EXPECT_EQ(c.basis, "Theorem 2") << story(c);
        EXPECT_EQ(c.classification, "") << story(c);
    }
}

TEST(CertifyExamined, ASetThatContainsAMinimumIsNotCalledUnstable) {
    // Friction holds everything around several maxima and minima of U. The set has its largest V at a minimum.
    const std::string slider = "[[slider]]\ngammaT = \"x'\"\nmu = 1.0\nFN = 0.723\n";
    const Certificate c =
        certify(from_text(particle("0.0292*x^2 + 0.161*sin(2*x + 0.506)", "R = \"x'^2/2\"\n" + slider, "-1.343")),
                Theorem::instability);
    EXPECT_EQ(c.outcome, Outcome::inconclusive) << story(c);
}

TEST(CertifyExamined, FrictionNextToAWallBelongsToTheEquilibriumSet) {
    // The wall stands at x = √0.029, where the spring pulls with 0.4 N; friction of 0.449 N also holds positions off
    // the wall, up to the root of U' = 0.449.
    const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "2.538*x^2/2 - 1.137*x^3/3"
R = "0.057*x'^2"
[[slider]]
gammaT = "x'"
mu = 1.0
FN = 0.449
[[contact]]
name = "a"
gN = "x^2 - 0.029"
eN = 0.76
[initial]
q = { x = 0.779 }
)toml";
    const Certificate c = attractivity(text);
    const double end = (2.538 - std::sqrt(2.538 * 2.538 - 4.0 * 1.137 * 0.449)) / (2.0 * 1.137),
                 wall = std::sqrt(0.029);
    const auto U = [](double x) { return 2.538 * x * x / 2.0 - 1.137 * x * x * x / 3.0; };
    if (c.outcome == Outcome::attractive) {
        EXPECT_GE(value(c, "V_max_on_E"), (U(end) - U(wall)) * (1.0 - 1e-6)) << story(c);
    }
}

TEST(CertifyAborts, ModelsWithoutALevelSetGetATable) {
    const std::string falling = R"toml(
[system]
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
U = "6*y + 18*(x^2 - 1)^2 + z^2 + 2*x*y"
[[contact]]
name = "c"
gN = "y + 0.5*x + 0.4*z"
eN = 0.5
)toml";
    const std::string steep = "[[contact]]\nname = \"floor\"\ngN = \"x\"\neN = 0.3\n";
    for (const std::string& text : {falling, particle("-exp(-x)", steep, "0.0")})
        for (const Theorem theorem : {Theorem::attractivity, Theorem::instability}) {
            const Certificate c = certify(from_text(text), theorem);
            EXPECT_FALSE(c.conditions.empty());
            if (c.outcome != Outcome::unstable) continue;
            // Only the saddle on the contact: ∇U = λ (0.5, 1, 0.4) with λ = 6 + 2x > 0, and U falls along x.
            ASSERT_TRUE(text == falling && theorem == Theorem::instability) << story(c);
            const double x = c.q[0], y = c.q[1], z = c.q[2], lambda = 6.0 + 2.0 * x;
            EXPECT_NEAR(72.0 * x * (x * x - 1.0) + 2.0 * y, 0.5 * lambda, 1e-9);
            EXPECT_NEAR(2.0 * z, 0.4 * lambda, 1e-9);
            EXPECT_NEAR(y + 0.5 * x + 0.4 * z, 0.0, 1e-12);
            EXPECT_LT(72.0 * (3.0 * x * x - 1.0), 0.0);
        }
}

TEST(CertifyStop, EndsWithoutAFalseStatement) {
    CertifyOptions options;
    options.stop = [] { return true; };
    const Certificate c = certify(from_text(block), Theorem::attractivity, options);
    EXPECT_NE(c.outcome, Outcome::attractive) << story(c);
    EXPECT_FALSE(c.warnings.empty());
}

TEST(CertifyAssumptions, AreListedByName) {
    const Certificate c = attractivity(block);
    ASSERT_EQ(c.assumptions.size(), 1U) << story(c);
    EXPECT_EQ(c.assumptions[0].rfind("condition 9: ", 0), 0U) << c.assumptions[0];
}

/// Gyroscopic forces do no work, but they change the modes. Without them damping of x would see both modes of y and z.
/// With them y = cos(t/2), z = sin(t/2)/2, x = 0 is a motion: the force on x is −y − z − y' + 4 z' = 0, on y
/// −y + 3 z' = −cos(t/2)/4, on z −13/4 z − 3 y' = −sin(t/2)/8.
TEST(Soundness, AGyroscopicModeThatDampingDoesNotSeeIsNotOverlooked) {
    const model::Model m = from_text(R"toml(
[system]
q = ["x", "y", "z"]
T = "1/2*(x'^2 + y'^2 + z'^2)"
U = "2*x^2 + 1/2*y^2 + 13/8*z^2 + x*y + x*z"
R = "1/2*x'^2"
f = { x = "-y' + 4*z'", y = "x' + 3*z'", z = "-4*x' - 3*y'" }
[initial]
q = { y = 1.0 }
u = { z = 0.25 }
)toml");
    const Certificate c = certify(m, Theorem::attractivity);
    EXPECT_NE(c.outcome, Outcome::attractive) << story(c);
    EXPECT_NE(verdict(c, "4"), Verdict::proved) << story(c);
}

}  // namespace
}  // namespace saltus::stability::certify_soundness_test
