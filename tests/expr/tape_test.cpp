// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/tape.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "allocations.hpp"
#include "expr/random_expression.hpp"
#include "saltus/expr/differentiate.hpp"

namespace saltus::expr::tape_test {
namespace {

using testing::Program;
using testing::Random;
using testing::same_bits;

struct Fixture {
    explicit Fixture(Graph::Simplify simplify = Graph::Simplify::yes) : g(simplify) {
        x = g.symbol("x", Kind::position);
        y = g.symbol("y", Kind::velocity);
        t = g.symbol("t", Kind::time);
        a = g.symbol("a", Kind::parameter);
        b = g.symbol("b", Kind::parameter);
    }
    std::vector<Expr> variables() const { return {x, y, t}; }
    std::vector<Expr> parameters() const { return {a, b}; }
    std::vector<Expr> symbols() const { return {x, y, t, a, b}; }
    Tape tape(const std::vector<Expr>& outputs) const { return Tape(g, outputs, parameters(), variables()); }

    Graph g;
    Expr x, y, t, a, b;
};

template <class V>
std::vector<V> run(const Tape& tape, const std::vector<V>& parameters, const std::vector<V>& variables) {
    std::vector<V> scratch(tape.slot_count()), out(tape.output_count());
    tape.prepare<V>(parameters, scratch);
    tape.evaluate<V>(variables, scratch, out);
    return out;
}

/// Values of x y t, then a b.
struct Point {
    std::vector<double> variables, parameters;

    static Point any(Random& random) {
        const auto value = [&] { return random.once_in(6) ? random.extreme() : random.moderate(); };
        Point p;
        for (int k = 0; k < 3; ++k) p.variables.push_back(value());
        for (int k = 0; k < 2; ++k) p.parameters.push_back(value());
        return p;
    }
    std::vector<double> all() const {
        std::vector<double> values = variables;
        values.insert(values.end(), parameters.begin(), parameters.end());
        return values;
    }
};

/// Several outputs of one random program, duplicates and leaves among them.
std::vector<Expr> random_outputs(Random& random, const std::vector<Expr>& made) {
    std::vector<Expr> outputs{made.back()};
    for (int k = random.below(4); k > 0; --k)
        outputs.push_back(made[static_cast<std::size_t>(random.below(static_cast<int>(made.size())))]);
    return outputs;
}

void expect_tape_is_direct(const Fixture& f, const std::vector<Expr>& outputs, Random& random,
                           const std::string& what) {
    const Tape tape = f.tape(outputs);
    ASSERT_EQ(tape.output_count(), outputs.size());
    for (int k = 0; k < 3; ++k) {
        const Point at = Point::any(random);
        const std::vector<double> direct = testing::evaluate(f.g, outputs, at.all());
        const std::vector<double> out = run(tape, at.parameters, at.variables);
        for (std::size_t i = 0; i < out.size(); ++i)
            ASSERT_TRUE(same_bits(out[i], direct[outputs[i].id]))
                << what << ": " << to_string(f.g, outputs[i], 1000) << " is " << out[i] << " instead of "
                << direct[outputs[i].id];
    }
}

// --- the same value as node by node ------------------------------------------------------------------------------

TEST(Tape, HasTheBitsOfDirectEvaluationOnRandomExpressions) {
    for (std::uint64_t seed = 0; seed < 8000; ++seed) {
        Random random(seed);
        Fixture f(seed % 2 == 0 ? Graph::Simplify::yes : Graph::Simplify::no);
        const auto made = testing::random_program(random, 5, 4 + random.below(50)).build(f.g, f.symbols());
        expect_tape_is_direct(f, random_outputs(random, made), random, "seed " + std::to_string(seed));
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(Tape, HasTheBitsOfDirectEvaluationOnGradients) {
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
        Random random(seed);
        Fixture f;
        const Expr e = testing::random_program(random, 5, 12).root(f.g, f.symbols());
        std::vector<Expr> outputs{e};
        for (const Expr s : f.symbols()) outputs.push_back(Derivative(f.g, s)(e));
        expect_tape_is_direct(f, outputs, random, "seed " + std::to_string(seed));
        if (::testing::Test::HasFatalFailure()) return;
    }
}

TEST(Tape, KnowsEveryOperation) {
    Fixture f(Graph::Simplify::no);
    std::vector<Expr> outputs;
    for (int k = static_cast<int>(Op::add); k < static_cast<int>(Op::select); ++k) {
        const Op op = static_cast<Op>(k);
        if (op == Op::powi) {
            for (const int n : {-5, -1, 0, 1, 2, 3, 7, 64}) outputs.push_back(f.g.powi(f.x, n));
        } else if (operand_count(op) == 1) {
            outputs.push_back(f.g.unary(op, f.x));
            outputs.push_back(f.g.unary(op, f.a));
        } else {
            outputs.push_back(f.g.binary(op, f.x, f.y));
            outputs.push_back(f.g.binary(op, f.x, f.x));
            outputs.push_back(f.g.binary(op, f.a, f.y));
        }
    }
    outputs.push_back(f.g.select(f.x, f.y, f.t));
    Random random(7);
    for (int k = 0; k < 200; ++k) expect_tape_is_direct(f, outputs, random, "point " + std::to_string(k));
    const double nan = testing::nan, inf = testing::infinity;
    for (const double x : {nan, inf, -inf, -0.0, 0.0}) {
        const std::vector<double> at{x, 1.0, nan, x, 2.0};
        const auto direct = testing::evaluate(f.g, outputs, at);
        const auto out = run<double>(f.tape(outputs), {x, 2.0}, {x, 1.0, nan});
        for (std::size_t i = 0; i < out.size(); ++i)
            EXPECT_TRUE(same_bits(out[i], direct[outputs[i].id])) << to_string(f.g, outputs[i]);
    }
}

RC_GTEST_PROP(Tape, GivesEveryLaneTheBitsOfTheScalar, (std::uint64_t seed)) {
    for (std::uint64_t k = 0; k < 10; ++k) {
        Random random(seed + k);
        Fixture f(random.once_in(2) ? Graph::Simplify::yes : Graph::Simplify::no);
        const auto made = testing::random_program(random, 5, 4 + random.below(40)).build(f.g, f.symbols());
        const std::vector<Expr> outputs = random_outputs(random, made);
        const Tape tape = f.tape(outputs);
        std::vector<Lanes> variables(3), parameters(2);
        std::array<Point, Lanes::width> points;
        for (std::size_t lane = 0; lane < Lanes::width; ++lane) {
            points[lane] = Point::any(random);
            for (std::size_t i = 0; i < 3; ++i) variables[i][lane] = points[lane].variables[i];
            for (std::size_t i = 0; i < 2; ++i) parameters[i][lane] = points[lane].parameters[i];
        }
        const std::vector<Lanes> out = run(tape, parameters, variables);
        for (std::size_t lane = 0; lane < Lanes::width; ++lane) {
            const std::vector<double> scalar = run(tape, points[lane].parameters, points[lane].variables);
            for (std::size_t i = 0; i < scalar.size(); ++i) RC_ASSERT(same_bits(out[i][lane], scalar[i]));
        }
    }
}

// --- parameters and variables ------------------------------------------------------------------------------------

TEST(Tape, ComputesWhatDependsOnParametersAloneWhenPrepared) {
    Fixture f;
    Graph& g = f.g;
    const Expr slow = g.unary(Op::exp, g.div(g.unary(Op::sin, f.a), g.add(f.b, g.mul(f.a, f.a))));
    const Tape tape = f.tape({g.mul(slow, f.x)});
    EXPECT_EQ(tape.instruction_count(), 1u);
    EXPECT_EQ(tape.parameter_count(), 2u);
    EXPECT_EQ(tape.variable_count(), 3u);
    EXPECT_EQ(f.tape({slow}).instruction_count(), 0u);

    // Evaluating again does not look at parameters, preparing again does.
    std::vector<double> scratch(tape.slot_count()), out(1);
    const auto expected = [&](double x, double a, double b) { return std::exp(std::sin(a) / (b + a * a)) * x; };
    tape.prepare<double>(std::array{0.5, 2.0}, scratch);
    for (const double x : {1.0, -3.0, 0.25}) {
        tape.evaluate<double>(std::array{x, 0.0, 0.0}, scratch, out);
        EXPECT_EQ(out[0], expected(x, 0.5, 2.0));
    }
    tape.prepare<double>(std::array{-1.5, 3.0}, scratch);
    tape.evaluate<double>(std::array{2.0, 0.0, 0.0}, scratch, out);
    EXPECT_EQ(out[0], expected(2.0, -1.5, 3.0));
}

TEST(Tape, SharesWhatItsOutputsHaveInCommon) {
    Fixture f;
    Graph& g = f.g;
    const Expr shared = g.unary(Op::exp, g.add(f.x, f.y));
    EXPECT_EQ(f.tape({shared, g.unary(Op::log, shared), g.unary(Op::sqrt, shared)}).instruction_count(), 4u);
}

TEST(Tape, TakesSymbolsConstantsAndDuplicatesAsOutputs) {
    Fixture f;
    Graph& g = f.g;
    const Expr e = g.unary(Op::exp, f.x);
    const Tape tape = f.tape({f.x, g.constant(7.0), f.a, e, e, g.unary(Op::cos, f.b), f.x, g.constant(-0.0)});
    const auto out = run<double>(tape, {3.0, 4.0}, {0.5, 6.0, 8.0});
    const std::vector<double> expected{0.5, 7.0, 3.0, std::exp(0.5), std::exp(0.5), std::cos(4.0), 0.5, -0.0};
    ASSERT_EQ(out.size(), expected.size());
    for (std::size_t k = 0; k < out.size(); ++k) EXPECT_TRUE(same_bits(out[k], expected[k])) << k;
    EXPECT_EQ(tape.instruction_count(), 1u);
}

TEST(Tape, MayBeEmpty) {
    Fixture f;
    for (const Tape& tape : {Tape(), f.tape({}), Tape(f.g, {}, {}, {})}) {
        EXPECT_EQ(tape.output_count(), 0u);
        EXPECT_EQ(tape.instruction_count(), 0u);
        std::vector<double> scratch(tape.slot_count()), out;
        const std::vector<double> parameters(tape.parameter_count()), variables(tape.variable_count());
        tape.prepare<double>(parameters, scratch);
        tape.evaluate<double>(variables, scratch, out);
    }
    const Tape constant(f.g, std::array{f.g.constant(2.5)}, {}, {});
    EXPECT_EQ(run<double>(constant, {}, {}), std::vector<double>{2.5});
}

TEST(Tape, TakesItsInputsInTheOrderGivenUsedOrNot) {
    Fixture f;
    const Expr e = f.g.sub(f.x, f.g.mul(f.a, f.y));
    const Tape tape(f.g, std::array{e}, std::array{f.b, f.a}, std::array{f.y, f.t, f.x});
    EXPECT_EQ(run<double>(tape, {100.0, 2.0}, {3.0, 1000.0, 50.0}), std::vector<double>{44.0});
}

TEST(Tape, LeavesNothingInTheScratchThatTheNextEvaluationSees) {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Random random(seed);
        Fixture f;
        const auto made = testing::random_program(random, 5, 30).build(f.g, f.symbols());
        const std::vector<Expr> outputs = random_outputs(random, made);
        const Tape tape = f.tape(outputs);
        std::vector<double> scratch(tape.slot_count() + 3, testing::nan), out(outputs.size() + 1, 42.0);
        const Point fixed = Point::any(random);
        tape.prepare<double>(fixed.parameters, scratch);
        for (int k = 0; k < 4; ++k) {
            const Point at = Point::any(random);
            tape.evaluate<double>(at.variables, scratch, out);
            const auto fresh = run(tape, fixed.parameters, at.variables);
            for (std::size_t i = 0; i < fresh.size(); ++i) ASSERT_TRUE(same_bits(out[i], fresh[i])) << "seed " << seed;
            ASSERT_EQ(out.back(), 42.0) << "nothing is written beyond the outputs";
        }
    }
}

TEST(Tape, ReusesSlotsOfLongChains) {
    Fixture f;
    Expr e = f.x;
    for (int k = 0; k < 10'000; ++k) e = f.g.unary(k % 2 == 0 ? Op::sin : Op::atan, e);
    const Tape tape = f.tape({e});
    EXPECT_EQ(tape.instruction_count(), 10'000u);
    EXPECT_LE(tape.slot_count(), 8u);
}

TEST(Tape, AllocatesNothingWhenPreparedAndEvaluated) {
    Random random(5);
    Fixture f;
    const auto made = testing::random_program(random, 5, 400).build(f.g, f.symbols());
    const Tape tape = f.tape({made.back(), made[made.size() / 2], made[made.size() / 3]});
    const auto count = [&](auto kind) {
        using V = decltype(kind);
        const std::vector<V> parameters(2, V(0.5)), variables(3, V(0.25));
        std::vector<V> scratch(tape.slot_count()), out(tape.output_count());
        const std::size_t before = test::allocations();
        for (int k = 0; k < 10; ++k) {
            tape.prepare<V>(parameters, scratch);
            tape.evaluate<V>(variables, scratch, out);
        }
        return test::allocations() - before;
    };
    const std::size_t before = test::allocations();
    { const std::vector<double> some(3); }
    ASSERT_GT(test::allocations(), before) << "the counter counts";
    EXPECT_EQ(count(double{}), 0u);
    EXPECT_EQ(count(Lanes(0.0)), 0u);
    EXPECT_EQ(count(Interval{}), 0u);
}

// --- instructions that only a tape has ---------------------------------------------------------------------------

TEST(Tape, TakesSineAndCosineOfOneAngleTogether) {
    Fixture f;
    Graph& g = f.g;
    const Expr angle = g.add(f.x, f.y);
    const Expr s = g.unary(Op::sin, angle), c = g.unary(Op::cos, angle);
    EXPECT_EQ(f.tape({s, c}).instruction_count(), 2u);
    EXPECT_EQ(f.tape({c, s}).instruction_count(), 2u);
    EXPECT_EQ(f.tape({s}).instruction_count(), 2u);
    EXPECT_EQ(f.tape({s, g.unary(Op::cos, f.x)}).instruction_count(), 3u);
    EXPECT_EQ(f.tape({g.unary(Op::sin, f.a), g.unary(Op::cos, f.a)}).instruction_count(), 0u);
    // The angle may end with them, or go on.
    Random random(3);
    for (const auto& outputs : std::vector<std::vector<Expr>>{{g.mul(s, c)},
                                                              {c, s, angle},
                                                              {g.unary(Op::sin, g.unary(Op::cos, angle)), s},
                                                              {g.div(s, c), g.unary(Op::exp, angle)},
                                                              {g.add(s, c), g.mul(c, f.a)}})
        for (int k = 0; k < 50; ++k) expect_tape_is_direct(f, outputs, random, "sincos");
}

TEST(Tape, SineWithCosineHasTheBitsOfEachAlone) {
    Fixture f;
    const Tape both = f.tape({f.g.unary(Op::sin, f.x), f.g.unary(Op::cos, f.x)});
    Random random(11);
    for (int k = 0; k < 100'000; ++k) {
        const double x = k % 2 == 0 ? random.between(-10.0, 10.0) : random.extreme();
        const auto out = run<double>(both, {0.0, 0.0}, {x, 0.0, 0.0});
        ASSERT_TRUE(same_bits(out[0], apply(Op::sin, x, 0, 0, 0)) && same_bits(out[1], apply(Op::cos, x, 0, 0, 0)))
            << x;
    }
}

TEST(Tape, FoldsAProductIntoTheSumThatAloneReadsIt) {
    Fixture f(Graph::Simplify::no);
    Graph& g = f.g;
    const Expr xy = g.mul(f.x, f.y), xx = g.mul(f.x, f.x), xt = g.mul(f.x, f.t), ab = g.mul(f.a, f.b),
               ax = g.mul(f.a, f.x);
    struct Case {
        std::string what;
        std::vector<Expr> outputs;
        std::size_t instructions;
    };
    const std::vector<Case> cases{
        {"product + t", {g.add(xy, f.t)}, 1},
        {"t + product", {g.add(f.t, xy)}, 1},
        {"product - t", {g.sub(xy, f.t)}, 1},
        {"t - product", {g.sub(f.t, xy)}, 1},
        {"square + t", {g.add(xx, f.t)}, 1},
        {"t - square", {g.sub(f.t, xx)}, 1},
        {"two products take in one", {g.add(xy, xt)}, 2},
        {"difference of two products", {g.sub(xy, xt)}, 2},
        {"product with itself", {g.add(xy, xy)}, 2},
        {"product minus itself", {g.sub(xy, xy)}, 2},
        {"product that is an output", {g.add(xy, f.t), xy}, 2},
        {"product read twice", {g.add(xy, f.t), g.sub(xy, f.t)}, 3},
        {"product read by another operation too", {g.add(xy, f.t), g.unary(Op::exp, xy)}, 3},
        {"the factor is the other operand", {g.add(xy, f.x)}, 1},
        {"the other operand minus the product of itself", {g.sub(f.x, xx)}, 1},
        {"prepared product", {g.add(ab, f.x)}, 1},
        {"prepared sum of prepared product", {g.add(g.add(ab, f.a), f.x)}, 1},
        {"prepared factor", {g.add(ax, f.y)}, 1},
        {"chain", {g.add(g.mul(g.add(g.mul(g.add(xy, f.t), f.x), f.y), f.t), f.x)}, 3},
        {"nested products", {g.add(g.mul(xy, xt), f.t)}, 3},
        {"product of sums", {g.mul(g.add(xy, f.t), g.sub(xt, f.y))}, 3},
    };
    Random random(17);
    for (const Case& c : cases) {
        EXPECT_EQ(f.tape(c.outputs).instruction_count(), c.instructions) << c.what;
        for (int k = 0; k < 30; ++k) expect_tape_is_direct(f, c.outputs, random, c.what);
    }
}

TEST(Tape, MeansTwoRoundingsWhereAProductIsFolded) {
    Fixture f;
    const Tape tape = f.tape({f.g.sub(f.g.mul(f.x, f.y), f.t)});
    const double x = 1.0 + 0x1p-30;
    // x² rounds to 1 + 2^-29; a fused operation would leave 2^-60.
    EXPECT_EQ(run<double>(tape, {0.0, 0.0}, {x, x, 1.0 + 0x1p-29}), std::vector<double>{0.0});
}

TEST(TapeDeathTest, MisuseIsStoppedBeforeMemoryIsHarmed) {
    Fixture f;
    const Tape tape = f.tape({f.x});
    std::vector<double> scratch(tape.slot_count()), out(1);
    EXPECT_DEATH(tape.prepare<double>(std::vector<double>{1.0}, scratch), "misuse");
    EXPECT_DEATH(tape.evaluate<double>(std::vector<double>{1.0}, scratch, out), "misuse");
    EXPECT_DEATH(tape.evaluate<double>(std::vector<double>(3), std::span<double>(), out), "misuse");
    EXPECT_DEATH(tape.evaluate<double>(std::vector<double>(3), scratch, std::span<double>()), "misuse");
    EXPECT_DEATH(Tape(f.g, std::array{f.x}, {}, std::array{f.y}), "misuse");
}

TEST(Tape, TakesASymbolOfKindParameterAsAVariable) {
    Fixture f;
    const Tape tape(f.g, std::array{f.g.unary(Op::exp, f.a)}, {}, std::array{f.a});
    EXPECT_EQ(run<double>(tape, {}, {2.0}), std::vector<double>{std::exp(2.0)});
}

}  // namespace
}  // namespace saltus::expr::tape_test
