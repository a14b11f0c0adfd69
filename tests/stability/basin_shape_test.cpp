// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/basin/basin_shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace saltus::stability::basin_shape_test {
namespace {

ensemble::Grid square(long n) { return {{{"x", 0.0, 1.0, n}, {"y", 0.0, 1.0, n}}}; }

TEST(BasinShape, OfOneBasinHasNoEntropyAndNoBoundary) {
    const BasinShape s = basin_shape(square(40), std::vector<int>(1600, 3));
    EXPECT_EQ(s.dimensions, 2);
    EXPECT_EQ(s.boxes, 64U);
    EXPECT_EQ(s.mixed_boxes, 0U);
    EXPECT_EQ(s.entropy, 0.0);
    EXPECT_FALSE(s.has_exponent);
}

/// A straight boundary between columns 51 and 52 of 100: boxes of the eleventh column have 2 of 5 columns on its left.
TEST(BasinShape, OfAStraightBoundaryIsALine) {
    std::vector<int> labels;
    for (long k = 0; k < 100L * 100L; ++k) labels.push_back(k % 100 < 52 ? 1 : 2);
    const BasinShape s = basin_shape(square(100), labels);
    EXPECT_EQ(s.boxes, 400U);
    EXPECT_EQ(s.mixed_boxes, 20U);
    const double mixed = -0.4 * std::log(0.4) - 0.6 * std::log(0.6);
    EXPECT_NEAR(s.mixed_entropy, mixed, 1e-14);
    EXPECT_NEAR(s.entropy, mixed / 20.0, 1e-14);
    ASSERT_TRUE(s.has_exponent);
    EXPECT_EQ(s.distances, (std::vector<int>{1, 2, 4, 8}));
    // Of the pairs along x, d·100 of (100 − d)·100 differ; those along y never do.
    EXPECT_NEAR(s.fractions[1], 2.0 / (2.0 * 98.0), 1e-15);
    EXPECT_NEAR(s.boundary_dimension(), 1.0, 0.05);
}

TEST(BasinShape, OfRandomLabelsFillsThePlane) {
    std::mt19937 random(3);
    std::vector<int> labels;
    for (int k = 0; k < 128 * 128; ++k) labels.push_back(static_cast<int>(random() % 2));
    const BasinShape s = basin_shape(square(128), labels);
    EXPECT_NEAR(s.boundary_dimension(), 2.0, 0.02);
    EXPECT_NEAR(s.mixed_entropy, std::log(2.0), 0.03);
}

/// The middle thirds that Cantor's construction removes in step k have the label k: the boundary has the dimension
/// ln 2/ln 3.
TEST(BasinShape, OfCantorsSetHasItsDimension) {
    const long n = 2187;
    std::vector<int> labels;
    for (long x = 0; x < n; ++x) {
        int step = 0;
        long length = n / 3, rest = x;
        for (int k = 1; k <= 7 && step == 0; ++k, length /= 3) {
            if (rest / length == 1) step = k;
            rest %= length;
        }
        labels.push_back(step);
    }
    const BasinShape s = basin_shape({{{"x", 0.0, 1.0, n}}}, labels);
    ASSERT_TRUE(s.has_exponent);
    EXPECT_NEAR(s.boundary_dimension(), std::log(2.0) / std::log(3.0), 0.05);
}

}  // namespace
}  // namespace saltus::stability::basin_shape_test
