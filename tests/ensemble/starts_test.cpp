// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/starts.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace saltus::ensemble::starts_test {
namespace {

TEST(Grid, HasBothEndsAndFinerLevelsKeepTheBitsOfCoarserOnes) {
    const Axis a{"x", -1.2, 0.7, 7};
    EXPECT_EQ(a.value(0), -1.2);
    EXPECT_EQ(a.value(6), 0.7);
    for (const int level : {1, 2, 5}) {
        EXPECT_EQ(a.count(level), 6 * (1 << level) + 1);
        for (long k = 0; k < 7; ++k) EXPECT_EQ(a.value(k << level, level), a.value(k));
        for (long k = 1; k < a.count(level); ++k) EXPECT_LT(a.value(k - 1, level), a.value(k, level));
    }
    const Axis one{"x", 0.3, 0.3, 1};
    EXPECT_EQ(one.count(4), 1);
    EXPECT_EQ(one.value(0, 4), 0.3);
}

TEST(Grid, NumbersItsPointsWithTheFirstAxisFastest) {
    const Grid g{{{"x", 0.0, 2.0, 3}, {"y", 0.0, 0.0, 1}, {"z", 10.0, 11.0, 2}}};
    ASSERT_EQ(g.size(), 6U);
    std::vector<double> x(3);
    g.values(1, 0, x);
    EXPECT_EQ(x, (std::vector<double>{1.0, 0.0, 10.0}));
    g.values(3, 0, x);
    EXPECT_EQ(x, (std::vector<double>{0.0, 0.0, 11.0}));
    for (const int level : {0, 2})
        for (std::size_t p = 0; p < g.size(level); ++p) EXPECT_EQ(g.point(g.indices(p, level), level), p);
}

TEST(Sample, IsUniformAndAFunctionOfSeedAndNumberAlone) {
    const std::vector<Axis> box{{"x", -1.0, 3.0, 1}, {"y", 0.0, 1.0, 1}};
    constexpr int n = 20000;
    double mean[2] = {}, square[2] = {}, product = 0.0;
    std::vector<double> x(2), again(2), other(2);
    for (int k = 0; k < n; ++k) {
        sample(box, 7, static_cast<std::uint64_t>(k), x);
        sample(box, 8, static_cast<std::uint64_t>(k), other);
        EXPECT_NE(x, other);
        const double s = (x[0] + 1.0) / 4.0, t = x[1];
        ASSERT_TRUE(s >= 0.0 && s < 1.0 && t >= 0.0 && t < 1.0);
        mean[0] += s, mean[1] += t, square[0] += s * s, square[1] += t * t, product += s * t;
    }
    const double sigma = std::sqrt(1.0 / 12.0 / n);  // of a mean of uniform numbers
    for (int d = 0; d < 2; ++d) {
        EXPECT_NEAR(mean[d] / n, 0.5, 4.0 * sigma);
        EXPECT_NEAR(square[d] / n, 1.0 / 3.0, 4.0 * std::sqrt(4.0 / 45.0 / n));
    }
    EXPECT_NEAR(product / n, 0.25, 4.0 * std::sqrt(7.0 / 144.0 / n));
    sample(box, 7, 1234, x);
    sample(box, 7, 4321, other);
    sample(box, 7, 1234, again);
    EXPECT_EQ(x, again);
}

TEST(Wilson, AgreesWithItsDefiningEquation) {
    // The bounds are the shares p whose distance to the seen share is z standard deviations of p.
    const double z = 1.959963984540054;  // 97.5 % quantile of the normal distribution: erf(z/√2) = 0.95
    EXPECT_NEAR(std::erf(z / std::sqrt(2.0)), 0.95, 1e-15);
    for (const auto& [hits, n] : {std::pair{3, 576}, {200, 400}, {399, 400}}) {
        const double seen = static_cast<double>(hits) / n;
        const Interval w = wilson(static_cast<std::size_t>(hits), static_cast<std::size_t>(n));
        for (const double p : {w.low, w.high})
            EXPECT_NEAR(std::abs(seen - p), z * std::sqrt(p * (1.0 - p) / n), 1e-14) << hits;
        EXPECT_LT(w.low, seen);
        EXPECT_GT(w.high, seen);
    }
    EXPECT_EQ(wilson(0, 10).low, 0.0);
    EXPECT_EQ(wilson(10, 10).high, 1.0);
    EXPECT_NEAR(wilson(0, 10).high, 0.2775, 5e-5);
}

}  // namespace
}  // namespace saltus::ensemble::starts_test
