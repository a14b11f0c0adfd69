// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/series/series_tape.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "allocations.hpp"
#include "expr/random_expression.hpp"
#include "saltus/expr/series/series_sizes.hpp"

namespace saltus::expr::series_test {
namespace {

using testing::eps;
using testing::infinity;
using testing::nan;
using testing::Random;

/// Expressions of the time t, two variables q and u, and two parameters a and p.
struct Fixture {
    explicit Fixture(Graph::Simplify simplify = Graph::Simplify::yes) : g(simplify) {
        t = g.symbol("t", Kind::time);
        q = g.symbol("q", Kind::position);
        u = g.symbol("u", Kind::velocity);
        a = g.symbol("a", Kind::parameter);
        p = g.symbol("p", Kind::parameter);
    }
    std::vector<Expr> symbols() const { return {t, q, u, a, p}; }
    SeriesTape tape(std::vector<Expr> outputs) const {
        return SeriesTape(g, outputs, std::array{a, p}, std::array{t, q, u}, t);
    }
    Expr f(Op op, Expr x) { return g.unary(op, x); }
    Expr f(Op op, Expr x, Expr y) { return g.binary(op, x, y); }
    Expr c(double x) { return g.constant(x); }

    Graph g;
    Expr t, q, u, a, p;
};

/// Starting values of one expansion: the time, the coefficients of q and u, and the parameters.
template <class V>
struct Start {
    V t0 = V(0.0);
    std::vector<V> q, u;
    std::array<V, 2> parameters{V(0.0), V(0.0)};

    V coefficient(const std::vector<V>& of, int k) const {
        return static_cast<std::size_t>(k) < of.size() ? of[static_cast<std::size_t>(k)] : V(0.0);
    }
};

template <class V>
void expand(SeriesWorkspace<V>& w, const Start<V>& start, int order) {
    w.prepare(start.parameters);
    w.begin(start.t0);
    for (int k = 0; k <= order; ++k) {
        w.variable(1)[k] = start.coefficient(start.q, k);
        w.variable(2)[k] = start.coefficient(start.u, k);
        w.evaluate_order(k);
    }
}

/// Coefficients of one expression.
std::vector<double> series(const Fixture& f, Expr e, const Start<double>& start, int order) {
    const SeriesTape tape = f.tape({e});
    SeriesWorkspace<double> w(tape, order);
    expand(w, start, order);
    return {w.output(0), w.output(0) + order + 1};
}

template <class T>
T polynomial(const double* c, int order, T x) {
    T sum = T(c[order]);
    for (int k = order - 1; k >= 0; --k) sum = sum * x + T(c[k]);
    return sum;
}

void expect_series(const std::vector<double>& found, const std::vector<double>& expected, double scale = 1.0) {
    ASSERT_GE(found.size(), expected.size());
    for (std::size_t k = 0; k < expected.size(); ++k)
        EXPECT_NEAR(found[k], expected[k], 64 * eps * std::max(scale, std::fabs(expected[k]))) << "order " << k;
}

constexpr int order = 12;

// --- closed forms ----------------------------------------------------------------------------------------------------

TEST(Series, ElementaryFunctionsOfTheTimeHaveTheirTaylorCoefficients) {
    Fixture f;
    const auto at = [&](Op op, double t0) { return series(f, f.f(op, f.t), {t0, {}, {}, {}}, 8); };
    expect_series(at(Op::exp, 0), {1, 1, 1. / 2, 1. / 6, 1. / 24, 1. / 120, 1. / 720});
    expect_series(at(Op::sin, 0), {0, 1, 0, -1. / 6, 0, 1. / 120, 0, -1. / 5040, 0});
    expect_series(at(Op::cos, 0), {1, 0, -1. / 2, 0, 1. / 24, 0, -1. / 720, 0});
    expect_series(at(Op::sinh, 0), {0, 1, 0, 1. / 6, 0, 1. / 120, 0, 1. / 5040, 0});
    expect_series(at(Op::cosh, 0), {1, 0, 1. / 2, 0, 1. / 24, 0, 1. / 720, 0});
    expect_series(at(Op::tan, 0), {0, 1, 0, 1. / 3, 0, 2. / 15, 0, 17. / 315, 0});
    expect_series(at(Op::tanh, 0), {0, 1, 0, -1. / 3, 0, 2. / 15, 0, -17. / 315, 0});
    expect_series(at(Op::atan, 0), {0, 1, 0, -1. / 3, 0, 1. / 5, 0, -1. / 7, 0});
    expect_series(at(Op::asin, 0), {0, 1, 0, 1. / 6, 0, 3. / 40, 0, 15. / 336, 0});
    expect_series(at(Op::acos, 0), {std::numbers::pi / 2, -1, 0, -1. / 6, 0, -3. / 40, 0, -15. / 336, 0});
    expect_series(at(Op::log, 1), {0, 1, -1. / 2, 1. / 3, -1. / 4, 1. / 5, -1. / 6, 1. / 7, -1. / 8});
    expect_series(at(Op::sqrt, 1), {1, 1. / 2, -1. / 8, 1. / 16, -5. / 128, 7. / 256, -21. / 1024, 33. / 2048});
}

TEST(Series, PowersAndQuotientsOfTheTimeHaveTheirTaylorCoefficients) {
    Fixture f;
    expect_series(series(f, f.g.div(f.c(1), f.t), {2.0, {}, {}, {}}, 5), {1. / 2, -1. / 4, 1. / 8, -1. / 16, 1. / 32});
    expect_series(series(f, f.g.powi(f.t, -3), {1.0, {}, {}, {}}, 5), {1, -3, 6, -10, 15, -21});
    expect_series(series(f, f.g.powi(f.t, 7), {0.0, {}, {}, {}}, 8), {0, 0, 0, 0, 0, 0, 0, 1, 0});
    expect_series(series(f, f.g.pow(f.t, f.p), {1.0, {}, {}, {0, 1.5}}, 4), {1, 1.5, 0.375, -0.0625, 0.0234375});
    expect_series(series(f, f.g.pow(f.t, f.t), {1.0, {}, {}, {}}, 4), {1, 1, 1, 0.5, 1. / 3});
    expect_series(series(f, f.g.pow(f.c(2), f.t), {0.0, {}, {}, {}}, 3),
                  {1, std::numbers::ln2, std::pow(std::numbers::ln2, 2) / 2, std::pow(std::numbers::ln2, 3) / 6});
}

TEST(Series, IdentitiesHoldForFunctionsOfASeries) {
    Fixture f;
    const Start<double> start{0.3, {0.4, -0.3, 0.2, 0.5, -0.7}, {0.7, 0.1, -0.4, 0.3}, {1.3, 2.5}};
    const auto expect_zero = [&](Expr e, const char* name) {
        for (const double c : series(f, e, start, order)) EXPECT_NEAR(c, 0.0, 1e3 * eps) << name;
    };
    const Expr q = f.q, u = f.u, sine = f.f(Op::sin, q), cosine = f.f(Op::cos, q);
    const auto minus = [&](Expr x, Expr y) { return f.g.sub(x, y); };
    const auto times = [&](Expr x, Expr y) { return f.g.mul(x, y); };
    expect_zero(minus(f.g.add(times(sine, sine), times(cosine, cosine)), f.c(1)), "sin² + cos² = 1");
    expect_zero(minus(times(f.f(Op::tan, q), cosine), sine), "tan cos = sin");
    expect_zero(minus(times(f.f(Op::tanh, q), f.f(Op::cosh, q)), f.f(Op::sinh, q)), "tanh cosh = sinh");
    expect_zero(minus(f.f(Op::asin, sine), q), "asin sin = id");
    expect_zero(minus(f.f(Op::acos, cosine), q), "acos cos = id");
    expect_zero(minus(f.f(Op::atan, f.f(Op::tan, q)), q), "atan tan = id");
    expect_zero(minus(f.f(Op::log, f.f(Op::exp, q)), q), "log exp = id");
    expect_zero(minus(f.f(Op::exp, f.f(Op::log, q)), q), "exp log = id");
    expect_zero(minus(times(f.f(Op::sqrt, q), f.f(Op::sqrt, q)), q), "√q² = q");
    expect_zero(minus(times(f.g.div(u, q), q), u), "(u/q) q = u");
    expect_zero(minus(f.f(Op::atan2, times(u, sine), times(u, cosine)), q), "the angle of a point is its angle");
    expect_zero(minus(f.f(Op::hypot, times(u, sine), times(u, cosine)), u), "the distance of a point is its distance");
    expect_zero(minus(f.g.pow(q, f.p), times(times(q, q), f.f(Op::sqrt, q))), "q^2.5 = q² √q");
    expect_zero(minus(f.g.pow(q, u), f.f(Op::exp, times(u, f.f(Op::log, q)))), "q^u = exp(u log q)");
    expect_zero(minus(f.g.powi(q, -5), f.g.pow(q, f.c(-5.0))), "integer powers agree");
    expect_zero(minus(f.g.powi(q, 11), times(f.g.powi(q, 6), f.g.powi(q, 5))), "q^11 = q^6 q^5");
}

TEST(Series, AParameterThatIsASmallIntegerExponentAllowsABaseThatStartsAtZero) {
    Fixture f;
    const Expr e = f.g.pow(f.q, f.p);
    for (int n = 0; n <= 8; ++n) {
        for (const double q0 : {0.0, 1e-18, -0.7}) {
            const Start<double> start{0.0, {q0, 0.8, -0.3, 0.2}, {}, {0.0, static_cast<double>(n)}};
            const std::vector<double> found = series(f, e, start, order);
            expect_series(found, series(f, f.g.powi(f.q, n), start, order));
        }
    }
    const std::vector<double> negative = series(f, e, {0.0, {-2.0, 1.0}, {}, {0.0, -1.0}}, 3);
    expect_series(negative, {-0.5, -0.25, -0.125, -0.0625});
}

TEST(Series, ATangentOfALargeArgumentKeepsItsRelativeAccuracy) {
    Fixture f;
    const std::vector<double> found = series(f, f.f(Op::tanh, f.t), {20.0, {}, {}, {}}, 3);
    const double slope = 1.0 / (std::cosh(20.0) * std::cosh(20.0));
    EXPECT_NEAR(found[1], slope, 8 * eps * slope);
    EXPECT_NEAR(found[2], -slope, 8 * eps * slope);
}

// --- the order of evaluation -----------------------------------------------------------------------------------------

TEST(Series, AStepperThatWritesOrdersOneByOneGetsTheSolutionOfTheDifferentialEquation) {
    // x'' = −x with x = sin(t + 0.5): q and u are the series of sine and cosine.
    Fixture f;
    const SeriesTape tape = f.tape({f.u, f.g.neg(f.q)});
    SeriesWorkspace<double> w(tape, 20);
    w.prepare(std::array{0.0, 0.0});
    w.variable(1)[0] = std::sin(0.5);
    w.variable(2)[0] = std::cos(0.5);
    w.begin(0.0);
    for (int k = 0; k < 20; ++k) {
        w.evaluate_order(k);
        w.variable(1)[k + 1] = w.output(0)[k] / (k + 1);
        w.variable(2)[k + 1] = w.output(1)[k] / (k + 1);
    }
    EXPECT_NEAR(polynomial(w.variable(1), 20, 1.0), std::sin(1.5), 16 * eps);
    EXPECT_NEAR(polynomial(w.variable(2), 20, 1.0), std::cos(1.5), 16 * eps);
}

TEST(Series, OrdersThatAreEvaluatedTogetherAreThoseThatAreEvaluatedOneByOne) {
    // The outputs depend on the given variables t and q alone, on u too, and on u but wanted later.
    constexpr int last = 29;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        Fixture f;
        const auto any = [&](std::vector<Expr> symbols) {
            return testing::random_program(random, static_cast<int>(symbols.size()), 15).root(f.g, symbols);
        };
        const Expr of_given = any({f.t, f.q, f.a, f.p, f.a}), of_all = any(f.symbols()), later = any(f.symbols());
        const std::vector<Expr> outputs{of_given,
                                        f.f(Op::sin, of_given),
                                        f.g.mul(f.q, f.f(Op::cos, f.q)),
                                        of_all,
                                        f.g.mul(of_given, of_all),
                                        later,
                                        f.f(Op::sin, f.g.mul(f.u, f.q))};
        SeriesStages stages;
        stages.given = 2;
        stages.later = {0, 0, 0, 0, 0, 1, 1};
        const SeriesTape plain = f.tape(outputs),
                         staged(f.g, outputs, std::array{f.a, f.p}, std::array{f.t, f.q, f.u}, f.t, stages);
        SeriesWorkspace<double> one_by_one(plain, last), together(staged, last);
        Start<double> start{random.moderate(), {}, {}, {random.moderate(), random.moderate()}};
        for (int k = 0; k <= last; ++k) {
            start.q.push_back(std::ldexp(random.moderate(), -k));
            start.u.push_back(std::ldexp(random.moderate(), -k));
        }
        expand(one_by_one, start, last);
        together.prepare(start.parameters);
        for (int k = 0; k <= last; ++k) {
            together.variable(1)[k] = start.coefficient(start.q, k);
            together.variable(2)[k] = start.coefficient(start.u, k);
        }
        together.begin(start.t0);
        together.evaluate_order(0);
        const int cut = 1 + static_cast<int>(seed % (last - 1));
        for (const auto& [from, to] : {std::pair{1, cut}, std::pair{cut + 1, last}}) {
            together.evaluate_given(from, to);
            for (int k = from; k <= to; ++k) together.evaluate_order(k);
            together.evaluate_later(from, to);
        }
        // Rounding errors are relative to the largest coefficient: terms of outputs such as sin(asin(t)) cancel.
        double size = 0.0;
        for (int k = 0; k <= last && std::isfinite(size) && size < 1e100; ++k) {
            for (int i = 0; i < plain.output_count(); ++i) size += std::abs(one_by_one.output(i)[k]);
            if (!std::isfinite(size)) break;
            for (int i = 0; i < plain.output_count(); ++i)
                ASSERT_NEAR(together.output(i)[k], one_by_one.output(i)[k], 1e-9 * size + 1e-300)
                    << "seed " << seed << ", output " << i << ", order " << k;
        }
    }
}

TEST(Series, CoefficientsOfHigherOrderThanTheEvaluatedOneAreNotRead) {
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
        Random random(seed);
        Fixture f;
        const SeriesTape tape = f.tape({testing::random_program(random, 5, 15).root(f.g, f.symbols())});
        SeriesWorkspace<double> known(tape, order), unknown(tape, order);
        Start<double> start{random.moderate(), {}, {}, {random.moderate(), random.moderate()}};
        for (int k = 0; k <= order; ++k) {
            start.q.push_back(random.moderate());
            start.u.push_back(random.moderate());
        }
        for (SeriesWorkspace<double>* w : {&known, &unknown})
            for (int k = 0; k <= order; ++k) {
                w->variable(1)[k] = w == &known ? start.coefficient(start.q, k) : nan;
                w->variable(2)[k] = w == &known ? start.coefficient(start.u, k) : nan;
            }
        known.prepare(start.parameters);
        known.begin(start.t0);
        for (int k = 0; k <= order; ++k) known.evaluate_order(k);
        expand(unknown, start, order);
        expand(unknown, start, order);  // a second expansion forgets the first
        for (int k = 0; k <= order; ++k)
            ASSERT_TRUE(testing::same_bits(known.output(0)[k], unknown.output(0)[k])) << "seed " << seed;
    }
}

TEST(Series, AnExpansionAfterOneThatFailedIsUnharmed) {
    Fixture f;
    const SeriesTape tape = f.tape({f.g.div(f.f(Op::sqrt, f.q), f.g.sub(f.u, f.f(Op::sin, f.q)))});
    SeriesWorkspace<double> used(tape, order), fresh(tape, order);
    expand(used, {0.0, {0.0, 1.0}, {0.0, 1.0}, {}}, order);
    EXPECT_FALSE(std::isfinite(used.output(0)[1]));
    const Start<double> start{0.0, {0.5, 1.0}, {2.0, 1.0}, {}};
    expand(used, start, order);
    expand(fresh, start, order);
    for (int k = 0; k <= order; ++k) EXPECT_EQ(used.output(0)[k], fresh.output(0)[k]);
}

TEST(Series, EvaluationAllocatesNothing) {
    Fixture f;
    Random random(5);
    const auto made = testing::random_program(random, 5, 60).build(f.g, f.symbols());
    const SeriesTape tape = f.tape(made);
    SeriesWorkspace<double> w(tape, order);
    const Start<double> start{0.1, {0.2, 0.3}, {0.4}, {0.5, 0.6}};
    std::vector<double> radius(3, 0.01), bound(made.size()), switches(static_cast<std::size_t>(tape.switch_count()));
    expand(w, start, order);
    w.bounds(0.01, radius, bound, switches);  // the first calls allocate memory
    w.remainders(0.01, bound, switches);
    const std::size_t before = test::allocations();
    expand(w, start, order);
    w.bounds(0.01, radius, bound, switches);
    w.remainders(0.01, bound, switches);
    EXPECT_EQ(test::allocations(), before);
}

// --- degrees ---------------------------------------------------------------------------------------------------------

TEST(Series, TheDegreeOfAPolynomialInTimeIsKnown) {
    Fixture f;
    const Expr cubic = f.g.add(f.g.mul(f.g.mul(f.t, f.t), f.t), f.g.mul(f.a, f.t));
    const SeriesTape tape =
        f.tape({f.c(3), f.a, f.t, f.g.sub(f.p, f.t), cubic, f.g.powi(f.t, 5), f.g.mul(f.t, f.q), f.f(Op::sin, f.t),
                f.f(Op::abs, cubic), f.f(Op::less, f.t, f.a), f.g.select(f.f(Op::less, f.t, f.a), cubic, f.t)});
    const std::array degrees{0, 0, 1, 1, 3, 5, SeriesTape::unlimited, SeriesTape::unlimited, 3, 0, 3};
    for (int i = 0; i < tape.output_count(); ++i)
        EXPECT_EQ(tape.output_degree(i), degrees[static_cast<std::size_t>(i)]) << "output " << i;
    SeriesWorkspace<double> w(tape, 8);
    expand(w, {2.0, {1.0, 1.0}, {}, {7.0, 5.0}}, 8);
    const auto row = [&](int i) { return std::vector<double>(w.output(i), w.output(i) + 9); };
    EXPECT_EQ(row(0), (std::vector<double>{3, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(row(1), (std::vector<double>{7, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(row(3), (std::vector<double>{3, -1, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(row(4), (std::vector<double>{22, 19, 6, 1, 0, 0, 0, 0, 0}));
    EXPECT_EQ(row(5), (std::vector<double>{32, 80, 80, 40, 10, 1, 0, 0, 0}));
    EXPECT_EQ(row(6), (std::vector<double>{2, 3, 1, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(row(9), (std::vector<double>{1, 0, 0, 0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(w.degree(4), 3);
    EXPECT_EQ(w.degree(7), 8) << "unlimited degrees stop at the highest order of the workspace";
}

TEST(Series, FunctionsOfPolynomialsCostAsLittleAsTheirDegree) {
    Fixture f;
    const SeriesTape tape = f.tape({f.g.mul(f.f(Op::sin, f.g.mul(f.a, f.t)), f.p)});
    EXPECT_EQ(tape.instruction_count(), 2) << "one pair of sine and cosine and one scaling; a*t is a polynomial";
    EXPECT_EQ(f.tape({f.f(Op::sin, f.q), f.f(Op::cos, f.q)}).instruction_count(), 1);
    EXPECT_EQ(f.tape({f.g.add(f.g.mul(f.q, f.u), f.f(Op::exp, f.u))}).instruction_count(), 2) << "a*b + c is fused";
    EXPECT_EQ(f.tape({f.g.mul(f.f(Op::exp, f.a), f.p)}).instruction_count(), 0);
    EXPECT_EQ(f.tape({f.g.powi(f.q, 8)}).instruction_count(), 3);
}

// --- switches --------------------------------------------------------------------------------------------------------

TEST(Series, EachPiecewiseOperationHasItsSwitchingFunction) {
    Fixture f;
    const auto check = [&](Expr e, std::vector<double> function, int side, bool jumps, std::vector<double> value) {
        const SeriesTape tape = f.tape({e});
        ASSERT_EQ(tape.switch_count(), 1) << to_string(f.g, e);
        EXPECT_EQ(tape.switch_jumps(0), jumps) << to_string(f.g, e);
        SeriesWorkspace<double> w(tape, 2);
        expand(w, {0.0, {3.0, -1.0, 0.5}, {1.0, 2.0, 4.0}, {}}, 2);
        EXPECT_EQ(w.side(0), side) << to_string(f.g, e);
        for (std::size_t k = 0; k < 3; ++k) {
            EXPECT_EQ(w.switch_function(0)[k], function[k]) << to_string(f.g, e);
            EXPECT_EQ(w.output(0)[k], value[k]) << to_string(f.g, e);
        }
    };
    const std::vector<double> q{3, -1, 0.5}, u{1, 2, 4}, q_minus_u{2, -3, -3.5}, u_minus_q{-2, 3, 3.5};
    check(f.f(Op::abs, f.g.sub(f.u, f.q)), u_minus_q, -1, false, q_minus_u);
    check(f.f(Op::abs, f.q), q, 1, false, q);
    check(f.f(Op::min, f.q, f.u), q_minus_u, 1, false, u);
    check(f.f(Op::min, f.u, f.q), u_minus_q, -1, false, u);
    check(f.f(Op::max, f.q, f.u), q_minus_u, 1, false, q);
    check(f.f(Op::max, f.u, f.q), u_minus_q, -1, false, q);
    check(f.f(Op::sign, f.g.sub(f.u, f.q)), u_minus_q, -1, true, {-1, 0, 0});
    check(f.f(Op::less, f.q, f.u), u_minus_q, -1, true, {0, 0, 0});
    check(f.f(Op::less, f.u, f.q), q_minus_u, 1, true, {1, 0, 0});
    check(f.f(Op::less_equal, f.u, f.q), q_minus_u, 1, true, {1, 0, 0});
    check(f.f(Op::equal, f.q, f.u), q_minus_u, 1, true, {0, 0, 0});
    check(f.f(Op::not_equal, f.q, f.u), q_minus_u, 1, true, {1, 0, 0});
    check(f.g.select(f.f(Op::less, f.u, f.q), f.q, f.u), q_minus_u, 1, true, q);
    check(f.g.select(f.f(Op::less, f.q, f.u), f.q, f.c(7)), u_minus_q, -1, true, {7, 0, 0});
    check(f.g.select(f.q, f.u, f.c(7)), q, 1, true, u);
}

TEST(Series, OnTheSwitchingSurfaceTheDefaultSideGivesTheValueOfTheExpression) {
    Fixture f;
    const Expr zero = f.c(0);
    const std::vector<Expr> outputs{f.f(Op::abs, f.q),         f.f(Op::min, f.q, zero),
                                    f.f(Op::max, f.q, zero),   f.f(Op::sign, f.q),
                                    f.f(Op::less, f.q, zero),  f.f(Op::less_equal, f.q, zero),
                                    f.f(Op::less, zero, f.q),  f.f(Op::less_equal, zero, f.q),
                                    f.f(Op::equal, f.q, zero), f.f(Op::not_equal, f.q, zero)};
    const SeriesTape tape = f.tape(outputs);
    ASSERT_EQ(tape.switch_count(), 10);
    SeriesWorkspace<double> w(tape, 2);
    expand(w, {0.0, {0.0, -2.0, 1.0}, {}, {}}, 2);
    const std::array values{0., 0., 0., 0., 0., 1., 0., 1., 1., 0.};
    for (int i = 0; i < 10; ++i) EXPECT_EQ(w.output(i)[0], values[static_cast<std::size_t>(i)]) << i;
    EXPECT_EQ(w.output(0)[1], -2.0) << "the side of abs at 0 is +1";

    for (int i = 0; i < 10; ++i) w.set_side(i, w.switch_function(i)[1] > 0.0 ? 1 : -1);
    expand(w, {0.0, {0.0, -2.0, 1.0}, {}, {}}, 2);  // fixed sides survive a new expansion
    const std::array left{0., 0., 0., -1., 1., 1., 0., 0., 0., 1.};
    for (int i = 0; i < 10; ++i) EXPECT_EQ(w.output(i)[0], left[static_cast<std::size_t>(i)]) << i;
    EXPECT_EQ(w.output(0)[1], 2.0);
    EXPECT_EQ(w.output(0)[2], -1.0);
    EXPECT_EQ(w.output(1)[1], -2.0);
    EXPECT_EQ(w.output(2)[1], 0.0);

    w.clear_sides();
    expand(w, {0.0, {0.0, -2.0, 1.0}, {}, {}}, 2);
    EXPECT_EQ(w.output(0)[1], -2.0);
}

TEST(Series, AFixedSideOverrulesTheSignOfTheSwitchingFunction) {
    Fixture f;
    const SeriesTape tape = f.tape({f.f(Op::abs, f.q)});
    SeriesWorkspace<double> w(tape, 1);
    w.set_side(0, -1);
    expand(w, {0.0, {1e-17, -1.0}, {}, {}}, 1);
    EXPECT_EQ(w.side(0), -1);
    EXPECT_EQ(w.output(0)[0], -1e-17);
    EXPECT_EQ(w.output(0)[1], 1.0);
}

TEST(Series, AnAngleHasTheSignOfItsSideOnTheNegativeAxis) {
    Fixture f;
    const SeriesTape tape = f.tape({f.f(Op::atan2, f.q, f.u)});
    ASSERT_EQ(tape.switch_count(), 1);
    EXPECT_TRUE(tape.switch_jumps(0));
    SeriesWorkspace<double> w(tape, 3);
    const double rounding = 1e-17;  // of y, just after the crossing
    for (const double y : {-rounding, 0.0, rounding})
        for (const int side : {1, -1}) {
            w.set_side(0, side);
            expand(w, {0.0, {y, 1.0}, {-2.0}, {}}, 3);
            EXPECT_NEAR(w.output(0)[0], side * std::numbers::pi, 1e-15);
            EXPECT_NEAR(w.output(0)[1], -0.5, 1e-15);
            expand(w, {0.0, {y, 1.0}, {2.0}, {}}, 3);  // nothing jumps on the positive axis
            EXPECT_NEAR(w.output(0)[0], 0.0, 1e-15);
        }
    EXPECT_EQ(f.tape({f.f(Op::atan2, f.a, f.u)}).switch_count(), 0);
}

TEST(Series, FunctionsOfConditionsAndParametersAreNoSwitches) {
    Fixture f(Graph::Simplify::no);
    const Expr c1 = f.f(Op::less, f.q, f.u), c2 = f.f(Op::less, f.u, f.t);
    const std::vector<Expr> outputs{f.f(Op::min, c1, c2),
                                    f.f(Op::abs, f.g.sub(c1, c2)),
                                    f.f(Op::equal, c1, f.a),
                                    f.g.mul(c1, c2),
                                    f.f(Op::max, f.a, f.p),
                                    f.f(Op::sign, f.g.sub(f.a, f.p)),
                                    f.g.select(f.f(Op::less, f.a, f.p), f.q, f.u),
                                    f.f(Op::min, f.q, f.q),
                                    f.f(Op::less_equal, f.q, f.q)};
    const SeriesTape tape = f.tape(outputs);
    EXPECT_EQ(tape.switch_count(), 2) << "q < u and u < t";
    for (const int i : {0, 1, 2, 3, 4, 5, 8}) EXPECT_EQ(tape.output_degree(i), 0) << i;
    SeriesWorkspace<double> w(tape, 1);
    expand(w, {0.5, {1.0, 3.0}, {2.0, 4.0}, {1.0, 5.0}}, 1);
    const std::array values{0., 1., 1., 0., 5., -1., 1., 1., 1.};
    for (int i = 0; i < tape.output_count(); ++i) EXPECT_EQ(w.output(i)[0], values[static_cast<std::size_t>(i)]) << i;
    EXPECT_EQ(w.output(6)[1], 3.0);
}

TEST(Series, ABranchThatIsNotTakenMayBeUndefined) {
    Fixture f;
    const Expr guarded = f.g.select(f.f(Op::less, f.c(0), f.q), f.f(Op::sqrt, f.q), f.f(Op::log, f.g.neg(f.q)));
    const std::vector<double> right = series(f, guarded, {0.0, {1.0, 1.0}, {}, {}}, 2);
    const std::vector<double> left = series(f, guarded, {0.0, {-1.0, -1.0}, {}, {}}, 2);
    expect_series(right, {1, 0.5, -0.125});
    expect_series(left, {0, 1, -0.5});
}

TEST(Series, CoefficientsThatDoNotExistAreNotFinite) {
    Fixture f;
    const Start<double> start{0.0, {0.0, 1.0}, {0.0, 0.0}, {}};
    EXPECT_FALSE(std::isfinite(series(f, f.f(Op::sqrt, f.q), start, 3)[1]));
    EXPECT_FALSE(std::isfinite(series(f, f.g.div(f.c(1), f.q), start, 3)[0]));
    EXPECT_FALSE(std::isfinite(series(f, f.f(Op::log, f.q), start, 3)[1]));
    EXPECT_FALSE(std::isfinite(series(f, f.f(Op::hypot, f.q, f.u), start, 3)[1]));
    EXPECT_FALSE(std::isfinite(series(f, f.f(Op::atan2, f.q, f.u), start, 3)[1]));
    EXPECT_FALSE(std::isfinite(series(f, f.g.pow(f.q, f.p), {0.0, {0.0, 1.0}, {}, {0.0, 1.5}}, 3)[1]));
    EXPECT_FALSE(std::isfinite(series(f, f.f(Op::asin, f.g.add(f.q, f.c(1))), start, 3)[1]));
}

// --- random expressions ----------------------------------------------------------------------------------------------

/// An expression of all operations with the expansion at a random point.
struct Case {
    explicit Case(std::uint64_t seed, int symbols = 5)
        : random(seed), f(seed % 2 == 0 ? Graph::Simplify::yes : Graph::Simplify::no) {
        e = testing::random_program(random, symbols, 3 + random.below(15)).root(f.g, f.symbols());
        start.t0 = random.between(-2, 2);
        const int degree = random.below(4);
        for (int k = 0; k <= degree; ++k) {
            start.q.push_back(random.between(-2, 2));
            start.u.push_back(random.between(-2, 2));
        }
        static constexpr std::array exponents{0.0, 1.0, 2.0, 3.0, -1.0, 0.5, 1.5, -2.0};
        start.parameters = {random.between(-2, 2), random.once_in(2) ? random.pick(exponents) : random.between(-2, 2)};
    }

    /// |x(τ) − x_0| <= Σ_(k>=1) |x_k| R^k for the inputs.
    std::vector<double> radii(double R) const {
        const auto radius = [&](const std::vector<double>& c) {
            double sum = 0.0;
            for (std::size_t k = 1; k < c.size(); ++k) sum += std::fabs(c[k]) * std::pow(R, static_cast<double>(k));
            return sum * (1.0 + 8 * eps);
        };
        return {R, radius(start.q), radius(start.u)};
    }

    /// Values of the symbols at a time offset τ.
    template <class T>
    std::array<T, 5> at(T tau) const {
        const auto value = [&](const std::vector<double>& c) {
            return polynomial(c.data(), static_cast<int>(c.size()) - 1, tau);
        };
        return {T(start.t0) + tau, value(start.q), value(start.u), T(start.parameters[0]), T(start.parameters[1])};
    }

    Random random;
    Fixture f;
    Expr e;
    Start<double> start;
};

/// A disk on which the expression has a finite bound and no switch can change its side, if there is one with R >=
/// 2^-12.
struct Disk {
    Disk(const Case& c, const SeriesTape& tape, SeriesWorkspace<double>& w) {
        std::vector<double> bound(1), switches(static_cast<std::size_t>(tape.switch_count()));
        for (R = 0.5; R >= 0x1p-12; R *= 0.5) {
            w.bounds(R, c.radii(R), bound, switches);
            EXPECT_FALSE(std::isnan(bound[0]));
            rho = bound[0];
            found = rho < 1e6;
            for (int i = 0; i < tape.switch_count(); ++i)
                found = found && switches[static_cast<std::size_t>(i)] < std::fabs(w.switch_function(i)[0]);
            if (found) return;
        }
    }
    double R = 0.0, rho = 0.0;
    bool found = false;
};

constexpr int high_order = 24;

/// Whether an angle jumps between two points, because it crosses the negative x axis. Its series continues instead.
bool crosses_a_cut(const Case& c, double tau) {
    const std::vector<double> before = testing::evaluate(c.f.g, std::span(&c.e, 1), c.at(0.0));
    const std::vector<double> after = testing::evaluate(c.f.g, std::span(&c.e, 1), c.at(tau));
    const std::vector<Expr> nodes = reachable(c.f.g, std::span(&c.e, 1));
    return std::any_of(nodes.begin(), nodes.end(), [&](Expr e) {
        return c.f.g[e].op == Op::atan2 && std::fabs(after[e.id] - before[e.id]) > std::numbers::pi;
    });
}

TEST(Series, PolynomialsOfRandomExpressionsAgreeWithDirectEvaluation) {
    int compared = 0, skipped = 0;
    std::array<int, 32> operations{};
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        const Case c(seed);
        const SeriesTape tape = c.f.tape({c.e});
        SeriesWorkspace<double> w(tape, high_order);
        expand(w, c.start, high_order);
        const Disk disk(c, tape, w);
        if (!disk.found) {
            ++skipped;
            continue;
        }
        // Widths of interval coefficients at a point say how large rounding errors can be.
        SeriesWorkspace<Interval> box(tape, high_order);
        Start<Interval> start{c.start.t0, {}, {}, {c.start.parameters[0], c.start.parameters[1]}};
        for (const double x : c.start.q) start.q.push_back(x);
        for (const double x : c.start.u) start.u.push_back(x);
        expand(box, start, high_order);

        const double ratio = 1.0 / 8.0;
        for (const double tau : {-ratio * disk.R, 0.0, ratio * disk.R}) {
            double rounding = 0.0;
            for (int k = high_order; k >= 0; --k) rounding = rounding * std::fabs(tau) + width(box.output(0)[k]);
            const std::array<double, 5> symbols = c.at(tau);
            const double direct = testing::evaluate(c.f.g, c.e, symbols);
            const std::array<long double, 5> fine_symbols = c.at<long double>(tau);
            const long double fine = testing::evaluate_nodes<long double>(
                c.f.g, std::span(&c.e, 1),
                [&](const Node& n) {
                    return n.op == Op::constant ? static_cast<long double>(n.value)
                                                : fine_symbols[static_cast<std::size_t>(n.exponent)];
                },
                testing::apply_long)[c.e.id];
            // Cauchy: |c_k| <= ρ/R^k bounds the part that the polynomial leaves out.
            const double rest = 2.0 * disk.rho * std::pow(ratio, high_order + 1);
            const double conditioning = 4.0 * std::fabs(static_cast<double>(direct - fine));
            const double tolerance = rounding + rest + conditioning + 64 * eps * (std::fabs(direct) + disk.rho);
            if (!(tolerance < 1e-6 * (1.0 + std::fabs(direct))) || crosses_a_cut(c, tau)) {
                ++skipped;
                continue;
            }
            ++compared;
            ASSERT_NEAR(polynomial(w.output(0), high_order, tau), static_cast<double>(fine), tolerance)
                << "seed " << seed << ": " << to_string(c.f.g, c.e, 1000) << " at " << symbols[0] << ' ' << symbols[1]
                << ' ' << symbols[2] << ' ' << symbols[3] << ' ' << symbols[4] << ", R " << disk.R;
        }
        for (const Expr n : reachable(c.f.g, std::span(&c.e, 1))) ++operations[static_cast<std::size_t>(c.f.g[n].op)];
    }
    EXPECT_GT(compared, 20'000) << skipped << " skipped";
    for (std::size_t i = 0; i < operations.size(); ++i)
        EXPECT_GT(operations[i], 100) << op_name(static_cast<Op>(i)) << " is hardly tested";
}

TEST(Series, IntervalCoefficientsContainThoseOfEveryPointOfTheBox) {
    int compared = 0, narrow = 0;
    for (std::uint64_t seed = 1; seed <= 6000; ++seed) {
        Case c(seed);
        const SeriesTape tape = c.f.tape({c.e});
        SeriesWorkspace<double> w(tape, 8);
        SeriesWorkspace<Interval> box(tape, 8);
        const double radius = std::ldexp(1.0, -c.random.below(30));
        const auto around = [&](double x) { return Interval(x - radius, x + radius); };
        Start<Interval> range{around(c.start.t0), {}, {}, {}};
        for (const double x : c.start.q) range.q.push_back(around(x));
        for (const double x : c.start.u) range.u.push_back(around(x));
        range.parameters = {around(c.start.parameters[0]),
                            c.random.once_in(2) ? Interval(c.start.parameters[1]) : around(c.start.parameters[1])};
        expand(box, range, 8);
        for (int sample = 0; sample < 4; ++sample) {
            const auto inside = [&](const Interval& x) { return c.random.between(x.lo, x.hi); };
            Start<double> point{inside(range.t0), {}, {}, {inside(range.parameters[0]), inside(range.parameters[1])}};
            for (const Interval& x : range.q) point.q.push_back(inside(x));
            for (const Interval& x : range.u) point.u.push_back(inside(x));
            expand(w, point, 8);
            for (int k = 0; k <= 8; ++k) {
                const double value = w.output(0)[k];
                const Interval& found = box.output(0)[k];
                if (!std::isfinite(value)) {
                    // Overflow apart, a coefficient that does not exist makes the enclosure undefined or unbounded.
                    EXPECT_TRUE(!found.defined || !(width(found) < 1e300)) << "seed " << seed;
                    continue;
                }
                ++compared;
                if (width(found) < 0.1 * std::fabs(value)) ++narrow;
                // The rounding errors of the coefficient of the point are of the size of a point's enclosure.
                const Interval room = testing::widened(found, 64 * eps, 0.5 * width(found));
                ASSERT_TRUE(width(found) == infinity || contains(room, value))
                    << "seed " << seed << " order " << k << ": " << to_string(c.f.g, c.e, 1000) << ": " << value
                    << " in [" << found.lo << ", " << found.hi << "]";
            }
        }
    }
    EXPECT_GT(compared, 100'000);
    EXPECT_GT(narrow, 20'000) << "an enclosure that holds everything proves nothing";
}

TEST(Series, AnIntervalAcrossASwitchingSurfaceIsUndefinedUnlessTheSideIsFixed) {
    Fixture f;
    const SeriesTape tape = f.tape({f.f(Op::abs, f.q), f.f(Op::max, f.q, f.u), f.f(Op::less, f.q, f.u),
                                    f.g.select(f.f(Op::less, f.q, f.u), f.q, f.t)});
    SeriesWorkspace<Interval> w(tape, 1);
    const Start<Interval> across{0.0, {Interval(-0.5, 1.0), Interval(1.0)}, {Interval(0.0), Interval(0.0)}, {}};
    expand(w, across, 1);
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < (i == 2 ? 1 : 2); ++k) EXPECT_FALSE(w.output(i)[k].defined) << i << ' ' << k;
    EXPECT_EQ(w.side(0), 0);
    for (int i = 0; i < tape.switch_count(); ++i) w.set_side(i, 1);
    expand(w, across, 1);
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 2; ++k) EXPECT_TRUE(w.output(i)[k].defined) << i << ' ' << k;
    EXPECT_EQ(w.output(0)[0].lo, -0.5);
    EXPECT_EQ(w.output(1)[1].lo, 1.0);
    EXPECT_EQ(w.output(2)[0].lo, 1.0);
}

// --- bounds on a disk ------------------------------------------------------------------------------------------------

using Complex = std::complex<long double>;

/// The expression at a complex time offset. Piecewise operations keep the branch that they have at `real`, the values
/// of all nodes at τ = 0, and the angle is the continuation of the real one.
Complex evaluate_complex(const Case& c, const std::vector<double>& real, Complex tau) {
    const std::array<Complex, 5> symbols = c.at(tau);
    std::vector<Complex> value(c.f.g.size());
    for (const Expr e : reachable(c.f.g, std::span(&c.e, 1))) {
        const Node& n = c.f.g[e];
        const Complex a = value[n.a.id], b = value[n.b.id];
        const double a0 = real[n.a.id], b0 = real[n.b.id];
        Complex& r = value[e.id];
        switch (n.op) {
            case Op::constant: r = static_cast<long double>(n.value); break;
            case Op::symbol: r = symbols[static_cast<std::size_t>(n.exponent)]; break;
            case Op::add: r = a + b; break;
            case Op::sub: r = a - b; break;
            case Op::mul: r = a * b; break;
            case Op::div: r = a / b; break;
            case Op::neg: r = -a; break;
            case Op::powi: r = power(a, n.exponent); break;
            case Op::pow:
                // The direct formula has a cut at negative bases, which only integer exponents allow.
                r = a0 < 0.0 ? power(a, static_cast<int>(b0)) : (a == Complex(0) ? Complex(b0 == 0.0) : std::pow(a, b));
                break;
            case Op::sqrt: r = std::sqrt(a); break;
            case Op::exp: r = std::exp(a); break;
            case Op::log: r = std::log(a); break;
            case Op::sin: r = std::sin(a); break;
            case Op::cos: r = std::cos(a); break;
            case Op::tan: r = std::tan(a); break;
            case Op::asin: r = std::asin(a); break;
            case Op::acos: r = std::acos(a); break;
            case Op::atan: r = std::atan(a); break;
            case Op::sinh: r = std::sinh(a); break;
            case Op::cosh: r = std::cosh(a); break;
            case Op::tanh: r = std::tanh(a); break;
            case Op::abs: r = a0 < 0.0 ? -a : a; break;
            case Op::atan2: {
                // (1/2i) log((x + iy)/(x − iy)), after a turn by the real angle, so that no cut is near.
                const long double angle = std::atan2(static_cast<long double>(a0), static_cast<long double>(b0));
                const Complex i(0, 1), turn = std::polar(1.0L, -angle);
                r = angle + (std::log((b + i * a) * turn) - std::log((b - i * a) * std::conj(turn))) / (2.0L * i);
                break;
            }
            case Op::hypot: r = std::sqrt(a * a + b * b); break;
            case Op::min: r = b0 < a0 ? b : a; break;
            case Op::max: r = a0 < b0 ? b : a; break;
            case Op::select: r = a0 != 0.0 ? b : value[n.c.id]; break;
            case Op::sign:
            case Op::less:
            case Op::less_equal:
            case Op::equal:
            case Op::not_equal: r = static_cast<long double>(real[e.id]); break;
        }
    }
    return value[c.e.id];
}

TEST(SeriesBounds, ValuesOnTheCircleStayInsideTheRadius) {
    int compared = 0, sharp = 0;
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        const Case c(seed);
        const SeriesTape tape = c.f.tape({c.e});
        SeriesWorkspace<double> w(tape, 0);
        expand(w, c.start, 0);
        const Disk disk(c, tape, w);
        if (!disk.found) continue;
        const std::vector<double> real = testing::evaluate(c.f.g, std::span(&c.e, 1), c.at(0.0));
        const Complex centre = evaluate_complex(c, real, 0.0L);
        double size = std::fabs(static_cast<double>(centre.real()));
        for (const Expr n : reachable(c.f.g, std::span(&c.e, 1)))
            if (std::isfinite(real[n.id])) size = std::max(size, std::fabs(real[n.id]));
        // A constant part may be infinite, which complex numbers do not follow. Large values round too much.
        if (!std::isfinite(std::abs(centre)) || size > 1e8) continue;
        long double largest = 0.0L;
        for (int i = 0; i < 16; ++i) {
            const Complex tau = std::polar(static_cast<long double>(disk.R), std::numbers::pi_v<long double> * i / 8);
            const long double distance = std::abs(evaluate_complex(c, real, tau) - centre);
            largest = std::max(largest, distance);
            ASSERT_LE(distance, static_cast<long double>(disk.rho) + 1e-14L * (1.0L + size))
                << "seed " << seed << ": " << to_string(c.f.g, c.e, 1000) << ", R " << disk.R;
        }
        ++compared;
        if (disk.rho > 0.0 && largest > 0.5L * disk.rho) ++sharp;
    }
    EXPECT_GT(compared, 8000);
    EXPECT_GT(sharp, 3000) << "bounds that are far too large are of no use";
}

struct Bounds {
    double output;
    std::vector<double> switches;
};

Bounds bounds(const Fixture& f, Expr e, const Start<double>& start, double R, double radius_q, double radius_u) {
    const SeriesTape tape = f.tape({e});
    SeriesWorkspace<double> w(tape, 1);
    expand(w, start, 1);
    std::vector<double> out(1), switches(static_cast<std::size_t>(tape.switch_count()));
    w.bounds(R, std::array{0.0, radius_q, radius_u}, out, switches);
    return {out[0], switches};
}

TEST(SeriesBounds, ANarrowBumpIsSeenByALargeDiskAndNotByASmallOne) {
    Fixture f;
    const Expr x = f.g.div(f.g.sub(f.q, f.c(5)), f.c(0.01));
    const Expr bump = f.f(Op::exp, f.g.neg(f.g.mul(x, x)));
    const Start<double> far{0.0, {4.0, 1.0}, {}, {}};
    EXPECT_EQ(series(f, bump, far, 0)[0], 0.0) << "the bump underflows where the expansion starts";
    const Start<double> near{0.0, {4.9, 1.0}, {}, {}};
    EXPECT_LT(bounds(f, bump, near, 0.001, 0.001, 0.0).output, 1e-40);
    EXPECT_GT(bounds(f, bump, near, 0.2, 0.2, 0.0).output, 1.0);
    EXPECT_GT(bounds(f, bump, far, 1.5, 1.5, 0.0).output, 1.0);
}

TEST(SeriesBounds, ASingularityOnTheDiskMakesTheRadiusInfinite) {
    Fixture f;
    const Start<double> start{0.0, {0.5, 1.0}, {0.5, 0.0}, {0.0, 1.5}};
    for (const Expr e : {f.g.div(f.c(1), f.q), f.f(Op::sqrt, f.q), f.f(Op::log, f.q), f.g.pow(f.q, f.p),
                         f.f(Op::asin, f.q), f.f(Op::acos, f.q), f.g.powi(f.q, -2)}) {
        EXPECT_EQ(bounds(f, e, start, 0.5, 0.5, 0.0).output, infinity) << to_string(f.g, e);
        EXPECT_LT(bounds(f, e, start, 0.49, 0.49, 0.0).output, 1e4) << to_string(f.g, e);
    }
    EXPECT_EQ(bounds(f, f.f(Op::tan, f.q), start, 1.1, 1.1, 0.0).output, infinity);
    EXPECT_EQ(bounds(f, f.f(Op::atan, f.q), start, 1.2, 1.2, 0.0).output, infinity);
    EXPECT_EQ(bounds(f, f.f(Op::hypot, f.q, f.u), start, 0.8, 0.8, 0.0).output, infinity);
    EXPECT_EQ(bounds(f, f.f(Op::atan2, f.q, f.u), start, 0.8, 0.8, 0.0).output, infinity);
    EXPECT_EQ(bounds(f, f.f(Op::sqrt, f.g.neg(f.q)), start, 0.1, 0.1, 0.0).output, infinity) << "f_0 is NaN";
    EXPECT_EQ(bounds(f, f.g.mul(f.f(Op::exp, f.q), f.u), start, 0.1, infinity, 0.0).output, infinity);
}

TEST(SeriesBounds, SwitchesKeepTheirSidesAndReportTheRadiusOfTheirFunction) {
    Fixture f;
    const Start<double> start{0.0, {0.5, 1.0}, {2.0, 0.0}, {}};
    const Bounds found = bounds(f, f.f(Op::min, f.g.div(f.c(1), f.q), f.f(Op::abs, f.q)), start, 0.6, 0.6, 0.0);
    EXPECT_NEAR(found.output, 0.6, 1e-13) << "min takes abs(q) at q = 0.5; the pole of 1/q does not matter";
    ASSERT_EQ(found.switches.size(), 2u);
    EXPECT_EQ(std::count(found.switches.begin(), found.switches.end(), infinity), 1);
    const Bounds condition = bounds(f, f.f(Op::less, f.q, f.u), start, 0.6, 0.25, 0.5);
    EXPECT_EQ(condition.output, 0.0);
    EXPECT_NEAR(condition.switches[0], 0.75, 1e-13);
}

// --- remainders on a step --------------------------------------------------------------------------------------------

struct Remainders {
    double output;
    std::vector<double> switches;
};

Remainders remainders(SeriesWorkspace<double>& w, const SeriesTape& tape, double h) {
    std::vector<double> out(1), switches(static_cast<std::size_t>(tape.switch_count()));
    w.remainders(h, out, switches);
    EXPECT_FALSE(std::isnan(out[0]));
    return {out[0], switches};
}

Remainders remainders(const Fixture& f, Expr e, const Start<double>& start, int last, double h) {
    const SeriesTape tape = f.tape({e});
    SeriesWorkspace<double> w(tape, last);
    expand(w, start, last);
    return remainders(w, tape, h);
}

/// Whether all switching functions keep their sides on the step.
bool sides_stay(const SeriesWorkspace<double>& w, const std::vector<double>& left, int last, double h) {
    for (std::size_t i = 0; i < left.size(); ++i) {
        const double* const s = w.switch_function(static_cast<int>(i));
        double change = left[i], power = 1.0;
        for (int k = 1; k <= last; ++k) change += std::fabs(s[k]) * (power *= h);
        if (!(change < std::fabs(s[0]))) return false;
    }
    return true;
}

TEST(SeriesRemainders, BoundWhatThePolynomialsOfRandomExpressionsLeaveOut) {
    int compared = 0, visible = 0, sharp = 0;
    std::array<int, 32> operations{};
    for (std::uint64_t seed = 1; seed <= 20'000; ++seed) {
        const Case c(seed);
        const int last = 3 + static_cast<int>(seed % 8);  // at least the degree of q and u
        const SeriesTape tape = c.f.tape({c.e});
        SeriesWorkspace<double> w(tape, last);
        expand(w, c.start, last);
        double h = 1.0;
        Remainders left;
        do left = remainders(w, tape, h *= 0.5);
        while (h > 0x1p-8 && !(left.output < 1e3 && sides_stay(w, left.switches, last, h)));
        if (!(left.output < 1e3) || !sides_stay(w, left.switches, last, h)) continue;
        const std::vector<double> real = testing::evaluate(c.f.g, std::span(&c.e, 1), c.at(0.0));
        double size = 0.0;
        for (const Expr n : reachable(c.f.g, std::span(&c.e, 1)))
            if (std::isfinite(real[n.id])) size = std::max(size, std::fabs(real[n.id]));
        double rounding = 0.0;
        for (int k = last; k >= 0; --k) rounding = rounding * h + std::fabs(w.output(0)[k]);
        if (!(size < 1e4) || !(rounding < 1e4)) continue;
        rounding = 1e-10 * (1.0 + size + rounding);  // coefficients of long expressions have many rounding errors
        // An angle on its cut has either sign.
        if (std::fabs(static_cast<double>(evaluate_complex(c, real, 0.0L).real()) - w.output(0)[0]) > rounding)
            continue;
        double largest = 0.0;
        for (const double part : {0.25, 0.5, 0.75, 1.0}) {
            const Complex value = evaluate_complex(c, real, Complex(part * h, 0.0));
            const long double found = polynomial(w.output(0), last, static_cast<long double>(part * h));
            const auto difference = static_cast<double>(std::fabs(value.real() - found));
            if (!std::isfinite(difference)) continue;
            largest = std::max(largest, difference);
            ASSERT_LE(difference, left.output + rounding)
                << "seed " << seed << ": " << to_string(c.f.g, c.e, 1000) << ", order " << last << ", h " << h;
        }
        ++compared;
        if (largest > 10.0 * rounding) ++visible;
        if (largest > 10.0 * rounding && left.output < 100.0 * largest) ++sharp;
        for (const Expr n : reachable(c.f.g, std::span(&c.e, 1))) ++operations[static_cast<std::size_t>(c.f.g[n].op)];
    }
    EXPECT_GT(compared, 10'000);
    EXPECT_GT(sharp, visible / 2) << "bounds that are far too large are of no use; " << visible << " cases";
    EXPECT_GT(visible, 2000);
    for (std::size_t i = 0; i < operations.size(); ++i)
        EXPECT_GT(operations[i], 100) << op_name(static_cast<Op>(i)) << " is hardly tested";
}

TEST(SeriesRemainders, OfPolynomialsAreRounding) {
    Fixture f;
    const Start<double> start{0.5, {1.0, -2.0, 0.5}, {3.0, 1.0}, {2.0, 3.0}};
    EXPECT_LT(remainders(f, f.g.mul(f.q, f.g.add(f.u, f.t)), start, 6, 0.7).output, 1e-299);
    EXPECT_LT(remainders(f, f.g.pow(f.u, f.p), start, 6, 0.7).output, 1e-299) << "u^3 has degree 3";
    EXPECT_GT(remainders(f, f.g.mul(f.q, f.g.mul(f.q, f.q)), start, 5, 0.7).output, 0.01) << "q^3 has degree 6";
}

TEST(SeriesRemainders, ANarrowBumpIsSeenByAStepThatReachesItAndNotByAShorterOne) {
    Fixture f;
    const Expr x = f.g.div(f.g.sub(f.q, f.c(5)), f.c(0.01));
    const Expr bump = f.f(Op::exp, f.g.neg(f.g.mul(x, x)));
    const Start<double> start{0.0, {4.0, 1.0}, {}, {}};
    EXPECT_EQ(series(f, bump, start, 0)[0], 0.0) << "the bump underflows where the expansion starts";
    EXPECT_LT(remainders(f, bump, start, 12, 0.8).output, 1e-40);
    EXPECT_GE(remainders(f, bump, start, 12, 1.01).output, 1.0);
    EXPECT_GE(remainders(f, bump, start, 12, 2.0).output, 1.0);
    const Expr step = f.f(Op::tanh, x);
    EXPECT_LT(remainders(f, step, start, 12, 0.8).output, 1e-15);
    EXPECT_GE(remainders(f, step, start, 12, 1.01).output, 1.0);
}

TEST(SeriesRemainders, AreInfiniteIfTheStepReachesASingularity) {
    Fixture f;
    const Start<double> start{0.0, {0.5, -1.0}, {0.5, 1.0}, {0.0, 1.5}};
    for (const Expr e : {f.g.div(f.c(1), f.q), f.f(Op::sqrt, f.q), f.f(Op::log, f.q), f.g.pow(f.q, f.p),
                         f.f(Op::asin, f.u), f.f(Op::acos, f.u), f.g.powi(f.q, -2)}) {
        EXPECT_EQ(remainders(f, e, start, 8, 0.5).output, infinity) << to_string(f.g, e);
        EXPECT_LT(remainders(f, e, start, 8, 0.2).output, 0.1) << to_string(f.g, e);
    }
    EXPECT_EQ(remainders(f, f.f(Op::tan, f.u), start, 8, 1.1).output, infinity);
    EXPECT_EQ(remainders(f, f.f(Op::sqrt, f.g.neg(f.q)), start, 8, 0.1).output, infinity) << "f_0 is NaN";
}

// The sums Σ_j c_(k−j) x_j of two equations with two unknowns, in parts: what is known before order 5 first, then each
// unknown order on its own. Each order must be complete when its turn comes, and no order may be counted twice.
TEST(SeriesProducts, AreSummedForFourOrders) {
    constexpr int first = 5, orders = 12;
    constexpr std::size_t room = 4, stride = 16;
    std::array<std::array<double, room + orders>, 3> c{};
    for (std::size_t s = 0; s < c.size(); ++s)
        for (std::size_t k = 0; k < orders; ++k)
            c[s][room + k] = std::cos(1.0 + static_cast<double>(s) + 2.0 * static_cast<double>(k));
    std::array<double, 2 * stride> x{};
    for (std::size_t k = 0; k < x.size(); ++k) x[k] = std::sin(3.0 + static_cast<double>(k * k));
    const std::array<SeriesProduct, 3> products{SeriesProduct{0, 0, &c[0][room]}, SeriesProduct{1, 0, &c[1][room]},
                                                SeriesProduct{1, 1, &c[2][room]}};
    std::array<double, 8> sums{};
    add_products(products, x.data(), stride, 0, first, first, sums.data());
    for (int k = first; k < first + 4; ++k) {
        if (k > first) add_products(products, x.data(), stride, k - 1, k, first, sums.data());
        std::array<double, 2> expected{};
        for (const SeriesProduct& p : products)
            for (int j = 0; j < k; ++j)
                expected[p.row] += p.series[k - j] * x[p.column * stride + static_cast<std::size_t>(j)];
        for (std::size_t row = 0; row < 2; ++row)
            EXPECT_NEAR(sums[4 * row + static_cast<std::size_t>(k - first)], expected[row], 1e-14) << k << ' ' << row;
    }
}

}  // namespace
}  // namespace saltus::expr::series_test
