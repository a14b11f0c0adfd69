// SPDX-License-Identifier: Apache-2.0
//
// Covers: what is proved holds at sampled points, a false statement is never proved, minima are bounded from below.
#include "saltus/proof/cover.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "proof/sampling.hpp"

namespace saltus::proof::cover_test {
namespace {

using test::from_text;
using test::Random;

constexpr double inf = Interval::infinity;

/// A particle in the plane above a wavy floor, with a double well.
const char* const plane = R"toml(
[system]
q = ["x", "y"]
T = "(x'^2 + y'^2)/2"
U = "(x^2 - 1)^2 + y"
[[contact]]
name = "floor"
gN = "y - 0.2*cos(2*x)"
[initial]
q = { x = 0.0, y = 1.0 }
)toml";

struct Plane {
    model::Model model = from_text(plane);
    std::string why;
    std::unique_ptr<Enclosure> enclosure = Enclosure::of(model, why);
    AdmissibleSet set{*enclosure, Interval(0.0)};
    std::vector<double> scale{1.0, 1.0};

    static double U(const std::vector<double>& q) { return std::pow(q[0] * q[0] - 1.0, 2) + q[1]; }
    static double gap(const std::vector<double>& q) { return q[1] - 0.2 * std::cos(2.0 * q[0]); }
};

/// The statement a + sin(b x) cos(c y) > 0, tested over a box.
struct Statement {
    double a, b, c;

    double at(const std::vector<double>& q) const { return a + std::sin(b * q[0]) * std::cos(c * q[1]); }
    Interval over(const Box& q) const {
        return Interval(a) + expr::sin(Interval(b) * q[0]) * expr::cos(Interval(c) * q[1]);
    }
    BoxTest test(const Box& q, const std::vector<double>& scale) const {
        BoxTest t;
        t.proved = over(q).lo > 0.0;
        t.undecided = q;
        t.side = decisive_side(q, scale, [&](const Box& box) { return spread_of(IntervalVector{over(box)}); });
        return t;
    }
};

TEST(Covers, AProvedStatementHoldsAtEverySampledPointOfTheSet) {
    const Plane p;
    Random random(1);
    int proved = 0, refuted = 0;
    for (int k = 0; k < 150; ++k) {
        const Statement s{random.uniform(0.3, 1.1), random.uniform(0.5, 2.0), random.uniform(0.5, 2.0)};
        const Box box{random.interval(1.0, 1.5), random.interval(1.0, 1.5)};
        const double cap = random.uniform(0.5, 3.0);
        const CoverProof proof = prove_on(
            p.set, {box}, {}, cap, p.scale, [&](const Box& q) { return s.test(q, p.scale); }, 2000);
        (proof.proved ? proved : refuted) += 1;
        if (!proof.proved) {
            EXPECT_FALSE(proof.box.empty());
        }
        for (int sample = 0; proof.proved && sample < 200; ++sample) {
            const std::vector<double> q = random.point(box);
            if (Plane::gap(q) >= 0.0 && Plane::U(q) <= cap) {
                EXPECT_GT(s.at(q), 0.0);
            }
        }
    }
    EXPECT_GT(proved, 30);
    EXPECT_GT(refuted, 10);
}

TEST(Covers, EveryAdmissiblePointLiesInATestedBox) {
    // A test that proves small boxes only: their union must contain all admissible points.
    const Plane p;
    Random random(2);
    for (int k = 0; k < 10; ++k) {
        const Box box{random.interval(1.0, 1.0), random.interval(1.0, 1.0)};
        const double cap = random.uniform(0.5, 3.0);
        std::vector<Box> cover;
        const CoverProof proof = prove_on(
            p.set, {box}, {}, cap, p.scale,
            [&](const Box& q) {
                BoxTest t;
                t.proved = width(q[0]) < 0.1 && width(q[1]) < 0.1;
                t.undecided = q;
                t.side = width(q[0]) > width(q[1]) ? 0 : 1;
                if (t.proved) cover.push_back(q);
                return t;
            },
            100'000);
        EXPECT_TRUE(proof.proved);
        for (int sample = 0; sample < 300; ++sample) {
            const std::vector<double> q = random.point(box);
            if (Plane::gap(q) < 0.0 || Plane::U(q) > cap) continue;
            EXPECT_TRUE(std::any_of(cover.begin(), cover.end(), [&](const Box& b) { return contains(b, q); }));
        }
    }
}

TEST(Covers, AStatementThatIsFalseAtOnePointIsNeverProved) {
    const Plane p;
    Random random(3);
    for (int k = 0; k < 40; ++k) {
        // |q − c|² > 0 is false at c only.
        const std::vector<double> c{random.uniform(-1.0, 1.0), random.uniform(0.3, 1.0)};
        const CoverProof proof = prove_on(
            p.set, {{Interval(-2.0, 2.0), Interval(0.0, 2.0)}}, {}, inf, p.scale,
            [&](const Box& q) {
                BoxTest t;
                t.proved = (expr::sqr(q[0] - Interval(c[0])) + expr::sqr(q[1] - Interval(c[1]))).lo > 0.0;
                t.undecided = q;
                t.failed_item = 7;
                t.side = width(q[0]) > width(q[1]) ? 0 : 1;
                return t;
            },
            5000);
        EXPECT_FALSE(proof.proved);
        EXPECT_EQ(proof.failed_item, 7);
        EXPECT_TRUE(contains(proof.box, c));
    }
}

TEST(Covers, AProofRespectsItsBudget) {
    const Plane p;
    const CoverProof proof = prove_on(
        p.set, {{Interval(-2.0, 2.0), Interval(0.0, 2.0)}}, {}, inf, p.scale, [](const Box&) { return BoxTest{}; }, 25);
    EXPECT_FALSE(proof.proved);
    EXPECT_LE(proof.boxes, 25);
}

TEST(Covers, AStatementOnAClosedGapIsAboutItsPointsOnly) {
    const Plane p;
    const int floor = p.model.contacts[0].row;
    const auto below = [&](double height) {
        return [height](const Box& q) {
            BoxTest t;
            t.proved = q[1].hi < height;
            t.undecided = q;
            t.side = width(q[0]) > width(q[1]) ? 0 : 1;
            return t;
        };
    };
    const std::vector<Box> boxes{{Interval(-3.0, 3.0), Interval(-1.0, 5.0)}};
    EXPECT_TRUE(prove_on(p.set, boxes, {floor}, inf, p.scale, below(0.2001), 20'000).proved);
    EXPECT_FALSE(prove_on(p.set, boxes, {floor}, inf, p.scale, below(0.1999), 20'000).proved);
    EXPECT_FALSE(prove_on(p.set, boxes, {}, inf, p.scale, below(0.2001), 2000).proved);
}

TEST(Covers, TheMinimumIsBelowEverySampledValueAndSharp) {
    const Plane p;
    Random random(4);
    for (int k = 0; k < 30; ++k) {
        const Statement s{random.uniform(1.1, 2.0), random.uniform(0.5, 2.0), random.uniform(0.5, 2.0)};
        const Box box{random.interval(1.0, 1.0), random.interval(1.0, 1.0)};
        const double cap = random.uniform(0.5, 3.0), tolerance = 1e-3;
        const CoverMinimum least = least_over(
            p.set, {box}, {}, cap, p.scale, [&](const Box& q) { return s.over(q).lo; },
            [&](const Box& q) { return s.over(q).hi; },
            [&](const Box& q) { return spread_of(IntervalVector{s.over(q)}); }, 200'000, tolerance);
        double sampled = inf;
        for (int sample = 0; sample < 3000; ++sample) {
            const std::vector<double> q = random.point(box);
            if (Plane::gap(q) >= 0.0 && Plane::U(q) <= cap) sampled = std::min(sampled, s.at(q));
        }
        EXPECT_LE(least.lower, sampled);
        if (!std::isfinite(sampled)) continue;
        EXPECT_TRUE(least.settled);
        EXPECT_LE(least.upper - least.lower, tolerance * least.lower);
    }
}

TEST(Covers, AnEmptySetHasAnInfiniteMinimum) {
    const Plane p;
    const CoverMinimum least = least_level(p.set, {{Interval(-1.0, 1.0), Interval(-3.0, -1.0)}}, p.scale, 1000);
    EXPECT_EQ(least.lower, inf);
    EXPECT_TRUE(least.settled);
}

TEST(Covers, TheLeastLevelOfTheDoubleWellIsThatOfItsMinima) {
    // On the floor: U = (x² − 1)² + cos(2x)/5; the least level over the face x = 0 is 1 + 1/5.
    const Plane p;
    const CoverMinimum pass = least_level(p.set, {{Interval(0.0), Interval(-5.0, 5.0)}}, p.scale, 10'000);
    EXPECT_TRUE(pass.settled);
    EXPECT_NEAR(pass.lower, 1.2, 1e-12);
    EXPECT_LE(pass.lower, 1.2 + 1e-15);
}

TEST(Covers, TheDecisiveSideIsTheOneThatNarrowsTheResultMost) {
    const std::vector<double> scale{1.0, 1.0};
    const Box box{Interval(0.0, 1.0), Interval(0.0, 4.0)};
    EXPECT_EQ(decisive_side(box, scale, [](const Box& q) { return 10.0 * width(q[0]) + width(q[1]); }), 0U);
    EXPECT_EQ(decisive_side(box, scale, [](const Box& q) { return width(q[0]) + 10.0 * width(q[1]); }), 1U);
    EXPECT_EQ(decisive_side(box, scale, [](const Box&) { return 1.0; }), 1U);  // none helps: the widest
    EXPECT_EQ(decisive_side({Interval(0.0, 1.0), Interval(3.0)}, scale, [](const Box&) { return 1.0; }), 0U);
}

TEST(Covers, TheSpreadGrowsWithTheWidthsAndCountsUnboundedIntervalsAsOne) {
    EXPECT_EQ(spread_of(IntervalVector{Interval(1.0), Interval(-2.0)}), 0.0);
    EXPECT_NEAR(spread_of(IntervalVector{Interval(0.0, 1.0)}), 0.5, 1e-15);
    EXPECT_EQ(spread_of(IntervalVector{Interval(0.0, inf)}), 1.0);
    IntervalMatrix A(1, 2);
    A(0, 1) = Interval(0.0, 3.0);
    EXPECT_NEAR(spread_of(A), 0.75, 1e-15);
    ForceSet forces;
    forces.loads = {{Interval(0.0, 1.0)}};
    forces.sliders = {{{{{Interval(0.0, 1.0)}}}}};
    forces.cones = {{{Interval(0.0, 1.0)}, {{{{Interval(0.0, 1.0)}}}}}};
    EXPECT_NEAR(spread_of(forces), 2.0, 1e-15);
}

}  // namespace
}  // namespace saltus::proof::cover_test
