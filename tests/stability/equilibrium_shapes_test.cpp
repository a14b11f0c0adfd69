// SPDX-License-Identifier: Apache-2.0
//
// Sets of small models with closed forms: curved ground, walls, loads that vary, laws of all kinds.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "physics/motion.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"
#include "saltus/stability/equilibria/equilibrium_along.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability::equilibrium_shapes_test {
namespace {

using std::numbers::pi;
using test::from_text;
using test::shipped;

void expect_extent(const EquilibriumSet& s, Eigen::Index i, double lower, double upper, double tolerance = 1e-9) {
    EXPECT_NEAR(s.lower(i), lower, tolerance * (1.0 + std::abs(lower))) << i;
    EXPECT_NEAR(s.upper(i), upper, tolerance * (1.0 + std::abs(upper))) << i;
}

const EquilibriumSet& with_closed(const Equilibria& e, const std::vector<char>& closed) {
    for (const EquilibriumSet& s : e.sets)
        if (s.closed == closed) return s;
    throw std::logic_error("no set with these contacts closed");
}

// A particle on the waves y = a sin(wx), held by a spring at c. Its slope force is k(x − c) + m g y'(x), and friction
// holds it where this is at most mu m g. Far from the origin a step in units of 1 + |x| is longer than a wave.
TEST(EquilibriumShapes, SetsOnShortWavesEndWhereFrictionSlips) {
    const double c = 20.0, k = 6.0, a = 0.3, w = 4.0, weight = 10.0, mu = 0.7;
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "waves"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "10*y + 3*(x - 20)^2"
[[contact]]
name = "floor"
gN = "y - 0.3*sin(4*x)"
gammaT = "x'"
mu = 0.7
[initial]
q = { x = 20, y = 2 }
)TOML"));
    const auto force = [&](double x) { return k * (x - c) + weight * a * w * std::cos(w * x); };
    const auto held = [&](double x) { return std::abs(force(x)) <= mu * weight; };
    int expected = 0;
    for (double x = c - 5.0; x < c + 5.0; x += 1e-4)
        if (!held(x) && held(x + 1e-4)) ++expected;
    ASSERT_EQ(e.sets.size(), static_cast<std::size_t>(expected));
    for (const EquilibriumSet& s : e.sets) {
        EXPECT_NEAR(std::abs(force(s.lower(0))), mu * weight, 1e-6) << s.lower(0);
        EXPECT_NEAR(std::abs(force(s.upper(0))), mu * weight, 1e-6) << s.upper(0);
        for (int i = 1; i < 100; ++i) EXPECT_TRUE(held(s.lower(0) + (s.upper(0) - s.lower(0)) * i / 100.0));
    }
}

// The set that contains the crest at x = π/8 ends 0.002 beyond it, so that the greatest height lies between the end and
// the last sample before it.
TEST(EquilibriumShapes, ExtentContainsACrestNextToTheEnd) {
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "crest"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "10*y + (x - 3.84269908)^2"
[[contact]]
name = "floor"
gN = "y - 0.3*sin(4*x)"
gammaT = "x'"
mu = 0.7
[initial]
q = { x = 0.3, y = 2 }
)TOML"));
    int found = 0;
    for (const EquilibriumSet& s : e.sets) {
        if (!(s.lower(0) < pi / 8 && pi / 8 < s.upper(0))) continue;
        ++found;
        EXPECT_LT(s.upper(0), pi / 8 + 0.003);
        EXPECT_NEAR(s.upper(1), 0.3, 1e-12);
    }
    EXPECT_EQ(found, 1);
}

// A particle on y = x² holds where the slope is at most mu.
TEST(EquilibriumShapes, ParticleInAParabolaHoldsUpToTheAngleOfFriction) {
    for (const double mu : {0.2, 0.5, 3.0}) {
        const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "parabola"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y"
[parameters]
mu = 0.5
[[contact]]
name = "ground"
gN = "(y - x^2)/sqrt(1 + 4*x^2)"
gammaT = "(x' + 2*x*y')/sqrt(1 + 4*x^2)"
mu = "mu"
[initial]
q = { y = 1.0 }
)TOML",
                                                  {{"mu", mu}}));
        ASSERT_EQ(e.sets.size(), 1U);
        EXPECT_FALSE(e.sets[0].exact);
        EXPECT_TRUE(e.sets[0].contains_frictionless);
        expect_extent(e.sets[0], 0, -0.5 * mu, 0.5 * mu);
        expect_extent(e.sets[0], 1, 0.0, 0.25 * mu * mu);
    }
}

// [Leine] 7.4 (138): at rest λN1 + λT2 = 0 and λN2 + λT1 = m g. One force is free, so that the normal forces have
// ranges.
TEST(EquilibriumShapes, ForcesAlongTheBeamsArcBalanceAndLieInTheirRanges) {
    const model::Model m = shipped("constrained-beam");
    const Equilibria e = equilibria(m);
    ASSERT_EQ(e.sets.size(), 2U);
    const std::vector<Vector> points = points_along(e.sets[0], 33);
    ASSERT_EQ(points.size(), 33U);
    const double direction = points.back()(2) - points.front()(2);
    EXPECT_NEAR(std::abs(direction), 2.0 * std::atan(0.6 / 0.91), 1e-6);
    for (std::size_t k = 0; k + 1 < points.size(); ++k)
        EXPECT_GT((points[k + 1](2) - points[k](2)) * direction, 0.0) << "in order along the arc";
    for (const Vector& q : points) EXPECT_NEAR(q(1), -std::cos(q(2)), 1e-8);
    RestingModel resting(m, 0.0);
    const std::vector<EquilibriumPoint> along = forces_along(resting, points);
    ASSERT_GE(along.size(), 31U);
    double widest = 0.0;
    for (const EquilibriumPoint& p : along) {
        ASSERT_EQ(p.forces.size(), 2U);
        EXPECT_NEAR(p.forces[0].N + p.forces[1].T[0], 0.0, 1e-6);
        EXPECT_NEAR(p.forces[1].N + p.forces[0].T[0], 10.0, 1e-6);
        ASSERT_EQ(p.ranges.size(), 2U);
        for (std::size_t k = 0; k < 2; ++k) {
            EXPECT_LE(p.ranges[k].least, p.forces[k].N + 1e-6);
            EXPECT_GE(p.ranges[k].greatest, p.forces[k].N - 1e-6);
            widest = std::max(widest, p.ranges[k].greatest - p.ranges[k].least);
        }
    }
    EXPECT_GT(widest, 0.1);
}

// In space: a disk of the paraboloid, with the disk of friction in orthonormal tangents.
TEST(EquilibriumShapes, ParticleInABowlHoldsOnACap) {
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "bowl"
q = ["x", "y", "z"]
T = "1/2*(x'^2 + y'^2 + z'^2)"
U = "9.81*z"
[[contact]]
name = "bowl"
gN = "(z - x^2/2 - y^2/2)/sqrt(1 + x^2 + y^2)"
gammaT = ["(x' + x*z')/sqrt(1 + x^2)", "((1 + x^2)*y' - x*y*x' + y*z')/sqrt((1 + x^2)*(1 + x^2 + y^2))"]
mu = 0.4
[initial]
q = { x = 0.1, y = 0.2, z = 1.0 }
)TOML"));
    ASSERT_EQ(e.sets.size(), 1U);
    const EquilibriumSet& s = e.sets[0];
    EXPECT_EQ(s.dimension, 2);
    EXPECT_LE(s.tolerance, 1e-8);
    expect_extent(s, 0, -0.4, 0.4, s.tolerance);
    expect_extent(s, 1, -0.4, 0.4, s.tolerance);
    expect_extent(s, 2, 0.0, 0.08, s.tolerance);
    ASSERT_GE(s.boundary.size(), 10U);
    for (const Vector& q : s.boundary) EXPECT_NEAR(std::hypot(q(0), q(1)), 0.4, 1e-8);
}

// A ladder of length 2 leans at tan phi >= (1 − mu1 mu2)/(2 mu1).
TEST(EquilibriumShapes, LadderLeansAsSteeplyAsFrictionDemands) {
    for (const auto& [mu1, mu2] : {std::pair{0.4, 0.3}, {0.25, 0.6}}) {
        const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "ladder"
q = ["x", "y", "phi"]
T = "1/2*(x'^2 + y'^2) + 1/6*phi'^2"
U = "9.81*y"
[parameters]
mu1 = 0.4
mu2 = 0.3
[[contact]]
name = "floor"
gN = "y - sin(phi)"
gammaT = "x' - sin(phi)*phi'"
mu = "mu1"
[[contact]]
name = "wall"
gN = "x - cos(phi)"
gammaT = "y' + cos(phi)*phi'"
mu = "mu2"
[initial]
q = { x = 1.0, y = 1.0, phi = 0.8 }
)TOML",
                                                  {{"mu1", mu1}, {"mu2", mu2}}));
        const double least = std::atan((1.0 - mu1 * mu2) / (2.0 * mu1));
        bool found = false;
        for (const EquilibriumSet& s : e.sets)
            if (s.closed == std::vector<char>{1, 1} && s.lower(2) > 0.0) {
                found = true;
                expect_extent(s, 2, least, 0.5 * pi);
                expect_extent(s, 0, 0.0, std::cos(least));
                // Upright it stands on the floor alone just as well: the two sets touch.
                ASSERT_EQ(s.touches.size(), 1U);
                EXPECT_EQ(e.sets[static_cast<std::size_t>(s.touches[0])].closed, (std::vector<char>{1, 0}));
                EXPECT_FALSE(s.isolated);
            }
        EXPECT_TRUE(found);
    }
}

TEST(EquilibriumShapes, WallCutsTheIntervalAndTouchesTheSetBehindIt) {
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "floor and wall"
q = ["x", "y"]
T = "1/2*(x'^2 + y'^2)"
U = "9.81*y + 5*x^2"
[[contact]]
name = "floor"
gN = "y"
gammaT = "x'"
mu = 0.3
[[contact]]
name = "wall"
gN = "0.1 - x"
[initial]
q = { y = 1.0 }
)TOML"));
    ASSERT_EQ(e.sets.size(), 2U);
    const EquilibriumSet& floor = with_closed(e, {1, 0});
    EXPECT_TRUE(floor.exact);
    EXPECT_TRUE(floor.contains_frictionless);
    expect_extent(floor, 0, -0.2943, 0.1);
    EXPECT_FALSE(floor.isolated);
    const EquilibriumSet& corner = with_closed(e, {1, 1});
    EXPECT_FALSE(corner.contains_frictionless);
    expect_extent(corner, 0, 0.1, 0.1);
    EXPECT_EQ(corner.touches, std::vector<int>{0});
}

TEST(EquilibriumShapes, SetsOfTwoContactsTouchTheSetOfNone) {
    // Three masses in a row that hold by friction: they may rest apart, in pairs, or all together.
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "three masses in a row"
q = ["a", "b", "c"]
T = "1/2*(a'^2 + b'^2 + c'^2)"
U = "5*(a^2 + b^2 + c^2)"
[[contact]]
name = "ab"
gN = "b - a"
[[contact]]
name = "bc"
gN = "c - b"
[[slider]]
name = "fa"
gammaT = "a'"
mu = 0.1
FN = 1
[[slider]]
name = "fb"
gammaT = "b'"
mu = 0.1
FN = 1
[[slider]]
name = "fc"
gammaT = "c'"
mu = 0.1
FN = 1
)TOML"));
    ASSERT_EQ(e.sets.size(), 4U);
    for (std::size_t k = 0; k < e.sets.size(); ++k)
        for (std::size_t j = 0; j < e.sets.size(); ++j) {
            const auto number = [&](std::size_t i) { return e.sets[i].closed[0] + e.sets[i].closed[1]; };
            const bool touch = std::count(e.sets[k].touches.begin(), e.sets[k].touches.end(), static_cast<int>(j)) == 1;
            EXPECT_EQ(touch, number(k) != number(j)) << k << " and " << j;
        }
}

TEST(EquilibriumShapes, LoadsThatGrowClutchesAndBelts) {
    // |10 x − 3| <= 0.4 (2 + 4 x)
    const Equilibria load = equilibria(from_text(R"TOML(
[system]
name = "load"
q = ["x"]
T = "1/2*x'^2"
U = "5*x^2 - 3*x"
[[slider]]
name = "s"
gammaT = "x'"
mu = 0.4
FN = "2 + 4*x"
)TOML"));
    ASSERT_EQ(load.sets.size(), 1U);
    EXPECT_TRUE(load.sets[0].exact);
    expect_extent(load.sets[0], 0, 2.2 / 11.6, 3.8 / 8.4);
    // The clutch pushes forwards only: 4 phi − 1 >= 0.
    const Equilibria clutch = equilibria(from_text(R"TOML(
[system]
name = "clutch"
q = ["phi"]
T = "1/2*phi'^2"
U = "2*phi^2 - phi"
[[clutch]]
name = "c"
gamma = "phi'"
)TOML"));
    ASSERT_EQ(clutch.sets.size(), 1U);
    EXPECT_NEAR(clutch.sets[0].lower(0), 0.25, 1e-12);
    EXPECT_TRUE(std::isinf(clutch.sets[0].upper(0)));
    const Equilibria belt = equilibria(shipped("friction-oscillator"));
    ASSERT_EQ(belt.sets.size(), 1U);
    EXPECT_EQ(belt.sets[0].dimension, 0);
    EXPECT_FALSE(belt.sets[0].contains_frictionless);
    expect_extent(belt.sets[0], 0, 0.625, 0.625);
    const Equilibria still = equilibria(shipped("friction-oscillator", {{"v", 0.0}}));
    ASSERT_EQ(still.sets.size(), 1U);
    expect_extent(still.sets[0], 0, -1.0, 1.0);
}

TEST(EquilibriumShapes, LawsInSpaceGiveTheirOwnBodies) {
    // K = 4: semi-axes mu_i 10/4.
    const Equilibria ellipse = equilibria(from_text(R"TOML(
[system]
name = "orthotropic"
q = ["x", "y", "z"]
T = "1/2*(x'^2 + y'^2 + z'^2)"
U = "10*z + 2*x^2 + 2*y^2"
[[contact]]
name = "p"
gN = "z"
gammaT = ["x'", "y'"]
mu = [0.2, 0.6]
)TOML"));
    ASSERT_EQ(ellipse.sets.size(), 1U);
    expect_extent(ellipse.sets[0], 0, -0.5, 0.5);
    expect_extent(ellipse.sets[0], 1, -1.5, 1.5);
    // Pure sliding: mu 10, pure drilling: 2/3 mu 10 R.
    const Equilibria patch = equilibria(from_text(R"TOML(
[system]
name = "patch"
q = ["x", "y", "z", "phi"]
T = "1/2*(x'^2 + y'^2 + z'^2) + 1/2*phi'^2"
U = "10*z + 2*x^2 + 2*y^2 + 3*phi^2"
[[contact]]
name = "p"
gN = "z"
gammaT = ["x'", "y'", "phi'"]
mu = 0.3
friction = "contensou"
radius = 0.5
)TOML"));
    ASSERT_EQ(patch.sets.size(), 1U);
    expect_extent(patch.sets[0], 1, -0.75, 0.75);
    expect_extent(patch.sets[0], 3, -1.0 / 6.0, 1.0 / 6.0);
}

const char* const arm = R"TOML(
[system]
name = "arm with friction in its joints"
q = ["a", "b"]
T = "2/3*a'^2 + 1/6*b'^2 + 1/2*cos(a - b)*a'*b'"
U = "-g*(3/2*cos(a) + 1/2*cos(b))"
[parameters]
g = 9.81
M1 = 3.0
M2 = 1.0
[[slider]]
name = "shoulder"
gammaT = "a'"
mu = 1.0
FN = "M1"
[[slider]]
name = "elbow"
gammaT = "b' - a'"
mu = 1.0
FN = "M2"
)TOML";

// |3/2 g sin a| <= M1 + M2, |1/2 g sin b| <= M2, and the corners where both moments must differ in sign are cut.
TEST(EquilibriumShapes, ArmHoldsInFourRegionsOrGoesAround) {
    const Equilibria e = equilibria(from_text(arm));
    ASSERT_EQ(e.sets.size(), 4U);
    const double a = std::asin(4.0 / (1.5 * 9.81)), b = std::asin(1.0 / (0.5 * 9.81));
    for (const EquilibriumSet& s : e.sets) {
        const double at = std::round(s.representative(0) / pi) * pi, bt = std::round(s.representative(1) / pi) * pi;
        EXPECT_EQ(s.dimension, 2);
        EXPECT_TRUE(s.contains_frictionless);
        expect_extent(s, 0, at - a, at + a);
        expect_extent(s, 1, bt - b, bt + b);
        EXPECT_GE(s.boundary.size(), 20U);
    }
    const Equilibria strong = equilibria(from_text(arm, {{"M1", 30.0}}));
    ASSERT_EQ(strong.sets.size(), 2U);
    EXPECT_EQ(strong.sets[0].around, (std::vector<char>{1, 0}));
    expect_extent(strong.sets[0], 1, -b, b);
}

// Points drawn between the samples of a set hold and stay at rest when simulated; just beyond the boundary they move.
TEST(EquilibriumShapes, InsideStaysAtRestAndOutsideMoves) {
    std::mt19937 random(3);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    struct Case {
        model::Model model;
        double t_end;
    };
    std::vector<Case> cases;
    cases.push_back({shipped("falling-block"), 0.5});
    cases.push_back({shipped("rocking-bar"), 0.05});
    cases.push_back({shipped("constrained-beam"), 0.5});
    cases.push_back({from_text(arm), 0.5});
    for (const Case& c : cases) {
        const Equilibria e = equilibria(c.model);
        for (const EquilibriumSet& s : e.sets) {
            std::vector<Vector> points = s.boundary;
            points.insert(points.end(), s.samples.begin(), s.samples.end());
            for (int k = 0; k < 4; ++k) {
                const Vector& far =
                    points[static_cast<std::size_t>(uniform(random) * static_cast<double>(points.size()))];
                RestingModel resting(c.model);
                // On a curve or a plane only samples and chords of exact sets are sure to be inside.
                const Vector q =
                    s.exact ? Vector(s.representative + 0.95 * uniform(random) * (far - s.representative)) : far;
                const EquilibriumPoint p = equilibrium_at(resting, q);
                ASSERT_TRUE(p.is_equilibrium) << c.model.name << " margin " << p.margin;
                EXPECT_LE(p.defects.balance, 1e-9);
                EXPECT_LE(p.defects.law, 1e-9);
                if (p.margin < 1e-3) continue;
                trajectory::State start{
                    0.0, {q.data(), q.data() + q.size()}, std::vector<double>(c.model.q0.size(), 0.0)};
                const trajectory::Trajectory motion = test::attempt(c.model, c.t_end, test::EventDriven{}, start);
                for (std::size_t i = 0; i < start.q.size(); ++i)
                    EXPECT_NEAR(motion.end.q[i], start.q[i], 1e-7) << c.model.name;
            }
        }
    }
}

TEST(EquilibriumShapes, MemberFindsSetAndTurn) {
    const Equilibria e = equilibria(shipped("constrained-beam"));
    const auto at = [&](double theta) {
        return member(e, std::vector<double>{-std::sin(theta), -std::cos(theta), theta});
    };
    for (const int turn : {-3, 0, 5}) {
        const auto first = at(0.3 + 2.0 * pi * turn), second = at(pi - 0.5 + 2.0 * pi * turn);
        ASSERT_TRUE(first && second);
        EXPECT_EQ(first->set, 0);
        EXPECT_EQ(first->turns[2], turn);
        EXPECT_EQ(second->set, 1);
        EXPECT_EQ(second->turns[2], turn);
    }
    EXPECT_FALSE(at(1.2));
    EXPECT_FALSE(member(e, std::vector<double>{0.3, -0.9, 0.1}));
    // One set all around: every angle, wherever its samples begin, and nothing off the circle.
    const Equilibria merged = equilibria(shipped("constrained-beam", {{"mu1", 1.25}, {"mu2", 0.8}}));
    for (double theta = -7.0; theta < 7.0; theta += 0.0137) {
        const std::vector<double> q{-std::sin(theta), -std::cos(theta), theta};
        EXPECT_TRUE(member(merged, q)) << theta;
        EXPECT_FALSE(member(merged, std::vector<double>{q[0] + 0.05 * q[1], q[1] - 0.05 * q[0], theta})) << theta;
    }
}

TEST(EquilibriumShapes, ManyContactsAreDecidedWithoutSearch) {
    std::string text = "[system]\nname = \"row\"\nq = [";
    std::string T, U, more;
    constexpr int n = 9;
    for (int i = 0; i < n; ++i) {
        const std::string x = "x" + std::to_string(i);
        text += (i == 0 ? "\"" : ", \"") + x + "\"";
        T += (i == 0 ? "" : " + ") + std::string("1/2*") + x + "'^2";
        U += (i == 0 ? "" : " + ") + std::string("5*") + x + "^2";
        more += "[[slider]]\nname = \"s" + std::to_string(i) + "\"\ngammaT = \"" + x + "'\"\nmu = 1.0\nFN = 2.0\n";
        if (i > 0)
            more += "[[contact]]\nname = \"c" + std::to_string(i) + "\"\ngN = \"" + x + " - x" + std::to_string(i - 1) +
                    " + 0.3\"\n";
    }
    const Equilibria e = equilibria(from_text(text + "]\nT = \"" + T + "\"\nU = \"" + U + "\"\n" + more));
    EXPECT_EQ(e.combinations, 256);
    // No contact closed: |x| <= 0.2 each, cut by the gaps. With closed ones the spring between two ends is shared.
    ASSERT_GE(e.sets.size(), 2U);
    EXPECT_EQ(e.sets[0].closed, std::vector<char>(8, 0));
    expect_extent(e.sets[0], 4, -0.2, 0.2);
    for (const EquilibriumSet& s : e.sets) EXPECT_TRUE(s.exact);
}

}  // namespace
}  // namespace saltus::stability::equilibrium_shapes_test
