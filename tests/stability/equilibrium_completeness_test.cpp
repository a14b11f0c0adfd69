// SPDX-License-Identifier: Apache-2.0
//
// Complete lists of equilibrium sets, compared with scans of closed-form conditions, and the local stability of points.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include "physics/motion.hpp"
#include "saltus/base/text.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"
#include "support.hpp"

namespace saltus::stability::equilibrium_completeness_test {
namespace {

using test::from_text;

struct Span {
    double from, to;
};

/// The intervals of [from, to] in which f <= 0, on a grid, with ends by bisection.
std::vector<Span> where_not_positive(const std::function<double(double)>& f, double from, double to) {
    constexpr int points = 200'000;
    std::vector<Span> list;
    const double step = (to - from) / points;
    const auto edge = [&](double a, double b) {
        const bool in = f(a) <= 0.0;
        for (int k = 0; k < 60; ++k) ((f(0.5 * (a + b)) <= 0.0) == in ? a : b) = 0.5 * (a + b);
        return 0.5 * (a + b);
    };
    bool before = f(from) <= 0.0;
    if (before) list.push_back({from, to});
    for (int k = 1; k <= points; ++k) {
        const double x = from + k * step;
        const bool here = f(x) <= 0.0;
        if (here && !before) list.push_back({edge(x - step, x), to});
        if (!here && before) list.back().to = edge(x - step, x);
        before = here;
    }
    return list;
}

/// Each interval is the extent of exactly one set, and there are no other sets.
void expect_intervals(const Equilibria& e, const std::vector<Span>& expected) {
    ASSERT_EQ(e.sets.size(), expected.size());
    for (const Span& span : expected) {
        int found = 0;
        for (const EquilibriumSet& s : e.sets)
            if (std::abs(s.lower(0) - span.from) < 1e-7 && std::abs(s.upper(0) - span.to) < 1e-7) ++found;
        EXPECT_EQ(found, 1) << span.from << " .. " << span.to;
    }
}

Equilibria held_by(const std::string& mu, const std::string& FN) {
    return equilibria(
        from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\n[[slider]]\ngammaT = \"x'\"\nmu = \"" + mu +
                  "\"\nFN = \"" + FN + "\"\n"),
        {});
}

// |x| <= mu(x) F_N(x) in closed form.
TEST(EquilibriumCompleteness, FrictionCoefficientsThatDependOnThePositionAreThoseOfEachPosition) {
    expect_intervals(held_by("0.1 + 0.15*x", "1"), {{-0.1 / 1.15, 0.1 / 0.85}});
    for (const auto& [mu, of] :
         {std::pair<std::string, std::function<double(double)>>{
              "0.1 + 0.05*sin(3*x)", [](double x) { return 0.1 + 0.05 * std::sin(3.0 * x); }},
          {"0.1 + 0.05*cos(x)^2", [](double x) { return 0.1 + 0.05 * std::cos(x) * std::cos(x); }},
          {"max(0.1 + 0.15*x, 0)", [](double x) { return std::max(0.1 + 0.15 * x, 0.0); }}})
        expect_intervals(held_by(mu, "1"),
                         where_not_positive([&](double x) { return std::abs(x) - of(x); }, -1.0, 1.0));
}

TEST(EquilibriumCompleteness, FrictionInAPlaneThatDependsOnThePositionHasTheExtentOfItsBound) {
    // r <= 0.3 + 0.2 tanh x: on the x axis, and the largest y on the boundary.
    const Equilibria e = equilibria(from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "(x^2 + y^2)/2"
[[slider]]
gammaT = ["x'", "y'"]
mu = "0.3 + 0.2*tanh(x)"
FN = 1
)toml"),
                                    {});
    ASSERT_EQ(e.sets.size(), 1U);
    const auto bound = [](double x) { return 0.3 + 0.2 * std::tanh(x); };
    const std::vector<Span> axis = where_not_positive([&](double x) { return std::abs(x) - bound(x); }, -1.0, 1.0);
    ASSERT_EQ(axis.size(), 1U);
    double highest = 0.0;
    for (double x = axis[0].from; x < axis[0].to; x += 1e-5)
        highest = std::max(highest, std::sqrt(std::max(0.0, bound(x) * bound(x) - x * x)));
    const double error = e.sets[0].tolerance + 1e-7;
    EXPECT_NEAR(e.sets[0].lower(0), axis[0].from, error);
    EXPECT_NEAR(e.sets[0].upper(0), axis[0].to, error);
    EXPECT_NEAR(e.sets[0].upper(1), highest, error);
    EXPECT_NEAR(e.sets[0].lower(1), -highest, error);
}

TEST(EquilibriumCompleteness, NothingIsHeldWhereANormalForceOrACoefficientIsNegative) {
    const double end = 5.0 * (std::sqrt(1.04) - 1.0);  // x = 0.1 (1 - x^2)
    expect_intervals(held_by("0.1", "1 - x^2"), {{-end, end}});
    const Equilibria plane = equilibria(from_text(R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "(x^2 + y^2)/2"
[[slider]]
gammaT = ["x'", "y'"]
mu = "0.3 + 0.2*x"
FN = 1
)toml"),
                                        {});
    ASSERT_EQ(plane.sets.size(), 1U);
    EXPECT_NEAR(plane.sets[0].lower(0), -0.25, plane.sets[0].tolerance + 1e-7);
    EXPECT_NEAR(plane.sets[0].upper(0), 0.375, plane.sets[0].tolerance + 1e-7);
}

// A well that fades away: friction holds near its middle and far away, |U'(x)| <= mu F_N, on three intervals. The outer
// ones have no end.
TEST(EquilibriumCompleteness, SetsFarAwayDoNotReachAcrossAWell) {
    const auto force = [](double x) { return 1.834 * 2.0 * (x - 0.351) / std::pow(1.0 + std::pow(x - 0.351, 2), 2); };
    const Equilibria e =
        equilibria(from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"-1.834/(1 + (x - 0.351)^2)\"\n"
                             "[[slider]]\nname = \"s\"\ngammaT = \"x'\"\nmu = 0.098\nFN = 1.341\n"
                             "[initial]\nq = { x = -1.726 }\n"));
    std::vector<Span> expected =
        where_not_positive([&](double x) { return std::abs(force(x)) - 0.098 * 1.341; }, -10.0, 10.0);
    ASSERT_EQ(expected.size(), 3U);
    ASSERT_EQ(e.sets.size(), 3U);
    for (const Span& span : expected) {
        int found = 0;
        for (const EquilibriumSet& s : e.sets) {
            const bool from = span.from == -10.0 ? s.lower(0) < -10.0 : std::abs(s.lower(0) - span.from) < 1e-6;
            const bool to = span.to == 10.0 ? s.upper(0) > 10.0 : std::abs(s.upper(0) - span.to) < 1e-6;
            if (from && to) ++found;
        }
        EXPECT_EQ(found, 1) << span.from << " .. " << span.to;
    }
}

/// Whether a warning contains the text.
bool warns(const Equilibria& e, const std::string& text) {
    return std::any_of(e.warnings.begin(), e.warnings.end(),
                       [&](const std::string& w) { return w.find(text) != std::string::npos; });
}

// U' = 1/cosh(x - 40)^2 is positive everywhere, and at x = 0 it is 7e-35. The program may call that rest, but not at
// x = 40, where the force is 1.
TEST(EquilibriumCompleteness, AForceBelowRoundingErrorsIsNotARestAcrossTheWholeLine) {
    const Equilibria e = equilibria(from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"tanh(x - 40)\"\n"));
    EXPECT_FALSE(e.completeness.complete);
    for (const EquilibriumSet& s : e.sets) {
        EXPECT_FALSE(s.lower(0) < 39.0 && s.upper(0) > 41.0) << s.lower(0) << " .. " << s.upper(0);
        for (const Vector& q : s.samples) EXPECT_TRUE(q(0) >= s.lower(0) && q(0) <= s.upper(0)) << q(0);
    }
    EXPECT_TRUE(warns(e, "flat to rounding"));
}

// Friction of 0.5 N holds in each direction, but not in the strip |x - 0.3| < 0.0035, where the force is larger. Boxes
// that are wider than the strip cannot show that it divides the set.
TEST(EquilibriumCompleteness, ANarrowStripThatMayDivideARegionIsMentioned) {
    const std::string slider = "[[slider]]\nname = \"NAME\"\ngammaT = \"SPEED\"\nmu = 0.5\nFN = 1\n";
    const std::string sliders = test::replaced(test::replaced(slider, "NAME", "a"), "SPEED", "x'") +
                                test::replaced(test::replaced(slider, "NAME", "b"), "SPEED", "y'");
    const std::string system = "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"0.05*x^2 + 0.05*y^2\"\n";
    const Equilibria divided =
        equilibria(from_text(system + "f = { x = \"-2*exp(-((x - 0.3)/0.003)^2)\" }\n" + sliders));
    EXPECT_TRUE(divided.sets.size() > 1 || warns(divided, "not proved to be connected"));
    const Equilibria whole = equilibria(from_text(system + sliders));
    EXPECT_EQ(whole.sets.size(), 1U);
    EXPECT_FALSE(warns(whole, "not proved to be connected"));
}

// A rough wavy floor under a weight on a spring: |U'(x) + w s'(x)| <= mu w.
TEST(EquilibriumCompleteness, AWavyFloorHasOneSetForEachIntervalOfTheScan) {
    const double a = 0.17845745322865303, w = 11.923003991158366;
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "wavy floor"
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "(x + 0.6061300072463747)^2/2 + 11.923003991158366*y"
[[contact]]
name = "floor"
gN = "y - 0.17845745322865303*sin(4*x)"
gammaT = "x'"
mu = 0.5
[initial]
q = { y = 1.0 }
)TOML"));
    EXPECT_TRUE(e.completeness.complete) << e.completeness.why;
    expect_intervals(
        e, where_not_positive(
               [&](double x) { return std::abs(x + 0.6061300072463747 + 4.0 * a * w * std::cos(4.0 * x)) - 0.5 * w; },
               -60.0, 60.0));
}

TEST(EquilibriumCompleteness, RandomWavesOnASpringHaveTheSetsOfTheScan) {
    std::mt19937_64 random(20);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int model = 0; model < 12; ++model) {
        const double k = 0.3 + uniform(random), a = 1.0 + 2.0 * uniform(random), f = 2.0 + 6.0 * uniform(random),
                     phase = 6.0 * uniform(random), mu = 0.1 + uniform(random);
        const std::string wave = number_text(a) + "*cos(" + number_text(f) + "*x + " + number_text(phase) + ")";
        const Equilibria e = equilibria(
            from_text("[system]\nname = \"waves\"\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"" + number_text(k) + "/2*x^2 + " +
                      wave + "\"\n[[slider]]\ngammaT = \"x'\"\nmu = " + number_text(mu) + "\nFN = 1\n"));
        EXPECT_TRUE(e.completeness.complete) << e.completeness.why;
        EXPECT_TRUE(std::isinf(e.completeness.region[0].first) && std::isinf(e.completeness.region[0].second));
        expect_intervals(
            e, where_not_positive([&](double x) { return std::abs(k * x - a * f * std::sin(f * x + phase)) - mu; },
                                  -80.0, 80.0));
    }
}

// U = Σ (c/4 (q² − 1)² + b/2 q²) has 3ⁿ critical points for b < c. The Morse index is the number of coordinates at the
// maximum q = 0.
// Short waves on a bowl: neighbouring sets are so near to each other that the manifold of one reaches the next. Far
// from the middle the sample of a set that is nearest to a position of the next set is the one at its other end.
TEST(EquilibriumCompleteness, TheRepresentativeOfASetLiesInItsExtent) {
    const auto force = [](double x) { return -2.0 * x - 10.0 * (0.2 * x - std::sin(20.0 * x)); };
    const Equilibria e = equilibria(
        from_text("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"10*y + x^2\"\n"
                  "[[contact]]\nname = \"c\"\ngN = \"y - 0.05*cos(20*x) - 0.1*x^2\"\ngammaT = \"x'\"\nmu = 0.4\n"
                  "[initial]\nq = { y = 1 }\n"));
    expect_intervals(e, where_not_positive([&](double x) { return std::abs(force(x)) - 4.0; }, -10.0, 10.0));
    for (const EquilibriumSet& set : e.sets) {
        EXPECT_GE(set.representative(0), set.lower(0) - 1e-9);
        EXPECT_LE(set.representative(0), set.upper(0) + 1e-9);
    }
}

TEST(EquilibriumCompleteness, AProductOfDoubleWellsHasAllItsCriticalPoints) {
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "wells"
q = ["x", "y", "z"]
T = "(x'^2 + y'^2 + z'^2)/2"
U = "(x^2 - 1)^2/4 + (y^2 - 1)^2/4 + (z^2 - 1)^2/4"
)TOML"));
    ASSERT_EQ(e.sets.size(), 27U);
    for (const EquilibriumSet& s : e.sets) {
        ASSERT_TRUE(s.stability.has_value());
        int maxima = 0;
        for (const double x : s.representative) {
            EXPECT_NEAR(std::abs(x), std::round(std::abs(x)), 1e-9);
            if (std::abs(x) < 0.5) ++maxima;
        }
        EXPECT_EQ(s.stability->morse_index, maxima);
        EXPECT_EQ(s.stability->verdict, maxima == 0 ? LocalVerdict::stable : LocalVerdict::unstable);
        // λ² = 1 at a maximum and λ² = −2 at a minimum of U.
        EXPECT_NEAR(s.stability->eigenvalues[0].real(), maxima > 0 ? 1.0 : 0.0, 1e-7);
        EXPECT_EQ(s.stability->eigenvalues.size(), 6U);
    }
    EXPECT_TRUE(e.completeness.complete) << e.completeness.why;
}

TEST(EquilibriumCompleteness, DampingMakesAMinimumAsymptoticallyStable) {
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "oscillator"
q = ["x"]
T = "x'^2/2"
U = "8*x^2"
R = "x'^2"
)TOML"));
    ASSERT_EQ(e.sets.size(), 1U);
    ASSERT_TRUE(e.sets[0].stability.has_value());
    EXPECT_EQ(e.sets[0].stability->verdict, LocalVerdict::asymptotically_stable);
    EXPECT_NEAR(e.sets[0].stability->eigenvalues[0].real(), -1.0, 1e-9);  // λ² + 2λ + 16 = 0
    EXPECT_NEAR(e.sets[0].stability->eigenvalues[0].imag(), std::sqrt(15.0), 1e-9);
    EXPECT_TRUE(e.completeness.complete);
}

// A force that feeds the motion at higher order: the linearised motion is neutral, and nothing is claimed.
TEST(EquilibriumCompleteness, AForceThatFeedsTheMotionLeavesTheVerdictOpen) {
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "fed"
q = ["x"]
T = "x'^2/2"
U = "x^2/2"
f = { x = "x'^3" }
)TOML"));
    ASSERT_EQ(e.sets.size(), 1U);
    ASSERT_TRUE(e.sets[0].stability.has_value());
    EXPECT_EQ(e.sets[0].stability->verdict, LocalVerdict::undecided);
}

// Interval bounds of 1/x do not exist at 0: that part of the line stays undecided, and this is stated.
// The derivatives of sign and of |u| are 0, but a force of this form feeds even the slowest motion: these equilibria
// are unstable, and linearised they look stable.
TEST(EquilibriumCompleteness, AJumpOfTheForceAtAnEquilibriumLeavesTheVerdictOpen) {
    for (const char* const more : {"f = { x = \"0.1*sign(x') - 0.05*x'\" }\n", "R = \"0.05*x'^2 - 0.1*abs(x')\"\n"}) {
        const Equilibria e =
            equilibria(from_text(std::string("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\n") + more));
        ASSERT_EQ(e.sets.size(), 1U);
        ASSERT_TRUE(e.sets[0].stability);
        EXPECT_EQ(e.sets[0].stability->verdict, LocalVerdict::undecided) << more;
        EXPECT_TRUE(e.sets[0].stability->eigenvalues.empty()) << "there is no linearised motion";
    }
    const Equilibria elsewhere = equilibria(from_text(
        "[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\nf = { x = \"if(x' > 0.5, 1, 0) - 0.05*x'\" }\n"));
    ASSERT_EQ(elsewhere.sets.size(), 1U);
    EXPECT_EQ(elsewhere.sets[0].stability->verdict, LocalVerdict::asymptotically_stable);
}

// Potentials that are flat around the start and not elsewhere: no set extends across the part that is not flat.
TEST(EquilibriumCompleteness, APotentialThatIsFlatAtTheStartIsNotFlatEverywhere) {
    struct Case {
        const char* potential;
        double held, moves;  // the first position is an equilibrium, the second one is not
    };
    for (const Case& c : {Case{"max(0, x - 5)^2", 0.0, 6.0},
                          {"if(x > 7, (x - 7)^2, 0)", 0.0, 8.0},
                          {"-exp(-(x - 30)^2)", 30.0, 30.5}}) {
        const Equilibria e =
            equilibria(from_text(std::string("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"") + c.potential + "\"\n"));
        for (const EquilibriumSet& set : e.sets)
            EXPECT_FALSE(set.lower(0) < c.moves && set.upper(0) > c.moves) << c.potential;
        EXPECT_TRUE(std::any_of(e.sets.begin(), e.sets.end(), [&](const EquilibriumSet& set) {
            return set.lower(0) - 1e-9 <= c.held && c.held <= set.upper(0) + 1e-9;
        })) << c.potential;
    }
    // A shift of both coordinates changes nothing, so that the set has no ends.
    const Equilibria pair =
        equilibria(from_text("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"-exp(-(x - y - 1)^2)\"\n"
                             "[initial]\nq = { x = 1 }\n"));
    ASSERT_FALSE(pair.sets.empty());
    EXPECT_EQ(pair.sets[0].shape, SetShape::plane);
}

// The force is 0 except for a narrow strip, whose formula has the derivative 0 everywhere.
TEST(EquilibriumCompleteness, ASetDoesNotReachAcrossAJumpOfTheForce) {
    const Equilibria e =
        equilibria(from_text("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\n"
                             "f = { y = \"if(abs(x - 3.3) < 0.001, 300, 0)\" }\n"));
    for (const EquilibriumSet& set : e.sets) EXPECT_FALSE(set.exact && set.lower(0) < 3.3 && set.upper(0) > 3.3);
}

TEST(EquilibriumCompleteness, ASingularityLeavesAnUndecidedVolume) {
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "singular"
q = ["x"]
T = "x'^2/2"
U = "x^2/2 + 1/x"
[initial]
q = { x = 1.0 }
)TOML"));
    ASSERT_EQ(e.sets.size(), 1U);
    EXPECT_NEAR(e.sets[0].representative(0), 1.0, 1e-9);
    EXPECT_FALSE(e.completeness.complete);
    EXPECT_GT(e.completeness.undecided_volume, 0.0);
    EXPECT_LT(e.completeness.undecided_volume, 1e-4);
}

TEST(EquilibriumCompleteness, AGivenRegionLimitsTheProof) {
    const model::Model m = from_text(R"TOML(
[system]
name = "waves"
q = ["x"]
T = "x'^2/2"
U = "x^2/20 + cos(3*x)"
)TOML");
    EquilibriaOptions options;
    options.region = {{-1.0, 2.0}};
    const Equilibria e = equilibria(m, options);
    EXPECT_TRUE(e.completeness.complete);
    EXPECT_EQ(e.completeness.region, (std::vector<std::pair<double, double>>{{-1.0, 2.0}}));
    options.max_boxes = 0;
    EXPECT_FALSE(equilibria(m, options).completeness.complete);
}

// The friction of the slider slides wherever x ≠ 0, since its surface moves with 10 x.
TEST(EquilibriumCompleteness, FrictionThatBeginsToSlideIsNoFailure) {
    const Equilibria e = equilibria(from_text(R"TOML(
[system]
name = "drifting slider"
q = ["x"]
T = "x'^2/2"
U = "5*x^2"
[[slider]]
gammaT = "x' - 10*x"
mu = 0.3
FN = 1
)TOML"));
    ASSERT_EQ(e.sets.size(), 3U);
    for (const EquilibriumSet& s : e.sets) {
        EXPECT_EQ(s.shape, SetShape::point);
        EXPECT_NEAR(std::abs(s.representative(0)), std::abs(s.representative(0)) > 0.01 ? 0.03 : 0.0, 1e-9);
    }
}

/// The model of a point mass in the plane with this potential energy and damping.
Equilibria in_the_plane(const std::string& U, const std::string& more = "", long max_boxes = 20'000) {
    EquilibriaOptions options;
    options.max_boxes = max_boxes;
    return equilibria(
        from_text("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nR = \"(x'^2 + y'^2)/20\"\nU = \"" + U +
                  "\"\n" + more),
        options);
}

TEST(LocalStability, IsUndecidedWhereTheStiffnessVanishesWithinTheAccuracyOfThePosition) {
    // Newton's method ends next to the point where U' has a multiple zero, and finds a tiny stiffness of either sign.
    for (const char* U : {"(x - 1)^3 + y^2", "x^3 + y^2", "y^2 - x^4", "(x - 1)^5 + y^2", "(x^2 - 1)^3 + y^2",
                          "1 - cos(x) - x^2/2 + y^2"}) {
        const Equilibria e = in_the_plane(U);
        ASSERT_FALSE(e.sets.empty()) << U;
        for (const EquilibriumSet& set : e.sets) {
            const double x = set.representative(0);
            if (std::string(U).starts_with("(x^2") && std::abs(x) < 0.5) continue;  // a true minimum
            EXPECT_EQ(set.dimension, 0) << U;
            ASSERT_TRUE(set.stability) << U;
            EXPECT_EQ(set.stability->verdict, LocalVerdict::undecided) << U << " at " << x;
            EXPECT_EQ(set.stability->morse_index, -1) << U << " at " << x;
        }
    }
    // Small stiffness alone decides: these wells differ in size only.
    for (const double k : {1e-6, 1.0, 1e6}) {
        const Equilibria e = in_the_plane(std::to_string(k) + "*(x^2 - 1)^2 + y^2");
        ASSERT_EQ(e.sets.size(), 3U);
        for (const EquilibriumSet& set : e.sets) {
            const bool middle = std::abs(set.representative(0)) < 0.5;
            EXPECT_EQ(set.stability->verdict, middle ? LocalVerdict::unstable : LocalVerdict::asymptotically_stable)
                << k;
            EXPECT_EQ(set.stability->morse_index, middle ? 1 : 0) << k;
        }
    }
}

TEST(LocalStability, IsUndecidedIfItChangesAlongTheSet) {
    // All of x = 0 is at rest in U = x² y: a valley for y > 0, a ridge for y < 0.
    const Equilibria e = in_the_plane("x^2*y", "", 1000);
    ASSERT_FALSE(e.sets.empty());
    for (const EquilibriumSet& set : e.sets) {
        ASSERT_TRUE(set.stability);
        EXPECT_EQ(set.stability->verdict, LocalVerdict::undecided);
    }
}

TEST(LocalStability, IsUndecidedWhereConstraintsCross) {
    // On x y = 0 the energy is (x² + y²)/2, which has a minimum at the crossing. Without the constraint it has a
    // saddle.
    const Equilibria e = in_the_plane("(x^2 + y^2)/2 + 2*x*y",
                                      "[[constraint]]\nname = \"cross\"\ng = \"x*y\"\n[initial]\nq = { x = 0.5 }\n");
    ASSERT_FALSE(e.sets.empty());
    ASSERT_TRUE(e.sets[0].stability);
    EXPECT_EQ(e.sets[0].stability->verdict, LocalVerdict::undecided);
}

TEST(Completeness, NoGapWithoutGradientCarriesALoad) {
    // The gap y² is nowhere negative and pushes nowhere; y³ has no gradient on the floor y = 0.
    const Equilibria square = in_the_plane("x^2 + (y - 1)^2", "[[contact]]\nname = \"c\"\ngN = \"y^2\"\n");
    ASSERT_EQ(square.sets.size(), 1U);
    EXPECT_NEAR(square.sets[0].representative(1), 1.0, 1e-12);
    const Equilibria cube = in_the_plane("x^2 + 10*y", "[[contact]]\nname = \"c\"\ngN = \"y^3\"\n");
    EXPECT_TRUE(cube.sets.empty());
    EXPECT_FALSE(cube.completeness.complete);
}

TEST(Completeness, NarrowStripsWithoutEquilibriaDivideRegions) {
    // Two sliders hold where |x³ − x| <= mu and |y| <= 0.1. The largest |x³ − x| between the wells is 0.3849, so that
    // for mu = 0.3845 strips of width 0.03 around |x| = 0.577 divide the rectangle into three sets.
    const std::string sliders =
        "[[slider]]\nname = \"a\"\ngammaT = \"x'\"\nmu = 0.3845\nFN = 1\n"
        "[[slider]]\nname = \"b\"\ngammaT = \"y'\"\nmu = 0.1\nFN = 1\n";
    constexpr long max_boxes = 1000;
    const Equilibria e = in_the_plane("(x^2 - 1)^2/4 + y^2/2", sliders, max_boxes);
    EXPECT_EQ(e.sets.size(), 3U);
    EXPECT_TRUE(e.warnings.empty()) << e.warnings[0];
    for (const EquilibriumSet& set : e.sets) EXPECT_LT(set.upper(0) - set.lower(0), 1.2);
    EXPECT_GT(e.completeness.boxes, max_boxes + 100) << "so few boxes do not divide them";
}

TEST(Completeness, ASetThatEndsWhereAFormulaOverflowsHasAWarning) {
    // Friction holds where x <= 0.3 exp(x), which is true for all large x; exp(709.8) is infinite in floating point.
    const auto with_load = [](const std::string& load) {
        EquilibriaOptions options;
        options.max_boxes = 1000;
        return equilibria(from_text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\n[[slider]]\nname = \"s\"\n"
                                    "gammaT = \"x'\"\nmu = 0.3\nFN = \"" +
                                    load + "\"\n"),
                          options);
    };
    const auto warns = [](const Equilibria& e) {
        return std::any_of(e.warnings.begin(), e.warnings.end(),
                           [](const std::string& w) { return w.find("overflows") != std::string::npos; });
    };
    EXPECT_TRUE(warns(with_load("exp(x)")));
    EXPECT_FALSE(warns(with_load("1 + x^2")));
}

TEST(Completeness, ABranchOfAHyperbolaStaysOnItsSide) {
    const Equilibria e = in_the_plane("(x*y - 1)^2", "", 2000);
    int branches = 0;
    for (const EquilibriumSet& set : e.sets) {
        if (set.dimension != 1) continue;
        ++branches;
        const double side = set.representative(0) > 0.0 ? 1.0 : -1.0;
        for (Eigen::Index i = 0; i < 2; ++i) {
            EXPECT_NEAR(side > 0.0 ? set.lower(i) : set.upper(i), 0.0, 0.1) << i;
            EXPECT_TRUE(std::isinf(side > 0.0 ? set.upper(i) : set.lower(i))) << i;
        }
    }
    EXPECT_EQ(branches, 2);
}

}  // namespace
}  // namespace saltus::stability::equilibrium_completeness_test
