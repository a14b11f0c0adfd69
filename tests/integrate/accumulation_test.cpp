// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/detail/accumulation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace saltus::integrate::accumulation_test {

namespace {

/// Impacts of a ball that bounces with restitution e: intervals and speeds shrink by e. Returns the first limit.
struct Bounces {
    double t = 0.0, interval = 1.0, speed = 5.0;
    std::optional<Accumulation::Limit> until_limit(Accumulation& a, double e, double negligible, int most = 200) {
        for (int k = 0; k < most; ++k) {
            if (auto limit = a.impact(t, 0, speed, {negligible})) return limit;
            t += interval;
            interval *= e;
            speed *= e;
        }
        return {};
    }
};

TEST(Accumulation, AGeometricSeriesEndsAtItsSum) {
    for (const double e : {0.5, 0.8, 0.95}) {
        Accumulation a(1);
        Bounces ball;
        const auto limit = ball.until_limit(a, e, 1e-9, 1000);
        ASSERT_TRUE(limit) << e;
        EXPECT_NEAR(limit->t, 1.0 / (1.0 - e), 1e-9);
        EXPECT_EQ(limit->elements, std::vector<int>{0});
        EXPECT_EQ(limit->kind, Accumulation::Limit::Kind::regular);
        // It is given as soon as speed × remaining time is negligible, and not before.
        const double remaining = limit->t - ball.t;
        EXPECT_LE(ball.speed * remaining, 1.0001e-9);
        EXPECT_GT(ball.speed * remaining / (e * e), 0.9999e-9);
    }
}

TEST(Accumulation, TheLimitIsNotBeforeTheSumOfTheSeriesDespiteRounding) {
    // Impacts at T(1 − R^k/2), rounded. A limit before T would lie among infinitely many impacts.
    for (const double R : {0.1, 0.25, 0.5, 0.8})
        for (int i = 1; i <= 400; ++i) {
            const double T = 0.037 * i;
            Accumulation a(1);
            std::optional<Accumulation::Limit> limit;
            double rest = 0.5;
            for (int k = 0; k < 200 && !limit; ++k, rest *= R) limit = a.impact(T * (1.0 - rest), 0, rest, {1e-12});
            ASSERT_TRUE(limit) << T;
            EXPECT_GE(limit->t, T) << R;
            EXPECT_LE(limit->t, T * (1.0 + 1e-12)) << R;
        }
}

TEST(Accumulation, ImpactsInACycleOfTwoHaveALimit) {
    // Long and short intervals by turns, each shrinking by R = 0.6 over the cycle: sum (1 + 0.3)/(1 − R).
    Accumulation a(1);
    double t = 0.0, size = 1.0;
    std::optional<Accumulation::Limit> limit;
    for (int k = 0; k < 200 && !limit; ++k) {
        limit = a.impact(t, 0, size, {1e-8});
        t += k % 2 == 0 ? size : 0.3 * size;
        if (k % 2 == 1) size *= 0.6;
    }
    ASSERT_TRUE(limit);
    EXPECT_NEAR(limit->t, 1.3 / (1.0 - 0.6), 1e-7);
}

TEST(Accumulation, ImpactsThatKeepTheirSpeedWhileTheirIntervalsShrinkDoNotComeToRest) {
    // Intervals shrink by 0.5. Speeds shrink as fast, which is a ball that falls back, or stay.
    for (const double slowing : {0.5, 0.8, 1.0}) {
        Accumulation a(1);
        double t = 0.0, interval = 1.0, speed = 5.0;
        std::optional<Accumulation::Limit> limit;
        for (int k = 0; k < 200 && !limit; ++k) {
            limit = a.impact(t, 0, speed, {1e-12});
            t += interval;
            interval *= 0.5;
            speed *= slowing;
        }
        ASSERT_TRUE(limit) << slowing;
        EXPECT_EQ(limit->slows_down, slowing == 0.5) << slowing;
    }
}

TEST(Accumulation, EqualIntervalsHaveNoLimit) {
    Accumulation a(1);
    Bounces ball;
    EXPECT_FALSE(ball.until_limit(a, 1.0, 1e-3));
}

TEST(Accumulation, GrowingIntervalsHaveNoLimit) {
    Accumulation a(1);
    Bounces ball;
    EXPECT_FALSE(ball.until_limit(a, 1.2, 1e-3, 60));
}

TEST(Accumulation, AContactThatDoesNotSeparateStartsAgain) {
    Accumulation a(1);
    Bounces ball;
    EXPECT_FALSE(ball.until_limit(a, 0.5, 1e-300, 10));
    EXPECT_FALSE(a.impact(ball.t, 0, 0.0, {1.0})) << "no separation";
    for (int k = 0; k < 4; ++k) EXPECT_FALSE(a.impact(10.0 + 1.0 - std::pow(0.5, k), 0, 1e-9, {1.0})) << k;
    const auto limit = a.impact(10.0 + 1.0 - std::pow(0.5, 4), 0, 1e-9, {1.0});
    ASSERT_TRUE(limit);
    EXPECT_NEAR(limit->t, 11.0, 1e-12);
    EXPECT_EQ(limit->impacts, 5) << "those before are forgotten";
}

TEST(Accumulation, AContactThatStrikesAlongComesToRestWithIt) {
    Accumulation a(3);
    std::optional<Accumulation::Limit> limit;
    double t = 0.0, size = 1.0;
    for (int k = 0; k < 100 && !limit; ++k) {
        EXPECT_FALSE(a.impact(t, 1, 0.1 * size, {1e-300}));
        limit = a.impact(t, 0, size, {1e-8});
        t += size;
        size *= 0.5;
    }
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->elements, (std::vector<int>{0, 1})) << "the third has not struck";
}

/// Impacts of one contact. The intervals are `interval(k)`, and each impact has the speed 1e-7 m/s. Returns the first
/// limit of `most` impacts; they begin at t = 1 s.
template <class Interval>
std::optional<Accumulation::Limit> limit_of(Interval interval, const Accumulation::Negligible& negligible, int most) {
    Accumulation a(1);
    double t = 1.0;
    for (int k = 0; k < most; ++k) {
        if (auto limit = a.impact(t, 0, 1e-7, negligible)) return limit;
        t += interval(k);
    }
    return {};
}

TEST(Accumulation, ImpactsThatShrinkWithoutACycleHaveAnEstimatedLimit) {
    // Long and short intervals in no cycle. Over ten of them they shrink by 0.9^10 on average.
    Accumulation a(1);
    double t = 0.0, size = 1e-6;
    std::optional<Accumulation::Limit> limit;
    for (int k = 0; k < 400 && !limit; ++k) {
        limit = a.impact(t, 0, size, {1e-12, 0.0, 1.0});
        if (limit) break;
        t += size * (0.7 + 0.6 * std::fmod(0.618 * k * k, 1.0));  // no two cycles are alike
        size *= 0.9;
    }
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->kind, Accumulation::Limit::Kind::estimated);
    EXPECT_GT(limit->t, t) << "the impacts are not over";
    EXPECT_LT(limit->t - t, 20.0 * size) << "the rest of the series is about 10 size";
    EXPECT_LE(limit->motion, 1e-12) << "what is left out is below the resolution";
}

TEST(Accumulation, ImpactsThatDoNotShrinkAreUnendingAndAreFollowedAsLongAsTheyCanBeSeen) {
    const auto equal = [](int k) { return k % 10 < 3 ? 2e-8 : 1e-8; };
    // Twenty intervals of 1.3e-8 s on average at 1e-7 m/s are 2.6e-14 m.
    const auto limit = limit_of(equal, {1e-12, 1e-6, 0.0}, 40);
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->kind, Accumulation::Limit::Kind::unending);
    EXPECT_NEAR(limit->motion, 2.6e-14, 1e-18);
    EXPECT_FALSE(limit_of(equal, {1e-13, 1e-6, 0.0}, 400)) << "more than a tenth of the resolution";
}

TEST(Accumulation, ImpactsThatGrowAreFollowed) {
    double interval = 1e-9;
    EXPECT_FALSE(limit_of([&](int) { return interval *= 1.05; }, {1e-12, 1e-6, 0.0}, 100));
}

TEST(Accumulation, AFastSequenceInOneInstantIsNotALimit) {
    // Beads that collide many times within 1e-15 s, and separate again: their speeds are not small.
    Accumulation a(1);
    for (int k = 0; k < 60; ++k) EXPECT_FALSE(a.impact(1.0 + 1e-16 * k, 0, 0.3, {1e-12, 1e-9, 10.0})) << k;
    // With small speeds it is.
    std::optional<Accumulation::Limit> limit;
    double speed = 0.3;
    for (int k = 0; k < 100 && !limit; ++k) limit = a.impact(1.0 + 1e-14, 0, speed *= 0.7, {1e-12, 1e-9, 10.0});
    ASSERT_TRUE(limit);
    EXPECT_LE(speed, 1e-9);
}

}  // namespace

}  // namespace saltus::integrate::accumulation_test
