// SPDX-License-Identifier: Apache-2.0
//
// Instability with contacts: bar and block on one corner ([Leine] 7.2, 7.3 call these sets unstable). The certificate
// names a motion that leaves the set; the simulation follows it. Beside each unstable set stands a similar one that is
// not unstable.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "physics/motion.hpp"
#include "saltus/stability/certify/certify.hpp"
#include "stability/certificates.hpp"
#include "support.hpp"

namespace saltus::stability::certify_instability_test {
namespace {

using proof::Certificate;
using proof::Grade;
using proof::Outcome;
using test::block;
using test::from_text;
using test::replaced;
using test::shipped;
using test::story;
using test::value;

constexpr double half_turn = std::numbers::pi / 2.0;

Certificate instability(const model::Model& model, std::vector<double> at) {
    CertifyOptions options;
    options.at = std::move(at);
    return certify(model, Theorem::instability, options);
}

/// The bar on its left end, with a spring of stiffness kappa that holds it upright.
struct Bar {
    double m = 1.0, k = 10.0, g = 9.81, mu = 0.3, a = 0.5, kappa = 0.0, e = 0.5;

    model::Model model() const {
        const std::string text = R"toml(
[system]
q = ["x", "y", "phi"]
T = "m/2*(x'^2 + y'^2) + m*a^2/6*phi'^2"
U = "k/2*x^2 + m*g*y + kappa/2*(phi - 1.5707963267948966)^2"
[parameters]
m = 1.0
k = 10.0
g = 9.81
mu = 0.3
a = 0.5
kappa = 0.0
e = 0.5
[[contact]]
name = "left"
gN = "y - a*sin(phi)"
gammaT = "x' + a*phi'*sin(phi)"
mu = "mu"
eN = "e"
eT = "e"
[[contact]]
name = "right"
gN = "y + a*sin(phi)"
gammaT = "x' - a*phi'*sin(phi)"
mu = "mu"
eN = "e"
eT = "e"
[initial]
q = { x = 0, y = 0.5, phi = 1.5 }
)toml";
        model::Model built =
            from_text(replaced(text, "y = 0.5, phi = 1.5", "y = " + number_text(a) + ", phi = 1.5707963267948966"),
                      {{"m", m}, {"k", k}, {"g", g}, {"mu", mu}, {"a", a}, {"kappa", kappa}, {"e", e}});
        return built;
    }
    Certificate certificate() const { return instability(model(), {0.0, a, half_turn}); }
    double inertia() const { return 4.0 / 3.0 * m * a * a; }  // about the end
    /// Stiffness against turning about the end while it sticks.
    double turning() const { return kappa + k * a * a - m * g * a; }
};

/// The motion from p + size·v, with the velocity rate·size·v, on the floor: its distance from p at time t.
double distance_after(const Bar& bar, const Certificate& c, double size, double t) {
    model::Model model = bar.model();
    const double rate = value(c, "escape rate");
    const auto start = [&](const std::string& name) {
        return std::pair{value(c, "p " + name) + size * value(c, "v " + name), rate * size * value(c, "v " + name)};
    };
    const auto [x, x_rate] = start("x");
    const auto [phi, phi_rate] = start("phi");
    model.q0 = {x, bar.a * std::sin(phi), phi};
    model.u0 = {x_rate, bar.a * std::cos(phi) * phi_rate, phi_rate};
    const trajectory::Trajectory motion = test::motion_of(model, t);
    return std::fabs(motion.end.q[2] - value(c, "p phi"));
}

TEST(CertifyUprightBar, IsUnstableForEverySpring) {
    for (const Bar& bar : {Bar{}, Bar{.k = 200.0}, Bar{.k = 19.0}, Bar{.k = 20.0}, Bar{.mu = 0.9}, Bar{.e = 1.0},
                           Bar{.m = 3.0, .k = 0.5, .g = 1.6, .mu = 0.05, .a = 2.0}, Bar{.k = 5000.0, .mu = 0.7}}) {
        const Certificate c = bar.certificate();
        EXPECT_EQ(c.outcome, Outcome::unstable) << bar.k << "\n" << story(c);
        EXPECT_EQ(c.grade, Grade::proved) << story(c);
        EXPECT_TRUE(c.assumptions.empty()) << "one motion needs no assumption about limit sets";
        if (bar.turning() < 0.0) {
            EXPECT_NEAR(value(c, "escape rate"), std::sqrt(-bar.turning() / bar.inertia()), 1e-9) << story(c);
        } else {  // it slips at the end of the set, where cot(phi) = mu and k x = mu m g
            EXPECT_NEAR(std::fabs(value(c, "p x")), bar.mu * bar.m * bar.g / bar.k, 1e-9) << story(c);
            EXPECT_NEAR(std::fabs(value(c, "p phi") - half_turn), std::atan(bar.mu), 1e-9) << story(c);
        }
    }
}

TEST(CertifyUprightBar, TheMotionOfTheCertificateLeavesTheSet) {
    for (const Bar& bar : {Bar{}, Bar{.k = 200.0}, Bar{.k = 40.0, .mu = 0.6}, Bar{.k = 5000.0, .mu = 0.7}}) {
        const Certificate c = bar.certificate();
        ASSERT_EQ(c.outcome, Outcome::unstable) << story(c);
        const double rate = value(c, "escape rate");
        // From 1e-5 the motion grows a hundredfold, up to terms of second order.
        EXPECT_NEAR(distance_after(bar, c, 1e-5, std::log(100.0) / rate), 1e-3, 2e-5) << bar.k;
        EXPECT_GT(distance_after(bar, c, 1e-5, std::log(2e4) / rate), 0.05) << bar.k;
    }
}

TEST(CertifyUprightBar, HeldByASpringIsNotCalledUnstable) {
    // kappa > m g a makes the upright position a minimum of U.
    for (const double ratio : {1.05, 3.0}) {
        Bar bar;
        bar.kappa = ratio * bar.m * bar.g * bar.a;
        const Certificate c = bar.certificate();
        EXPECT_NE(c.outcome, Outcome::unstable) << ratio << "\n" << story(c);
    }
    Bar weak;
    weak.kappa = 0.95 * weak.m * weak.g * weak.a;
    weak.k = 0.1;
    EXPECT_EQ(weak.certificate().outcome, Outcome::unstable) << story(weak.certificate());
}

TEST(CertifyUprightBar, NotTheSetOfTheBarThatLiesDownIsJudged) {
    // From the valley of the bar that lies down the nearest saddle is examined, and named.
    const Certificate c = instability(shipped("rocking-bar"), {0.0, 0.0, 0.0});
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_NEAR(std::fabs(c.q[2]), half_turn, 1e-12);
}

TEST(CertifyUprightBlock, OnOneCornerIsUnstable) {
    for (const double k : {10.0, 1000.0}) {
        const Certificate c = instability(shipped("rocking-block", {{"k", k}}), {0.0, 0.58, 1.03});
        EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
        EXPECT_EQ(c.grade, Grade::proved) << story(c);
        EXPECT_NEAR(c.q[2], std::atan2(0.5, 0.3), 1e-12);
    }
}

TEST(CertifyInstabilityOnAFloor, NegativeStiffnessPushesABlockOutOfItsSet) {
    // U = -k x²/2 + m g y: the ends of the set are at |x| = mu m g/k; beyond them the block slides away with the rate
    // sqrt(k/m).
    const std::string pushed = replaced(block, "k/2*x^2", "-k/2*x^2");
    const Certificate c = instability(from_text(pushed), {0.0, 0.0});
    EXPECT_EQ(c.outcome, Outcome::unstable) << story(c);
    EXPECT_EQ(c.grade, Grade::proved) << story(c);
    EXPECT_NEAR(value(c, "escape rate"), std::sqrt(10.0), 1e-9) << story(c);
    EXPECT_NEAR(std::fabs(value(c, "p x")), 0.3 * 9.81 / 10.0, 1e-9) << story(c);
    // A spring that pulls back: the same floor, no instability.
    EXPECT_NE(instability(from_text(block), {0.0, 0.0}).outcome, Outcome::unstable);
    // A weaker slope than friction holds everywhere: all positions are equilibria, the set is not isolated.
    const Certificate flat = instability(from_text(replaced(block, "k/2*x^2", "0.1*x")), {0.0, 0.0});
    EXPECT_NE(flat.outcome, Outcome::unstable) << story(flat);
}

TEST(CertifyInstabilityOnAFloor, AWallBehindTheOnlyDescentStopsTheMotion) {
    // U falls along +x only for the cubic term; a wall closed at x = 0 without load blocks that side.
    const std::string text = R"toml(
[system]
q = ["x"]
T = "x'^2/2"
U = "-x^2/2"
[[contact]]
name = "wall"
gN = "SIDE"
eN = 0.5
[initial]
q = { x = 0 }
)toml";
    // One side is free: the start of the proof must use it. Row 2 may also stay undecided, but never claims the wrong
    // side.
    for (const char* const side : {"x", "-x"}) {
        const Certificate c = instability(from_text(replaced(text, "SIDE", side)), {0.0});
        EXPECT_TRUE(c.outcome == Outcome::unstable || c.grade == Grade::not_examined) << story(c);
    }
    const std::string two =
        replaced(text, "[initial]", "[[contact]]\nname = \"other\"\ngN = \"-x\"\neN = 0.5\n[initial]");
    const Certificate held = instability(from_text(replaced(two, "SIDE", "x")), {0.0});
    EXPECT_NE(held.outcome, Outcome::unstable) << "walls on both sides hold it\n" << story(held);
}

}  // namespace
}  // namespace saltus::stability::certify_instability_test
