// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/differentiate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "expr/random_expression.hpp"
#include "saltus/expr/tape.hpp"

namespace saltus::expr::differentiate_test {
namespace {

using testing::eps;
using testing::Pieces;
using testing::Program;
using testing::Random;
using Strings = std::vector<std::string>;

struct Fixture {
    explicit Fixture(Graph::Simplify simplify = Graph::Simplify::yes) : g(simplify) {
        x = g.symbol("x", Kind::position);
        y = g.symbol("y", Kind::velocity);
        z = g.symbol("z", Kind::parameter);
    }
    Expr c(double value) { return g.constant(value); }
    Expr d(Expr e, Expr symbol) { return Derivative(g, symbol)(e); }
    double value(Expr e, double at_x, double at_y = 0.0, double at_z = 0.0) const {
        return testing::evaluate(g, e, std::array{at_x, at_y, at_z});
    }

    Graph g;
    Expr x, y, z;
};

// --- the independent method: numbers that carry two directions and their mixed derivative ------------------------

/// v + d1 ε1 + d2 ε2 + d12 ε1 ε2 with ε1² = ε2² = 0, each part enclosed.
struct Jet {
    Interval v, d1, d2, d12;
};

bool is_zero(const Interval& x) { return x.lo == 0.0 && x.hi == 0.0; }
bool moves(const Jet& a) { return !is_zero(a.d1) || !is_zero(a.d2) || !is_zero(a.d12); }

/// f(a) from f, f', f'' at a.v.
Jet chain(const Jet& a, const Interval& f, const Interval& f1, const Interval& f2) {
    if (!moves(a)) return {f, 0.0, 0.0, 0.0};
    return {f, f1 * a.d1, f1 * a.d2, f1 * a.d12 + f2 * a.d1 * a.d2};
}

Jet operator+(const Jet& a, const Jet& b) { return {a.v + b.v, a.d1 + b.d1, a.d2 + b.d2, a.d12 + b.d12}; }
Jet operator-(const Jet& a) { return {-a.v, -a.d1, -a.d2, -a.d12}; }
Jet operator*(const Jet& a, const Jet& b) {
    return {a.v * b.v, a.v * b.d1 + a.d1 * b.v, a.v * b.d2 + a.d2 * b.v,
            a.v * b.d12 + a.d1 * b.d2 + a.d2 * b.d1 + a.d12 * b.v};
}
Jet inverse(const Jet& a) { return chain(a, powi(a.v, -1), -powi(a.v, -2), 2.0 * powi(a.v, -3)); }
Jet root(const Jet& a) { return chain(a, sqrt(a.v), 1.0 / (2.0 * sqrt(a.v)), -1.0 / (4.0 * a.v * sqrt(a.v))); }
Jet exponential(const Jet& a) { return chain(a, exp(a.v), exp(a.v), exp(a.v)); }
Jet logarithm(const Jet& a) { return chain(a, log(a.v), powi(a.v, -1), -powi(a.v, -2)); }
Jet arc_tangent(const Jet& a) {
    const Interval w = 1.0 + sqr(a.v);
    return chain(a, atan(a.v), 1.0 / w, -2.0 * a.v / sqr(w));
}

Jet apply_jet(Op op, const Jet& a, const Jet& b, const Jet& /*c*/, int n) {
    const Interval x = a.v, s = sin(x), c = cos(x), sh = sinh(x), ch = cosh(x), w = 1.0 - sqr(x);
    switch (op) {
        case Op::add: return a + b;
        case Op::sub: return a + -b;
        case Op::mul: return a * b;
        case Op::div: return a * inverse(b);
        case Op::neg: return -a;
        case Op::powi: return chain(a, powi(x, n), n * powi(x, n - 1), n * (n - 1.0) * powi(x, n - 2));
        case Op::pow:
            if (!moves(b)) return chain(a, pow(x, b.v), b.v * pow(x, b.v - 1.0), b.v * (b.v - 1.0) * pow(x, b.v - 2.0));
            return exponential(b * logarithm(a));
        case Op::sqrt: return root(a);
        case Op::exp: return exponential(a);
        case Op::log: return logarithm(a);
        case Op::sin: return chain(a, s, c, -s);
        case Op::cos: return chain(a, c, -s, -c);
        case Op::tan: return chain(a, s / c, 1.0 / sqr(c), 2.0 * s / powi(c, 3));
        case Op::asin: return chain(a, asin(x), 1.0 / sqrt(w), x / (w * sqrt(w)));
        case Op::acos: return chain(a, acos(x), -1.0 / sqrt(w), -x / (w * sqrt(w)));
        case Op::atan: return arc_tangent(a);
        case Op::sinh: return chain(a, sh, ch, sh);
        case Op::cosh: return chain(a, ch, sh, ch);
        case Op::tanh: return chain(a, tanh(x), 1.0 / sqr(ch), -2.0 * sh / powi(ch, 3));
        case Op::atan2: {
            // Away from the axes one of the two quotients is bounded; a constant turn does not change derivatives.
            Jet angle =
                std::fabs(b.v.lo) > std::fabs(a.v.lo) ? arc_tangent(a * inverse(b)) : -arc_tangent(b * inverse(a));
            angle.v = atan2(a.v, b.v);
            return angle;
        }
        case Op::hypot: return root(a * a + b * b);
        default: return {entire(false), 0.0, 0.0, 0.0};
    }
}

Jet jet_of(const Graph& g, Expr e, const std::vector<double>& at, Expr first, Expr second) {
    return testing::evaluate_nodes<Jet>(
        g, std::span(&e, 1),
        [&](const Node& n) {
            if (n.op == Op::constant) return Jet{n.value, 0.0, 0.0, 0.0};
            const Expr self = g.symbols()[static_cast<std::size_t>(n.exponent)].node;
            return Jet{at[static_cast<std::size_t>(n.exponent)], self == first ? 1.0 : 0.0, self == second ? 1.0 : 0.0,
                       0.0};
        },
        apply_jet)[e.id];
}

/// Encloses the value of the graph at the point when constants and products may be off by the given relative room.
Interval enclosure(const Graph& g, Expr e, const std::vector<double>& at, double room) {
    return testing::evaluate_nodes<Interval>(
        g, std::span(&e, 1),
        [&](const Node& n) {
            if (n.op != Op::constant) return Interval(at[static_cast<std::size_t>(n.exponent)]);
            const bool exact = room == 0.0 || n.value == std::trunc(n.value);
            return exact ? Interval(n.value) : testing::widened(Interval(n.value), room, room);
        },
        [&](Op op, const Interval& a, const Interval& b, const Interval& c, int n) {
            const Interval r = testing::apply_interval(op, a, b, c, n);
            return (op == Op::mul || op == Op::div) && room > 0.0 ? testing::widened(r, room, 0.0) : r;
        })[e.id];
}

bool intersect(const Interval& a, const Interval& b) { return a.lo <= b.hi && b.lo <= a.hi; }

struct Tally {
    int compared = 0, tight = 0, nonzero = 0;
};

// Two enclosures of one number have it in common. Without simplification that is all; with it the derivative has
// folded constants (each fold rounds once, and expressions of this size have no more than a dozen): room of 64 eps.
Tally compare_with_jets(Graph::Simplify simplify, int programs) {
    const double room = simplify == Graph::Simplify::yes ? 64 * eps : 0.0;
    Tally tally;
    for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(programs); ++seed) {
        Random random(seed);
        Fixture f(simplify);
        const Program program = testing::random_program(random, 3, 3 + random.below(9), Pieces::no);
        const Expr e = program.root(f.g, std::array{f.x, f.y, f.z});
        const Expr dx = f.d(e, f.x), dy = f.d(e, f.y);
        const Expr dxx = f.d(dx, f.x), dxy = f.d(dx, f.y), dyx = f.d(dy, f.x);
        for (int k = 0; k < 3; ++k) {
            const std::vector<double> at{random.between(-2, 2), random.between(-2, 2), random.between(-2, 2)};
            const Jet xx = jet_of(f.g, e, at, f.x, f.x), xy = jet_of(f.g, e, at, f.x, f.y);
            const std::array<std::pair<Expr, Interval>, 5> pairs{
                {{dx, xy.d1}, {dy, xy.d2}, {dxx, xx.d12}, {dxy, xy.d12}, {dyx, xy.d12}}};
            for (const auto& [derivative, expected] : pairs) {
                const Interval range = enclosure(f.g, derivative, at, room);
                if (!xx.v.defined || !range.defined || !expected.defined) continue;
                ++tally.compared;
                const double size = std::fabs(midpoint(expected));
                if (size > 0.0) ++tally.nonzero;
                if (width(range) + width(expected) <= 1e-6 * size || size == 0.0) ++tally.tight;
                EXPECT_TRUE(intersect(range, expected))
                    << "seed " << seed << ": " << to_string(f.g, e, 1000) << " at " << at[0] << ", " << at[1] << ", "
                    << at[2] << ": the derivative " << to_string(f.g, derivative, 1000) << " is in [" << range.lo
                    << ", " << range.hi << "], that of the jet in [" << expected.lo << ", " << expected.hi << "]";
                if (::testing::Test::HasFailure()) return tally;
            }
        }
    }
    return tally;
}

TEST(Derivatives, FirstAndSecondAgreeWithJetsOnRandomExpressions) {
    for (const auto simplify : {Graph::Simplify::no, Graph::Simplify::yes}) {
        const Tally tally = compare_with_jets(simplify, 15'000);
        EXPECT_GT(tally.compared, 75'000);
        EXPECT_GT(tally.nonzero, 25'000);
        EXPECT_GT(tally.tight, tally.compared * 9 / 10) << "an enclosure that holds everything proves nothing";
    }
}

// --- every rule on its own ---------------------------------------------------------------------------------------

TEST(Derivatives, EveryRuleAgreesWithCentralDifferences) {
    // Long double differences: f''' h²/6 of truncation, and 2^-64/h of rounding, which is less.
    constexpr long double h = 0x1p-18L;
    constexpr double tolerance = 64 * static_cast<double>(h * h);  // |f'''|/6 < 57 at this point, for x^-3
    const double x = 0.75, y = 0.6;
    const auto check = [&](Op op, int exponent, const Fixture& f, Expr e, Expr dx, Expr dy) {
        const auto at = [&](long double a, long double b) { return testing::apply_long(op, a, b, 0.0L, exponent); };
        const long double by_x = (at(x + h, y) - at(x - h, y)) / (2 * h);
        const long double by_y = operand_count(op) > 1 ? (at(x, y + h) - at(x, y - h)) / (2 * h) : 0.0L;
        EXPECT_NEAR(f.value(dx, x, y), static_cast<double>(by_x), tolerance) << to_string(f.g, e);
        EXPECT_NEAR(f.value(dy, x, y), static_cast<double>(by_y), tolerance) << to_string(f.g, e);
    };
    for (const auto simplify : {Graph::Simplify::yes, Graph::Simplify::no}) {
        for (int k = static_cast<int>(Op::add); k < static_cast<int>(Op::less); ++k) {
            const Op op = static_cast<Op>(k);
            Fixture f(simplify);
            if (op == Op::powi) {
                for (const int n : {-3, -1, 2, 3, 5}) {
                    const Expr e = f.g.powi(f.x, n);
                    check(op, n, f, e, f.d(e, f.x), f.d(e, f.y));
                }
                continue;
            }
            const Expr e = operand_count(op) == 1 ? f.g.unary(op, f.x) : f.g.binary(op, f.x, f.y);
            check(op, 0, f, e, f.d(e, f.x), f.d(e, f.y));
        }
    }
}

TEST(Derivatives, OfWhatDoesNotMoveAreTheConstantZero) {
    Fixture f;
    for (const Expr e : {f.c(3.0), f.y, f.g.unary(Op::log, f.y), f.g.div(f.y, f.z), f.g.pow(f.y, f.z),
                         f.g.select(f.g.binary(Op::less, f.x, f.y), f.y, f.z), f.g.binary(Op::less, f.x, f.y),
                         f.g.unary(Op::sign, f.x)})
        EXPECT_EQ(f.d(e, f.x), f.c(0.0)) << to_string(f.g, e);
}

TEST(Derivatives, SeedsGiveTheRateOfEachSymbol) {
    Fixture f;
    // d/dt of y sin(x) with x' = y and y' = 3.
    const Expr e = f.g.mul(f.y, f.g.unary(Op::sin, f.x));
    Derivative rate(f.g, std::array{std::pair{f.x, f.y}, std::pair{f.y, f.c(3.0)}});
    const double x = 0.3, y = 1.7;
    EXPECT_NEAR(f.value(rate(e), x, y), 3.0 * std::sin(x) + y * y * std::cos(x), 8 * eps * 4.0);
    EXPECT_EQ(rate(f.z), f.c(0.0));
    // Expressions that are newer than the derivative are as good.
    EXPECT_EQ(f.value(rate(f.g.mul(f.x, f.g.mul(f.x, e))), 0.0, y), 0.0);
    EXPECT_EQ(rate(e), rate(e));
}

TEST(Derivatives, OfAPowerStayFiniteAtZero) {
    Fixture f;
    const Expr p = f.g.pow(f.x, f.c(1.5));
    EXPECT_EQ(f.value(f.d(p, f.x), 0.0), 0.0);
    EXPECT_EQ(f.value(f.d(f.g.pow(f.x, f.z), f.x), 0.0, 0.0, 3.0), 0.0);
    EXPECT_EQ(f.value(f.d(f.g.powi(f.x, 3), f.x), 0.0), 0.0);
    EXPECT_EQ(f.value(f.d(f.g.mul(f.x, f.x), f.x), 0.0), 0.0);
}

// --- the pieces --------------------------------------------------------------------------------------------------

TEST(PiecewiseDerivatives, OfAbsIsSignAndZeroAtZero) {
    Fixture f;
    const Expr d = f.d(f.g.unary(Op::abs, f.x), f.x);
    EXPECT_EQ(d, f.g.unary(Op::sign, f.x));
    EXPECT_EQ(f.value(d, 2.0), 1.0);
    EXPECT_EQ(f.value(d, -2.0), -1.0);
    EXPECT_EQ(f.value(d, 0.0), 0.0);
    EXPECT_EQ(f.value(d, -0.0), 0.0);
    const Expr chain = f.d(f.g.unary(Op::abs, f.g.mul(f.x, f.y)), f.x);
    EXPECT_EQ(f.value(chain, 2.0, -3.0), 3.0);
    EXPECT_EQ(f.value(chain, -2.0, -3.0), -3.0);
}

TEST(PiecewiseDerivatives, OfSignAreZeroEvenAtTheJump) {
    Fixture f;
    const Expr d = f.d(f.g.mul(f.x, f.g.unary(Op::sign, f.x)), f.x);
    for (const double x : {-2.0, 0.0, 2.0}) EXPECT_EQ(f.value(d, x), (x > 0.0) - (x < 0.0)) << x;
}

TEST(PiecewiseDerivatives, OfMinAndMaxTakeTheFirstOperandAtATie) {
    for (const auto simplify : {Graph::Simplify::yes, Graph::Simplify::no}) {
        Fixture f(simplify);
        const Expr a = f.g.mul(f.c(2.0), f.x), b = f.g.mul(f.c(5.0), f.x);
        const Expr min_ab = f.d(f.g.binary(Op::min, a, b), f.x), min_ba = f.d(f.g.binary(Op::min, b, a), f.x);
        const Expr max_ab = f.d(f.g.binary(Op::max, a, b), f.x), max_ba = f.d(f.g.binary(Op::max, b, a), f.x);
        EXPECT_EQ(f.value(min_ab, 1.0), 2.0);
        EXPECT_EQ(f.value(min_ab, -1.0), 5.0);
        EXPECT_EQ(f.value(min_ab, 0.0), 2.0);
        EXPECT_EQ(f.value(min_ba, 0.0), 5.0);
        EXPECT_EQ(f.value(max_ab, 1.0), 5.0);
        EXPECT_EQ(f.value(max_ab, -1.0), 2.0);
        EXPECT_EQ(f.value(max_ab, 0.0), 2.0);
        EXPECT_EQ(f.value(max_ba, 0.0), 5.0);
    }
}

TEST(PiecewiseDerivatives, OfAChoiceFollowTheBranchTaken) {
    Fixture f;
    const Expr condition = f.g.binary(Op::less_equal, f.x, f.c(1.0));
    const Expr e = f.g.select(condition, f.g.mul(f.x, f.x), f.g.mul(f.c(7.0), f.x));
    const Expr d = f.d(e, f.x);
    EXPECT_EQ(f.value(d, 0.5), 1.0);
    EXPECT_EQ(f.value(d, 1.0), 2.0) << "the condition holds with equality";
    EXPECT_EQ(f.value(d, 2.0), 7.0);
    EXPECT_EQ(f.value(f.d(d, f.x), 0.5), 2.0);
    EXPECT_EQ(f.value(f.d(d, f.x), 2.0), 0.0);
}

TEST(PiecewiseDerivatives, NothingLeaksFromTheBranchNotTaken) {
    Fixture f;
    Graph& g = f.g;
    const Expr positive = g.binary(Op::less, f.c(0.0), f.x);
    const Expr e = g.add(g.mul(f.y, g.select(positive, g.unary(Op::log, f.x), f.c(1.0))),
                         g.unary(Op::sin, g.select(positive, g.div(f.c(1.0), f.x), g.mul(f.x, f.x))));
    const Expr d = f.d(e, f.x), dd = f.d(d, f.x);
    for (const double x : {0.0, -1.5}) {
        const double y = 2.0;
        EXPECT_EQ(f.value(e, x, y), y + std::sin(x * x));
        EXPECT_NEAR(f.value(d, x, y), 2 * x * std::cos(x * x), 8 * eps * 3.0) << x;
        EXPECT_NEAR(f.value(dd, x, y), 2 * std::cos(x * x) - 4 * x * x * std::sin(x * x), 8 * eps * 11.0) << x;
    }
    EXPECT_NEAR(f.value(d, 2.0, 3.0), 1.5 - std::cos(0.5) / 4.0, 8 * eps * 2.0);
}

TEST(PiecewiseDerivatives, AgreeWithCentralDifferencesAwayFromKinks) {
    int compared = 0;
    for (std::uint64_t seed = 1; seed <= 3000; ++seed) {
        Random random(seed);
        Fixture f(Graph::Simplify::no);
        const Expr e = testing::random_program(random, 3, 8).root(f.g, std::array{f.x, f.y, f.z});
        if (kinks(f.g, e, Kind::position).empty()) continue;
        const Expr d = f.d(e, f.x);
        const std::vector<double> at{random.between(-2, 2), random.between(-2, 2), random.between(-2, 2)};
        if (!enclosure(f.g, e, at, 0.0).defined || !enclosure(f.g, d, at, 0.0).defined) continue;
        const auto value = [&](long double x) {
            return testing::evaluate_nodes<long double>(
                f.g, std::span(&e, 1),
                [&](const Node& n) {
                    if (n.op == Op::constant) return static_cast<long double>(n.value);
                    return n.exponent == 0 ? x : static_cast<long double>(at[static_cast<std::size_t>(n.exponent)]);
                },
                testing::apply_long)[e.id];
        };
        // The difference quotient at two steps: where they agree the function is smooth around the point, and the
        // truncation error of the smaller step is about a quarter of their distance.
        constexpr long double h = 0x1p-20L;
        const auto quotient = [&](long double step) {
            return (value(at[0] + step) - value(at[0] - step)) / (2 * step);
        };
        const long double coarse = quotient(2 * h), fine = quotient(h);
        const long double scale = 1 + std::fabs(fine) + std::fabs(value(at[0]));
        constexpr long double no_overflow_below = 1e30L;  // in the derivative, which has no more range than a double
        if (!(scale < no_overflow_below) || !(std::fabs(coarse - fine) < 1e-8L * scale)) continue;
        ++compared;
        EXPECT_NEAR(f.value(d, at[0], at[1], at[2]), static_cast<double>(fine), 2e-8 * static_cast<double>(scale))
            << "seed " << seed << ": " << to_string(f.g, e, 1000) << " at " << at[0] << ", " << at[1] << ", " << at[2];
        if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GT(compared, 300);
}

TEST(Kinks, AreReportedByNameAndByWhatTheyDependOn) {
    Fixture f;
    Graph& g = f.g;
    const Expr abs_x = g.unary(Op::abs, f.x);
    EXPECT_EQ(kinks(g, abs_x, Kind::position), Strings{"abs"});
    EXPECT_EQ(kinks(g, abs_x, Kind::velocity), Strings{});
    EXPECT_EQ(kinks(g, g.unary(Op::sin, f.x), Kind::position), Strings{});
    EXPECT_EQ(kinks(g, g.unary(Op::sign, f.y), Kind::velocity), Strings{"sign"});
    EXPECT_EQ(kinks(g, g.add(abs_x, g.unary(Op::abs, g.mul(f.x, f.y))), Kind::position), Strings{"abs"})
        << "each name once";
    const Expr both = g.binary(Op::max, g.binary(Op::min, f.x, f.z), f.y);
    EXPECT_EQ(kinks(g, both, Kind::position | Kind::velocity), (Strings{"min", "max"}));
    EXPECT_EQ(kinks(g, both, Kind::parameter), (Strings{"min", "max"}));
    EXPECT_EQ(kinks(g, both, Kind::time), Strings{});
}

TEST(Kinks, OfAChoiceComeFromItsCondition) {
    Fixture f;
    Graph& g = f.g;
    const Expr by_parameter = g.select(g.binary(Op::less, f.z, f.c(0.0)), f.x, g.mul(f.x, f.x));
    EXPECT_EQ(kinks(g, by_parameter, Kind::position), Strings{});
    EXPECT_EQ(kinks(g, by_parameter, Kind::parameter), Strings{"if"});
    const Expr inner = g.select(g.binary(Op::less, f.z, f.c(0.0)), g.unary(Op::abs, f.x), f.y);
    EXPECT_EQ(kinks(g, inner, Kind::position), Strings{"abs"});
    EXPECT_EQ(kinks(g, g.select(g.binary(Op::less, f.x, f.c(0.0)), f.y, f.z), Kind::position), Strings{"if"});
    EXPECT_TRUE(g[by_parameter].kinked);
    EXPECT_FALSE(g[g.unary(Op::sin, f.x)].kinked);
}

double value_at(const Graph& g, Expr e, Expr x, double at_x, Expr y, double at_y) {
    const Tape tape(g, std::array{e}, {}, std::array{x, y});
    std::vector<double> scratch(tape.slot_count()), out(1);
    tape.prepare<double>({}, scratch);
    tape.evaluate<double>(std::vector{at_x, at_y}, scratch, out);
    return out[0];
}

TEST(Derivative, OfAMinimumTakesTheBranchThatTheValueTakesEvenBesideANaN) {
    Graph g;
    const Expr x = g.symbol("x", position), y = g.symbol("y", position);
    for (const Op op : {Op::min, Op::max}) {
        const Expr e = g.binary(op, x, g.unary(Op::sqrt, y));  // at y = -1 the second argument is NaN, the value x
        EXPECT_EQ(value_at(g, e, x, 3.0, y, -1.0), 3.0);
        EXPECT_EQ(value_at(g, Derivative(g, x)(e), x, 3.0, y, -1.0), 1.0);
    }
}

TEST(Derivative, OfAPowerByItsExponentVanishesAtTheBaseZero) {
    Graph g;
    const Expr x = g.symbol("x", position), y = g.symbol("y", position);
    const Expr e = Derivative(g, y)(g.pow(x, y));
    EXPECT_EQ(value_at(g, e, x, 0.0, y, 2.0), 0.0);
    EXPECT_NEAR(value_at(g, e, x, 3.0, y, 2.0), 9.0 * std::log(3.0), 1e-14);
}

TEST(Derivative, OfALengthIsZeroAtTheOrigin) {
    Graph g;
    const Expr x = g.symbol("x", position), y = g.symbol("y", position);
    const Expr e = Derivative(g, x)(g.binary(Op::hypot, x, y));
    EXPECT_EQ(value_at(g, e, x, 0.0, y, 0.0), 0.0);
    EXPECT_EQ(value_at(g, e, x, 3.0, y, 4.0), 0.6);
    EXPECT_EQ(kinks(g, g.binary(Op::hypot, x, y), position), std::vector<std::string>{"hypot"});
}

// --- many symbols -------------------------------------------------------------------------------------------------

TEST(SymbolSets, ContainEverySymbolThatAnExpressionDependsOn) {
    Random random(7);
    for (int round = 0; round < 200; ++round) {
        Graph g;
        std::vector<Expr> symbols;
        for (int k = 0; k < 150; ++k) symbols.push_back(g.symbol("s" + std::to_string(k), Kind::position));
        SymbolSets sets(g);
        int excluded = 0;
        for (const Expr e : testing::random_program(random, 150, 20).build(g, symbols)) {
            const std::vector<Expr> nodes = reachable(g, {&e, 1});
            for (const Expr s : symbols) {
                const bool depends = std::find(nodes.begin(), nodes.end(), s) != nodes.end();
                EXPECT_TRUE(!depends || sets.may_depend_on(e, s));
                excluded += sets.may_depend_on(e, s) ? 0 : 1;
            }
        }
        EXPECT_GT(excluded, 10000);  // of 150 symbols, each expression contains a few
    }
}

/// Σ (x_k − x_{k−1})²: the derivative by x_k has the terms that contain x_k, and no others.
TEST(Derivative, OfASumOfManyTermsContainsOnlyTheTermsWithTheSymbol) {
    constexpr std::size_t n = 2000;
    Graph g;
    std::vector<Expr> x;
    std::vector<double> values;
    for (std::size_t k = 0; k < n; ++k) x.push_back(g.symbol("x" + std::to_string(k), Kind::position));
    for (std::size_t k = 0; k < n; ++k) values.push_back(std::sin(static_cast<double>(k)));
    Expr sum = g.constant(0.0);
    for (std::size_t k = 1; k < n; ++k) sum = g.add(sum, g.powi(g.sub(x[k], x[k - 1]), 2));
    const auto sets = std::make_shared<SymbolSets>(g);
    for (std::size_t k = 1; k + 1 < n; ++k) {
        const Expr d = Derivative(g, x[k], sets)(sum);
        EXPECT_LE(reachable(g, {&d, 1}).size(), 12U);
        EXPECT_NEAR(testing::evaluate(g, d, values), 2 * (values[k] - values[k - 1]) - 2 * (values[k + 1] - values[k]),
                    8 * eps);
    }
}

/// A symbol whose index has the same remainder modulo 64 is not taken for the seeded one.
TEST(Derivative, IsZeroForSymbolsThatOnlyLookAlike) {
    Graph g;
    std::vector<Expr> x;
    for (int k = 0; k < 200; ++k) x.push_back(g.symbol("x" + std::to_string(k), Kind::position));
    const Expr e = g.add(g.mul(x[0], x[5]), g.mul(x[133], x[199]));  // 133 = 69 + 64
    EXPECT_TRUE(g.is_zero(Derivative(g, x[69])(e)));
    EXPECT_EQ(Derivative(g, x[133])(e), x[199]);
}

}  // namespace
}  // namespace saltus::expr::differentiate_test
