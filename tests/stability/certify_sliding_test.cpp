// SPDX-License-Identifier: Apache-2.0
//
// Steady sliding on a moving surface: the friction oscillator on its belt.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>

#include "physics/motion.hpp"
#include "saltus/stability/basin/basin_capture.hpp"
#include "saltus/stability/certify/certificate_grade.hpp"
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

/// The certificate with the grades that claims prove, as the program prints it.
Certificate graded(const model::Model& m) {
    Certificate c = certify(m);
    grade_by_claims(m, c, {});
    return c;
}

/// Two blocks joined by a spring, one on a belt. The tree of a claim went off one side of a box 25 000 cuts deep, and
/// the stack overflowed.
TEST(CertifySliding, OfTwoBlocksEndsWithACertificate) {
    const Certificate c = graded(from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "(x - 0.6)^2 + (y - x)^2"
[[slider]]
name = "second"
gammaT = "y' - 0.2"
mu = "0.1 + 0.07*(y' - 0.2)^2"
FN = 3
)toml"));
    EXPECT_EQ(c.outcome, Outcome::stable) << story(c);
}

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

// If the slip stops or turns round then friction exceeds the force of forward slip only in the direction that takes
// energy. So V = T + k/2 (x − 1)² falls in all motions, also in those that stick to the belt or overtake it.
TEST(CertifySliding, ConstantFrictionWithDampingAttractsAllMotionsAlsoThoseThatOvertakeTheBelt) {
    const Certificate c = certify(from_text(belt, {{"c", 0.5}, {"delta", 0.0}}), Theorem::attractivity);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_NEAR(c.q[0], 1.0, 1e-12);
    EXPECT_TRUE(std::isinf(c.rho)) << story(c);
    // V is not T + U, but all motions are attracted whatever their energy is.
    EXPECT_TRUE(std::isnan(c.reference));
    ASSERT_TRUE(capture_set(c).has_value());
    EXPECT_TRUE(std::isinf(capture_set(c)->rho));
    bool stuck = false, overtook = false;
    for (const double angle : {0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0})
        for (const double r : {0.199, 3.0}) {
            model::Model start = from_text(belt, {{"c", 0.5}, {"delta", 0.0}});
            start.q0 = {1.0 + r * std::cos(angle)};
            start.u0 = {r * std::sin(angle)};
            overtook = overtook || start.u0[0] > 0.2;
            const trajectory::Trajectory motion = test::motion_of(start, 80.0);
            for (const trajectory::Event& e : motion.events) stuck = stuck || e.kind == trajectory::EventKind::stick;
            EXPECT_NEAR(motion.end.q[0], 1.0, 1e-5) << angle;
        }
    EXPECT_TRUE(stuck && overtook) << "no start was outside of the region in which the slip keeps its sign";
}

TEST(CertifySliding, TheLevelOfWeakeningFrictionMayReachBeyondTheSpeedOfTheBelt) {
    // The resistance c x' + F(v) − F(v − x') with F(s) = 1/(1 + delta s) rises with the speed as long as
    // 1 + delta (v − x') > sqrt(delta/c): x' < v + 1/delta − 1/sqrt(delta c) = 0.252 for delta = 1, c = 1.11.
    const model::Model m = from_text(belt, {{"c", 1.11}, {"delta", 1.0}});
    const Certificate c = graded(m);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_GT(c.rho, 0.02) << "V < m v^2/2 keeps x' < v\n" << story(c);
    // Motions of this level set approach the equilibrium.
    for (const double angle : {0.0, 0.8, 1.57, 2.5, 4.0, 5.0}) {
        model::Model start = m;
        const double r = std::sqrt(2.0 * 0.99 * c.rho);
        start.q0 = {c.q[0] + r * std::cos(angle)};
        start.u0 = {r * std::sin(angle)};
        EXPECT_NEAR(test::motion_of(start, 200.0).end.q[0], c.q[0], 1e-4) << angle;
    }
}

TEST(CertifySliding, NumbersInFormulasAndNamedParametersHaveTheSameVerdict) {
    const std::string named = R"toml(
[system]
q = ["x", "y"]
T = "m1/2*x'^2 + m2/2*y'^2"
U = "k/2*x^2 + k12/2*(x - y)^2"
R = "c/2*x'^2 + c2/2*(x' - y')^2"
[parameters]
m1 = 1.541
m2 = 0.678
k = 3.058
k12 = 0.595
c = 0.337
c2 = 0.449
mu = 0.291
g = 5.784
[[slider]]
name = "belt"
gammaT = "x' - 0.453"
mu = "mu"
FN = "m1*g"
[[slider]]
name = "second belt"
gammaT = "y' - 0.406"
mu = "mu"
FN = "m2*g"
)toml";
    const std::string literal = R"toml(
[system]
q = ["x", "y"]
T = "1.541/2*x'^2 + 0.678/2*y'^2"
U = "3.058/2*x^2 + 0.595/2*(x - y)^2"
R = "0.337/2*x'^2 + 0.449/2*(x' - y')^2"
[[slider]]
name = "belt"
gammaT = "x' - 0.453"
mu = 0.291
FN = "1.541*5.784"
[[slider]]
name = "second belt"
gammaT = "y' - 0.406"
mu = 0.291
FN = "0.678*5.784"
)toml";
    for (const std::string& text : {named, literal}) {
        const model::Model m = from_text(text);
        const Certificate c = graded(m);
        EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
        EXPECT_EQ(c.grade, Grade::proved) << story(c);
        EXPECT_TRUE(std::isinf(c.rho)) << story(c);
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

/// A block that a conveyor drags along, held by an inclined spring: the spring presses it on the belt, so that the
/// normal force grows with x. While the belt is faster, friction pushes the block forwards with mu(s) N,
/// N = m g + k sin a cos a x, mu(s) = mu/(1 + delta s), s = v − x'. On the belt
///     m x'' + (c + mu'(v) N_e) x' + K (x − x_e) = 0,   K = k cos a (cos a − mu(v) sin a) + k2,
/// with x_e = (mu(v) m g + k2 x0)/K and N_e = m g + k sin a cos a x_e.
const std::string conveyor = R"toml(
[system]
q = ["x", "y"]
T = "m/2*(x'^2 + y'^2)"
U = "k/2*(x*cos(a) + y*sin(a))^2 + k2/2*(x - x0)^2 + m*g*y"
R = "c/2*x'^2"
[parameters]
m = 1.0
k = 100.0
k2 = 5.0
x0 = 0.0
a = 0.5
g = 10.0
c = 0.5
mu = 0.6
delta = 0.0
v = 0.5
eN = 0.3
[[contact]]
name = "belt"
gN = "y"
gammaT = "x' - v"
mu = "mu/(1 + delta*abs(x' - v))"
eN = "eN"
[initial]
q = { x = 0.1, y = 0.01 }
)toml";

struct Dragged {
    double x, damping, stiffness;
    explicit Dragged(double a = 0.5, double delta = 0.0, double x0 = 0.0, double c = 0.5) {
        const double mu = 0.6 / (1.0 + 0.5 * delta), slope = -0.6 * delta / std::pow(1.0 + 0.5 * delta, 2);
        stiffness = 100.0 * std::cos(a) * (std::cos(a) - mu * std::sin(a)) + 5.0;
        x = (mu * 10.0 + 5.0 * x0) / stiffness;
        damping = c + slope * (10.0 + 100.0 * std::sin(a) * std::cos(a) * x);
    }
    /// Largest real part of the roots of z² + damping z + stiffness = 0.
    double growth() const {
        const double root = damping * damping - 4.0 * stiffness;
        return root < 0.0 ? -damping / 2.0 : (-damping + std::sqrt(root)) / 2.0;
    }
};

TEST(CertifySliding, ABlockThatAConveyorDragsSettlesIntoSteadySlidingAlsoFromTheAir) {
    const model::Model model = from_text(conveyor);
    const Certificate c = certify(model);
    const Dragged exact;
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_TRUE(c.assumptions.empty());
    ASSERT_EQ(c.q.size(), 2U);
    EXPECT_NEAR(c.q[0], exact.x, 1e-12);
    EXPECT_EQ(c.q[1], 0.0);
    EXPECT_NEAR(test::value(c, "growth rate"), exact.growth(), 1e-9);
    // The motion from the air bounces and ends there.
    model::Model start = model;
    start.q0 = {exact.x + 0.01, 0.002};
    start.u0 = {0.0, 0.05};
    const trajectory::Trajectory motion = test::motion_of(start, 40.0);
    EXPECT_NEAR(motion.end.q[0], exact.x, 1e-4);
    EXPECT_NEAR(motion.end.q[1], 0.0, 1e-9);
}

/// A block of 1 kg on a conveyor with 1 m/s, a spring of 4 N/m, damping 1 N s/m and the friction force 2 N: it rests at
/// x = 0.5, and slides as long as x' < 1. A region of fixed sizes, each half of the one before, gave the level 0.0128.
TEST(CertifySliding, TheLevelOfAConveyorIsThatOfTheLargestRegion) {
    const model::Model model = from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "2*x^2 + 8*y"
R = "x'^2/2"
[[contact]]
name = "belt"
gN = "y"
gammaT = "x' - 1"
mu = 0.25
eN = 0.5
)toml");
    const Certificate c = certify(model);
    EXPECT_EQ(c.outcome, Outcome::attractive) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    ASSERT_EQ(c.P.size(), 4U);
    EXPECT_GT(c.rho, 0.03);
    // States with x' = 0 and with x = 0.5 on the boundary of the level set come to rest at x = 0.5.
    for (const bool moving : {false, true}) {
        model::Model start = model;
        const std::size_t k = moving ? 2 : 0;
        const double z = std::sqrt(c.rho / c.P[k][k]);
        start.q0 = {moving ? 0.5 : 0.5 + z, 0.0};
        start.u0 = {moving ? z : 0.0, 0.0};
        EXPECT_LT(start.u0[0], 1.0) << "it slides backwards on the belt";
        EXPECT_NEAR(test::motion_of(start, 40.0).end.q[0], 0.5, 1e-6);
    }
}

TEST(CertifySliding, ContactFrictionThatWeakensWithSpeedMakesSteadySlidingUnstable) {
    const model::Model model = from_text(conveyor, {{"delta", 0.5}});
    const Certificate c = certify(model);
    const Dragged exact(0.5, 0.5);
    ASSERT_GT(exact.growth(), 0.1);
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_NEAR(test::value(c, "growth rate"), exact.growth(), 1e-9);
    model::Model start = model;
    start.q0 = {exact.x + 1e-4, 0.0};
    start.u0 = {0.0, 0.0};
    double farthest = 0.0;
    const trajectory::Trajectory motion = test::motion_of(start, 20.0);
    for (int k = 0; k <= 400; ++k)
        farthest = std::max(farthest, std::fabs(motion.right(motion.sample_time(k, 400)).q[0] - exact.x));
    EXPECT_GT(farthest, 0.01);
}

TEST(CertifySliding, ASteepSpringMakesSteadySlidingDivergeAlthoughTheBlockIsDamped) {
    // tan a > 1/mu: the normal force grows faster with x than the spring pulls back.
    const Dragged exact(1.3, 0.0, -20.0);
    ASSERT_LT(exact.stiffness, 0.0);
    CertifyOptions options;
    options.at = {exact.x, 0.0};
    const Certificate c = certify(from_text(conveyor, {{"a", 1.3}, {"x0", -20.0}}), std::nullopt, options);
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    ASSERT_EQ(c.q.size(), 2U);
    EXPECT_NEAR(c.q[0], exact.x, 1e-9);
    EXPECT_NEAR(test::value(c, "growth rate"), exact.growth(), 1e-8);
}

/// A block of 1 kg on a belt that runs with 1 m/s along x, with springs of 4 and 6 N/m, the damping 0.01 N s/m and a
/// normal force of 2 N. Friction acts in the plane.
Equilibria block_in_a_plane(const std::string& friction) {
    return equilibria(from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "2*(x - 0.5)^2 + 3*y^2"
R = "0.01*(x'^2 + y'^2)/2"
[[slider]]
name = "belt"
FN = 2
)toml" + friction));
}

/// The real parts of a pair of eigenvalues with this frequency; NaN if there is none.
double real_part_near(const LocalStability& s, double frequency) {
    for (const std::complex<double>& value : s.eigenvalues)
        if (std::abs(value.imag() - frequency) < 0.05) return value.real();
    return std::numeric_limits<double>::quiet_NaN();
}

// Slip in the plane is γ = (x' − 1, y'). The friction −F_N ∂s/∂γ has the slope −F_N μ/|γ| = −0.6 across the slip for a
// disk, −F_N μ₂²/(μ₁|γ|) = −0.15 for an ellipse, and −F_N dμ/d|γ| along it.
TEST(CertifySliding, FrictionInAPlaneChangesWithTheDirectionOfSlip) {
    const std::string slip = "gammaT = [\"x' - 1\", \"y'\"]\n";
    const Equilibria disk = block_in_a_plane(slip + "mu = 0.3\n");
    ASSERT_EQ(disk.sets.size(), 1U);
    ASSERT_TRUE(disk.sets[0].stability);
    EXPECT_EQ(disk.sets[0].stability->verdict, LocalVerdict::asymptotically_stable);
    EXPECT_NEAR(real_part_near(*disk.sets[0].stability, 2.0), -0.005, 1e-9);
    EXPECT_NEAR(real_part_near(*disk.sets[0].stability, std::sqrt(6.0)), -0.305, 1e-9);

    const Equilibria ellipse = block_in_a_plane(slip + "mu = [0.3, 0.15]\n");
    ASSERT_EQ(ellipse.sets.size(), 1U);
    ASSERT_TRUE(ellipse.sets[0].stability);
    EXPECT_NEAR(real_part_near(*ellipse.sets[0].stability, std::sqrt(6.0)), -0.08, 1e-9);

    // dμ/d|γ| = −4·0.3/9 at |γ| = 1: the damping along the slip is 0.01 − 2·0.1333.
    const Equilibria weakening = block_in_a_plane(slip + "mu = \"0.1 + 0.3/(1 + 2*((x' - 1)^2 + y'^2))\"\n");
    ASSERT_EQ(weakening.sets.size(), 1U);
    ASSERT_TRUE(weakening.sets[0].stability);
    EXPECT_EQ(weakening.sets[0].stability->verdict, LocalVerdict::unstable);
    EXPECT_NEAR(real_part_near(*weakening.sets[0].stability, 2.0), (8.0 / 30.0 - 0.01) / 2.0, 1e-9);
}

TEST(CertifySliding, FrictionWithoutASmoothFormulaHasNoStability) {
    const Equilibria across = block_in_a_plane("gammaT = [\"x' - 1\", \"y'\"]\nmu = [0, 0.15]\n");
    for (const EquilibriumSet& set : across.sets) EXPECT_FALSE(set.stability);
}

// mu = |x'| vanishes at rest together with its derivative there, but the friction −2|x'| sign(x') = −2 x' is a damper.
TEST(CertifySliding, FrictionThatGrowsFromZeroWithTheSpeedHasNoEigenvalues) {
    const Equilibria found = equilibria(from_text(R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
[[slider]]
name = "oil"
gammaT = "x'"
mu = "abs(x')"
FN = 2
)toml"));
    ASSERT_EQ(found.sets.size(), 1U);
    ASSERT_TRUE(found.sets[0].stability);
    EXPECT_EQ(found.sets[0].stability->verdict, LocalVerdict::undecided);
    EXPECT_TRUE(found.sets[0].stability->eigenvalues.empty());
}

TEST(CertifySliding, FrictionThatVanishesOnlyWhereTheSearchBeginsIsNotLeftOut) {
    // Without friction the block would rest at x = 1. With mu = b x^2 the balance is 5 (x - 1) = b x^2 g: there is no
    // equilibrium for b = 0.3, and x = (5 - sqrt(25 - 20 b g))/(2 b g) for b = 0.1.
    const auto block = [](const char* b) {
        return from_text(std::string(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "5*(x - 1)^2/2 + 9.81*y"
R = "x'^2/2"
[[contact]]
name = "belt"
gN = "y"
gammaT = "x' - 1"
mu = ")toml") + b + R"toml(*x^2"
eN = 0.2
[initial]
q = { x = 0.0, y = 0.0 }
)toml");
    };
    const Certificate none = certify(block("0.3"));
    EXPECT_EQ(none.outcome, Outcome::inconclusive) << story(none);
    const Certificate sliding = certify(block("0.1"));
    EXPECT_EQ(sliding.outcome, Outcome::attractive) << story(sliding);
    ASSERT_EQ(sliding.q.size(), 2U);
    EXPECT_NEAR(sliding.q[0], (5.0 - std::sqrt(25.0 - 20.0 * 0.981)) / (2.0 * 0.981), 1e-9);
}

TEST(CertifySliding, BouncesWithoutLossLeaveSteadySlidingUndecided) {
    const Certificate c = certify(from_text(conveyor, {{"eN", 1.0}}));
    EXPECT_EQ(c.outcome, Outcome::inconclusive) << story(c);
    ASSERT_NE(c.find("5"), nullptr) << story(c);
    EXPECT_EQ(c.find("5")->verdict, Verdict::fails);
}

TEST(CertifySliding, EquilibriaOfADraggedBlockHaveTheEigenvaluesOfSlidingOnTheBelt) {
    for (const double delta : {0.0, 0.5}) {
        const Dragged exact(0.5, delta);
        const Equilibria found = equilibria(from_text(conveyor, {{"delta", delta}}));
        ASSERT_EQ(found.sets.size(), 1U);
        ASSERT_TRUE(found.sets[0].stability);
        const LocalStability& local = *found.sets[0].stability;
        ASSERT_EQ(local.eigenvalues.size(), 2U);
        EXPECT_NEAR(local.eigenvalues[0].real(), -exact.damping / 2.0, 1e-9);
        EXPECT_NEAR(std::abs(local.eigenvalues[0].imag()),
                    std::sqrt(exact.stiffness - exact.damping * exact.damping / 4.0), 1e-9);
        EXPECT_EQ(local.verdict, delta > 0.0 ? LocalVerdict::unstable : LocalVerdict::asymptotically_stable);
    }
}

TEST(CertifySliding, TheListOfEquilibriaOnMovingSurfacesIsComplete) {
    for (const std::string& text : {belt, conveyor}) {
        const Equilibria found = equilibria(from_text(text));
        EXPECT_EQ(found.sets.size(), 1U);
        EXPECT_TRUE(found.completeness.complete) << found.completeness.why;
    }
}

}  // namespace
}  // namespace saltus::stability::certify_sliding_test
