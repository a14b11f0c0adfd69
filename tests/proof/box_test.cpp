// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/box.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "proof/sampling.hpp"

namespace saltus::proof::box_test {
namespace {

constexpr double inf = Interval::infinity;

/// A random box; some sides are half lines or whole lines.
Box random_box(test::Random& random, std::size_t n) {
    Box box;
    for (std::size_t k = 0; k < n; ++k) {
        Interval x = random.interval(3.0, 2.0);
        const int kind = random.integer(0, 5);
        if (kind == 0 || kind == 2) x = Interval(-inf, x.hi);
        if (kind == 1 || kind == 2) x = Interval(x.lo, inf);
        box.push_back(x);
    }
    return box;
}

TEST(Boxes, ThePointBoxContainsItsPointOnly) {
    const std::vector<double> x{1.0, -2.5}, y{1.0, -2.4};
    EXPECT_TRUE(contains(point_box(x), x));
    EXPECT_FALSE(contains(point_box(x), y));
    EXPECT_TRUE(contains(whole_space(2), y));
    EXPECT_FALSE(bounded(whole_space(2)));
    EXPECT_TRUE(bounded(point_box(x)));
}

TEST(Boxes, TheCentreLiesInside) {
    test::Random random(1);
    for (int k = 0; k < 1000; ++k) {
        const Box box = random_box(random, 3);
        EXPECT_TRUE(contains(box, centre(box)));
        const std::vector<double> scale{0.5, 2.0, 7.0};
        EXPECT_TRUE(contains(box, centre(box, scale)));
    }
    EXPECT_EQ(centre({Interval(1.0, inf), Interval(-inf, 1.0)}, std::vector<double>{2.0, 3.0}),
              (std::vector<double>{3.0, -2.0}));
}

TEST(Boxes, TheHalvesOfASplitCoverTheBox) {
    test::Random random(2);
    for (int k = 0; k < 2000; ++k) {
        const Box box = random_box(random, 2);
        const auto side = static_cast<std::size_t>(random.integer(0, 1));
        if (!can_split(box, side)) continue;
        const auto [first, second] = split(box, side, random.uniform(-4.0, 4.0), random.uniform(0.1, 3.0));
        EXPECT_EQ(first[side].hi, second[side].lo);
        EXPECT_TRUE(inside(first, box));
        EXPECT_TRUE(inside(second, box));
        EXPECT_TRUE(touch(first, second));
        EXPECT_LT(first[side].hi, box[side].hi);
        EXPECT_GT(second[side].lo, box[side].lo);
        for (int j = 0; j < 4; ++j) {
            const std::vector<double> x = random.point(box, 100.0);
            EXPECT_TRUE(contains(first, x) || contains(second, x));
        }
    }
}

TEST(Boxes, AHalfLineIsCutAtTwiceTheDistanceOfItsEndFromTheOrigin) {
    EXPECT_EQ(split({Interval(3.0, inf)}, 0, 1.0, 1.0).first[0].hi, 5.0);
    EXPECT_EQ(split({Interval(-inf, -3.0)}, 0, -1.0, 1.0).first[0].hi, -5.0);
    EXPECT_EQ(split({Interval(1.0, inf)}, 0, 1.0, 0.5).first[0].hi, 1.5);
    EXPECT_EQ(split({Interval(-2.0, inf)}, 0, 1.0, 0.5).first[0].hi, 1.0);
    EXPECT_EQ(split({Interval(-inf, inf)}, 0, 1.0, 0.5).first[0].hi, 1.0);
}

TEST(Boxes, ASideWithoutADoubleInsideCannotBeSplit) {
    EXPECT_FALSE(can_split({Interval(1.0)}, 0));
    EXPECT_FALSE(can_split({Interval(1.0, std::nextafter(1.0, 2.0))}, 0));
    EXPECT_TRUE(can_split({Interval(1.0, 1.0 + 1e-12)}, 0));
    EXPECT_TRUE(can_split({Interval(1.0, inf)}, 0));
    EXPECT_FALSE(can_split({Interval(1e31, inf)}, 0));
    EXPECT_FALSE(can_split({Interval(-inf, -1e31)}, 0));
}

TEST(Boxes, TheIntersectionContainsExactlyTheCommonPoints) {
    test::Random random(3);
    int common = 0;
    for (int k = 0; k < 2000; ++k) {
        const Box a = random_box(random, 2), b = random_box(random, 2);
        const std::optional<Box> both = intersection(a, b);
        EXPECT_EQ(both.has_value(), touch(a, b));
        if (both) {
            EXPECT_TRUE(inside(*both, a) && inside(*both, b));
        }
        for (int j = 0; j < 4; ++j) {
            const std::vector<double> x = random.point(j % 2 == 0 ? a : b);
            const bool in_both = contains(a, x) && contains(b, x);
            common += in_both ? 1 : 0;
            EXPECT_EQ(both && contains(*both, x), in_both);
            EXPECT_TRUE(contains(hull(a, b), x));
        }
    }
    EXPECT_GT(common, 100);
    EXPECT_FALSE(intersection(Interval(0.0, 1.0), Interval(2.0, 3.0)));
    EXPECT_TRUE(intersection(Interval(0.0, 1.0), Interval(1.0, 3.0)));
}

}  // namespace
}  // namespace saltus::proof::box_test
