// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace saltus::ensemble::statistics_test {
namespace {

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

TEST(Moments, AreThoseOfTheDefinitionAlsoFarFromZero) {
    Moments m;
    const double far = 1e9;
    for (const double x : {far + 4.0, far + 7.0, far + 13.0, far + 16.0, std::nan("")}) m.add(x);
    EXPECT_EQ(m.count(), 4U);
    EXPECT_DOUBLE_EQ(m.mean(), far + 10.0);
    EXPECT_NEAR(m.deviation(), std::sqrt(30.0), 1e-9);
    EXPECT_EQ(m.lowest(), far + 4.0);
    EXPECT_EQ(m.highest(), far + 16.0);
    EXPECT_EQ(Moments().deviation(), 0.0);
}

TEST(Select, GivesTheNumbersOfTheSortedLists) {
    std::mt19937 random(3);
    std::vector<std::vector<double>> lists(4);
    std::normal_distribution<double> normal(0.0, 100.0);
    for (int k = 0; k < 1001; ++k) {
        lists[0].push_back(normal(random));
        lists[1].push_back(std::floor(normal(random) / 50.0));  // many equal numbers, both signs
        if (k < 3) lists[2].push_back(std::pow(10.0, 100.0 * (k - 1)));
    }
    lists[1].push_back(-0.0);
    lists[2].push_back(std::numeric_limits<double>::infinity());
    const auto scan = [&](const std::function<void(std::size_t, double)>& take) {
        for (std::size_t k = 0; k < lists.size(); ++k)
            for (const double x : lists[k]) take(k, x);
    };
    std::vector<std::vector<double>> sorted = lists;
    for (auto& s : sorted) std::sort(s.begin(), s.end());
    for (const std::size_t place : {0U, 1U, 3U}) {
        const std::vector<double> found = select({place, place + 400, place, no_place}, scan);
        EXPECT_EQ(found, (std::vector<double>{sorted[0][place], sorted[1][place + 400], sorted[2][place], 0.0}));
    }
}

}  // namespace
}  // namespace saltus::ensemble::statistics_test
