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

/// Moments of 20000 numbers, and the share within one deviation, agree with the normal distribution to four standard
/// errors. Uniform axes beside it keep their numbers.
TEST(Sample, OfANormalAxisHasItsMeanDeviationAndShape) {
    const std::vector<Axis> uniform{{"x", -1.0, 3.0, 1}, {"y", 0.0, 1.0, 1}};
    std::vector<Axis> box = uniform;
    box[1].normal = Normal{5.0, 0.5};
    constexpr int n = 20000;
    double mean = 0.0, square = 0.0, fourth = 0.0;
    int within = 0;
    std::vector<double> x(2), other(2);
    for (int k = 0; k < n; ++k) {
        sample(box, 3, static_cast<std::uint64_t>(k), x);
        sample(uniform, 3, static_cast<std::uint64_t>(k), other);
        ASSERT_EQ(x[0], other[0]);
        const double z = (x[1] - 5.0) / 0.5;
        mean += z / n, square += z * z / n, fourth += z * z * z * z / n;
        within += std::abs(z) < 1.0 ? 1 : 0;
    }
    EXPECT_NEAR(mean, 0.0, 4.0 / std::sqrt(n));
    EXPECT_NEAR(square, 1.0, 4.0 * std::sqrt(2.0 / n));
    EXPECT_NEAR(fourth, 3.0, 4.0 * std::sqrt(96.0 / n));
    const double share = std::erf(1.0 / std::sqrt(2.0));
    EXPECT_NEAR(static_cast<double>(within) / n, share, 4.0 * std::sqrt(share * (1.0 - share) / n));
}

TEST(Starts, OfAGridVaryTheFirstOrTheLastAxisFastest) {
    Starts s{{{"x", 0.0, 1.0, 2}, {"y", 10.0, 12.0, 3}}, 0, 1, false, Starts::Fastest::first};
    ASSERT_EQ(s.size(), 6U);
    std::vector<double> x(2);
    s.values(1, x);
    EXPECT_EQ(x, (std::vector<double>{1.0, 10.0}));
    s.fastest = Starts::Fastest::last;
    s.values(1, x);
    EXPECT_EQ(x, (std::vector<double>{0.0, 11.0}));
    s.values(3, x);
    EXPECT_EQ(x, (std::vector<double>{1.0, 10.0}));
    s.samples = 50;
    EXPECT_EQ(s.size(), 50U);
}

/// The sequences of van der Corput in the bases 2 and 3: 1/2, 1/4, 3/4, 1/8, ... and 1/3, 2/3, 1/9, 4/9, ...
TEST(Starts, ThatFillABoxEvenlyAreThoseOfVanDerCorput) {
    Starts s;
    s.axes = {{"x", 0.0, 1.0}, {"y", -9.0, 9.0}};
    s.samples = 4;
    s.evenly = true;
    const double x[] = {0.5, 0.25, 0.75, 0.125}, y[] = {-3.0, 3.0, -7.0, -1.0};
    for (std::size_t k = 0; k < 4; ++k) {
        double values[2];
        s.values(k, values);
        EXPECT_EQ(values[0], x[k]);
        EXPECT_NEAR(values[1], y[k], 1e-14);
    }
}

TEST(Axis, OfListedValuesAndEqualRatiosKeepsThemOnFinerLevels) {
    Axis list{"x", 1.0, 7.0, 3};
    list.listed = {1.0, 2.0, 7.0};
    Axis ratios{"x", 1.0, 100.0, 3};
    ratios.logarithmic = true;
    for (const Axis& a : {list, ratios})
        for (const int level : {1, 3}) {
            for (long k = 0; k < 3; ++k) EXPECT_EQ(a.value(k << level, level), a.value(k));
            for (long k = 1; k < a.count(level); ++k) EXPECT_LT(a.value(k - 1, level), a.value(k, level));
        }
    EXPECT_EQ(list.value(3, 1), 4.5);
    EXPECT_NEAR(ratios.value(1), 10.0, 1e-14);
}

}  // namespace
}  // namespace saltus::ensemble::starts_test
