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
            if (auto limit = a.impact(t, 0, speed, negligible)) return limit;
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
        EXPECT_FALSE(limit->irregular);
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
            for (int k = 0; k < 200 && !limit; ++k, rest *= R) limit = a.impact(T * (1.0 - rest), 0, rest, 1e-12);
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
        limit = a.impact(t, 0, size, 1e-8);
        t += k % 2 == 0 ? size : 0.3 * size;
        if (k % 2 == 1) size *= 0.6;
    }
    ASSERT_TRUE(limit);
    EXPECT_NEAR(limit->t, 1.3 / (1.0 - 0.6), 1e-7);
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
    EXPECT_FALSE(a.impact(ball.t, 0, 0.0, 1.0)) << "no separation";
    for (int k = 0; k < 4; ++k) EXPECT_FALSE(a.impact(10.0 + 1.0 - std::pow(0.5, k), 0, 1e-9, 1.0)) << k;
    const auto limit = a.impact(10.0 + 1.0 - std::pow(0.5, 4), 0, 1e-9, 1.0);
    ASSERT_TRUE(limit);
    EXPECT_NEAR(limit->t, 11.0, 1e-12);
    EXPECT_EQ(limit->impacts, 5) << "those before are forgotten";
}

TEST(Accumulation, AContactThatStrikesAlongComesToRestWithIt) {
    Accumulation a(3);
    std::optional<Accumulation::Limit> limit;
    double t = 0.0, size = 1.0;
    for (int k = 0; k < 100 && !limit; ++k) {
        EXPECT_FALSE(a.impact(t, 1, 0.1 * size, 1e-300));
        limit = a.impact(t, 0, size, 1e-8);
        t += size;
        size *= 0.5;
    }
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->elements, (std::vector<int>{0, 1})) << "the third has not struck";
}

TEST(Accumulation, IrregularImpactsEndWhenTheirMotionIsNegligible) {
    Accumulation a(1);
    double t = 0.0;
    std::optional<Accumulation::Limit> limit;
    int impacts = 0;
    for (; impacts < 40 && !limit; ++impacts) {
        limit = a.impact(t, 0, 1e-9, 1e-9);
        t += impacts % 3 == 0 ? 0.02 : 0.01 + 0.001 * (impacts % 5);
    }
    ASSERT_TRUE(limit);
    EXPECT_EQ(limit->impacts, impacts);
    EXPECT_EQ(impacts, 21) << "twenty intervals are asked for";
    EXPECT_TRUE(limit->irregular) << "the sequence has no limit";
}

}  // namespace

}  // namespace saltus::integrate::accumulation_test
