// SPDX-License-Identifier: Apache-2.0
// Orbits that close up to a translation under which no formula of the model changes: bodies that walk, wheels that
// turn.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <numbers>
#include <string>

#include "saltus/base/error.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"
#include "saltus/model/model.hpp"
#include "saltus/orbit/branch.hpp"
#include "saltus/orbit/diagram.hpp"
#include "saltus/orbit/orbit.hpp"

namespace saltus::orbit::translation_test {
namespace {

constexpr double pi = std::numbers::pi;

model::Description described(const std::string& text) { return io::parse_model(text, "test.toml"); }
model::Model of_text(const std::string& text) { return model::build(described(text)); }

std::map<std::string, double> drift_of(const Orbit& o) { return {o.drift.begin(), o.drift.end()}; }

/// φ'' + c φ' + sin φ = M. The motion turns over; `in_cosine` is what stands in the cosine of the potential energy.
std::string pendulum(const std::string& in_cosine = "phi") {
    return "[system]\nq = [\"phi\"]\nT = \"phi'^2/2\"\nU = \"-cos(" + in_cosine +
           ")\"\nR = \"c/2*phi'^2\"\nf = { phi = \"M\" }\n[parameters]\nc = 0.2\nM = 0.7\n[initial]\nu = { phi = 3 }\n";
}

/// Damping alone determines the product of the multipliers, exp(−c T), and one of them is 1.
TEST(Translation, OfATurnClosesTheOrbitOfARotatingPendulum) {
    for (const char* const section : {"", "phi", "sin(phi)", "phi' - 3.5"}) {
        Options options;
        options.section = section;
        options.settle = 60;
        const Orbit o = find_orbit(of_text(pendulum()), options);
        ASSERT_EQ(o.status, Status::converged) << section << " " << o.reason;
        ASSERT_EQ(o.drift.size(), 1U) << section;
        EXPECT_NEAR(o.drift[0].second, 2 * pi, 1e-12) << section;
        EXPECT_LE(std::abs(o.state.q[0]), 4.0) << "the angle at the start has lost digits";
        ASSERT_EQ(o.multipliers.size(), 2U);
        EXPECT_NEAR(std::abs(o.multipliers[0] - 1.0), 0.0, 1e-11) << section;
        EXPECT_NEAR(o.multipliers[1].real(), std::exp(-0.2 * o.period), 1e-11) << section;
        EXPECT_EQ(o.stability, Stability::stable) << section;
        EXPECT_NEAR(o.period, 1.8012153733228, 1e-12) << section;
        if (std::string(section) == "phi") {
            EXPECT_NEAR(std::sin(o.state.q[0]), 0.0, 1e-12);
        }
    }
}

/// The period of cos(φ/2) is 4π, that of cos 3φ is 2π/3.
TEST(Translation, IsTheCommonPeriodOfAllFormulas) {
    const std::map<std::string, double> turns{
        {"phi/2", 4 * pi}, {"3*phi", 2 * pi / 3}, {"1.5*phi) + 0.1*cos(2.5*phi", 4 * pi}};
    for (const auto& [in_cosine, turn] : turns) {
        Options options;
        options.settle = 100;
        const Orbit o = find_orbit(of_text(pendulum(in_cosine)), options);
        ASSERT_EQ(o.status, Status::converged) << in_cosine << " " << o.reason;
        ASSERT_EQ(o.drift.size(), 1U) << in_cosine;
        EXPECT_NEAR(o.drift[0].second, turn, 1e-11) << in_cosine;
    }
}

/// The ratio of both frequencies is irrational: the motion does not repeat.
TEST(Translation, IsNotInventedForFrequenciesWithoutACommonPeriod) {
    Options options;
    options.settle = 100;
    const Orbit o = find_orbit(of_text(pendulum("phi) + 0.3*cos(sqrt(2)*phi")), options);
    EXPECT_NE(o.status, Status::converged);
}

TEST(Translation, OfATurnClosesTheOrbitOfAForcedPendulum) {
    const model::Model m = of_text(
        "[system]\nq = [\"phi\"]\nT = \"phi'^2/2\"\nU = \"-cos(phi)\"\nR = \"0.15*phi'^2\"\n"
        "f = { phi = \"0.55 + 0.4*cos(1.6*t)\" }\n[initial]\nu = { phi = 1.6 }\n");
    Options options;
    options.period = 2 * pi / 1.6;
    options.settle = 60;
    const Orbit o = find_orbit(m, options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_NEAR(drift_of(o).at("phi"), 2 * pi, 1e-12);
    EXPECT_NEAR((o.multipliers[0] * o.multipliers[1]).real(), std::exp(-0.3 * *options.period), 1e-12);
    EXPECT_EQ(o.stability, Stability::stable);
}

/// Two masses with a spring between them, which is written as a polynomial. Both move on by F T/c in a period T.
constexpr const char* two_masses =
    "[system]\nq = [\"x1\", \"x2\"]\nT = \"m/2*(x1'^2 + x2'^2)\"\nU = \"k/2*(x1^2 - 2*x1*x2 + x2^2)\"\n"
    "R = \"c/2*(x1'^2 + x2'^2)\"\nf = { x1 = \"F + A*sin(w*t)\", x2 = \"F - A*sin(w*t)\" }\n"
    "[parameters]\nm = 1.3\nk = 2.1\nc = 0.4\nF = 0.35\nA = 0.8\nw = 2.2\n[initial]\nu = { x1 = 0.5, x2 = 1 }\n";

/// The equations are linear: multipliers exp(λT) with λ = 0 (left out), −c/m, and λ² + c/m λ + 2k/m = 0.
TEST(Translation, CommonToTwoMassesClosesTheirOrbit) {
    Options options;
    options.period = 2 * pi / 2.2;
    options.settle = 50;
    const Orbit o = find_orbit(of_text(two_masses), options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    const double T = *options.period;
    ASSERT_EQ(o.drift.size(), 2U);
    EXPECT_NEAR(drift_of(o).at("x1"), 0.35 / 0.4 * T, 1e-12);
    EXPECT_NEAR(drift_of(o).at("x2"), 0.35 / 0.4 * T, 1e-12);
    ASSERT_EQ(o.multipliers.size(), 3U);
    EXPECT_NEAR(std::norm(o.multipliers[0]), std::exp(-0.4 / 1.3 * T), 1e-12);
    EXPECT_NEAR(o.multipliers[2].real(), std::exp(-0.4 / 1.3 * T), 1e-12);
    EXPECT_EQ(o.stability, Stability::stable);
}

/// A wall far ahead that only one of the masses meets: the motion does not repeat for ever.
TEST(Translation, IsNoneIfAFarWallStandsInTheWay) {
    Options options;
    options.period = 2 * pi / 2.2;
    options.settle = 50;
    const Orbit o = find_orbit(
        of_text(std::string(two_masses) + "[[contact]]\nname = \"wall\"\ngN = \"1e4 - x1\"\neN = 0.5\n"), options);
    EXPECT_NE(o.status, Status::converged);
    EXPECT_TRUE(o.drift.empty());
}

/// An unbalanced wheel rolls down a slope, with the constraint x = r φ. With the inertia m + J/r² of both, the damping
/// c gives the multiplier exp(−c T/(m + J/r²)); disturbances out of the constraint do not exist.
TEST(Translation, OfARollingWheelMovesItsCentreAndItsAngle) {
    const model::Model m = of_text(
        "[system]\nq = [\"x\", \"phi\"]\nT = \"x'^2/2 + 0.2*phi'^2\"\nU = \"-2.9*x - 0.3*cos(phi)\"\nR = \"0.6*x'^2\"\n"
        "[[constraint]]\nname = \"rolling\"\ng = \"x - 0.5*phi\"\n[initial]\nu = { x = 1.5, phi = 3 }\n");
    Options options;
    options.settle = 40;
    const Orbit o = find_orbit(m, options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_NEAR(drift_of(o).at("phi"), 2 * pi, 1e-11);
    EXPECT_NEAR(drift_of(o).at("x"), pi, 1e-11);
    ASSERT_EQ(o.multipliers.size(), 4U);
    EXPECT_NEAR(std::abs(o.multipliers[0] - 1.0), 0.0, 1e-10);
    EXPECT_NEAR(o.multipliers[1].real(), std::exp(-1.2 * o.period / (1 + 0.4 / 0.25)), 1e-10);
    EXPECT_EQ(o.multipliers[2], 0.0);
    EXPECT_EQ(o.multipliers[3], 0.0);
    EXPECT_EQ(o.stability, Stability::stable);
}

/// The rimless wheel with the way of its foot, which each strike moves by the step 2 sin α.
TEST(Translation, IsTheStepOfAWheelThatWalks) {
    const double alpha = 0.3927, gamma = 0.08;
    const model::Model m = of_text(
        "[system]\nq = [\"x\", \"theta\"]\nT = \"x'^2/2 + theta'^2/2\"\nU = \"9.81*cos(theta)\"\nR = \"x'^2/2\"\n"
        "[[jump]]\nname = \"strike\"\nwhen = \"theta - 0.4727\"\ndirection = \"up\"\n"
        "q = { theta = \"-0.3127\", x = \"x + 2*sin(0.3927)\" }\nu = { theta = \"cos(0.7854)*theta'\" }\n"
        "[initial]\nq = { theta = -0.3127 }\nu = { theta = 1.5 }\n");
    Options options;
    options.settle = 20;
    const Orbit o = find_orbit(m, options);
    ASSERT_EQ(o.status, Status::converged) << o.reason;
    EXPECT_NEAR(drift_of(o).at("x"), 2 * std::sin(alpha), 1e-12);
    EXPECT_EQ(o.drift.size(), 1U);
    ASSERT_EQ(o.motion.events.size(), 1U);
    EXPECT_NEAR(o.motion.events[0].u_plus[1],
                std::sqrt(4 * 9.81 * std::sin(alpha) * std::sin(gamma)) / std::tan(2 * alpha), 1e-11);
    EXPECT_EQ(o.stability, Stability::stable);
}

/// A wheel that turns steadily has no period of its own.
TEST(Translation, AloneIsNoOrbit) {
    const model::Model m = of_text(
        "[system]\nq = [\"phi\"]\nT = \"phi'^2/2\"\nR = \"phi'^2/2\"\nf = { phi = \"2\" }\n[initial]\nu = { phi = 1 "
        "}\n");
    Options options;
    options.settle = 60;
    const Orbit o = find_orbit(m, options);
    EXPECT_NE(o.status, Status::converged);
    EXPECT_FALSE(o.reason.empty());
}

BranchOptions over(const std::string& parameter, double from, double start, double to) {
    BranchOptions options;
    options.parameter = parameter;
    options.from = from;
    options.start = start;
    options.to = to;
    options.doublings = 0;
    options.orbit.settle = 60;
    return options;
}

TEST(Translation, IsKeptAlongABranch) {
    BranchOptions options = over("M", 0.5, 0.7, 1.2);
    options.orbit.section = "phi";
    const Branches rotating = continue_orbits(described(pendulum()), options);
    ASSERT_TRUE(rotating.failure.empty()) << rotating.failure;
    const Branch& b = rotating.branches.at(0);
    EXPECT_EQ(b.reason, "both ends: the end of the range");
    EXPECT_LT(b.points.size(), 200U);
    for (const BranchPoint& p : b.points) {
        ASSERT_EQ(p.drift.size(), 1U);
        EXPECT_NEAR(p.drift[0], 2 * pi, 1e-10) << p.parameter;
        EXPECT_NEAR(p.multipliers[1].real(), std::exp(-0.2 * p.period), 1e-9) << p.parameter;
        EXPECT_EQ(p.stability, Stability::stable) << p.parameter;
    }
    BranchOptions forced = over("w", 1.5, 2.2, 3.0);
    forced.period = "2*pi/w";
    const Branches walking = continue_orbits(described(two_masses), forced);
    ASSERT_TRUE(walking.failure.empty()) << walking.failure;
    for (const BranchPoint& p : walking.branches.at(0).points) {
        EXPECT_NEAR(p.drift.at(0), 0.35 / 0.4 * p.period, 1e-10) << p.parameter;
        EXPECT_NEAR(p.drift.at(1), 0.35 / 0.4 * p.period, 1e-10) << p.parameter;
        EXPECT_NEAR(std::norm(p.multipliers[0]), std::exp(-0.4 / 1.3 * p.period), 1e-10) << p.parameter;
    }
}

/// Two gears: the direction in which both turn depends on the radii.
TEST(Translation, ThatDependsOnTheVariedParameterIsRefused) {
    const std::string gears =
        "[system]\nq = [\"a\", \"b\"]\nT = \"a'^2/2 + b'^2\"\nU = \"50*(ra*a - 0.8*b)^2\"\n"
        "R = \"0.05*a'^2 + 0.15*b'^2\"\nf = { a = \"1 + A*cos(3*t)\", b = \"0\" }\n"
        "[parameters]\nra = 0.5\nA = 0.4\n[initial]\nu = { a = 2 }\n";
    BranchOptions options = over("ra", 0.4, 0.5, 0.6);
    options.period = "2*pi/3";
    EXPECT_THROW(continue_orbits(described(gears), options), Error);
    options = over("A", 0.3, 0.4, 0.5);
    options.period = "2*pi/3";
    const Branches all = continue_orbits(described(gears), options);
    ASSERT_TRUE(all.failure.empty()) << all.failure;
    for (const BranchPoint& p : all.branches.at(0).points) EXPECT_NEAR(0.5 * p.drift.at(0), 0.8 * p.drift.at(1), 1e-9);
}

TEST(Translation, DoesNotHideThePeriodOfADiagram) {
    DiagramOptions options;
    options.over = {"M", 0.6, 0.8, 2};
    options.section = "phi";
    options.transient = 40;
    options.keep = 9;
    options.t_max = 200.0;
    const Diagram d = diagram(described(pendulum()), options);
    ASSERT_EQ(d.columns.size(), 2U);
    for (const DiagramColumn& c : d.columns) EXPECT_EQ(c.period, 1) << c.value << " " << c.remark;
}

}  // namespace
}  // namespace saltus::orbit::translation_test
