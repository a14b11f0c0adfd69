// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "expr/random_expression.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/tape.hpp"

namespace saltus::expr::tape_interval_test {
namespace {

using testing::eps;
using testing::Random;

struct Fixture {
    explicit Fixture(Graph::Simplify simplify = Graph::Simplify::yes) : g(simplify) {
        x = g.symbol("x", Kind::position);
        y = g.symbol("y", Kind::velocity);
        a = g.symbol("a", Kind::parameter);
    }
    std::vector<Expr> symbols() const { return {x, y, a}; }
    Interval range(Expr e, const std::vector<Interval>& box) const {
        const Tape tape(g, std::array{e}, std::array{a}, std::array{x, y});
        std::vector<Interval> scratch(tape.slot_count()), out(1);
        tape.prepare<Interval>(std::array{box[2]}, scratch);
        tape.evaluate<Interval>(std::array{box[0], box[1]}, scratch, out);
        return out[0];
    }

    Graph g;
    Expr x, y, a;
};

/// A value and whether it is one: finite, and made of such, save for branches not taken.
struct Sample {
    long double value = 0.0L;
    bool proper = true;
};

Sample apply_sample(Op op, const Sample& a, const Sample& b, const Sample& c, int exponent) {
    const int operands = operand_count(op);
    Sample r{testing::apply_long(op, a.value, b.value, c.value, exponent), false};
    r.proper = a.proper && std::isfinite(r.value);
    if (op == Op::select)
        r.proper = r.proper && (a.value != 0.0L ? b.proper : c.proper);
    else if (operands > 1)
        r.proper = r.proper && b.proper;
    if (op == Op::atan2 && a.value == 0.0L && b.value == 0.0L) r.proper = false;
    return r;
}

struct Walk {
    Sample result;
    bool overflow = false;  ///< an infinity somewhere, even in long double
};

Walk sample(const Graph& g, Expr e, const std::vector<double>& at) {
    const auto values = testing::evaluate_nodes<Sample>(
        g, std::span(&e, 1),
        [&](const Node& n) {
            return Sample{n.op == Op::constant ? n.value : at[static_cast<std::size_t>(n.exponent)], true};
        },
        apply_sample);
    Walk walk{values[e.id], false};
    for (const Expr n : reachable(g, std::span(&e, 1))) walk.overflow = walk.overflow || std::isinf(values[n.id].value);
    return walk;
}

Interval random_box(Random& random) {
    const double centre = random.once_in(12) ? random.extreme() : random.moderate();
    switch (random.below(5)) {
        case 0: return point(centre);
        case 1: return hull(centre, next_up(centre));
        case 2: return hull(centre, centre + std::ldexp(random.unit(), -random.below(30)));
        case 3: return hull(centre, random.moderate());
        default: return hull(centre, centre + 4.0 * random.unit());
    }
}

double inside(Random& random, const Interval& box) {
    if (random.once_in(4)) return random.once_in(2) ? box.lo : box.hi;
    if (random.once_in(4) && contains(box, std::nearbyint(box.hi))) return std::nearbyint(box.hi);
    return std::clamp(box.lo + (box.hi - box.lo) * random.unit(), box.lo, box.hi);
}

struct Tally {
    int proper = 0, certain = 0, narrow = 0;
};

// The samples have eleven bits more than the bounds. If the operands of an operation lie in their enclosures, so does
// its exact result; + - * / and sqrt then round monotonically to a grid on which the bounds lie, and the bounds of
// library functions keep half a double's ulp clear of the exact value. So there is no tolerance.
Tally sample_boxes(int programs, bool gradients) {
    Tally tally;
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(programs); ++seed) {
        Random random(seed);
        Fixture f(seed % 2 == 0 ? Graph::Simplify::yes : Graph::Simplify::no);
        Expr e = testing::random_program(random, 3, 3 + random.below(15)).root(f.g, f.symbols());
        if (gradients) e = Derivative(f.g, f.x)(e);
        for (int k = 0; k < 3; ++k) {
            const std::vector<Interval> box{random_box(random), random_box(random), random_box(random)};
            const Interval range = f.range(e, box);
            const auto describe = [&](const std::vector<double>& at, long double value) {
                char text[200];
                std::snprintf(text, sizeof text, " at %a, %a, %a: %.21Lg, enclosed in [%.17g, %.17g]%s", at[0], at[1],
                              at[2], value, range.lo, range.hi, range.defined ? "" : " undefined");
                return "seed " + std::to_string(seed) + ": " + to_string(f.g, e, 1000) + text;
            };
            EXPECT_TRUE(range.lo <= range.hi) << describe({0, 0, 0}, 0);
            for (int i = 0; i < 6; ++i) {
                const std::vector<double> at{inside(random, box[0]), inside(random, box[1]), inside(random, box[2])};
                const Walk walk = sample(f.g, e, at);
                if (walk.result.proper) {
                    ++tally.proper;
                    if (range.defined) ++tally.certain;
                    if (width(range) < 0.1 * std::fabs(static_cast<double>(walk.result.value))) ++tally.narrow;
                    EXPECT_TRUE(testing::encloses(range, walk.result.value)) << describe(at, walk.result.value);
                } else if (!walk.overflow) {
                    EXPECT_FALSE(range.defined) << describe(at, walk.result.value);
                }
                if (::testing::Test::HasFailure()) return tally;
            }
        }
    }
    return tally;
}

TEST(TapeOnIntervals, EnclosesEverySampleOfRandomExpressionsOnRandomBoxes) {
    if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is no finer than double here";
    const Tally tally = sample_boxes(20'000, false);
    EXPECT_GT(tally.proper, 100'000);
    EXPECT_GT(tally.certain, 50'000);
    EXPECT_GT(tally.narrow, 20'000) << "an enclosure that holds everything proves nothing";
}

TEST(TapeOnIntervals, EnclosesEverySampleOfDerivatives) {
    if (std::numeric_limits<long double>::digits < 64) GTEST_SKIP() << "long double is no finer than double here";
    const Tally tally = sample_boxes(10'000, true);
    EXPECT_GT(tally.proper, 50'000);
    EXPECT_GT(tally.certain, 25'000);
}

TEST(TapeOnIntervals, EnclosuresTendToTheValueAsTheBoxShrinks) {
    int shrunk = 0;
    for (std::uint64_t seed = 1; seed <= 4000; ++seed) {
        Random random(seed);
        Fixture f;
        const Expr e = testing::random_program(random, 3, 3 + random.below(12)).root(f.g, f.symbols());
        const std::vector<std::string> pieces = kinks(f.g, e, 0xff);
        const auto jumps = [](const std::string& name) { return name == "if" || name == "sign"; };
        if (std::any_of(pieces.begin(), pieces.end(), jumps)) continue;
        const std::vector<double> at{random.between(-2, 2), random.between(-2, 2), random.between(-2, 2)};
        const Walk walk = sample(f.g, e, at);
        const auto around = [&](double radius) {
            std::vector<Interval> box;
            for (const double v : at) box.push_back(hull(v - radius, v + radius));
            return f.range(e, box);
        };
        const Interval coarse = around(0x1p-26), fine = around(0x1p-36), none = around(0.0);
        // Where a pole or a large angle is near the point, nothing is promised; nor for jumps: x < x stays undecided.
        if (!walk.result.proper || !coarse.defined || width(coarse) > 0x1p-13) continue;
        ++shrunk;
        // Linear in the radius, with twice as much for curvature, above the floor that rounding leaves: that of the
        // point enclosure, which the rounded ends of the box may double.
        ASSERT_LE(width(fine), 2 * 0x1p-10 * width(coarse) + 4 * width(none) + 64 * eps * std::fabs(midpoint(none)))
            << "seed " << seed << ": " << to_string(f.g, e, 1000) << " at " << at[0] << ", " << at[1] << ", " << at[2];
        ASSERT_TRUE(testing::encloses(none, walk.result.value)) << "seed " << seed;
        ASSERT_TRUE(fine.lo <= none.hi && none.lo <= fine.hi) << "seed " << seed;
    }
    EXPECT_GT(shrunk, 1000);
}

TEST(TapeOnIntervals, ABoxOverParametersIsPrepared) {
    Fixture f;
    const Expr e = f.g.mul(f.g.unary(Op::exp, f.a), f.x);
    const Interval range = f.range(e, {Interval(1.0, 2.0), 0.0, Interval(0.0, 1.0)});
    EXPECT_EQ(range.lo, 1.0);
    EXPECT_NEAR(range.hi, 2.0 * std::exp(1.0), 8 * eps * 8.0);
    EXPECT_TRUE(range.defined);
}

TEST(TapeOnIntervals, SquaresAreNeverNegativeEvenInsideASum) {
    Fixture f;
    const Interval across(-1.0, 2.0);
    const Expr square = f.g.mul(f.x, f.x);
    EXPECT_EQ(f.range(square, {across, 0.0, 0.0}).lo, 0.0);
    EXPECT_EQ(f.range(f.g.add(square, f.y), {across, 1.0, 0.0}).lo, 1.0);  // taken into the sum
    EXPECT_EQ(f.range(f.g.sub(square, f.y), {across, 1.0, 0.0}).lo, -1.0);
    EXPECT_EQ(f.range(f.g.sub(f.y, square), {across, 1.0, 0.0}).hi, 1.0);
    EXPECT_EQ(f.range(f.g.mul(f.x, f.y), {across, across, 0.0}).lo, -2.0);  // a stranger's product is not
    EXPECT_EQ(f.range(f.g.powi(f.x, 4), {across, 0.0, 0.0}).lo, 0.0);
}

TEST(TapeOnIntervals, TheDomainIsReported) {
    Fixture f;
    const Expr root = f.g.unary(Op::sqrt, f.x);
    const Expr guarded = f.g.select(f.g.binary(Op::less, f.x, f.g.constant(0.0)), f.g.constant(0.0), root);
    EXPECT_TRUE(f.range(root, {Interval(0.0, 4.0), 0.0, 0.0}).defined);
    EXPECT_FALSE(f.range(root, {Interval(-1.0, 4.0), 0.0, 0.0}).defined);
    EXPECT_TRUE(f.range(guarded, {Interval(-2.0, -1.0), 0.0, 0.0}).defined) << "the branch not taken does not count";
    EXPECT_TRUE(f.range(guarded, {Interval(0.0, 1.0), 0.0, 0.0}).defined);
    EXPECT_FALSE(f.range(f.g.div(f.y, f.x), {Interval(-1.0, 1.0), 1.0, 0.0}).defined);
    EXPECT_FALSE(f.range(f.g.constant(testing::nan), {0.0, 0.0, 0.0}).defined);
}

TEST(TapeInterval, FoldedConstantsKeepWhatTheyWereFoldedFrom) {
    Graph g;
    const Expr x = g.symbol("x", position);
    const Expr third = g.div(g.constant(1.0), g.constant(3.0));
    const Expr seventh = g.div(g.mul(g.constant(3.0), x), g.constant(7.0));
    const Expr sine = g.unary(Op::sin, g.constant(1.0));
    const std::array outputs{g.sub(g.mul(g.constant(10.0), x), third), seventh, g.add(x, sine)};
    const Tape tape(g, outputs, {}, std::array{x});
    std::vector<Interval> scratch(tape.slot_count()), out(3);
    tape.prepare<Interval>({}, scratch);
    const auto contains = [](const Interval& box, long double value) { return box.lo <= value && value <= box.hi; };
    tape.evaluate<Interval>(std::vector{Interval(0.0)}, scratch, out);
    EXPECT_TRUE(contains(out[0], -1.0L / 3.0L));
    EXPECT_TRUE(contains(out[2], std::sin(1.0L)));
    tape.evaluate<Interval>(std::vector{Interval(1.0)}, scratch, out);
    EXPECT_TRUE(contains(out[1], 3.0L / 7.0L));
}

TEST(TapeInterval, TheAngleOnTheCutIsTheOneThatNumbersHave) {
    Graph g;
    const Expr x = g.symbol("x", position);
    const Tape tape(g, std::array{g.binary(Op::atan2, x, g.constant(-1.0))}, {}, std::array{x});
    std::vector<double> scratch(tape.slot_count()), out(1);
    std::vector<Interval> box_scratch(tape.slot_count()), box(1);
    tape.prepare<double>({}, scratch);
    tape.prepare<Interval>({}, box_scratch);
    for (const double zero : {0.0, -0.0}) {
        tape.evaluate<double>(std::vector{zero}, scratch, out);
        tape.evaluate<Interval>(std::vector{Interval(zero)}, box_scratch, box);
        EXPECT_TRUE(box[0].lo <= out[0] && out[0] <= box[0].hi) << out[0];
    }
}

}  // namespace
}  // namespace saltus::expr::tape_interval_test
