// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/polynomial.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace saltus::ode::polynomial_test {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

/// Coefficients of factor · Π (θ − r).
std::vector<double> from_roots(const std::vector<double>& roots, double factor) {
    std::vector<double> c{factor};
    for (const double r : roots) {
        c.push_back(0.0);
        for (std::size_t k = c.size() - 1; k > 0; --k) c[k] = c[k - 1] - r * c[k];
        c[0] *= -r;
    }
    return c;
}

double size_of(const std::vector<double>& c) {
    double sum = 0.0;
    for (const double value : c) sum += std::abs(value);
    return sum;
}

TEST(FirstCrossing, FindsTheTimeOfFlightOfABall) {
    // s = v θ − g θ²/2 starts at zero, rises, and comes back at θ = 2v/g.
    const std::vector<double> c{0.0, 3.0, -4.905};
    const auto found = first_crossing(c, 0.0);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->theta, 3.0 / 4.905, 4.0 * eps);
    EXPECT_GE(found->after, found->theta);
    EXPECT_LT(polynomial(c, found->after), 0.0);
}

TEST(FirstCrossing, IsAbsentIfThePolynomialStaysPositive) {
    EXPECT_FALSE(first_crossing(std::vector<double>{1.0, -4.0, 4.1}, 0.0).has_value());
    EXPECT_FALSE(first_crossing(std::vector<double>{1e-3}, 0.0).has_value());
    EXPECT_FALSE(first_crossing(std::vector<double>{0.0, 0.0, 0.0}, 0.0).has_value());
}

TEST(FirstCrossing, TakesATouchWithinTheNoiseForNoCrossing) {
    // (2θ − 1)² + d
    for (const double d : {1e-9, 1e-15, 0.0, -1e-15})
        EXPECT_FALSE(first_crossing(std::vector<double>{1.0 + d, -4.0, 4.0}, 1e-14).has_value()) << d;
    const auto found = first_crossing(std::vector<double>{1.0 - 1e-10, -4.0, 4.0}, 1e-14);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->theta, 0.5 - 0.5e-5, 1e-10);
}

TEST(FirstCrossing, FindsADipAThousandthOfTheStepWide) {
    // Positive at both ends and at the middle, negative between 0.7 and 0.701 only.
    const std::vector<double> c = from_roots({0.7, 0.701, 2.0, 3.0}, 1.0);
    const auto found = first_crossing(c, 0.0);
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->theta, 0.7, 1e-11);
}

TEST(FirstCrossing, IsAtTheStartIfThePolynomialIsNegativeThere) {
    const auto found = first_crossing(std::vector<double>{-1e-3, 1.0}, 1e-12);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->theta, 0.0);
}

TEST(FirstCrossing, FindsRootsOfOddOrderToTheAccuracyThatTheNoiseAllows) {
    for (const int order : {3, 5}) {
        const std::vector<double> c = from_roots(std::vector<double>(static_cast<std::size_t>(order), 0.4), -1.0);
        const auto found = first_crossing(c, 0.0);
        ASSERT_TRUE(found.has_value()) << order;
        const double blur = std::pow(64.0 * eps * size_of(c), 1.0 / order);
        EXPECT_NEAR(found->theta, 0.4, blur) << order;
        EXPECT_LT(polynomial(c, found->after), 0.0) << order;
    }
}

/// Random polynomials with known real roots: the first root of odd order from + to − is the answer.
TEST(FirstCrossing, AgreesWithKnownRootsOfRandomPolynomials) {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    int found_count = 0;
    for (int round = 0; round < 20000; ++round) {
        std::vector<double> roots;
        const int count = 1 + static_cast<int>(6.0 * uniform(random));
        for (int k = 0; k < count; ++k) roots.push_back(-0.5 + 2.0 * uniform(random));
        std::sort(roots.begin(), roots.end());
        bool separate = true;
        for (std::size_t k = 1; k < roots.size(); ++k) separate = separate && roots[k] - roots[k - 1] > 1e-4;
        for (const double r : roots) separate = separate && std::abs(r) > 1e-4 && std::abs(r - 1.0) > 1e-4;
        if (!separate) continue;
        // Complex pairs (θ − a)² + b² keep the sign.
        std::vector<double> c = from_roots(roots, uniform(random) < 0.5 ? -1.0 : 1.0);
        for (int pair = 0; pair < static_cast<int>(4.0 * uniform(random)); ++pair) {
            const double a = uniform(random), b = std::pow(10.0, -2.0 * uniform(random));
            std::vector<double> product(c.size() + 2, 0.0);
            for (std::size_t k = 0; k < c.size(); ++k) {
                product[k] += (a * a + b * b) * c[k];
                product[k + 1] -= 2.0 * a * c[k];
                product[k + 2] += c[k];
            }
            c = product;
        }
        const auto crossing = first_crossing(c, 0.0);
        double expected = 2.0;
        if (polynomial(c, 0.0) < 0.0) expected = 0.0;
        for (const double r : roots) {
            if (r <= 0.0 || r >= 1.0 || expected < 2.0) continue;
            if (polynomial(c, r - 2e-5) > 0.0 && polynomial(c, r + 2e-5) < 0.0) expected = r;
        }
        // Dips that rounding hides are no crossings: skip polynomials whose values near the roots are that small.
        double deepest = 0.0;
        for (const double r : roots)
            if (r > 0.0 && r < 1.0) deepest = std::max(deepest, std::abs(polynomial(c, r + 2e-5)));
        const double rounding = 64.0 * eps * size_of(c);
        if (expected > 1.0) {
            if (crossing) {
                EXPECT_LT(polynomial(c, crossing->after), rounding) << round;
            }
            continue;
        }
        if (expected > 0.0 && deepest < 1e3 * rounding) continue;
        ASSERT_TRUE(crossing.has_value()) << round;
        EXPECT_NEAR(crossing->theta, expected, 1e-6) << round;
        EXPECT_NEAR(polynomial(c, crossing->theta), expected == 0.0 ? c[0] : 0.0, rounding) << round;
        ++found_count;
    }
    EXPECT_GT(found_count, 5000);
}

/// Against dense sampling: whatever a fine grid finds below −noise must be found, at or before the grid point.
TEST(FirstCrossing, MissesNothingThatAFineGridFinds) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    for (int round = 0; round < 3000; ++round) {
        std::vector<double> c(2 + static_cast<std::size_t>(round % 23));
        for (std::size_t k = 0; k < c.size(); ++k) c[k] = normal(random) * std::pow(0.9, static_cast<double>(k));
        c[0] = std::abs(c[0]);
        const double noise = 1e-12;
        const auto crossing = first_crossing(c, noise);
        double sampled = 2.0;
        for (int k = 0; k <= 2000 && sampled > 1.0; ++k)
            if (polynomial(c, k / 2000.0) < -1e-9) sampled = k / 2000.0;
        if (sampled <= 1.0) {
            ASSERT_TRUE(crossing.has_value()) << round;
            EXPECT_LE(crossing->theta, sampled) << round;
        }
        if (crossing) {
            EXPECT_LE(polynomial(c, crossing->after), 0.0) << round;
            for (int k = 0; k < 200; ++k) EXPECT_GE(polynomial(c, crossing->theta * k / 200.0), -1e-11) << round;
        }
    }
}

/// s = factor · (θ + a)(r − θ) Π (1 + b_k θ) bends downwards for small b. It has the one zero r behind 0, and starts at
/// zero or above it.
TEST(FirstPossibleCrossing, IsTheSecondZeroOfAnArch) {
    std::mt19937_64 random(3);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int round = 0; round < 3000; ++round) {
        const double a = round % 2 == 0 ? 0.0 : uniform(random), r = 0.02 + 1.5 * uniform(random);
        const double factor = std::pow(10.0, 6.0 * uniform(random) - 3.0);
        std::vector<double> c{factor * a * r, factor * (r - a), -factor};
        for (int k = 0; k < round % 9; ++k) {
            const double b = 0.2 * (uniform(random) - 0.5);
            c.push_back(0.0);
            for (std::size_t j = c.size() - 1; j > 0; --j) c[j] += b * c[j - 1];
        }
        const double rounding = evaluation_noise(c);
        for (const double noise : {0.0, 100.0 * rounding}) {
            const auto possible = first_possible_crossing(c, noise);
            const auto certain = first_crossing(c, noise);
            if (std::abs(r - 1.0) < 1e-3) continue;
            ASSERT_EQ(possible.has_value(), r < 1.0) << round;
            ASSERT_EQ(certain.has_value(), r < 1.0) << round;
            if (r > 1.0) continue;
            const double slope = factor * (r + a);  // of the parabola at its zero; the other factors are near 1
            EXPECT_NEAR(possible->at.theta, r, 8.0 * rounding / slope + 4.0 * eps) << round;
            EXPECT_NEAR(certain->theta, r, 8.0 * rounding / slope + 4.0 * eps) << round;
            EXPECT_LE(polynomial(c, possible->at.after), -noise) << round;
            EXPECT_EQ(possible->rounded, noise == 0.0) << round;
            EXPECT_FALSE(possible->touch) << round;
        }
    }
}

TEST(FirstPossibleCrossing, OfAFallingPolynomialIsItsZero) {
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> uniform(0.0, 1.0);
    for (int round = 0; round < 3000; ++round) {
        // Falls from `start` with negative coefficients only, and ends at `end`.
        const double start = std::pow(10.0, 4.0 * uniform(random) - 2.0), end = start * (1.0 - 2.0 * uniform(random));
        std::vector<double> c(2 + static_cast<std::size_t>(round % 14));
        double sum = 0.0;
        for (std::size_t k = 1; k < c.size(); ++k) sum += c[k] = 0.1 + uniform(random);
        for (std::size_t k = 1; k < c.size(); ++k) c[k] *= (end - start) / sum;
        c[0] = start;
        const auto found = first_possible_crossing(c, 0.0);
        if (std::abs(end) < 1e-9 * start) continue;
        ASSERT_EQ(found.has_value(), end < 0.0) << round;
        if (!found) continue;
        EXPECT_NEAR(polynomial(c, found->at.theta), 0.0, evaluation_noise(c)) << round;
        EXPECT_FALSE(found->touch) << round;
    }
}

/// A parabola whose lowest point is at zero up to d, which is less than rounding errors.
TEST(FirstPossibleCrossing, ReportsATouchThatRoundingLeavesOpen) {
    for (const double d : {0.0, 1e-17, -1e-17}) {
        const auto found = first_possible_crossing(std::vector<double>{1.0 + d, -4.0, 4.0}, 0.0);
        ASSERT_TRUE(found.has_value()) << d;
        EXPECT_TRUE(found->touch) << d;
        EXPECT_NEAR(found->at.theta, 0.5, 1e-6) << d;
    }
    EXPECT_FALSE(first_possible_crossing(std::vector<double>{1.0 + 1e-9, -4.0, 4.0}, 0.0).has_value());
}

}  // namespace
}  // namespace saltus::ode::polynomial_test
