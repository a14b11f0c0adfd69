// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/label_shape.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "support.hpp"

namespace saltus::ensemble::label_shape_test {
namespace {

/// The labels of a grid of 500 points and more are in a file here, so that pieces of it are read.
LabelShape shape_of(const Grid& grid, const std::vector<int>& labels) {
    static const test::Folder folder;
    Labels list(folder.path().string(), 500);
    for (const int l : labels) list.push_back(l);
    return label_shape(grid, list);
}

Grid square(long n) { return {{{"x", 0.0, 1.0, n}, {"y", 0.0, 1.0, n}}}; }

TEST(LabelShape, OfOneBasinHasNoEntropyAndNoBoundary) {
    const LabelShape s = shape_of(square(40), std::vector<int>(1600, 3));
    EXPECT_EQ(s.dimensions, 2);
    EXPECT_EQ(s.boxes, 64U);
    EXPECT_EQ(s.mixed_boxes, 0U);
    EXPECT_EQ(s.entropy, 0.0);
    EXPECT_FALSE(s.has_exponent);
}

/// A straight boundary between columns 51 and 52 of 100: boxes of the eleventh column have 2 of 5 columns on its left.
TEST(LabelShape, OfAStraightBoundaryIsALine) {
    std::vector<int> labels;
    for (long k = 0; k < 100L * 100L; ++k) labels.push_back(k % 100 < 52 ? 1 : 2);
    const LabelShape s = shape_of(square(100), labels);
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

TEST(LabelShape, OfRandomLabelsFillsThePlane) {
    std::mt19937 random(3);
    std::vector<int> labels;
    for (int k = 0; k < 128 * 128; ++k) labels.push_back(static_cast<int>(random() % 2));
    const LabelShape s = shape_of(square(128), labels);
    EXPECT_NEAR(s.boundary_dimension(), 2.0, 0.02);
    EXPECT_NEAR(s.mixed_entropy, std::log(2.0), 0.03);
}

/// The middle thirds that Cantor's construction removes in step k have the label k: the boundary has the dimension
/// ln 2/ln 3.
TEST(LabelShape, OfCantorsSetHasItsDimension) {
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
    const LabelShape s = shape_of({{{"x", 0.0, 1.0, n}}}, labels);
    ASSERT_TRUE(s.has_exponent);
    EXPECT_NEAR(s.boundary_dimension(), std::log(2.0) / std::log(3.0), 0.05);
}

/// Boxes of three axes, of which the middle one has one value and the others do not fill their last boxes, counted one
/// by one.
TEST(LabelShape, OfThreeAxesIsThatOfItsBoxes) {
    const Grid grid{{{"x", 0.0, 1.0, 13}, {"y", 0.0, 0.0, 1}, {"z", 0.0, 1.0, 17}}};
    std::vector<int> labels;
    for (long k = 0; k < 13L * 17L; ++k) labels.push_back(static_cast<int>(k * k % 7 / 3));
    const LabelShape s = shape_of(grid, labels);
    double sum = 0.0;
    std::size_t mixed = 0, pairs = 0, different = 0;
    for (long bz = 0; bz < 3; ++bz)
        for (long bx = 0; bx < 2; ++bx) {
            std::map<int, double> counts;
            for (long z = 5 * bz; z < 5 * bz + 5; ++z)
                for (long x = 5 * bx; x < 5 * bx + 5; ++x) counts[labels[static_cast<std::size_t>(13 * z + x)]] += 1.0;
            for (const auto& [label, count] : counts) sum -= count / 25.0 * std::log(count / 25.0);
            mixed += counts.size() > 1 ? 1 : 0;
        }
    EXPECT_EQ(s.boxes, 6U);
    EXPECT_EQ(s.mixed_boxes, mixed);
    EXPECT_NEAR(s.entropy, sum / 6.0, 1e-14);
    for (long z = 0; z < 17; ++z)
        for (long x = 0; x < 13; ++x)
            for (const long away : {1L, 13L}) {
                if (away == 1 ? x + 1 >= 13 : z + 1 >= 17) continue;
                ++pairs;
                different +=
                    labels[static_cast<std::size_t>(13 * z + x)] != labels[static_cast<std::size_t>(13 * z + x + away)]
                        ? 1
                        : 0;
            }
    ASSERT_EQ(s.distances.size(), 1U);
    EXPECT_DOUBLE_EQ(s.fractions[0], static_cast<double>(different) / static_cast<double>(pairs));
}

}  // namespace
}  // namespace saltus::ensemble::label_shape_test
