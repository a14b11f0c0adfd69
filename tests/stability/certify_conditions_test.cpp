// SPDX-License-Identifier: Apache-2.0
//
// Each condition of Theorem 1 violated by itself, with a witness that is checked against the model; instability; linear
// systems; the propositions.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "physics/motion.hpp"
#include "reference/reference.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "saltus/stability/certify/detail/linear_classification.hpp"
#include "saltus/stability/certify/detail/propositions.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_conditions_test {
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
using test::shipped;
using test::story;
using test::value;
using test::Values;
using test::reference::entry;
using test::reference::Value;

/// Fails in exactly these rows; gives the first of them.
const Condition& only_failing(const Certificate& c, const std::vector<std::string>& ids) {
    std::vector<std::string> failing;
    for (const Condition& row : c.conditions)
        if (row.verdict == Verdict::fails) failing.push_back(row.id);
    EXPECT_EQ(failing, ids) << story(c);
    const Condition* row = c.find(ids.front());
    static const Condition none{};
    return row == nullptr ? none : *row;
}

Certificate of_block(const std::string& old = "", const std::string& by = "", const Values& set = {}) {
    return certify(from_text(old.empty() ? block : replaced(block, old, by), set), Theorem::attractivity);
}

TEST(CertifyConditions, AllHoldForTheBlock) {
    const Certificate c = of_block();
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
}

TEST(CertifyConditions, FirstFailsIfSomethingMovesByItselfOrTIsNotQuadratic) {
    // A moving floor, and a guide with friction that sticks: steady sliding is not examined.
    const std::string guide = R"(
[[slider]]
name = "guide"
gammaT = "y'"
mu = 0.1
FN = 1.0
)";
    const Certificate moving = certify(from_text(replaced(block, R"(gammaT = "x'")", R"(gammaT = "x' - 0.2")") + guide),
                                       Theorem::attractivity);
    EXPECT_NE(moving.find("1"), nullptr);
    EXPECT_EQ(moving.find("1")->verdict, Verdict::fails) << story(moving);
    EXPECT_NEAR(of_witness(*moving.find("1"), "chi"), -0.2, 1e-15);
    const Certificate rheonomic = of_block(R"(gN = "y")", R"x(gN = "y - 0.01*sin(t)")x");
    EXPECT_EQ(rheonomic.find("1")->verdict, Verdict::fails) << story(rheonomic);
    EXPECT_EQ(rheonomic.outcome, Outcome::inconclusive);
    const Certificate turning = of_block(R"x(T = "m/2*(x'^2 + y'^2)")x", R"x(T = "m/2*(x'^2 + y'^2) + 0.3*x*y'")x");
    EXPECT_EQ(turning.find("1")->verdict, Verdict::fails) << story(turning);
}

TEST(CertifyConditions, SecondFailsAtASaddleAndOnAFlatPotential) {
    const Certificate saddle = of_block("k/2*x^2", "-k/2*x^2");
    EXPECT_EQ(only_failing(saddle, {"2"}).verdict, Verdict::fails);
    EXPECT_EQ(saddle.outcome, Outcome::inconclusive);
    // Without a spring every x is an equilibrium: the energy is flat along the witness.
    const Certificate flat = of_block("k/2*x^2 + m*g*y", "m*g*y + 0*k*x");
    const Condition& row = only_failing(flat, {"2"});
    ASSERT_EQ(row.witness.u.size(), 2U) << story(flat);
    EXPECT_NEAR(std::fabs(row.witness.u[0]), 1.0, 1e-12);
    EXPECT_NEAR(row.witness.u[1], 0.0, 1e-12);
}

TEST(CertifyConditions, SecondLeavesAMaximumAndKeepsToTheNearestValley) {
    // A light beam turns far in one step of a descent that is scaled by the masses. The minimum is at θ = 0.
    for (const double inertia : {0.2, 0.1, 0.05, 0.01}) {
        const Certificate c = certify(shipped("constrained-beam", {{"JS", inertia}}), Theorem::attractivity);
        EXPECT_EQ(c.find("2")->verdict, Verdict::proved) << inertia << story(c);
        EXPECT_EQ(c.outcome, Outcome::attractive) << inertia << story(c);
        ASSERT_EQ(c.q.size(), 3U);
        EXPECT_NEAR(c.q[2], 0.0, 1e-9) << inertia;
    }
    // A start exactly on the maximum: the pendulum hangs in the end.
    const Certificate upright = certify(from_text(R"toml(
[system]
q = ["phi"]
T = "phi'^2/2"
U = "-cos(phi)"
R = "0.1*phi'^2"
[initial]
q = { phi = 3.141592653589793 }
)toml"),
                                        Theorem::attractivity);
    EXPECT_EQ(upright.find("2")->verdict, Verdict::proved) << story(upright);
    EXPECT_NEAR(std::cos(upright.q[0]), 1.0, 1e-12);
}

/// A damped pendulum of the length l, with a stop on one side if `stop` is not empty.
std::string pendulum(const std::string& angle, const std::string& stop) {
    return "[system]\nq = [\"phi\"]\nT = \"m/2*l^2*phi'^2\"\nU = \"-m*g*l*cos(" + angle + ")\"\nR = \"0.1*phi'^2\"\n" +
           "[parameters]\nm = 1.2\nl = 0.8\ng = 9.81\n" +
           (stop.empty() ? "" : "[[contact]]\nname = \"stop\"\neN = 0.7\ngN = \"" + stop + "\"\n") +
           "[initial]\nq = { phi = 0.3 }\n";
}

TEST(CertifyConditions, HoldForAPendulumUpToItsUprightPosition) {
    for (const char* const angle : {"phi", "phi - 0.2", "3*phi - 0.7"}) {
        const Certificate c = certify(from_text(pendulum(angle, "")), Theorem::attractivity);
        EXPECT_EQ(c.outcome, Outcome::attractive) << angle << story(c);
        EXPECT_NEAR(c.rho, 2.0 * 1.2 * 9.81 * 0.8, 1e-9) << angle;
    }
    // Behind the stop no position is admissible up to pi - 0.675, and then there is another pendulum in another valley.
    const Certificate stopped = certify(from_text(pendulum("phi", "0.5 - l*sin(phi)")), Theorem::attractivity);
    EXPECT_EQ(stopped.outcome, Outcome::attractive) << story(stopped);
    EXPECT_NEAR(stopped.rho, 2.0 * 1.2 * 9.81 * 0.8, 1e-9);
    ASSERT_EQ(stopped.domain.size(), 1U);
    EXPECT_NEAR(stopped.domain[0].second, std::asin(0.625), 1e-4);
    EXPECT_NE(stopped.summary.find("with phi in (-3.14159, 0.675"), std::string::npos) << stopped.summary;
}

TEST(CertifyConditions, EighthFailsByAPositionOfTheSetItself) {
    // With mu just below a/b the block can also stand on an edge, tilted by 0.007: that set is another one.
    const Certificate c = certify(shipped("rocking-block", {{"mu", 1.64}}), Theorem::attractivity);
    const Condition& row = *c.find("8");
    ASSERT_EQ(row.verdict, Verdict::fails) << story(c);
    EXPECT_NEAR(row.witness.q[2], 0.0, 1e-12) << story(c);
    EXPECT_NEAR(row.witness.q[1], 0.3, 1e-12);
    EXPECT_LE(std::fabs(row.witness.q[0]), 1.64 * 9.81 / 10.0 + 1e-8);
    EXPECT_GE(of_witness(row, "V"), of_witness(row, "rho*"));
    EXPECT_NEAR(of_witness(row, "V"), 5.0 * row.witness.q[0] * row.witness.q[0], 1e-9);
    for (const auto& [mu, k] : std::vector<std::pair<double, double>>{{1.64, 1e4}, {1.66, 1e5}, {1.66, 1e7}}) {
        const Certificate stiff = certify(shipped("rocking-block", {{"mu", mu}, {"k", k}}), Theorem::attractivity);
        EXPECT_EQ(stiff.find("8")->verdict, Verdict::proved) << mu << " " << k << story(stiff);
    }
}

TEST(CertifyConditions, EighthDoesNotCallTheLevelOfAnotherSetTheMaximumOnE) {
    // max V on E is (mu m g)^2/(2k) = 0.0044465. The set that stands on an edge has V = 2.777.
    const Certificate c = certify(shipped("rocking-block", {{"mu", 1.665}, {"k", 3e4}}), Theorem::attractivity);
    const Condition& row = *c.find("8");
    ASSERT_EQ(row.verdict, Verdict::fails) << story(c);
    EXPECT_NEAR(of_witness(row, "V"), std::pow(1.665 * 9.81, 2) / 6e4, 1e-7);
    EXPECT_EQ(row.evidence.find("max V on E = 2.77"), std::string::npos) << row.evidence;
    EXPECT_NE(row.evidence.find("between 0.0044"), std::string::npos) << row.evidence;
}

TEST(CertifyConditions, ThirdFailsIfForcesSupplyEnergyOrActAtRest) {
    const Certificate driven = of_block("[parameters]", "f = { x = \"0.5*x'\" }\n[parameters]");
    const Condition& row = only_failing(driven, {"3"});
    ASSERT_EQ(row.witness.u.size(), 2U);
    EXPECT_LT(of_witness(row, "u.Cu"), 0.0);
    EXPECT_NEAR(-0.5 * row.witness.u[0] * row.witness.u[0], of_witness(row, "u.Cu"), 1e-12);
    const Certificate pushed = of_block("[parameters]", "f = { x = \"0.5\" }\n[parameters]");
    EXPECT_EQ(pushed.find("3")->verdict, Verdict::fails) << story(pushed);
    EXPECT_NEAR(of_witness(*pushed.find("3"), "f x"), 0.5, 1e-15);
}

TEST(CertifyConditions, ThirdFailsIfForcesOrFrictionDependOnTime) {
    // Stiffness that pulsates, damping that comes and goes, friction that fades: none shows at the equilibrium at rest.
    for (const auto& [old, by] : std::vector<std::pair<std::string, std::string>>{
             {"k/2*x^2", "k/2*(1 + 0.8*cos(2.8*t))*x^2"},
             {"[parameters]", "f = { x = \"-0.1*x'*cos(t)\" }\n[parameters]"},
             {"mu = \"mu\"", "mu = \"mu*exp(-2*t)\""}}) {
        const Certificate c = of_block(old, by);
        const Condition& row = *c.find("3");
        EXPECT_EQ(row.verdict, Verdict::fails) << by << story(c);
        EXPECT_GT(of_witness(row, "t"), 0.0) << by;
        EXPECT_EQ(c.outcome, Outcome::inconclusive) << by << story(c);
    }
}

TEST(CertifyConditions, FourthFailsIfFrictionCanHoldAGapOpen) {
    // Friction so large that the block can stand on an edge next to the equilibrium: mu > a/b.
    const Certificate c = certify(shipped("rocking-block", {{"mu", 2.0}, {"k", 1000.0}}), Theorem::attractivity);
    const Condition* row = c.find("4");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->verdict, Verdict::fails) << story(c);
    ASSERT_FALSE(row->witness.values.empty()) << story(c);
    EXPECT_GE(row->witness.values.front().second, -1e-9) << story(c);  // the open gap does not accelerate downwards
    EXPECT_EQ(c.outcome, Outcome::inconclusive) << story(c);
}

TEST(CertifyConditions, FifthFailsForAVelocityWithoutFriction) {
    const Certificate c = of_block("", "", {{"mu", 0.0}});
    const Condition& row = only_failing(c, {"5"});
    ASSERT_EQ(row.witness.u.size(), 2U);
    EXPECT_NEAR(std::fabs(row.witness.u[0]), 1.0, 1e-12);  // sliding along the floor meets nothing
    EXPECT_NEAR(row.witness.u[1], 0.0, 1e-12);
    EXPECT_EQ(c.outcome, Outcome::stable) << story(c);
}

TEST(CertifyConditions, SixthFailsForElasticImpactsAndForOtherLaws) {
    const Certificate c = of_block("", "", {{"eN", 1.0}});
    EXPECT_NEAR(of_witness(only_failing(c, {"6"}), "eN"), 1.0, 0.0);
    const Certificate energy = of_block("eT = \"eT\"", "impact = \"energy\"");
    EXPECT_NE(only_failing(energy, {"6"}).evidence.find("energy"), std::string::npos);
}

TEST(CertifyConditions, SeventhFailsIfAnImpactCanCreateEnergy) {
    // The metric of a rod under 45 degrees, here of the block: D = [[5/2, 3/2], [3/2, 5/2]].
    const Value of_unequal = entry("leine_impact_rod_energy_increase")["outputs"];
    const Value of_negative = entry("leine_impact_rod_negative_eT_violates_theorem")["outputs"];
    const std::string rod =
        replaced(block, R"x(T = "m/2*(x'^2 + y'^2)")x", R"x(T = "(5*x'^2 + 5*y'^2 - 6*x'*y')/16")x");
    const Certificate unequal =
        certify(from_text(rod, {{"eN", 0.9}, {"mu", 0.5}, {"k", 100.0}}), Theorem::attractivity);
    const Condition* row = unequal.find("7");
    EXPECT_EQ(row->verdict, Verdict::fails) << story(unequal);
    EXPECT_NEAR(of_witness(*row, "2e/(1+e)"), of_unequal["cond7a_lhs"], 1e-12);
    EXPECT_NEAR(of_witness(*row, "1/cond(D)"), of_unequal["cond7a_rhs"], 1e-12);
    EXPECT_NEAR(of_witness(*row, "smallest eigenvalue of DB"), of_unequal["min_eig_sym_GB"], 1e-12);
    EXPECT_GT(of_witness(*row, "energy created"), 0.0) << story(unequal);
    // docs/papers.md: e_T < 0 passes 7a as printed, and creates energy.
    const Certificate negative =
        certify(from_text(rod, {{"eN", 0.0}, {"eT", -0.9}, {"mu", 0.5}, {"k", 100.0}}), Theorem::attractivity);
    EXPECT_EQ(negative.find("7")->verdict, Verdict::fails) << story(negative);
    EXPECT_NEAR(of_witness(*negative.find("7"), "smallest eigenvalue of DB"), of_negative["min_eig_sym_GB"], 1e-11);
    // Equal coefficients: 7b. Small ones: 7a up to 1/(2 cond − 1) = 1/7, beyond it what 7a is for.
    for (const auto& [e_n, e_t, word] : {std::tuple{0.9, 0.9, "(b)"}, {0.14, 0.0, "(a)"}, {0.2, 0.0, "not (a)"}}) {
        const Certificate c =
            certify(from_text(rod, {{"eN", e_n}, {"eT", e_t}, {"mu", 0.5}, {"k", 100.0}}), Theorem::attractivity);
        EXPECT_EQ(c.find("7")->verdict, Verdict::proved) << story(c);
        EXPECT_EQ(c.find("7")->evidence.rfind(word, 0), 0U) << story(c);
    }
}

TEST(CertifyRegion, LimitsTheLevelSetAndMustContainTheEquilibrium) {
    const std::string inside = block + "[certify]\nregion = [\"abs(x) < 0.4\", \"y < 2\"]\n";
    const Certificate c = certify(from_text(inside), Theorem::attractivity);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_NEAR(c.rho, 0.5 * 10.0 * 0.16, 1e-11) << story(c);  // where |x| = 0.4
    const Certificate fast =
        certify(from_text(block + "[certify]\nregion = \"x'^2 + y'^2 < 3\"\n"), Theorem::attractivity);
    EXPECT_EQ(fast.outcome, Outcome::attractive) << story(fast);
    EXPECT_NEAR(fast.rho, 1.5, 1e-9) << story(fast);
    const Certificate outside = certify(from_text(block + "[certify]\nregion = \"x > 0.1\"\n"), Theorem::attractivity);
    EXPECT_EQ(outside.find("2")->verdict, Verdict::fails) << story(outside);
    EXPECT_NE(test::refusal_of([] { from_text(block + "[certify]\nregion = \"x + 1\"\n"); }).find("not a condition"),
              std::string::npos);
    EXPECT_NE(test::refusal_of([] { from_text(block + "[certify]\nregion = \"z < 1\"\n"); }).find("z"),
              std::string::npos);
}

TEST(CertifyInstability, TheUpperSetOfTheBeamIsUnstable) {
    for (const Certificate& c : {certify(shipped("constrained-beam"), Theorem::instability),
                                 certify(shipped("constrained-beam", {{"theta0", 2.6}}), std::nullopt)}) {
        EXPECT_EQ(c.theorem, Theorem::instability);
        EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
        EXPECT_EQ(c.grade, Grade::proved) << story(c);
        EXPECT_NEAR(std::fabs(c.q[2]), std::numbers::pi, 1e-12);
        EXPECT_NEAR(value(c, "V_E"), 180.0 / 109.0, 1e-9) << story(c);
    }
    const Certificate lower = certify(shipped("constrained-beam"), std::nullopt);
    EXPECT_EQ(lower.theorem, Theorem::attractivity);
}

std::string oscillator(double c, double k, double F) {
    return "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"" + number_text(k) + "/2*x^2\"\nR = \"" + number_text(c) +
           "/2*x'^2\"\n[[slider]]\ngammaT = \"x'\"\nmu = 1.0\nFN = " + number_text(F) +
           "\n[initial]\nq = { x = 0.01 }\n";
}

std::string two_masses(const std::vector<double>& m, const std::vector<double>& c, const std::vector<double>& k,
                       const std::vector<double>& F) {
    const auto form = [](const std::vector<double>& a, const std::string& x, const std::string& y) {
        return number_text(a[0]) + "/2*" + x + "^2 + (" + number_text(a[1]) + ")*" + x + "*" + y + " + " +
               number_text(a[2]) + "/2*" + y + "^2";
    };
    return "[system]\nq = [\"x\", \"y\"]\nT = \"" + form({m[0], 0.0, m[1]}, "x'", "y'") + "\"\nU = \"" +
           form(k, "x", "y") + "\"\nR = \"" + form(c, "x'", "y'") +
           "\"\n[[slider]]\ngammaT = \"x'\"\nmu = 1.0\nFN = " + number_text(F[0]) +
           "\n[[slider]]\ngammaT = \"y'\"\nmu = 1.0\nFN = " + number_text(F[1]) + "\n";
}

TEST(CertifyLinear, OneDegreeOfFreedomInAllThreeClasses) {
    const Certificate stable =
        certify(from_text(oscillator(0.0, 10.0, 3.0)), std::nullopt);  // leine_linear_1dof_stable_A
    EXPECT_EQ(stable.outcome, Outcome::attractive) << story(stable);
    EXPECT_EQ(stable.classification, "globally attractive");
    EXPECT_TRUE(std::isinf(stable.rho)) << story(stable);
    EXPECT_NEAR(value(stable, "V_max_on_E"), 0.45, 1e-9);
    ASSERT_EQ(stable.eigenvalues.size(), 2U);
    EXPECT_NEAR(stable.eigenvalues[1].second, entry("leine_linear_1dof_stable_A")["outputs"]["eig_without_friction"][1],
                1e-12);

    const Certificate driven =
        certify(from_text(oscillator(-0.2, 10.0, 3.0)), std::nullopt);  // leine_linear_1dof_negdamp_A
    EXPECT_EQ(driven.outcome, Outcome::attractive) << story(driven);
    EXPECT_EQ(driven.classification, "locally attractive");
    EXPECT_NEAR(driven.rho, 0.5 * (3.0 / 0.2) * (3.0 / 0.2), 1e-9)
        << story(driven);  // friction F|u| = c u² at its edge
    const double cycle = entry("leine_linear_1dof_negdamp_A")["outputs"]["unstable_limit_cycle_amplitude"];
    EXPECT_LT(driven.rho, 0.5 * 10.0 * cycle * cycle);  // inside the unstable limit cycle
    EXPECT_NEAR(driven.eigenvalues[0].first, 0.1, 1e-12);

    const Certificate falling =
        certify(from_text(oscillator(0.2, -5.0, 2.0)), std::nullopt);  // leine_linear_1dof_negstiff_A
    EXPECT_EQ(falling.theorem, Theorem::instability);
    EXPECT_EQ(falling.outcome, Outcome::unstable) << story(falling);
    EXPECT_EQ(falling.classification, "unstable");
    EXPECT_NEAR(value(falling, "V_E"), 0.4, 1e-12) << story(falling);
    EXPECT_NEAR(falling.eigenvalues[1].first, entry("leine_linear_1dof_negstiff_A")["outputs"]["unstable_eigenvalue"],
                1e-12);
}

TEST(CertifyLinear, TwoDegreesOfFreedomInAllThreeClasses) {
    const Certificate stable =  // leine_linear_2dof_stable_A
        certify(from_text(two_masses({1.0, 2.0}, {0.3, -0.1, 0.2}, {12.0, -4.0, 6.0}, {1.0, 0.8})), std::nullopt);
    EXPECT_EQ(stable.classification, "globally attractive") << story(stable);
    EXPECT_EQ(stable.grade, Grade::proved) << story(stable);
    EXPECT_TRUE(std::isinf(stable.rho));
    EXPECT_NEAR(stable.eigenvalues[0].first,
                entry("leine_linear_2dof_stable_A")["outputs"]["eig_without_friction"][0][0], 1e-12);

    const Certificate driven =  // leine_linear_2dof_negdamp_in
        certify(from_text(two_masses({1.0, 2.0}, {-0.2, 0.0, -0.1}, {12.0, -4.0, 6.0}, {1.0, 0.8})), std::nullopt);
    EXPECT_EQ(driven.classification, "locally attractive") << story(driven);
    EXPECT_EQ(driven.outcome, Outcome::attractive) << story(driven);
    EXPECT_NEAR(driven.rho, 12.5, 1e-6) << story(driven);  // x' = 5 alone: F₁/c₁

    const Certificate falling =  // leine_linear_2dof_negstiff_A, leine_theorem3_proof_gap
        certify(from_text(two_masses({1.0, 1.0}, {0.1, 0.0, 0.1}, {2.0, -3.0, 2.0}, {0.5, 0.2})), std::nullopt);
    EXPECT_EQ(falling.outcome, Outcome::unstable) << story(falling);
    const Value gap = entry("leine_theorem3_proof_gap")["outputs"];
    EXPECT_NEAR(value(falling, "V_E"), gap["V_E"], 1e-12);
    EXPECT_NEAR(value(falling, "V_at_eigenvector_end"), gap["V_at_eigenvector_boundary_point"], 1e-12);
    EXPECT_NEAR(std::fabs(value(falling, "x0 x")), 1.01 * 0.32, 1e-12);
    EXPECT_NEAR(std::fabs(value(falling, "x0 y")), 1.01 * 0.38, 1e-12);
}

TEST(CertifyLinear, PositiveStiffnessIsNotUnstable) {
    const Certificate c = certify(from_text(oscillator(0.2, 5.0, 2.0)), Theorem::instability);
    EXPECT_EQ(c.outcome, Outcome::inconclusive) << story(c);
    EXPECT_EQ(c.find("2")->verdict, Verdict::fails) << story(c);  // docs/papers.md: K = Kᵀ ≠ 0 is not enough
}

TEST(CertifyLinear, SkewDampingDoesNotDissipate) {
    // docs/papers.md: C = [[0, 1], [−1, 1]] has no imaginary eigenvalue, yet u·Cu = 0 for u = (1, 0).
    const std::string text = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "-(x^2 + y^2)/2"
f = { x = "-y'", y = "x' - y'" }
[[slider]]
gammaT = "y'"
mu = 1.0
FN = 0.5
)toml";
    const Certificate c = certify(from_text(text), Theorem::instability);
    EXPECT_EQ(c.find("4")->verdict, Verdict::fails) << story(c);
    ASSERT_EQ(c.find("4")->witness.u.size(), 2U);
    EXPECT_NEAR(std::fabs(c.find("4")->witness.u[0]), 1.0, 1e-9);
}

TEST(Propositions, TheFirstNeedsTheChangeOfDirections) {
    const Value expected = entry("leine_prop1_missing_Wdot")["outputs"];
    const model::Model bar = shipped("rocking-bar", {{"mu", 0.0}});
    const GapAccelerations a = proposition_1(bar, {0.0, 1.0, 1.0}, {0.0, 0.0, 6.0}, {0, 0});
    EXPECT_NEAR(a.printed[0], expected["prop1_expression"], 1e-12);
    EXPECT_NEAR(a.complete[0], expected["true_gamma_dot_N1"], 1e-12);
    const GapAccelerations level = proposition_1(bar, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {1, 0});
    ASSERT_EQ(level.open, std::vector<int>{1});
    EXPECT_TRUE(level.uncoupled);  // at phi = 0
    EXPECT_LT(level.complete[0], 0.0);
    EXPECT_FALSE(proposition_1(bar, {0.0, 1.0, 0.5}, {0.0, 0.0, 0.0}, {0, 0}).uncoupled);
}

TEST(Propositions, TheSecondIsAboutTheSymmetricPart) {
    Matrix skew(2, 2);
    skew << 0.0, 1.0, -1.0, 0.0;
    EXPECT_EQ(proposition_2(skew).cols(), 2);  // C is regular, and nothing is dissipated
    EXPECT_EQ(proposition_2(Matrix::Identity(2, 2)).cols(), 0);
    Matrix slip(3, 1);
    slip << 1.0, 0.0, 0.0;
    EXPECT_EQ(proposition_3(slip).cols(), 2);
}

TEST(Propositions, TheFourthIsFarFromSharp) {
    const Value expected = entry("leine_prop4_A")["outputs"];
    EXPECT_NEAR(proposition_4(4.0).e_max, expected["e_max_7a"], 1e-15);
    EXPECT_NEAR(proposition_4(4.0).b_min, expected["b_min_prop4"], 1e-15);
    EXPECT_NEAR(sharp_for_two_rows(4.0).b_min, expected["b_min_sharp_n2"], 1e-15);
    EXPECT_NEAR(sharp_for_two_rows(4.0).e_max, expected["e_max_sharp_n2"], 1e-15);
}

}  // namespace
}  // namespace saltus::stability::certify_conditions_test
