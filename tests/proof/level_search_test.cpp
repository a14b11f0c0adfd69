// SPDX-License-Identifier: Apache-2.0
//
// The level below which a statement is proved around a point: compared with levels that are known, and with the exact
// component of the sublevel set.
#include "saltus/proof/level_search.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "physics/motion.hpp"
#include "proof/sampling.hpp"

namespace saltus::proof::level_search_test {
namespace {

using test::from_text;
using test::Random;

constexpr double inf = Interval::infinity;

/// A potential of two coordinates, with walls if they are given.
struct Landscape {
    model::Model model;
    std::string why;
    std::unique_ptr<Enclosure> enclosure = Enclosure::of(model, why);
    AdmissibleSet set{*enclosure, Interval(0.0)};
    std::vector<double> scale{1.0, 1.0};
    Box start = point_box(model.q0);

    explicit Landscape(const std::string& U, const std::string& more = "", const std::string& x0 = "0.0")
        : model(from_text("[system]\nq = [\"x\", \"y\"]\nT = \"(x'^2 + y'^2)/2\"\nU = \"" + U +
                          "\"\n[initial]\nq = { x = " + x0 + ", y = 0.0 }\n" + more)) {
        for (Interval& x : start) x = Interval(x.lo - 1e-12, x.hi + 1e-12);
    }
};

/// The statement that a coordinate is below a bound.
auto below(std::size_t k, double bound) {
    return [k, bound](const Box& q) {
        BoxTest t;
        t.proved = q[k].hi < bound;
        t.undecided = q;
        if (!t.proved && q[k].lo < bound) t.undecided[k] = Interval(std::max(q[k].lo, bound), std::max(q[k].hi, bound));
        t.side = k;
        t.failed_item = static_cast<int>(k);
        return t;
    };
}

TEST(LevelSearches, FindTheLeastLevelAtWhichAStatementFails) {
    // Q = x² + y² < r² implies x < r.
    const Landscape bowl("x^2 + y^2");
    for (const double r : {0.5, 1.0, 3.0}) {
        LevelSearchOptions options;
        options.scale = 1.0;
        const LevelSearch s = search_level(bowl.set, bowl.start, bowl.scale, below(0, r), options);
        EXPECT_EQ(s.end, LevelSearch::End::found);
        EXPECT_NEAR(s.level, r * r, 1e-9 * r * r);
        EXPECT_LE(s.level, r * r * (1.0 + 1e-15));  // proved below
        EXPECT_EQ(s.failed_item, 0);
        EXPECT_TRUE(s.bounded);
        ASSERT_FALSE(s.box.empty());
        EXPECT_NEAR(centre(s.box)[0], r, 1e-3);
    }
}

TEST(LevelSearches, TheCoverContainsTheComponentBelowTheLevel) {
    const Landscape bowl("x^2 + y^2 + 0.3*x*y");
    LevelSearchOptions options;
    options.scale = 1.0;
    const LevelSearch s = search_level(bowl.set, bowl.start, bowl.scale, below(0, 1.0), options);
    Random random(1);
    int below_level = 0;
    for (int k = 0; k < 3000; ++k) {
        const std::vector<double> q{random.uniform(-1.5, 1.5), random.uniform(-1.5, 1.5)};
        if (q[0] * q[0] + q[1] * q[1] + 0.3 * q[0] * q[1] >= s.level) continue;
        ++below_level;
        EXPECT_LT(q[0], 1.0);
        EXPECT_TRUE(std::any_of(s.cover.begin(), s.cover.end(), [&](const Box& b) { return contains(b, q); }));
    }
    EXPECT_GT(below_level, 500);
}

TEST(LevelSearches, OtherValleysDoNotCountBelowThePass) {
    // Two valleys at x = ±1 with the pass (0, 0) at the level 1. The statement x < 0 is false in the whole right
    // valley, also at its bottom with the level 0. The left valley reaches x = 0 at the level of the pass only.
    const Landscape valleys("(x^2 - 1)^2 + y^2", "", "-1.0");
    LevelSearchOptions options;
    options.scale = 1.0;
    const LevelSearch s = search_level(valleys.set, valleys.start, valleys.scale, below(0, 0.0), options);
    EXPECT_EQ(s.end, LevelSearch::End::found);
    EXPECT_NEAR(s.level, 1.0, 1e-9);
    EXPECT_LE(s.level, 1.0 + 1e-12);
    // x < 1/2 is false beyond the pass only. The result is a lower bound: boxes on which the statement is proved are
    // not split at the pass.
    const LevelSearch beyond = search_level(valleys.set, valleys.start, valleys.scale, below(0, 0.5), options);
    EXPECT_GT(beyond.level, 0.5);
    EXPECT_LE(beyond.level, 1.0 + 1e-12);
    // From the right valley it is false at once.
    const Landscape right("(x^2 - 1)^2 + y^2", "", "1.0");
    EXPECT_LE(search_level(right.set, right.start, right.scale, below(0, 0.5), options).level, 1e-9);
}

TEST(LevelSearches, AWallShutsOffWhatLiesBehindIt) {
    const Landscape walled("x^2 + y^2", "[[contact]]\nname = \"wall\"\ngN = \"0.4 - x\"\n");
    const LevelSearch s = search_level(walled.set, walled.start, walled.scale, below(0, 0.5), {});
    EXPECT_EQ(s.end, LevelSearch::End::everywhere);
    EXPECT_EQ(s.level, inf);
    const LevelSearch at_wall = search_level(walled.set, walled.start, walled.scale, below(0, 0.4), {});
    EXPECT_EQ(at_wall.end, LevelSearch::End::found);
    EXPECT_NEAR(at_wall.level, 0.16, 1e-9);
}

TEST(LevelSearches, EndAtTheCapAndAtTheBudget) {
    const Landscape bowl("x^2 + y^2");
    LevelSearchOptions options;
    options.cap = 0.5;
    const LevelSearch capped = search_level(bowl.set, bowl.start, bowl.scale, below(0, 1.0), options);
    EXPECT_EQ(capped.end, LevelSearch::End::cap);
    EXPECT_EQ(capped.level, 0.5);
    options = {};
    options.budget = 10;
    options.scale = 1.0;
    const LevelSearch stopped = search_level(bowl.set, bowl.start, bowl.scale, below(0, 1.0), options);
    EXPECT_EQ(stopped.end, LevelSearch::End::budget);
    EXPECT_LE(stopped.level, 1.0);
}

TEST(LevelSearches, AStatementThatFailsAtTheStartHasTheLevelZero) {
    const Landscape bowl("x^2 + y^2");
    LevelSearchOptions options;
    options.scale = 1.0;
    const LevelSearch s = search_level(bowl.set, bowl.start, bowl.scale, below(0, 0.0), options);
    EXPECT_EQ(s.end, LevelSearch::End::found);
    EXPECT_LE(s.level, 1e-9);
}

TEST(LevelSearches, ACoverThatReachesInfinityIsNotBounded) {
    // A trough along y: every sublevel set is unbounded.
    const Landscape trough("x^2");
    LevelSearchOptions options;
    options.scale = 1.0;
    const LevelSearch s = search_level(trough.set, trough.start, trough.scale, below(0, 1.0), options);
    EXPECT_NEAR(s.level, 1.0, 1e-9);
    EXPECT_FALSE(s.bounded);
    const Landscape bowl("x^2 + y^4");
    EXPECT_TRUE(search_level(bowl.set, bowl.start, bowl.scale, below(0, 1.0), options).bounded);
}

TEST(LevelSearches, SeeOtherComponentsOnlyIfTheyAreAskedFor) {
    // A wall divides the plane into x <= −0.5 and x >= 0.5. The start is on the right; the statement fails on the left.
    const Landscape divided("(x - 1)^2 + y^2", "[[contact]]\nname = \"wall\"\ngN = \"x^2 - 0.25\"\neN = 0.0\n", "1.0");
    const auto on_the_right = [](const Box& q) {
        BoxTest t;
        t.proved = q[0].lo > 0.0;
        t.undecided = q;
        return t;
    };
    LevelSearchOptions options;
    options.scale = 1.0;
    options.cap = 9.0;
    EXPECT_EQ(search_level(divided.set, divided.start, divided.scale, on_the_right, options).end,
              LevelSearch::End::cap);
    options.all_components = true;
    const LevelSearch all = search_level(divided.set, divided.start, divided.scale, on_the_right, options);
    EXPECT_EQ(all.end, LevelSearch::End::found);
    EXPECT_NEAR(all.level, 1.5 * 1.5, 1e-9);  // at x = −0.5
}

TEST(LevelSearches, EndWhenTheyAreStopped) {
    const Landscape bowl("x^2 + y^2");
    int polls = 0;
    const AdmissibleSet stopped(*bowl.enclosure, Interval(0.0), [&] { return ++polls > 5; });
    LevelSearchOptions options;
    options.scale = 1.0;
    const LevelSearch s = search_level(stopped, bowl.start, bowl.scale, below(0, 1.0), options);
    EXPECT_EQ(s.end, LevelSearch::End::budget);
    EXPECT_LE(s.level, 1.0);
}

}  // namespace
}  // namespace saltus::proof::level_search_test
