// SPDX-License-Identifier: Apache-2.0
#include "saltus/orbit/branch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "saltus/base/error.hpp"
#include "saltus/io/model/read_model.hpp"
#include "saltus/model/build.hpp"

namespace saltus::orbit::branch_test {
namespace {

constexpr double pi = std::numbers::pi;

model::Description shipped(const std::string& name) {
    return io::read_model(std::string(SALTUS_SOURCE_DIR) + "/models/" + name + ".toml");
}
model::Description text(const std::string& model) { return io::parse_model(model, "test.toml"); }

BranchOptions over(const std::string& parameter, double from, double start, double to) {
    BranchOptions options;
    options.parameter = parameter;
    options.from = from;
    options.start = start;
    options.to = to;
    options.doublings = 0;
    return options;
}

/// All special points of a kind.
std::vector<const SpecialPoint*> of_kind(const Branch& b, const std::string& kind) {
    std::vector<const SpecialPoint*> list;
    for (const SpecialPoint& s : b.special)
        if (s.kind == kind) list.push_back(&s);
    return list;
}

std::string kinds(const Branch& b) {
    std::string list;
    for (const SpecialPoint& s : b.special) list += s.kind + " " + std::to_string(s.at.parameter) + " " + s.text + "; ";
    return list;
}

/// One bounce in a period, e = 0.5: fold at Γ = π(1−e)/(1+e), doubling at Γ² = fold² + (2(1+e²)/(1+e)²)².
TEST(Branch, OfTheBouncingBallHasTheFoldAndTheDoublingOfTheExactMap) {
    const double e = 0.5, fold = pi * (1 - e) / (1 + e);
    const double doubling = std::hypot(fold, 2 * (1 + e * e) / ((1 + e) * (1 + e)));
    BranchOptions options = over("Gamma", 0.9, 1.3, 1.7);
    options.period = "2*pi/w";
    options.orbit.settle = 2;
    options.doublings = 1;
    const Branches all = continue_orbits(shipped("ball-on-moving-plane"), options);
    ASSERT_TRUE(all.failure.empty()) << all.failure;
    ASSERT_GE(all.branches.size(), 2U);
    const Branch& b = all.branches[0];
    const auto folds = of_kind(b, "fold"), doublings = of_kind(b, "period doubling");
    ASSERT_EQ(folds.size(), 1U) << kinds(b);
    EXPECT_NEAR(folds[0]->at.parameter, fold, 1e-10);
    ASSERT_EQ(doublings.size(), 1U) << kinds(b);
    EXPECT_NEAR(doublings[0]->at.parameter, doubling, 1e-10);
    EXPECT_LT(doublings[0]->error, 1e-10);
    // Every point is an orbit of the exact map, with the trace 1 + e² ∓ (1+e)² Γ sin φ and the determinant e².
    for (const BranchPoint& p : b.points) {
        const double cosine = fold / p.parameter;
        const double sine = (1 + e) * (1 + e) * p.parameter * std::sqrt(std::max(0.0, 1 - cosine * cosine));
        const double trace = (p.multipliers[0] + p.multipliers[1]).real();
        EXPECT_NEAR(std::min(std::abs(trace - 1 - e * e - sine), std::abs(trace - 1 - e * e + sine)), 0.0, 1e-7);
        EXPECT_NEAR((p.multipliers[0] * p.multipliers[1]).real(), e * e, 1e-9);
    }
    // The branch of doubled period begins at the doubling, and its orbits are stable there.
    const Branch& doubled = all.branches[1];
    EXPECT_EQ(doubled.multiple, 2);
    ASSERT_FALSE(doubled.points.empty()) << doubled.reason;
    EXPECT_NEAR(doubled.points[0].parameter, doubling, 1e-2);
    EXPECT_GT(doubled.points[0].parameter, doubling);
    EXPECT_EQ(doubled.points[0].stability, Stability::stable);
    EXPECT_NEAR(doubled.points[0].period, 0.2, 1e-12);
    EXPECT_EQ(doubled.points[0].events.size(), 2U);
}

/// Orbits that close after two periods end at the doubling, where both halves are equal, and lead to the end of the
/// range.
TEST(Branch, OfTwoPeriodsEndsWhereBothHalvesAreEqual) {
    BranchOptions options = over("Gamma", 1.4, 1.6, 1.65);
    options.period = "2*pi/w";
    options.orbit.settle = 5;
    options.orbit.multiple = 2;
    const Branches all = continue_orbits(shipped("ball-on-moving-plane"), options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    EXPECT_NEAR(b.points.front().parameter, 1.526823700519, 1e-4) << kinds(b);
    EXPECT_EQ(b.points.back().parameter, 1.65) << kinds(b);
}

/// With e = 0.3 the ball comes to rest on the table in every period and is thrown off again, if Γ > 1.
TEST(Branch, OfABallThatRestsEndsWhereTheTableNoLongerThrowsItOff) {
    BranchOptions options = over("Gamma", 0.9, 1.2, 1.3);
    options.build.set = {{"e", "0.3"}};
    options.period = "2*pi/w";
    options.orbit.guess = trajectory::State{0.0, {0.01}, {0.0}};
    options.orbit.settle = 3;
    const Branches all = continue_orbits(shipped("ball-on-moving-plane"), options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    EXPECT_EQ(b.points.back().parameter, 1.3) << kinds(b);
    EXPECT_GE(b.points.front().parameter, 1.0);
    for (const SpecialPoint& s : b.special) {
        if (s.kind == "end" || !std::isfinite(s.error)) continue;
        EXPECT_NEAR(s.at.parameter, 1.0, std::max(10 * s.error, 1e-10)) << kinds(b);
    }
}

/// Fold and doubling over e: the formulas of the exact map hold along both curves.
TEST(Branch, OfTheBouncingBallHasTheCurvesOfTheExactMapOverTwoParameters) {
    BranchOptions options = over("Gamma", 0.5, 1.3, 2.2);
    options.period = "2*pi/w";
    options.orbit.settle = 2;
    options.second = "e";
    options.second_from = 0.4;
    options.second_start = 0.5;
    options.second_to = 0.6;
    const Branches all = continue_orbits(shipped("ball-on-moving-plane"), options);
    ASSERT_TRUE(all.failure.empty()) << all.failure;
    int folds = 0, doublings = 0;
    for (const SpecialCurve& c : all.curves) {
        if (c.kind != "fold" && c.kind != "period doubling") continue;
        (c.kind == "fold" ? folds : doublings) += 1;
        EXPECT_EQ(c.second.front(), 0.4) << c.kind << " " << c.reason;
        EXPECT_EQ(c.second.back(), 0.6) << c.kind << " " << c.reason;
        for (std::size_t k = 0; k < c.points.size(); ++k) {
            const double e = c.second[k], fold = pi * (1 - e) / (1 + e);
            const double doubling = std::hypot(fold, 2 * (1 + e * e) / ((1 + e) * (1 + e)));
            EXPECT_NEAR(c.points[k].parameter, c.kind == "fold" ? fold : doubling, 1e-10) << e;
        }
    }
    EXPECT_EQ(folds, 1);
    EXPECT_EQ(doublings, 1);
}

BranchOptions stopped(double from, double start, double to) {
    BranchOptions options = over("F0", from, start, to);
    options.build.set = {{"c", "0.1"}, {"w", "1"}, {"s", "1"}};
    options.period = "2*pi/w";
    options.orbit.settle = 200;
    return options;
}

/// x'' + 0.1x' + x = A cos t reaches the stop at x = 1 for A = 0.1.
TEST(Branch, OfTheImpactOscillatorGrazesWhereTheAmplitudeReachesTheStop) {
    const Branches all = continue_orbits(shipped("impact-oscillator"), stopped(0.02, 0.05, 0.12));
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const auto grazing = of_kind(all.branches[0], "grazing");
    ASSERT_FALSE(grazing.empty()) << kinds(all.branches[0]);
    EXPECT_NEAR(grazing[0]->at.parameter, 0.1, 1e-10);
}

/// The linear oscillator reaches the stop at A = s √((1−ω²)² + (cω)²).
TEST(Branch, OfTheImpactOscillatorHasTheGrazingCurveOfTheLinearOscillator) {
    BranchOptions options = stopped(0.02, 0.05, 0.3);
    options.second = "w";
    options.second_from = 0.95;
    options.second_start = 1.0;
    options.second_to = 1.05;
    const Branches all = continue_orbits(shipped("impact-oscillator"), options);
    const auto curve =
        std::find_if(all.curves.begin(), all.curves.end(), [](const SpecialCurve& c) { return c.kind == "grazing"; });
    ASSERT_NE(curve, all.curves.end());
    EXPECT_EQ(curve->second.front(), 0.95) << curve->reason;
    EXPECT_EQ(curve->second.back(), 1.05) << curve->reason;
    for (std::size_t k = 0; k < curve->points.size(); ++k) {
        const double w = curve->second[k];
        EXPECT_NEAR(curve->points[k].parameter, std::hypot(1 - w * w, 0.1 * w), 1e-10) << w;
    }
}

TEST(Branch, OfTheImpactOscillatorHasTheOrbitOfIndependentValues) {
    const Branches all = continue_orbits(shipped("impact-oscillator"), stopped(0.9, 1.0, 1.1));
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const auto at = std::find_if(all.branches[0].points.begin(), all.branches[0].points.end(),
                                 [](const BranchPoint& p) { return p.parameter == 1.0; });
    ASSERT_NE(at, all.branches[0].points.end());
    EXPECT_NEAR(at->multipliers[0].real(), -0.58429531434, 1e-10);
    EXPECT_NEAR(std::abs(at->multipliers[0].imag()), 0.00560035149, 1e-10);
    EXPECT_EQ(all.branches[0].points.front().parameter, 0.9);
    EXPECT_EQ(all.branches[0].points.back().parameter, 1.1);
}

/// Den Hartog's mass turns at its amplitude X with the force X ω² of spring and excitation: it sticks if this is less
/// than F, with X² = V² − F²U², V = 1/(1−ω²). So stick begins at F = V/√(1/ω⁴ + U²).
TEST(Branch, OfDenHartogsOscillatorBeginsToStickWhereFrictionCanHoldIt) {
    BranchOptions options = over("F", 0.7, 0.75, 0.9);
    options.period = "2*pi/w";
    options.orbit.settle = 100;
    const Branches all = continue_orbits(shipped("den-hartog"), options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const auto bounds = of_kind(all.branches[0], "stick bound");
    ASSERT_EQ(bounds.size(), 1U) << kinds(all.branches[0]);
    const double w = 0.8, V = 1 / (1 - w * w), U = std::sin(pi / w) / (w * (1 + std::cos(pi / w)));
    EXPECT_NEAR(bounds[0]->at.parameter, V / std::hypot(1 / (w * w), U), 1e-10);
    EXPECT_EQ(all.branches[0].points.back().parameter, 0.9);
    // Without stick the amplitude has a closed form.
    for (const BranchPoint& p : all.branches[0].points) {
        if (p.parameter > bounds[0]->at.parameter) continue;
        EXPECT_NEAR(p.amplitude[0].second, std::sqrt(V * V - std::pow(p.parameter * U, 2)), 1e-9);
    }
}

/// Symmetric orbits of the shaken box lose their symmetry where a multiplier of half the orbit is −1.
TEST(Branch, OfTheShakenBoxNamesWhereSymmetryIsLost) {
    BranchOptions options = over("A", 1.2, 1.3, 1.6);
    options.period = "2*pi/w";
    options.orbit.settle = 100;
    const Branches all = continue_orbits(shipped("shaken-box"), options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const auto points = of_kind(all.branches[0], "branch point");
    ASSERT_EQ(points.size(), 1U) << kinds(all.branches[0]);
    EXPECT_LT(points[0]->error, 1e-9);
    // Just before it the multiplier nearest to 1 is below 1, just after it is above.
    for (const double side : {-1.0, 1.0}) {
        model::BuildOptions build;
        build.set = {{"A", std::to_string(points[0]->at.parameter + side * 1e-3)}};
        Options orbit;
        orbit.period = 2 * pi;
        orbit.symmetry = "x = -x";
        orbit.guess = points[0]->at.state;
        const Orbit o = find_orbit(model::build(shipped("shaken-box"), build), orbit);
        ASSERT_TRUE(o.converged()) << o.reason;
        EXPECT_EQ(o.stability, side < 0.0 ? Stability::stable : Stability::unstable);
    }
}

/// Van der Pol's oscillator: the period at ε = 1 is 6.6632868593231.
TEST(Branch, OfAnAutonomousSystemFindsThePeriods) {
    BranchOptions options = over("eps", 0.5, 0.6, 1.0);
    options.orbit.settle = 60;
    const Branches all =
        continue_orbits(text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\nf = { x = \"eps*(1 - x^2)*x'\" }\n"
                             "[parameters]\neps = 0.6\n[initial]\nq = { x = 1 }\n"),
                        options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    ASSERT_EQ(all.branches[0].points.back().parameter, 1.0) << all.branches[0].reason;
    EXPECT_NEAR(all.branches[0].points.back().period, 6.6632868593231, 1e-9);
}

// The wheel just comes over the top if ω²/2 = (g/l)(1 − cos(α − γ)) after a strike, with ω² = 4 (g/l) sin α sin γ for
// α = π/8: 3 sin α sin γ + cos α cos γ = 1. The period is infinite there. All multipliers are 1 and cos(2α)² = 0.5.
TEST(Branch, EndsBeforeTheWheelThatNeedsAnInfiniteTimeToComeOverTheTop) {
    BranchOptions options = over("gamma", 0.03, 0.08, 0.081);
    options.orbit.settle = 5;
    const Branches all = continue_orbits(shipped("rimless-wheel"), options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    for (const SpecialPoint& s : b.special) EXPECT_EQ(s.kind, "end") << kinds(b);
    EXPECT_NE(b.reason.find("too sensitive"), std::string::npos) << b.reason;
    ASSERT_FALSE(b.points.empty());
    for (const BranchPoint& p : b.points) {
        ASSERT_EQ(p.multipliers.size(), 2U);
        EXPECT_NEAR(std::abs(p.multipliers[0] - 1.0), 0.0, 1e-3) << p.parameter;
        EXPECT_NEAR(std::abs(p.multipliers[1] - 0.5), 0.0, 1e-3) << p.parameter;
        EXPECT_LE(p.residual, 1e-7) << p.parameter;
    }
    EXPECT_NEAR(b.points.front().parameter, 0.06822945245228712, 1e-5);
}

// The bit of a drill string sticks and slips. Where its velocity comes to zero with the rate zero, it sticks no longer:
// one multiplier grows without bound there, and the orbits have neither doublings nor branch points.
TEST(Branch, EndsWhereSlipNoLongerComesToZero) {
    BranchOptions options = over("Om", 2.0, 2.5, 2.55);
    options.orbit.settle = 60;
    options.orbit.section = "d - 2.2";
    const Branches all = continue_orbits(
        text("[system]\nq = [\"d\", \"p\"]\nT = \"J1/2*(d' + p')^2 + J2/2*p'^2\"\nU = \"k/2*d^2\"\n"
             "R = \"c/2*d'^2 + c1/2*(d' + p' - Om)^2\"\n[parameters]\nJ1 = 2122\nJ2 = 374\nk = 473\nc = 30\nc1 = 425\n"
             "Om = 2.5\n[[slider]]\nname = \"bit\"\ngammaT = \"p'\"\nmu = 800\nmu_static = 1200\nFN = 1\n"
             "[initial]\nu = { d = 4 }\n"),
        options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    EXPECT_TRUE(of_kind(b, "period doubling").empty() && of_kind(b, "branch point").empty()) << kinds(b);
    EXPECT_EQ(of_kind(b, "fold").size(), 1U) << kinds(b);
    const auto bounds = of_kind(b, "stick bound");
    ASSERT_EQ(bounds.size(), 1U) << kinds(b);
    EXPECT_NEAR(bounds[0]->at.parameter, 2.2517447875, 1e-9);
    EXPECT_LE(bounds[0]->error, 1e-9);
    EXPECT_NE(b.reason.find("stick bound at Om"), std::string::npos) << b.reason;
}

// The follower of a cam, y = r(1 − cos wt), is pressed down by k(y + y0) + mg + c y' + m y'', which is zero once in a
// turn if (m r w² − k r)² + (c r w)² = (k r + k y0 + m g)². The contact is closed all the time and moves with the
// parameter.
TEST(Branch, OfACamEndsAtTheSpeedAtWhichTheFollowerLifts) {
    const double m = 0.5, k = 200, y0 = 0.02, g = 9.81, c = 1, r = 0.01;
    const double a = m * r * m * r, half = 0.5 * (c * c - 2 * m * k) * r * r;
    const double load = k * r + k * y0 + m * g;
    const double lifts = std::sqrt((-half + std::sqrt(half * half - a * (k * r * k * r - load * load))) / a);
    BranchOptions options = over("w", 40, 45, 60);
    options.period = "2*pi/w";
    options.orbit.settle = 1;
    const Branches all = continue_orbits(
        text("[system]\nq = [\"y\"]\nT = \"0.25*y'^2\"\nU = \"100*(y + 0.02)^2 + 0.5*9.81*y\"\nR = \"0.5*y'^2\"\n"
             "[parameters]\nw = 45\n[[contact]]\nname = \"cam\"\ngN = \"y - 0.01*(1 - cos(w*t))\"\neN = 0.3\n"),
        options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    EXPECT_EQ(b.points.front().parameter, 40.0) << b.reason;
    const auto found = of_kind(b, "lift-off");
    ASSERT_EQ(found.size(), 1U) << kinds(b);
    EXPECT_NEAR(found[0]->at.parameter, lifts, 1e-8);
}

// A pendulum at rest is touched by a wall that moves by A sin wt at the distance 0.1 if A = 0.1. The unstable orbits
// with an impact shrink to the state of rest there.
TEST(Branch, OfOrbitsThatShrinkToAStateOfRestEndsWhereTheirImpactsVanish) {
    BranchOptions options = over("A", 0.015, 0.03, 0.12);
    options.period = "pi/2";
    options.orbit.settle = 60;
    const Branches all = continue_orbits(
        text("[system]\nq = [\"th\"]\nT = \"th'^2/2\"\nU = \"-9.81*cos(th)\"\nR = \"0.025*th'^2\"\n"
             "[parameters]\nA = 0.03\n[[contact]]\nname = \"wall\"\ngN = \"sin(th) - A*sin(4*t) + 0.1\"\neN = 0.6\n"
             "[initial]\nq = { th = 0.5 }\n"),
        options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    EXPECT_EQ(b.reason.find("another period"), std::string::npos) << b.reason;
    const auto found = of_kind(b, "grazing");
    ASSERT_EQ(found.size(), 1U) << kinds(b);
    EXPECT_NEAR(found[0]->at.parameter, 0.1, std::max(found[0]->error, 1e-12));
    EXPECT_LE(found[0]->error, 1e-8);
}

TEST(Branch, EndsWhereTheParameterIsNotAdmissible) {
    BranchOptions options = over("e", 0.4, 0.5, 1.5);
    options.period = "2*pi/w";
    options.orbit.settle = 2;
    options.build.set = {{"Gamma", "1.3"}};
    const Branches all = continue_orbits(shipped("ball-on-moving-plane"), options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    ASSERT_FALSE(b.special.empty());
    EXPECT_EQ(b.special.back().kind, "end");
    EXPECT_LE(b.special.back().at.parameter, 1.0);
    EXPECT_NE(b.special.back().text.find("e is not admissible beyond"), std::string::npos) << kinds(b);
}

/// Two branches as far as results show them: every number is the same, to the bit.
void expect_equal(const Branches& a, const Branches& b) {
    const auto same_point = [](const BranchPoint& p, const BranchPoint& q) {
        return p.parameter == q.parameter && p.period == q.period && p.state.q == q.state.q && p.state.u == q.state.u &&
               p.multipliers == q.multipliers && p.amplitude == q.amplitude && p.events == q.events &&
               p.residual == q.residual && p.stability == q.stability;
    };
    ASSERT_EQ(a.branches.size(), b.branches.size());
    for (std::size_t k = 0; k < a.branches.size(); ++k) {
        const Branch &x = a.branches[k], &y = b.branches[k];
        EXPECT_EQ(x.reason, y.reason);
        EXPECT_EQ(x.origin, y.origin);
        ASSERT_EQ(x.points.size(), y.points.size()) << kinds(x) << kinds(y);
        for (std::size_t i = 0; i < x.points.size(); ++i) EXPECT_TRUE(same_point(x.points[i], y.points[i])) << i;
        ASSERT_EQ(x.special.size(), y.special.size()) << kinds(x) << kinds(y);
        for (std::size_t i = 0; i < x.special.size(); ++i) {
            EXPECT_EQ(x.special[i].kind, y.special[i].kind);
            EXPECT_EQ(x.special[i].error, y.special[i].error);
            EXPECT_EQ(x.special[i].index, y.special[i].index);
            EXPECT_TRUE(same_point(x.special[i].at, y.special[i].at)) << x.special[i].kind;
        }
    }
    ASSERT_EQ(a.curves.size(), b.curves.size());
    for (std::size_t k = 0; k < a.curves.size(); ++k) {
        EXPECT_EQ(a.curves[k].second, b.curves[k].second);
        EXPECT_EQ(a.curves[k].reason, b.curves[k].reason);
    }
}

/// The run is interrupted at many places, also within a correction, and each time goes on from what it had.
TEST(Branch, ThatIsInterruptedAndResumedIsTheSameAsOneRun) {
    BranchOptions options = over("Gamma", 1.4, 1.5, 1.6);
    options.period = "2*pi/w";
    options.orbit.settle = 2;
    options.doublings = 1;
    options.step = 0.1;
    const model::Description ball = shipped("ball-on-moving-plane");
    int calls = 0;
    options.interrupted = [&] { return ++calls < 0; };
    const Branches whole = continue_orbits(ball, options);
    ASSERT_TRUE(whole.complete);
    ASSERT_EQ(whole.branches.size(), 2U) << whole.failure;
    const int in_all = calls;
    for (const int parts : {2, 5}) {
        BranchRecord record;
        Branches part;
        int runs = 0;
        do {
            // An interrupt stays asked for until the run has ended.
            calls = 0;
            options.interrupted = [&, runs] { return ++calls > (runs + 1) * in_all / parts + 17 * runs; };
            options.known = runs > 0 ? &record : nullptr;
            part = continue_orbits(ball, options);
            record = part.record;
            ASSERT_LT(++runs, 50);
        } while (!part.complete);
        EXPECT_GT(runs, 1);
        expect_equal(whole, part);
    }
}

/// A killed run leaves the last record that it has stored. Every tenth record is continued.
template <class Follow>
void expect_same_from_every_record(BranchOptions options, const Follow& follow) {
    std::vector<BranchRecord> records;
    int calls = 0;
    options.checkpoint = [&](const std::function<BranchRecord()>& record) {
        if (calls++ % 10 == 0) records.push_back(record());
    };
    const Branches whole = follow(options);
    ASSERT_TRUE(whole.complete);
    ASSERT_GT(records.size(), 3U);
    options.checkpoint = {};
    for (const BranchRecord& record : records) {
        ASSERT_FALSE(record.walks.empty());
        options.known = &record;
        expect_equal(whole, follow(options));
    }
}

TEST(Branch, ThatIsKilledAndResumedIsTheSameAsOneRun) {
    BranchOptions options = over("Gamma", 1.4, 1.5, 1.6);
    options.period = "2*pi/w";
    options.orbit.settle = 2;
    options.step = 0.05;
    const model::Description ball = shipped("ball-on-moving-plane");
    expect_same_from_every_record(options, [&](const BranchOptions& o) { return continue_orbits(ball, o); });
}

/// A mass on a slope of springs that leaves the floor, with a cubic spring that makes two folds.
TEST(EquilibriumBranch, ThatIsKilledOrInterruptedAndResumedIsTheSameAsOneRun) {
    const model::Description lifted = text(
        "[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\n"
        "U = \"x^4/4 - x^2/2 - p*x + y^2/2 + y - 4*p*y\"\n[parameters]\np = 0.1\n"
        "[[contact]]\nname = \"floor\"\ngN = \"y\"\n[initial]\nq = { x = 1.05 }\n");
    BranchOptions options = over("p", -1.0, 0.1, 1.0);
    const auto follow = [&](const BranchOptions& o) { return continue_equilibria(lifted, o); };
    const Branches whole = follow(options);
    ASSERT_EQ(whole.branches.size(), 1U) << whole.failure;
    EXPECT_EQ(of_kind(whole.branches[0], "fold").size(), 2U) << kinds(whole.branches[0]);
    EXPECT_EQ(of_kind(whole.branches[0], "lift-off").size() + of_kind(whole.branches[0], "grazing").size(), 3U)
        << kinds(whole.branches[0]);
    expect_same_from_every_record(options, follow);
    BranchRecord record;
    Branches part;
    int runs = 0;
    do {
        int calls = 0;
        options.interrupted = [&calls] { return ++calls > 25; };
        options.known = runs > 0 ? &record : nullptr;
        part = follow(options);
        record = part.record;
        ASSERT_LT(++runs, 100);
    } while (!part.complete);
    EXPECT_GT(runs, 3);
    expect_equal(whole, part);
}

/// A particle in a shaken box. With the phase s and the speed V of an impact, half the orbit followed by x → −x is
/// V' = e V + (1+e) A cos s', V (s' + π − s) = D − A (sin s' + sin s), so that D = A (ρ cos s + 2 sin s) with
/// ρ = π (1+e)/(1−e), the trace is 2e + (1−e²) (π/2) tan s and the determinant e². The multiplier −1, where the
/// symmetry is lost, is at tan s = −2ρ/π².
TEST(Branch, OfSymmetricOrbitsLosesItsSymmetryWhereTheExactMapSaysSo) {
    const double e = 0.7, rho = pi * (1 + e) / (1 - e);
    const double loss = rho * (1 - 4 / (pi * pi)) / std::hypot(1.0, 2 * rho / (pi * pi));
    BranchOptions options = over("D", 2.6, 4.0, 4.2);
    options.period = "2*pi/w";
    options.orbit.settle = 100;
    options.orbit.symmetry = "x = -x";
    options.doublings = 1;
    options.step = 0.1;
    const Branches all = continue_orbits(shipped("shaken-box"), options);
    ASSERT_EQ(all.branches.size(), 2U) << all.failure;
    const Branch& b = all.branches[0];
    EXPECT_EQ(b.points.front().parameter, 2.6) << kinds(b);
    EXPECT_EQ(b.points.back().parameter, 4.2) << kinds(b);
    const auto losses = of_kind(b, "branch point");
    ASSERT_EQ(losses.size(), 1U) << kinds(b);
    EXPECT_NEAR(losses[0]->at.parameter, loss, 1e-10);
    for (const BranchPoint& p : b.points) {
        const double s = std::atan2(2.0, rho) - std::acos(p.parameter / std::hypot(rho, 2.0));
        const double trace = 2 * e + (1 - e * e) * pi / 2 * std::tan(s);
        EXPECT_NEAR((p.multipliers[0] + p.multipliers[1]).real(), trace, 1e-9) << p.parameter;
        EXPECT_NEAR((p.multipliers[0] * p.multipliers[1]).real(), e * e, 1e-10);
        ASSERT_EQ(p.multipliers_full.size(), 2U);
        EXPECT_EQ(p.multipliers_full[0], p.multipliers[0] * p.multipliers[0]);
        EXPECT_EQ(p.stability, p.parameter > loss ? Stability::stable : Stability::unstable) << p.parameter;
        EXPECT_EQ(p.events.size(), 2U);
        EXPECT_NEAR(p.amplitude[0].first, -p.amplitude[0].second, 1e-9);
    }
    // The orbits that leave there have the same period, and their extreme positions are no longer opposite.
    const Branch& other = all.branches[1];
    EXPECT_EQ(other.multiple, 1);
    ASSERT_FALSE(other.points.empty()) << other.reason;
    EXPECT_NEAR(other.points[0].parameter, loss, 1e-2);
    EXPECT_EQ(other.points[0].stability, Stability::stable);
    EXPECT_GT(std::abs(other.points[0].amplitude[0].first + other.points[0].amplitude[0].second), 1e-4);
    EXPECT_TRUE(other.points[0].multipliers_full.empty());
}

/// A stored orbit of another model is refused.
TEST(Branch, IsNotResumedFromOrbitsOfAnotherModel) {
    BranchOptions options = over("F0", 0.5, 1.0, 1.5);
    options.build.set = {{"c", "0.1"}, {"s", "100"}};
    options.period = "2*pi/w";
    options.orbit.settle = 200;
    BranchRecord record;
    record.walks.emplace_back();
    record.walks[0].at.z = Vector::Zero(7);
    options.known = &record;
    EXPECT_THROW(continue_orbits(shipped("impact-oscillator"), options), Error);
}

/// The period is that of w = 1, and w is varied.
TEST(Branch, IsNotFollowedWithAPeriodThatTheExcitationDoesNotHave) {
    BranchOptions options = over("w", 0.8, 1.0, 1.2);
    options.build.set = {{"c", "0.1"}, {"s", "100"}};
    options.period = "2*pi";
    options.orbit.settle = 200;
    const Branches all = continue_orbits(shipped("impact-oscillator"), options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    EXPECT_TRUE(all.branches[0].failed);
    EXPECT_EQ(all.branches[0].points.size(), 1U);
    EXPECT_NE(all.branches[0].reason.find("another period"), std::string::npos) << all.branches[0].reason;
}

/// A linear oscillator without contacts: amplitude F0/√((1−ω²)² + (cω)²). The period depends on the varied parameter.
TEST(Branch, OverTheFrequencyFollowsTheResonance) {
    BranchOptions options = over("w", 0.8, 0.9, 1.2);
    options.build.set = {{"c", "0.1"}, {"s", "100"}};
    options.period = "2*pi/w";
    options.orbit.settle = 200;
    const Branches all = continue_orbits(shipped("impact-oscillator"), options);
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    EXPECT_EQ(all.branches[0].reason, "both ends: the end of the range");
    EXPECT_GT(all.branches[0].points.size(), 20U);
    for (const BranchPoint& p : all.branches[0].points) {
        const double w = p.parameter;
        EXPECT_NEAR(p.amplitude[0].second, 1 / std::sqrt(std::pow(1 - w * w, 2) + std::pow(0.1 * w, 2)), 1e-9);
        EXPECT_NEAR(p.period, 2 * pi / w, 1e-12);
    }
}

/// x³ − x = p has folds at p = ±2/(3√3).
TEST(EquilibriumBranch, HasTheFoldsOfACubic) {
    const Branches all = continue_equilibria(
        text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^4/4 - x^2/2 - p*x\"\n[parameters]\np = -1\n"
             "[initial]\nq = { x = -1.2 }\n"),
        over("p", -1.0, -1.0, 1.0));
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    const auto folds = of_kind(b, "fold");
    ASSERT_EQ(folds.size(), 2U) << kinds(b);
    EXPECT_NEAR(folds[0]->at.parameter, 2 / (3 * std::sqrt(3.0)), 1e-11);
    EXPECT_NEAR(folds[1]->at.parameter, -2 / (3 * std::sqrt(3.0)), 1e-11);
    EXPECT_EQ(b.points.back().parameter, 1.0);
    for (const BranchPoint& p : b.points) {
        const double x = p.state.q[0];
        EXPECT_NEAR(x * x * x - x, p.parameter, 1e-10);
        EXPECT_EQ(p.stability, 3 * x * x > 1 ? Stability::stable : Stability::unstable) << x;
    }
}

/// A mass on the floor, lifted by the force p against its weight 1 and a spring: it leaves the floor at p = 1.
TEST(EquilibriumBranch, OpensAContactWhereItsForceVanishes) {
    const Branches all = continue_equilibria(
        text("[system]\nq = [\"y\"]\nT = \"y'^2/2\"\nU = \"y^2/2 + y - p*y\"\n[parameters]\np = 0.2\n"
             "[[contact]]\nname = \"floor\"\ngN = \"y\"\n"),
        over("p", 0.0, 0.2, 2.0));
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const Branch& b = all.branches[0];
    const auto lifts = of_kind(b, "lift-off");
    ASSERT_EQ(lifts.size(), 1U) << kinds(b);
    EXPECT_NEAR(lifts[0]->at.parameter, 1.0, 1e-12);
    EXPECT_NEAR(b.points.back().state.q[0], 1.0, 1e-12);
    EXPECT_TRUE(b.points.back().closed.empty());
    EXPECT_EQ(b.points.front().closed.size(), 1U);
}

/// Van der Pol's oscillator: its damping is negative for p > 0.
TEST(EquilibriumBranch, NamesWhereOscillationsBeginToGrow) {
    const Branches all =
        continue_equilibria(text("[system]\nq = [\"x\"]\nT = \"x'^2/2\"\nU = \"x^2/2\"\nf = { x = \"(p - x^2)*x'\" }\n"
                                 "[parameters]\np = -0.5\n"),
                            over("p", -0.5, -0.5, 0.5));
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const auto hopf = of_kind(all.branches[0], "hopf");
    ASSERT_EQ(hopf.size(), 1U) << kinds(all.branches[0]);
    EXPECT_NEAR(hopf[0]->at.parameter, 0.0, 1e-12);
}

/// Two oscillators. The oscillations of x grow for every p, those of y for p > 0.
TEST(EquilibriumBranch, NamesWhereASecondOscillationBeginsToGrow) {
    const Branches all =
        continue_equilibria(text("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"x^2/2 + 2*y^2\"\n"
                                 "f = { x = \"0.5*x'\", y = \"p*y'\" }\n[parameters]\np = -0.2\n"),
                            over("p", -0.2, -0.2, 0.9));
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    const auto hopf = of_kind(all.branches[0], "hopf");
    ASSERT_EQ(hopf.size(), 1U) << kinds(all.branches[0]);
    EXPECT_NEAR(hopf[0]->at.parameter, 0.0, 1e-12);
}

/// The initial position is in the air, where gravity has no balance: a search finds the bar on both ends.
TEST(EquilibriumBranch, BeginsAtAnEquilibriumThatASearchFinds) {
    const Branches all = continue_equilibria(shipped("rocking-bar"), over("g", 5.0, 9.81, 20.0));
    ASSERT_EQ(all.branches.size(), 1U) << all.failure;
    EXPECT_EQ(all.branches[0].reason, "both ends: the end of the range");
    EXPECT_EQ(all.branches[0].points.back().closed.size(), 2U);
    EXPECT_NEAR(all.branches[0].points.back().state.q[1], 0.0, 1e-12);
}

TEST(EquilibriumBranch, RefusesModelsThatDependOnTime) {
    EXPECT_THROW(continue_equilibria(shipped("impact-oscillator"), over("F0", 0.1, 1.0, 2.0)), Error);
}

/// One bounce in two periods has its fold at Γ = 2π(1−e)/(1+e). Its two halves are never equal, because one of them has
/// no impact; their difference only changes its sign where the impact passes the middle of the orbit.
TEST(Branch, OfOneBounceInTwoPeriodsReachesItsFold) {
    const double e = 0.546, fold = 2 * pi * (1 - e) / (1 + e), Gamma = 2.07, w = 20 * pi, g = 9.81;
    const double phase = std::acos(fold / Gamma), T = 0.1, A = Gamma * g / (w * w);
    const double up = g * T, later = 2 * T - phase / w;  // velocity after the impact, and the time from it to t = 0
    BranchOptions options = over("Gamma", 0.9 * fold, Gamma, 2.1);
    options.build.set = {{"e", std::to_string(e)}};
    options.period = "2*pi/w";
    options.orbit.multiple = 2;
    options.orbit.guess =
        trajectory::State{0.0, {A * std::sin(phase) + up * later - g * later * later / 2}, {up - g * later}};
    const Branches all = continue_orbits(shipped("ball-on-moving-plane"), options);
    ASSERT_TRUE(all.failure.empty()) << all.failure;
    const auto folds = of_kind(all.branches[0], "fold");
    ASSERT_EQ(folds.size(), 1U) << kinds(all.branches[0]);
    EXPECT_NEAR(folds[0]->at.parameter, fold, 1e-10);
}

/// The orbits of doubled period of this oscillator hit the stop once in two periods. They meet the orbit without
/// impacts where it grazes the stop, at F0 = s √((1 − w²)² + (c w)²), and not at a period doubling.
TEST(Branch, OfDoubledPeriodThatEndsAtAGrazingDoesNotClaimAPeriodDoubling) {
    const double c = 0.199, w = 2.254, s = 0.449, grazing = s * std::hypot(1 - w * w, c * w);
    BranchOptions options = over("F0", 0.3 * grazing, 0.6 * grazing, 1.4 * grazing);
    options.build.set = {{"c", "0.199"}, {"w", "2.254"}, {"s", "0.449"}, {"e", "0.434"}};
    options.period = "2*pi/w";
    options.orbit.settle = 300;
    options.doublings = 1;
    const Branches all = continue_orbits(shipped("impact-oscillator"), options);
    ASSERT_EQ(all.branches.size(), 2U);
    const Branch& doubled = all.branches[1];
    ASSERT_FALSE(doubled.special.empty());
    EXPECT_EQ(doubled.reason.find("period doubling of another"), std::string::npos) << kinds(doubled);
    const auto ends = of_kind(doubled, "impact vanishes");
    ASSERT_FALSE(ends.empty()) << kinds(doubled);
    EXPECT_NEAR(ends.back()->at.parameter, grazing, 1e-10);
}

/// A branch that is followed from orbits with impacts to those without them knows the curve of grazings, too.
TEST(Branch, FromTheSideOfTheImpactsHasTheCurveOfGrazings) {
    const double c = 0.163, s = 1.081;
    const auto grazing = [&](double w) { return s * std::hypot(1 - w * w, c * w); };
    const double w = 0.902, F = grazing(w);
    BranchOptions options = over("F0", 0.3 * F, 1.35 * F, 1.4 * F);
    options.build.set = {{"c", "0.163"}, {"w", "0.902"}, {"s", "1.081"}, {"e", "0.343"}};
    options.period = "2*pi/w";
    options.orbit.settle = 300;
    options.second = "w";
    options.second_from = 0.88;
    options.second_start = w;
    options.second_to = 0.91;
    const Branches all = continue_orbits(shipped("impact-oscillator"), options);
    bool found = false;
    for (const SpecialCurve& curve : all.curves) {
        if (curve.kind != "grazing") continue;
        found = true;
        EXPECT_GT(curve.points.size(), 10U) << curve.reason;
        for (std::size_t k = 0; k < curve.points.size(); ++k)
            EXPECT_NEAR(curve.points[k].parameter, grazing(curve.second[k]), 1e-10) << curve.second[k];
    }
    EXPECT_TRUE(found);
}

}  // namespace
}  // namespace saltus::orbit::branch_test
