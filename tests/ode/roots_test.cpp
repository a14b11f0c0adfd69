// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "saltus/ode/roots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "allocations.hpp"
#include "problems.hpp"
#include "saltus/ode/explicit.hpp"

namespace saltus::ode::roots_test {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

struct Found {
    RootStatus status;
    std::vector<Root> roots;
    int evaluations = 0;

    std::vector<int> directions() const {
        std::vector<int> list;
        for (const Root& root : roots) list.push_back(root.direction);
        return list;
    }
};

template <class F>
Found find(F s, double a, double b, const RootSearch& search = {}) {
    Found found;
    const auto counted = [&](double t) {
        ++found.evaluations;
        return s(t);
    };
    found.status = find_roots(counted, a, b, search, found.roots);
    return found;
}

/// A crossing whose bracket is as narrow as promised, with the signs it says.
template <class F>
void expect_crossing(F s, const Root& root, double t, int direction, double scale) {
    EXPECT_EQ(root.direction, direction);
    EXPECT_NEAR(root.t, t, 4 * epsilon * scale);
    EXPECT_LE(root.left, root.t);
    EXPECT_GE(root.right, root.t);
    EXPECT_LE(root.right - root.left, 4 * epsilon * scale);
    EXPECT_GT(-direction * s(root.left), 0.0);
    EXPECT_GT(direction * s(root.right), 0.0);
}

const RootSearch after_an_event{.start_counts = false, .leave = 1e-10};

// --- crossings ---------------------------------------------------------------------------------------------------

TEST(Roots, ACrossingIsFoundWithItsDirection) {
    const auto falling = [](double t) { return std::cos(t); };
    const Found found = find(falling, 0.5, 2.5);
    ASSERT_EQ(found.roots.size(), 1U);
    EXPECT_EQ(found.status, RootStatus::complete);
    expect_crossing(falling, found.roots[0], std::numbers::pi / 2, -1, 2.5);
    EXPECT_LT(found.evaluations, 25);

    const auto rising = [](double t) { return -std::cos(t); };
    expect_crossing(rising, find(rising, 0.5, 2.5).roots.at(0), std::numbers::pi / 2, 1, 2.5);
}

TEST(Roots, AFunctionFarFromZeroCostsTenEvaluations) {
    const Found found = find([](double t) { return 2.0 + std::cos(3.0 * t); }, 0.0, 1.0);
    EXPECT_TRUE(found.roots.empty());
    EXPECT_EQ(found.status, RootStatus::complete);
    EXPECT_EQ(found.evaluations, 10);
}

TEST(Roots, TwoCrossingsCloseToEachOtherInOneStep) {
    for (const double apart : {1e-2, 1e-4, 1e-6, 2e-7})
        for (const double at : {0.1, 0.37, 0.5, 0.93}) {
            const auto s = [&](double t) { return (t - at) * (t - at - apart) * (2.0 + std::sin(9.0 * t)); };
            const Found found = find(s, 0.0, 1.0);
            ASSERT_EQ(found.directions(), (std::vector<int>{-1, 1})) << apart << " at " << at;
            expect_crossing(s, found.roots[0], at, -1, 1.0);
            expect_crossing(s, found.roots[1], at + apart, 1, 1.0);
            EXPECT_EQ(found.status, RootStatus::complete);
        }
}

TEST(Roots, ThreeCrossingsCloseToEachOther) {
    const auto s = [](double t) { return (t - 0.5) * (t - 0.5001) * (t - 0.4999); };
    const Found found = find(s, 0.0, 1.0);
    ASSERT_EQ(found.directions(), (std::vector<int>{1, -1, 1}));
    expect_crossing(s, found.roots[0], 0.4999, 1, 1.0);
    expect_crossing(s, found.roots[1], 0.5, -1, 1.0);
    expect_crossing(s, found.roots[2], 0.5001, 1, 1.0);
}

TEST(Roots, AFunctionThatTurnsOftenIsResolvedWhileItMayBe) {
    const auto s = [](double t) { return std::sin(100.0 * t) - 0.3; };
    const Found found = find(s, 0.0, 1.0);
    EXPECT_EQ(found.status, RootStatus::complete);
    ASSERT_EQ(found.roots.size(), 32U);  // 100/π half waves, two crossings a wave
    for (std::size_t k = 0; k < found.roots.size(); ++k) {
        const double wave = 2.0 * std::numbers::pi * static_cast<double>(k / 2);
        const double phase = k % 2 == 0 ? std::asin(0.3) : std::numbers::pi - std::asin(0.3);
        expect_crossing(s, found.roots[k], (wave + phase) / 100.0, k % 2 == 0 ? 1 : -1, 1.0);
    }
    const Found starved = find(s, 0.0, 1.0, {.max_evaluations = 100});
    EXPECT_EQ(starved.status, RootStatus::unresolved);
    EXPECT_FALSE(usable(starved.status));
    EXPECT_LT(starved.evaluations, 600);
}

TEST(Roots, LateTimesAndFlatRootsEndToo) {
    const auto late = [](double t) { return std::sin(1e3 * t); };
    const Found found = find(late, 1000.0, 1000.002);
    ASSERT_EQ(found.roots.size(), 1U);
    expect_crossing(late, found.roots[0], 318310.0 * std::numbers::pi / 1e3, 1, 1000.0);
    const auto flat = [](double t) { return std::pow(t - 0.3, 5); };
    const Found fifth = find(flat, 0.0, 1.0);
    ASSERT_EQ(fifth.roots.size(), 1U);
    EXPECT_EQ(fifth.roots[0].direction, 1);
    EXPECT_NEAR(fifth.roots[0].t, 0.3, 4 * epsilon);
    EXPECT_LT(fifth.evaluations, 200);
}

TEST(Roots, RandomPolynomialsHaveAllTheirRoots) {
    // Degree 6 with known roots, some inside [0, 1]; none closer than 1e-4 to another or to an end.
    std::mt19937 random(11);
    std::uniform_real_distribution<double> place(-0.5, 1.5);
    int tried = 0;
    while (tried < 500) {
        std::array<double, 6> known;
        for (double& r : known) r = place(random);
        std::sort(known.begin(), known.end());
        double closest = 1.0;
        for (std::size_t i = 0; i < 6; ++i) {
            closest = std::min({closest, std::abs(known[i]), std::abs(known[i] - 1.0)});
            if (i > 0) closest = std::min(closest, known[i] - known[i - 1]);
        }
        if (closest < 1e-4) continue;
        ++tried;
        const auto s = [&](double t) {
            double product = 1.0;
            for (const double r : known) product *= t - r;
            return product;
        };
        const Found found = find(s, 0.0, 1.0);
        std::size_t k = 0;
        for (std::size_t i = 0; i < 6; ++i) {
            if (known[i] < 0.0 || known[i] > 1.0) continue;
            ASSERT_LT(k, found.roots.size());
            expect_crossing(s, found.roots[k++], known[i], (6 - i) % 2 == 0 ? -1 : 1, 1.0);
        }
        EXPECT_EQ(k, found.roots.size());
    }
}

TEST(Roots, NoCrossingOfRandomWavesIsMissed) {
    // A trend and two waves, up to four periods in the step; sign changes counted on 1000 points.
    std::mt19937 random(1);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    for (int k = 0; k < 3000; ++k) {
        const double fast = 25.0 * unit(random), slow = 0.6 * fast, phase = 6.3 * unit(random),
                     other = 6.3 * unit(random);
        const double offset = 2.4 * unit(random) - 1.2, weight = unit(random) - 0.5;
        const double trend = k % 2 == 0 ? 0.0 : 60.0 * unit(random) - 30.0;
        const auto s = [&](double t) {
            return std::cos(fast * t + phase) + weight * std::cos(slow * t + other) + offset + trend * (t - 0.5);
        };
        int changes = 0;
        bool above = s(0.0) > 0.0;
        for (int i = 1; i <= 1000; ++i) {
            changes += above != (s(i / 1000.0) > 0.0);
            above = s(i / 1000.0) > 0.0;
        }
        const Found found = find(s, 0.0, 1.0);
        ASSERT_GE(static_cast<int>(found.roots.size()), changes) << k;
        EXPECT_EQ(found.status, RootStatus::complete);
        for (std::size_t i = 1; i < found.roots.size(); ++i) EXPECT_LE(found.roots[i - 1].right, found.roots[i].left);
        for (const Root& root : found.roots) EXPECT_NEAR(s(root.t), 0.0, 64 * epsilon * 60.0);
    }
}

TEST(Roots, ANarrowWiggleOnASlopeIsNotTakenForMonotone) {
    // x³ + d (x − 1.8 e tanh(x/e)), x = t − c, crosses 0 three times within a few e of c; e is a thirtieth and more.
    std::mt19937 random(3);
    std::uniform_real_distribution<double> unit(0.0, 1.0);
    for (int k = 0; k < 5000; ++k) {
        const double c = 0.3 + 0.4 * unit(random), e = 0.03 + 0.03 * unit(random), d = 0.05 + unit(random);
        const auto s = [&](double t) {
            const double x = t - c;
            return x * x * x + d * (x - 1.8 * e * std::tanh(x / e));
        };
        ASSERT_EQ(find(s, 0.0, 1.0).directions(), (std::vector<int>{1, -1, 1})) << c << ' ' << e << ' ' << d;
    }
}

TEST(Roots, AWaveThatTheSamplesDoNotSeeIsNoticed) {
    const auto s = [](double t) {
        return std::cos(39.4472 * t + 5.4734) + 0.464161 + 0.2303285 * std::cos(23.66832 * t + 3.95504);
    };
    double least = 1.0;  // the nine samples have one sign and look smooth
    for (int j = 0; j <= 8; ++j) least = std::min(least, s(0.5 - 0.5 * std::cos(std::numbers::pi * j / 8)));
    EXPECT_GT(least, 0.0);
    EXPECT_EQ(find(s, 0.0, 1.0).roots.size(), 12U);
}

// --- touches -----------------------------------------------------------------------------------------------------

TEST(Roots, ATouchHasDirectionZeroAndTheSameSignOnBothSides) {
    const auto maximum = [](double t) { return std::cos(t - 0.7) - 1.0; };
    const auto minimum = [](double t) { return (t - 0.7) * (t - 0.7) * (1.0 + t); };
    for (const int side : {-1, 1}) {
        const auto s = [&](double t) { return side < 0 ? maximum(t) : minimum(t); };
        const Found found = find(s, 0.0, 1.3);
        ASSERT_EQ(found.directions(), std::vector<int>{0}) << side;
        EXPECT_NEAR(found.roots[0].t, 0.7, 1e-7);  // where |s| is below rounding: √eps
        EXPECT_GT(side * s(found.roots[0].left), 0.0);
        EXPECT_GT(side * s(found.roots[0].right), 0.0);
        EXPECT_GT(found.roots[0].left, 0.7 - 1e-6);
        EXPECT_LT(found.roots[0].right, 0.7 + 1e-6);
    }
}

TEST(Roots, WhatMissesZeroByMoreThanToleranceIsNoTouch) {
    const auto s = [](double t) { return (t - 0.4) * (t - 0.4) * (1.0 + t) + 1e-9; };
    EXPECT_TRUE(find(s, 0.0, 1.0).roots.empty());
    EXPECT_EQ(find(s, 0.0, 1.0, {.zero = 2e-9}).directions(), std::vector<int>{0});
}

TEST(Roots, CrossingsThatStayWithinTheToleranceAreATouch) {
    const auto s = [](double t) { return (t - 0.4) * (t - 0.401); };  // −2.5e-7 between
    EXPECT_EQ(find(s, 0.0, 1.0).directions(), (std::vector<int>{-1, 1}));
    EXPECT_EQ(find(s, 0.0, 1.0, {.zero = 1e-6}).directions(), std::vector<int>{0});
}

// --- ends --------------------------------------------------------------------------------------------------------

TEST(Roots, RootsAtBothEndsCount) {
    const auto s = [](double t) { return t * (1.0 - t); };
    const Found found = find(s, 0.0, 1.0);
    ASSERT_EQ(found.directions(), (std::vector<int>{1, -1}));
    EXPECT_EQ(found.roots[0].t, 0.0);
    EXPECT_EQ(found.roots[0].left, 0.0);
    EXPECT_GT(s(found.roots[0].right), 0.0);
    EXPECT_EQ(found.roots[1].t, 1.0);
    EXPECT_EQ(found.roots[1].right, 1.0);
    EXPECT_GT(s(found.roots[1].left), 0.0);
}

TEST(Roots, ARootAtTheStartMayBeIgnoredAndALaterOneIsFound) {
    const auto s = [](double t) { return t * (0.6 - t); };
    const Found found = find(s, 0.0, 1.0, after_an_event);
    ASSERT_EQ(found.directions(), std::vector<int>{-1});
    expect_crossing(s, found.roots[0], 0.6, -1, 1.0);
    EXPECT_TRUE(find([](double t) { return t; }, 0.0, 1.0, after_an_event).roots.empty());
    EXPECT_TRUE(find([](double t) { return -t; }, 0.0, 1.0, after_an_event).roots.empty());
    // The event was located within rounding only: s begins a little on the wrong side.
    EXPECT_TRUE(find([](double t) { return t - 1e-12; }, 0.0, 1.0, after_an_event).roots.empty());
}

TEST(Roots, AHopTooLowToBeSeenEndsWithARootWhenTheSideIsKnown) {
    // A gap that opens by 2.5e-13 after an impact and closes again after 1e-6.
    const auto s = [](double t) { return t * (1e-6 - t); };
    RootSearch search = after_an_event;
    search.side = 1;
    const Found found = find(s, 0.0, 1.0, search);
    ASSERT_EQ(found.directions(), std::vector<int>{-1});
    EXPECT_NEAR(found.roots[0].t, 1e-6, 1e-15);
    // One that does not open at all: at once.
    const Found sinking = find([](double t) { return -t * t; }, 0.0, 1.0, search);
    ASSERT_EQ(sinking.directions(), std::vector<int>{-1});
    EXPECT_EQ(sinking.roots[0].t, 0.0);
    // One that opens as expected: nothing.
    EXPECT_TRUE(find([](double t) { return t * t; }, 0.0, 1.0, search).roots.empty());
}

TEST(Roots, ACrossingInTheLastRoundingOfTheStepIsNotLost) {
    // Seen from the step before or from the one after, at least once.
    for (int k = -6; k <= 6; ++k) {
        const double root = 1.0 + k * epsilon;
        const auto s = [&](double t) { return std::sin(root - t); };
        const std::size_t before = find(s, 0.0, 1.0).roots.size(), after = find(s, 1.0, 3.0).roots.size();
        EXPECT_GE(before + after, 1U) << k;
    }
}

TEST(Roots, ZeroThroughoutIsOneRootAtTheStartOrNone) {
    const auto s = [](double) { return 0.0; };
    const Found found = find(s, 2.0, 3.0);
    ASSERT_EQ(found.directions(), std::vector<int>{0});
    EXPECT_EQ(found.roots[0].t, 2.0);
    EXPECT_TRUE(find(s, 2.0, 3.0, after_an_event).roots.empty());
    EXPECT_EQ(found.status, RootStatus::complete);
}

TEST(Roots, AStepOfAFewRoundingsIsSearched) {
    const double a = 1.0, b = 1.0 + 8 * epsilon;
    const auto s = [](double t) { return (t - 1.0) / epsilon - 3.5; };
    const Found found = find(s, a, b);
    ASSERT_EQ(found.directions(), std::vector<int>{1});
    EXPECT_GE(found.roots[0].left, a);
    EXPECT_LE(found.roots[0].right, b);
}

// --- noise and failure -----------------------------------------------------------------------------------------------

TEST(Roots, NoiseBelowTheToleranceMakesNoRoots) {
    std::mt19937 random(5);
    std::uniform_real_distribution<double> noise(-1e-14, 1e-14);
    for (int k = 0; k < 200; ++k) {
        const RootSearch search{.zero = 1e-14};
        const Found crossing = find([&](double t) { return (t - 0.4) * 0.01 + noise(random); }, 0.0, 1.0, search);
        ASSERT_EQ(crossing.directions(), std::vector<int>{1});
        EXPECT_EQ(crossing.status, RootStatus::complete);
        EXPECT_NEAR(crossing.roots[0].t, 0.4, 2e-12);
        const Found touch = find([&](double t) { return (t - 0.4) * (t - 0.4) + noise(random); }, 0.0, 1.0, search);
        ASSERT_LE(touch.roots.size(), 1U);  // noise decides whether it touches
        EXPECT_EQ(touch.status, RootStatus::complete);
        EXPECT_LT(touch.evaluations, 300);
        const Found nothing =
            find([&](double) { return noise(random); }, 0.0, 1.0, {.zero = 1e-14, .start_counts = false});
        EXPECT_TRUE(nothing.roots.empty());
        EXPECT_LE(nothing.evaluations, 10 + 7);  // the extrema of a polynomial of degree 8
    }
}

TEST(Roots, NoiseAboveTheToleranceIsSaidAndHasAnEnd) {
    std::mt19937 random(6);
    std::uniform_real_distribution<double> noise(-1e-9, 1e-9);
    const Found found = find([&](double) { return noise(random); }, 0.0, 1.0, {.max_evaluations = 1000});
    EXPECT_EQ(found.status, RootStatus::unresolved);
    EXPECT_LT(found.evaluations, 1200 + 60 * static_cast<int>(found.roots.size()));
}

TEST(Roots, WhatIsNotFiniteEndsTheSearchThere) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto s = [&](double t) { return t > 0.5 ? nan : t - 0.3; };
    const Found found = find(s, 0.0, 1.0);
    EXPECT_EQ(found.status, RootStatus::non_finite);
    ASSERT_EQ(found.directions(), std::vector<int>{1});
    EXPECT_NEAR(found.roots[0].t, 0.3, 4 * epsilon);

    const Found none = find([&](double) { return nan; }, 0.0, 1.0);
    EXPECT_EQ(none.status, RootStatus::non_finite);
    EXPECT_TRUE(none.roots.empty());
    EXPECT_LT(none.evaluations, 2000);

    const Found pole = find([](double t) { return t == 0.5 ? 1.0 / 0.0 : 1.0; }, 0.0, 1.0);
    EXPECT_EQ(pole.status, RootStatus::non_finite);
}

// --- on dense output ---------------------------------------------------------------------------------------------

TEST(Roots, EventsOnDenseOutputAreAsAccurateAsTheIntegration) {
    // y = 0 of Kepler's problem: apocentre at π, pericentre at 2π.
    const test::Kepler kepler;
    for (const double tolerance : {1e-8, 1e-12}) {
        Explicit method(4, {tolerance, tolerance});
        method.start({test::Kepler::f}, 0.0, kepler.solution(0.0));
        Dense dense;
        std::vector<double> times;
        std::vector<Root> roots;
        bool first = true;
        while (method.t() < 7.0) {
            ASSERT_EQ(method.step({test::Kepler::f}, 7.0), StepStatus::accepted);
            ASSERT_TRUE(method.dense({test::Kepler::f}, dense));
            const auto y = [&](double t) { return dense.component(1, t); };
            const RootSearch search{.zero = 1e-15, .start_counts = !first, .leave = 1e-12, .side = 1};
            ASSERT_EQ(find_roots(y, dense.t_old(), dense.t_new(), search, roots), RootStatus::complete);
            for (const Root& root : roots) times.push_back(root.t);
            first = false;
        }
        ASSERT_EQ(times.size(), 2U);
        EXPECT_NEAR(times[0], std::numbers::pi, 100 * tolerance);
        EXPECT_NEAR(times[1], 2.0 * std::numbers::pi, 200 * tolerance);
    }
}

TEST(Roots, SearchingAllocatesNothingOnceTheListHasRoom) {
    std::vector<Root> roots;
    roots.reserve(8);
    const auto s = [](double t) { return (t - 0.37) * (t - 0.370001); };
    const std::size_t before = saltus::test::allocations();
    for (int k = 0; k < 10; ++k) find_roots(s, 0.0, 1.0, {}, roots);
    EXPECT_EQ(saltus::test::allocations() - before, 0U);
    EXPECT_EQ(roots.size(), 2U);
}

}  // namespace
}  // namespace saltus::ode::roots_test
