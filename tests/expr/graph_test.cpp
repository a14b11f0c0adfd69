// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/graph.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <string>
#include <vector>

#include "expr/random_expression.hpp"
#include "saltus/base/error.hpp"
#include "saltus/expr/differentiate.hpp"

namespace saltus::expr::graph_test {
namespace {

using testing::eps;
using testing::infinity;
using testing::Program;
using testing::Random;

struct Fixture {
    explicit Fixture(Graph::Simplify simplify = Graph::Simplify::yes) : g(simplify) {
        x = g.symbol("x", Kind::position);
        y = g.symbol("y", Kind::velocity);
        z = g.symbol("z", Kind::parameter);
        t = g.symbol("t", Kind::time);
    }
    Expr c(double value) { return g.constant(value); }
    std::string text(Expr e) const { return to_string(g, e); }
    double value(Expr e, double at_x, double at_y = 0.0, double at_z = 0.0, double at_t = 0.0) const {
        return testing::evaluate(g, e, std::array{at_x, at_y, at_z, at_t});
    }
    std::vector<Expr> symbols() const { return {x, y, z}; }

    Graph g;
    Expr x, y, z, t;
};

// --- one node an expression --------------------------------------------------------------------------------------

TEST(Graph, EqualExpressionsAreOneNode) {
    Fixture f;
    const Expr e = f.g.unary(Op::sin, f.g.mul(f.x, f.g.add(f.y, f.c(2.0))));
    const std::size_t size = f.g.size();
    EXPECT_EQ(f.g.unary(Op::sin, f.g.mul(f.x, f.g.add(f.y, f.c(2.0)))), e);
    EXPECT_EQ(f.g.unary(Op::sin, f.g.mul(f.g.add(f.c(2.0), f.y), f.x)), e);
    EXPECT_EQ(f.g.size(), size);
    EXPECT_NE(f.g.unary(Op::cos, f.g.mul(f.x, f.g.add(f.y, f.c(2.0)))), e);
}

TEST(Graph, OnlyCommutativeOperationsForgetTheirOrder) {
    Fixture f;
    for (const Op op : {Op::add, Op::mul, Op::equal, Op::not_equal})
        EXPECT_EQ(f.g.binary(op, f.x, f.y), f.g.binary(op, f.y, f.x));
    for (const Op op : {Op::sub, Op::div, Op::pow, Op::atan2, Op::less, Op::less_equal})
        EXPECT_NE(f.g.binary(op, f.x, f.y), f.g.binary(op, f.y, f.x)) << op_name(op);
    // min and max are told apart by what they give for NaN and by the derivative at the kink.
    for (const Op op : {Op::min, Op::max}) EXPECT_NE(f.g.binary(op, f.x, f.y), f.g.binary(op, f.y, f.x)) << op_name(op);
}

TEST(Graph, NodesWithDifferentPayloadAreDifferent) {
    Fixture f(Graph::Simplify::no);
    EXPECT_NE(f.g.powi(f.x, 3), f.g.powi(f.x, 4));
    EXPECT_NE(f.c(0.0), f.c(-0.0));
    EXPECT_NE(f.c(1.0), f.c(std::nextafter(1.0, 2.0)));
    EXPECT_EQ(f.c(testing::nan), f.c(testing::nan));
    EXPECT_NE(f.x, f.y);
    EXPECT_NE(f.g.select(f.g.binary(Op::less, f.x, f.y), f.x, f.y),
              f.g.select(f.g.binary(Op::less, f.x, f.y), f.y, f.x));
}

RC_GTEST_PROP(Graph, BuildingTheSameTwiceAddsNoNode, (std::uint64_t seed)) {
    for (const auto simplify : {Graph::Simplify::yes, Graph::Simplify::no}) {
        Fixture f(simplify);
        Random random(seed);
        const Program program = testing::random_program(random, 3, 60);
        const std::vector<Expr> first = program.build(f.g, f.symbols());
        const std::size_t size = f.g.size();
        RC_ASSERT(program.build(f.g, f.symbols()) == first);
        RC_ASSERT(f.g.size() == size);
    }
}

RC_GTEST_PROP(Graph, OperandsComeBeforeTheirNodeAndAttributesAreInherited, (std::uint64_t seed)) {
    Fixture f;
    Random random(seed);
    testing::random_program(random, 3, 60).build(f.g, f.symbols());
    for (std::uint32_t id = 0; id < f.g.size(); ++id) {
        const Node& n = f.g[Expr{id}];
        const std::array operand{n.a, n.b, n.c};
        for (int k = 0; k < operand_count(n.op); ++k) {
            const Expr o = operand[static_cast<std::size_t>(k)];
            RC_ASSERT(o.id < id);
            RC_ASSERT((f.g[o].kinds & ~n.kinds) == 0);
            RC_ASSERT(n.kinked || !f.g[o].kinked);
            RC_ASSERT(!n.total || f.g[o].total);
        }
    }
}

TEST(Graph, KindsSayWhatAnExpressionDependsOn) {
    Fixture f;
    const Expr e = f.g.mul(f.z, f.g.unary(Op::sin, f.x));
    EXPECT_EQ(f.g.kinds(e), Kind::parameter | Kind::position);
    EXPECT_TRUE(f.g.depends_on(e, Kind::position));
    EXPECT_FALSE(f.g.depends_on(e, Kind::velocity | Kind::time));
    EXPECT_EQ(f.g.kinds(f.c(1.0)), 0);
    EXPECT_EQ(f.g.kinds(f.g.mul(f.c(0.0), f.x)), 0) << "what was dropped is no dependence";
}

// --- what simplification does ------------------------------------------------------------------------------------

TEST(Simplification, NeutralElementsVanish) {
    Fixture f;
    EXPECT_EQ(f.g.add(f.x, f.c(0.0)), f.x);
    EXPECT_EQ(f.g.add(f.c(0.0), f.x), f.x);
    EXPECT_EQ(f.g.sub(f.x, f.c(0.0)), f.x);
    EXPECT_EQ(f.g.mul(f.c(1.0), f.x), f.x);
    EXPECT_EQ(f.g.mul(f.x, f.c(1.0)), f.x);
    EXPECT_EQ(f.g.div(f.x, f.c(1.0)), f.x);
    EXPECT_EQ(f.g.pow(f.x, f.c(1.0)), f.x);
    EXPECT_EQ(f.g.pow(f.x, f.c(0.0)), f.c(1.0));
    EXPECT_EQ(f.g.mul(f.x, f.c(0.0)), f.c(0.0));
    EXPECT_EQ(f.g.sub(f.x, f.x), f.c(0.0));
}

TEST(Simplification, SignsAndConstantFactorsAreCollected) {
    Fixture f;
    EXPECT_EQ(f.g.neg(f.g.neg(f.x)), f.x);
    EXPECT_EQ(f.g.neg(f.g.sub(f.x, f.y)), f.g.sub(f.y, f.x));
    EXPECT_EQ(f.g.sub(f.x, f.g.neg(f.y)), f.g.add(f.x, f.y));
    EXPECT_EQ(f.g.add(f.x, f.g.neg(f.y)), f.g.sub(f.x, f.y));
    EXPECT_EQ(f.g.mul(f.g.neg(f.x), f.g.neg(f.y)), f.g.mul(f.x, f.y));
    EXPECT_EQ(f.g.add(f.x, f.x), f.g.mul(f.c(2.0), f.x));
    EXPECT_EQ(f.g.mul(f.c(3.0), f.g.mul(f.x, f.c(2.0))), f.g.mul(f.c(6.0), f.x));
    EXPECT_EQ(f.g.mul(f.g.mul(f.c(2.0), f.x), f.g.mul(f.y, f.c(4.0))), f.g.mul(f.c(8.0), f.g.mul(f.x, f.y)));
    EXPECT_EQ(f.g.div(f.x, f.c(2.0)), f.g.mul(f.c(0.5), f.x));
    EXPECT_EQ(f.g.unary(Op::sin, f.g.neg(f.x)), f.g.neg(f.g.unary(Op::sin, f.x)));
    EXPECT_EQ(f.g.unary(Op::cos, f.g.neg(f.x)), f.g.unary(Op::cos, f.x));
    EXPECT_EQ(f.g.powi(f.g.neg(f.x), 3), f.g.neg(f.g.powi(f.x, 3)));
    EXPECT_EQ(f.g.powi(f.g.neg(f.x), 4), f.g.powi(f.x, 4));
}

TEST(Simplification, PowersBecomeTheCheapestOperation) {
    Fixture f;
    EXPECT_EQ(f.g.pow(f.x, f.c(2.0)), f.g.mul(f.x, f.x));
    EXPECT_EQ(f.g.pow(f.x, f.c(3.0)), f.g.powi(f.x, 3));
    EXPECT_EQ(f.g.pow(f.x, f.c(-1.0)), f.g.powi(f.x, -1));
    EXPECT_EQ(f.g.pow(f.x, f.c(0.5)), f.g.unary(Op::sqrt, f.x));
    EXPECT_EQ(f.g[f.g.pow(f.x, f.c(1.5))].op, Op::pow);
    EXPECT_EQ(f.g[f.g.pow(f.x, f.c(64.0))].op, Op::powi);
    EXPECT_EQ(f.g[f.g.pow(f.x, f.c(65.0))].op, Op::pow);
}

TEST(Simplification, ConstantsFold) {
    Fixture f;
    const auto folds_to = [&](Expr e, double value) {
        return f.g.is_constant(e) && f.g[e].value == value && f.g[e].low < value && value < f.g[e].high;
    };
    EXPECT_TRUE(folds_to(f.g.unary(Op::sin, f.c(0.5)), std::sin(0.5)));
    EXPECT_TRUE(folds_to(f.g.div(f.c(1.0), f.c(3.0)), 1.0 / 3.0));
    EXPECT_EQ(f.g.powi(f.c(3.0), 4), f.c(81.0));
    EXPECT_EQ(f.g.select(f.g.binary(Op::less, f.c(1.0), f.c(2.0)), f.x, f.y), f.x);
    EXPECT_EQ(f.g.select(f.g.binary(Op::less, f.c(2.0), f.c(1.0)), f.x, f.y), f.y);
    EXPECT_EQ(f.g.select(f.g.binary(Op::less, f.x, f.y), f.z, f.z), f.z);
    EXPECT_TRUE(f.g.is_truth(f.g.binary(Op::less, f.c(1.0), f.c(2.0)))) << "a condition stays a condition";
}

TEST(Simplification, AnInexactConstantIsNotTakenForTheNumberItRoundsTo) {
    // (1/3)*3 rounds to 1, but x*((1/3)*3) is x only up to an enclosure.
    Fixture f;
    const Expr nearly_one = f.g.mul(f.g.div(f.c(1.0), f.c(3.0)), f.c(3.0));
    EXPECT_EQ(f.g[nearly_one].value, 1.0);
    EXPECT_FALSE(f.g.mul(nearly_one, f.x) == f.x);
}

TEST(Simplification, NeverHidesAnUndefinedValue) {
    Fixture f;
    Graph& g = f.g;
    const Expr zero = f.c(0.0);
    const auto stays_nan = [&](Expr e, double at) {
        EXPECT_TRUE(std::isnan(f.value(e, at))) << f.text(e) << " at " << at;
    };
    stays_nan(g.div(f.x, f.x), 0.0);
    stays_nan(g.div(zero, f.x), 0.0);
    stays_nan(g.mul(zero, g.div(f.c(1.0), f.x)), 0.0);
    stays_nan(g.mul(g.unary(Op::log, f.x), zero), -1.0);
    stays_nan(g.mul(g.unary(Op::log, f.x), zero), 0.0);
    stays_nan(g.mul(zero, g.unary(Op::sqrt, f.x)), -1.0);
    stays_nan(g.mul(zero, g.unary(Op::asin, f.x)), 2.0);
    stays_nan(g.mul(zero, g.pow(f.x, f.c(1.5))), -1.0);
    stays_nan(g.mul(zero, g.powi(f.x, -3)), 0.0);
    stays_nan(g.mul(zero, g.unary(Op::sin, g.unary(Op::sqrt, f.x))), -1.0);
    stays_nan(g.sub(g.unary(Op::sqrt, f.x), g.unary(Op::sqrt, f.x)), -1.0);
    stays_nan(g.sub(g.div(f.y, f.x), g.div(f.y, f.x)), 0.0);
    stays_nan(g.unary(Op::abs, g.unary(Op::sqrt, f.x)), -1.0);
    stays_nan(g.unary(Op::sqrt, f.c(-1.0)), 0.0);
    stays_nan(g.mul(zero, g.unary(Op::log, f.c(-1.0))), 0.0);
    stays_nan(g.mul(zero, f.c(infinity)), 0.0);
    stays_nan(g.sub(f.c(infinity), f.c(infinity)), 0.0);
    stays_nan(g.mul(zero, g.select(g.binary(Op::less, f.x, zero), g.unary(Op::sqrt, f.x), f.y)), -1.0);
    stays_nan(g.binary(Op::min, g.unary(Op::sqrt, f.x), g.unary(Op::sqrt, f.x)), -1.0);
    EXPECT_EQ(f.value(g.div(f.c(1.0), zero), 0.0), infinity) << "1/0 is no constant to fold, but keeps its value";
}

TEST(Simplification, DropsOnlyTotalFactorsOfZero) {
    Fixture f;
    const Expr zero = f.c(0.0);
    for (const Op op : {Op::sin, Op::cos, Op::atan, Op::tanh, Op::abs, Op::sign, Op::neg})
        EXPECT_EQ(f.g.mul(zero, f.g.unary(op, f.x)), zero) << op_name(op);
    for (const Op op : {Op::sqrt, Op::exp, Op::log, Op::tan, Op::asin, Op::acos, Op::sinh, Op::cosh})
        EXPECT_NE(f.g.mul(zero, f.g.unary(op, f.x)), zero) << op_name(op);
    EXPECT_NE(f.g.mul(zero, f.g.div(f.x, f.y)), zero);
}

TEST(Simplification, OffMeansThatNodesStayAsBuilt) {
    Fixture f(Graph::Simplify::no);
    EXPECT_EQ(f.g[f.g.mul(f.c(0.0), f.x)].op, Op::mul);
    EXPECT_EQ(f.g[f.g.add(f.c(1.0), f.c(2.0))].op, Op::add);
    EXPECT_EQ(f.g[f.g.pow(f.x, f.c(2.0))].op, Op::pow);
    EXPECT_EQ(f.g[f.g.neg(f.g.neg(f.x))].op, Op::neg);
}

// --- simplified against unsimplified -----------------------------------------------------------------------------
//
// The unsimplified graph is evaluated at the point in intervals that are widened, wherever the simplification may
// round differently, by more than that rounding: an integer power of up to 64 rounds 64 times where pow rounds once,
// and a constant factor takes part in at most a dozen collections here. Sums, signs and pieces are only rewritten
// exactly. By induction over the nodes the simplified double value lies in the widened interval of the unsimplified
// one. Where some operation is undefined for certain, both must be NaN; where rounding decides whether it is, or
// after a pole (whose sign hangs on that of a zero, which simplification does not keep), nothing is claimed.

enum class State { defined, nan, unclear };

struct Verdict {
    Interval range;
    State state = State::defined;
};

bool hides_nan(Op op) { return op == Op::pow || op == Op::hypot || (op >= Op::min && op <= Op::not_equal); }

bool certainly_outside(Op op, const Interval& a, const Interval& b) {
    const bool is_integer = is_point(b) ? b.lo == std::trunc(b.lo) : std::ceil(b.lo) <= std::floor(b.hi);
    switch (op) {
        case Op::sqrt:
        case Op::log: return a.hi < 0.0;
        case Op::asin:
        case Op::acos: return a.lo > 1.0 || a.hi < -1.0;
        case Op::pow: return a.hi < 0.0 && !is_integer;
        case Op::div: return is_point(a) && is_point(b) && a.lo == 0.0 && b.lo == 0.0;
        default: return false;
    }
}

Interval room_for_rounding(Op op, const Interval& r, const Interval& y, const Interval& x) {
    constexpr double relative = 256 * eps;
    if (op == Op::mul || op == Op::div)
        return is_point(r) && r.lo == 0.0 ? r : testing::widened(r, relative, 64 * 5e-324);
    // 1/x^n underflows to 0 as soon as x^n overflows, where pow still has subnormal numbers.
    if (op == Op::pow || op == Op::powi) return is_point(r) && r.lo == 1.0 ? r : testing::widened(r, relative, DBL_MIN);
    if (op == Op::atan2 && y.lo <= 0.0 && y.hi >= 0.0 && x.lo < 0.0) return hull(r, -r);
    return r;
}

Verdict apply_verdict(Op op, const Verdict& a, const Verdict& b, const Verdict& c, int exponent) {
    const int operands = operand_count(op);
    Verdict result{testing::apply_interval(op, a.range, b.range, c.range, exponent), State::defined};
    if (op == Op::select) {
        const bool decided = a.state == State::defined && is_point(a.range);
        result.state = decided ? (a.range.lo != 0.0 ? b.state : c.state) : State::unclear;
        if (a.state == State::defined && b.state == State::defined && c.state == State::defined)
            result.state = State::defined;
        result.range.defined = true;
        return result;
    }
    const bool unclear = a.state == State::unclear || (operands > 1 && b.state == State::unclear);
    const bool undefined = a.state == State::nan || (operands > 1 && b.state == State::nan);
    if (unclear || (undefined && (hides_nan(op) || (op == Op::powi && exponent == 0))))
        return {entire(), State::unclear};
    if (undefined || certainly_outside(op, a.range, b.range)) return {entire(), State::nan};
    if (!result.range.defined) return {entire(), State::unclear};
    result.range = room_for_rounding(op, result.range, a.range, b.range);
    return result;
}

/// A result that has lost bits or its size to the ends of the double range: reordered products may differ there.
bool out_of_range(Op op, double value, double a, double b) {
    if (std::isnan(value)) return false;
    if (std::isinf(value)) return true;
    const bool scales = op == Op::mul || op == Op::div || op == Op::pow || op == Op::powi || op == Op::exp;
    if (op == Op::symbol || op == Op::constant || op == Op::add || op == Op::sub || op == Op::neg) return false;
    if (value != 0.0) return std::fabs(value) < DBL_MIN && operand_count(op) > 0;
    return scales && a != 0.0 && (op != Op::mul || b != 0.0);
}

bool leaves_the_range(const Graph& graph, Expr root, const std::vector<double>& values) {
    for (const Expr e : reachable(graph, std::span(&root, 1))) {
        const Node& n = graph[e];
        if (out_of_range(n.op, values[e.id], values[n.a.id], values[n.b.id])) return true;
    }
    return false;
}

struct Tally {
    int values = 0, nans = 0, unclear = 0, out_of_range = 0, tight = 0;
};

template <class Point>
Tally compare_simplified(int programs, int points, std::uint64_t first_seed, Point random_value) {
    Tally tally;
    for (std::uint64_t seed = first_seed; seed < first_seed + static_cast<std::uint64_t>(programs); ++seed) {
        Random random(seed);
        const Program program = testing::random_program(random, 3, 4 + random.below(20));
        Fixture simple, plain(Graph::Simplify::no);
        const Expr s = program.root(simple.g, simple.symbols());
        const Expr p = program.root(plain.g, plain.symbols());
        for (int k = 0; k < points; ++k) {
            const std::vector<double> at{random_value(random), random_value(random), random_value(random), 0.0};
            const auto plain_values = testing::evaluate(plain.g, std::span(&p, 1), at);
            const auto simple_values = testing::evaluate(simple.g, std::span(&s, 1), at);
            const Verdict verdict = testing::evaluate_nodes<Verdict>(
                plain.g, std::span(&p, 1),
                [&](const Node& n) {
                    return Verdict{Interval(n.op == Op::constant ? n.value : at[static_cast<std::size_t>(n.exponent)]),
                                   State::defined};
                },
                apply_verdict)[p.id];
            const double value = simple_values[s.id];
            const auto describe = [&] {
                return "seed " + std::to_string(seed) + ": " + to_string(plain.g, p, 2000) + " became " +
                       to_string(simple.g, s, 2000) + " at " + std::to_string(at[0]) + ", " + std::to_string(at[1]) +
                       ", " + std::to_string(at[2]) + ": " + std::to_string(plain_values[p.id]) + " became " +
                       std::to_string(value);
            };
            if (leaves_the_range(plain.g, p, plain_values) || leaves_the_range(simple.g, s, simple_values)) {
                ++tally.out_of_range;
            } else if (verdict.state == State::unclear) {
                ++tally.unclear;
            } else if (verdict.state == State::nan) {
                ++tally.nans;
                EXPECT_TRUE(std::isnan(plain_values[p.id])) << "the reference is wrong: " << describe();
                EXPECT_TRUE(std::isnan(value)) << describe();
            } else {
                ++tally.values;
                if (width(verdict.range) <= 1e-6 * (1.0 + std::fabs(value))) ++tally.tight;
                EXPECT_TRUE(testing::encloses(verdict.range, plain_values[p.id]))
                    << "the reference is wrong: " << describe();
                EXPECT_TRUE(testing::encloses(verdict.range, value))
                    << describe() << " outside [" << verdict.range.lo << ", " << verdict.range.hi << "]";
            }
            if (::testing::Test::HasFailure()) return tally;
        }
    }
    return tally;
}

TEST(Simplification, KeepsValuesAndNaNsOfRandomExpressionsAtOrdinaryPoints) {
    const Tally tally = compare_simplified(30'000, 6, 1, [](Random& random) { return random.moderate(); });
    EXPECT_GT(tally.values, 50'000);
    EXPECT_GT(tally.nans, 5'000);
    EXPECT_GT(tally.tight, tally.values * 3 / 4) << "an enclosure that holds everything proves nothing";
    EXPECT_LT(tally.out_of_range, 180'000 / 3);
}

TEST(Simplification, KeepsValuesAndNaNsOfRandomExpressionsOverTheWholeDoubleRange) {
    const Tally tally = compare_simplified(
        20'000, 6, 100'001, [](Random& random) { return random.once_in(3) ? random.moderate() : random.extreme(); });
    EXPECT_GT(tally.values, 10'000);
    EXPECT_GT(tally.nans, 2'500);
    EXPECT_GT(tally.tight, tally.values / 2);
}

// --- reading a graph ---------------------------------------------------------------------------------------------

TEST(Graph, ReachableNodesAreEachListedOnceInEvaluationOrder) {
    Fixture f;
    const Expr product = f.g.mul(f.x, f.y);
    const Expr root = f.g.add(product, f.g.unary(Op::sin, product));
    f.g.unary(Op::cos, f.z);
    const std::vector<Expr> nodes = reachable(f.g, std::array{root, product});
    EXPECT_EQ(nodes.size(), 5u);
    EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end(), [](Expr a, Expr b) { return a.id < b.id; }));
    EXPECT_EQ(nodes.back(), root);
    EXPECT_TRUE(reachable(f.g, {}).empty());
}

TEST(Graph, WritesExpressionsAsAPersonWould) {
    Fixture f(Graph::Simplify::no);
    Graph& g = f.g;
    EXPECT_EQ(f.text(g.sub(f.x, g.add(f.y, f.z))), "x - (y + z)");
    EXPECT_EQ(f.text(g.sub(g.sub(f.x, f.y), f.z)), "x - y - z");
    EXPECT_EQ(f.text(g.div(f.x, g.mul(f.y, f.z))), "x/(y*z)");
    EXPECT_EQ(f.text(g.mul(g.add(f.x, f.y), f.z)), "z*(x + y)");
    EXPECT_EQ(f.text(g.neg(g.powi(f.x, 2))), "-x^2");
    EXPECT_EQ(f.text(g.powi(g.neg(f.x), 2)), "(-x)^2");
    EXPECT_EQ(f.text(g.pow(f.x, g.neg(f.y))), "x^(-y)");
    EXPECT_EQ(f.text(g.powi(g.powi(f.x, 2), 3)), "(x^2)^3");
    EXPECT_EQ(f.text(g.pow(f.c(-2.0), f.x)), "(-2)^x");
    EXPECT_EQ(f.text(g.powi(f.x, -2)), "x^-2");
    EXPECT_EQ(f.text(g.select(g.binary(Op::less_equal, f.x, f.y), f.x, g.binary(Op::atan2, f.y, f.z))),
              "if(x <= y, x, atan2(y, z))");
    EXPECT_EQ(f.text(f.c(0.1)), "0.1");
}

TEST(Graph, CutsLongTexts) {
    Fixture f;
    Expr deep = f.x, wide = f.x;
    for (int k = 0; k < 10'000; ++k) deep = f.g.unary(Op::sin, deep);
    for (int k = 0; k < 60; ++k) wide = f.g.unary(Op::sin, f.g.mul(wide, wide));  // 2^60 characters in full
    for (const Expr e : {deep, wide}) {
        const std::string text = to_string(f.g, e, 160);
        EXPECT_LT(text.size(), 500u);
        EXPECT_NE(text.find("..."), std::string::npos);
    }
}

TEST(Graph, TermsAddUpToTheirExpression) {
    Fixture f;
    Graph& g = f.g;
    const Expr e = g.sub(g.add(f.x, g.mul(f.c(3.0), f.y)), g.sub(g.unary(Op::sin, f.z), f.c(2.0)));
    const std::vector<Expr> parts = terms(g, e);
    ASSERT_EQ(parts.size(), 4u);
    EXPECT_EQ(parts[0], f.x);
    EXPECT_EQ(parts[1], g.mul(f.c(3.0), f.y));
    EXPECT_EQ(parts[2], g.neg(g.unary(Op::sin, f.z)));
    EXPECT_EQ(parts[3], f.c(2.0));
    EXPECT_EQ(terms(g, g.neg(g.add(f.x, f.y))), (std::vector<Expr>{g.neg(f.x), g.neg(f.y)}));
    EXPECT_EQ(terms(g, f.x), std::vector<Expr>{f.x});
}

TEST(Substitution, ReplacesSymbolsEverywhereAtOnce) {
    Fixture f;
    Graph& g = f.g;
    const Expr e = g.add(g.mul(f.x, f.y), g.unary(Op::sin, f.x));
    Substitution swap(g, {{f.x, f.y}, {f.y, f.x}});
    EXPECT_EQ(swap(e), g.add(g.mul(f.x, f.y), g.unary(Op::sin, f.y)));
    Substitution zero(g, {{f.x, f.c(0.0)}});
    EXPECT_EQ(zero(e), f.c(0.0));
    EXPECT_EQ(zero(g.unary(Op::cos, f.y)), g.unary(Op::cos, f.y));
    const Expr later = g.powi(g.add(f.x, f.z), 3);  // newer than the substitution
    EXPECT_EQ(zero(later), g.powi(f.z, 3));
    Substitution decide(g, {{f.y, f.c(1.0)}, {f.x, f.c(2.0)}});
    EXPECT_EQ(decide(g.select(g.binary(Op::less, f.x, f.y), f.t, f.z)), f.z);
}

TEST(Substitution, CommutesWithEvaluation) {
    for (std::uint64_t seed = 0; seed < 500; ++seed) {
        Random random(seed);
        Fixture f(Graph::Simplify::no);  // no rewriting, so the same operations in the same order
        const Expr e = testing::random_program(random, 3, 15).root(f.g, f.symbols());
        const Expr inner = f.g.add(f.g.unary(Op::sin, f.y), f.t);
        const Expr replaced = Substitution(f.g, {{f.x, inner}})(e);
        const double y = random.moderate(), z = random.moderate(), t = random.moderate();
        const double direct = f.value(replaced, 99.0, y, z, t);
        const double nested = f.value(e, f.value(inner, 99.0, y, z, t), y, z, t);
        ASSERT_TRUE(testing::same_bits(direct, nested)) << "seed " << seed << ": " << f.text(e);
    }
}

// --- limits ------------------------------------------------------------------------------------------------------

TEST(GraphLimits, RepeatedDifferentiationEndsInAnErrorAtTheNodeLimit) {
    Graph g(Graph::Simplify::yes, 20'000);
    const Expr x = g.symbol("x", Kind::position);
    Expr e = x;
    for (int k = 0; k < 5; ++k) e = g.unary(Op::tan, g.add(g.mul(e, e), g.unary(Op::exp, e)));
    try {
        for (int k = 0; k < 100; ++k) e = Derivative(g, x)(e);
        FAIL() << "no limit met";
    } catch (const Error& error) {
        EXPECT_EQ(error.message(), "the expressions are too large: more than 20000 operations after differentiation");
        EXPECT_EQ(error.remedy(), "split the model or write it in C++");
    }
    EXPECT_EQ(g.size(), 20'000u);
    EXPECT_EQ(g.mul(x, x), g.mul(x, x)) << "what exists is still found";
}

TEST(GraphLimits, TheNodeLimitIsExact) {
    Graph g(Graph::Simplify::yes, 3);
    const Expr x = g.symbol("x", Kind::position);
    const Expr one = g.constant(1.0);
    const Expr sum = g.add(x, one);
    EXPECT_EQ(g.add(one, x), sum);
    EXPECT_THROW(g.constant(2.0), Error);
}

TEST(GraphLimits, RepeatedSquaringStaysSmallBecauseItIsShared) {
    Fixture f;
    Expr e = f.g.add(f.x, f.y);
    const std::size_t before = f.g.size();
    for (int k = 0; k < 1000; ++k) e = f.g.mul(e, e);
    EXPECT_EQ(f.g.size(), before + 1000);
    const Expr derivative = Derivative(f.g, f.x)(e);
    EXPECT_LT(f.g.size(), before + 6000) << "a derivative is a few nodes a node";
    EXPECT_EQ(f.value(derivative, 1.0, 0.0), 0x1p1000) << "the derivative of x^(2^1000) at 1";
}

TEST(GraphLimits, DeepGraphsNeedNoStack) {
    Fixture f;
    Expr e = f.x;
    for (int k = 0; k < 300'000; ++k) e = f.g.unary(k % 2 == 0 ? Op::sin : Op::atan, e);
    EXPECT_EQ(reachable(f.g, std::span(&e, 1)).size(), 300'001u);
    const Expr derivative = Derivative(f.g, f.x)(e);
    EXPECT_GT(f.g.size(), 600'000u);
    EXPECT_EQ(Substitution(f.g, {{f.x, f.c(0.0)}})(e), f.c(0.0));
    EXPECT_TRUE(kinks(f.g, derivative, Kind::position).empty());
    EXPECT_EQ(terms(f.g, e).size(), 1u);
}

}  // namespace
}  // namespace saltus::expr::graph_test
