// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/limit.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace saltus::sensitivity::limit_test {
namespace {

/// A geometric sequence of impacts: first, first + S₁, …; the lengths of the cycle repeat with the ratio e.
struct Bounces {
    std::vector<double> cycle;
    double first, e;

    double time(int n) const {
        double t = first;
        for (int k = 0; k < n; ++k) {
            const auto p = static_cast<int>(cycle.size());
            t += cycle[static_cast<std::size_t>(k % p)] * std::pow(e, k / p);
        }
        return t;
    }
    double limit() const {
        double sum = 0.0;
        for (const double s : cycle) sum += s;
        return first + sum / (1.0 - e);
    }
};

constexpr int count = 12;

AccumulationLimits reported(const Bounces& b) {
    AccumulationLimits limits(2);
    for (int n = 0; n < count; ++n) limits.impact(1, b.time(n), static_cast<std::size_t>(100 + n));
    return limits;
}

trajectory::Event accumulation_at(double t) {
    trajectory::Event event;
    event.kind = trajectory::EventKind::accumulation;
    event.t = t;
    event.elements = {1};
    return event;
}

/// Σ weight · f(number of the impact).
template <class F>
double combined(const TimeCombination& weights, F f) {
    double sum = 0.0;
    for (const auto& [change, weight] : weights) sum += weight * f(static_cast<int>(change) - 100);
    return sum;
}

TEST(AccumulationLimit, OfABouncingBallHasTheClosedFormDerivatives) {
    // First impact at t₁ with the speed v: flights 2 e v/g, 2 e² v/g, …; t_∞ = t₁ + (2 v/g) e/(1 − e)
    const double v = 3.0, g = 9.81, e = 0.6, t1 = 0.3;
    const Bounces ball{{2.0 * e * v / g}, t1, e};
    ASSERT_NEAR(ball.limit(), t1 + 2.0 * v / g * e / (1.0 - e), 1e-14);
    const TimeCombination weights = reported(ball).weights(accumulation_at(ball.limit()));
    ASSERT_EQ(weights.size(), 3U);
    EXPECT_NEAR(combined(weights, [](int) { return 1.0; }), 1.0, 1e-10);
    // δt_n by v: (2/g)(e + … + eⁿ); by e: (2v/g)(1 + 2e + … + n eⁿ⁻¹)
    const auto by_v = [&](int n) {
        double sum = 0.0;
        for (int k = 1; k <= n; ++k) sum += 2.0 / g * std::pow(e, k);
        return sum;
    };
    const auto by_e = [&](int n) {
        double sum = 0.0;
        for (int k = 1; k <= n; ++k) sum += 2.0 * v / g * k * std::pow(e, k - 1);
        return sum;
    };
    EXPECT_NEAR(combined(weights, by_v), 2.0 / g * e / (1.0 - e), 1e-9);
    EXPECT_NEAR(combined(weights, by_e), 2.0 * v / g / ((1.0 - e) * (1.0 - e)), 1e-9);
}

TEST(AccumulationLimit, OfCyclesOfTwoImpactsUsesWholeCycles) {
    const Bounces b{{0.5, 0.2}, 1.0, 0.4};
    const TimeCombination weights = reported(b).weights(accumulation_at(b.limit()));
    ASSERT_EQ(weights.size(), 3U);
    EXPECT_EQ(weights[0].first, 100U + count - 1);
    EXPECT_EQ(weights[1].first, 100U + count - 3);
    EXPECT_EQ(weights[2].first, 100U + count - 5);
    // A factor on all lengths moves impact n by t_n − t₀, and the limit by t_∞ − t₀.
    EXPECT_NEAR(combined(weights, [&](int n) { return b.time(n) - b.first; }), b.limit() - b.first, 1e-9);
}

TEST(AccumulationLimit, HasNoDerivativeWhenNoCycleExplainsIt) {
    const Bounces b{{0.5}, 0.0, 0.5};
    EXPECT_TRUE(reported(b).weights(accumulation_at(b.limit() + 0.01)).empty());
    AccumulationLimits growing(2);
    for (int n = 0; n < count; ++n) growing.impact(1, std::pow(1.5, n), static_cast<std::size_t>(n));
    EXPECT_TRUE(growing.weights(accumulation_at(100.0)).empty());
}

}  // namespace
}  // namespace saltus::sensitivity::limit_test
