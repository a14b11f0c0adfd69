// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "saltus/expr/graph.hpp"
#include "saltus/expr/interval/interval.hpp"

// Random expressions for the tests of this folder, and reference evaluations of a graph that share nothing with the
// tape: node by node, on whatever kind of value a test brings.

namespace saltus::expr::testing {

inline constexpr double eps = std::numeric_limits<double>::epsilon();
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline bool same_bits(double a, double b) {
    return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// The same numbers on every machine and in every run.
class Random {
public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}

    int below(int n) { return static_cast<int>(bits_() % static_cast<std::uint64_t>(n)); }
    bool once_in(int n) { return below(n) == 0; }
    double unit() { return static_cast<double>(bits_() >> 11) * 0x1p-53; }
    double between(double lo, double hi) { return lo + (hi - lo) * unit(); }
    template <class T, std::size_t n>
    T pick(const std::array<T, n>& from) {
        return from[static_cast<std::size_t>(below(static_cast<int>(n)))];
    }

    /// Where expressions go wrong most often: zeros, units, numbers of both signs, plain fractions.
    double moderate() {
        static constexpr std::array special{0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0};
        return once_in(4) ? pick(special) : between(-3.0, 3.0);
    }
    /// And all of the double range.
    double extreme() {
        static constexpr std::array special{5e-324, -5e-324, 0x1p-1022, -0x1p-1022, 1.7e308, -1.7e308, 1e155, -1e-155};
        if (once_in(3)) return pick(special);
        const double size = std::ldexp(1.0 + unit(), below(2040) - 1020);
        return once_in(2) ? size : -size;
    }

private:
    std::mt19937_64 bits_;
};

/// One step of a program: the operation and which earlier steps it takes.
struct Step {
    Op op = Op::constant;
    std::array<int, 3> from{};
    double value = 0.0;  ///< of a constant
    int number = 0;      ///< which symbol, or the exponent of powi
};

/// An expression as the list of calls that build it, so that several graphs can build the same one.
struct Program {
    std::vector<Step> steps;

    std::vector<Expr> build(Graph& graph, std::span<const Expr> symbols) const {
        std::vector<Expr> made;
        const auto operand = [&](const Step& s, std::size_t k) { return made[static_cast<std::size_t>(s.from[k])]; };
        for (const Step& s : steps) {
            if (s.op == Op::constant)
                made.push_back(graph.constant(s.value));
            else if (s.op == Op::symbol)
                made.push_back(symbols[static_cast<std::size_t>(s.number)]);
            else if (s.op == Op::powi)
                made.push_back(graph.powi(operand(s, 0), s.number));
            else if (s.op == Op::select)
                made.push_back(graph.select(operand(s, 0), operand(s, 1), operand(s, 2)));
            else if (operand_count(s.op) == 1)
                made.push_back(graph.unary(s.op, operand(s, 0)));
            else
                made.push_back(graph.binary(s.op, operand(s, 0), operand(s, 1)));
        }
        return made;
    }
    Expr root(Graph& graph, std::span<const Expr> symbols) const { return build(graph, symbols).back(); }
};

inline constexpr std::array arithmetic{Op::add, Op::sub, Op::mul, Op::div, Op::neg, Op::powi};
inline constexpr std::array smooth{Op::sqrt, Op::exp,  Op::log,  Op::sin,  Op::cos,   Op::tan,   Op::asin, Op::acos,
                                   Op::atan, Op::sinh, Op::cosh, Op::tanh, Op::atan2, Op::hypot, Op::pow};
inline constexpr std::array pieces{Op::abs, Op::sign, Op::min, Op::max, Op::select};
inline constexpr std::array comparisons{Op::less, Op::less_equal, Op::equal, Op::not_equal};

enum class Pieces { yes, no };

/// `operations` random steps over `symbols` symbols. Constants favour what the simplification looks for.
inline Program random_program(Random& random, int symbols, int operations, Pieces with = Pieces::yes) {
    static constexpr std::array constants{
        0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.25, 3.0, 7.0, 0.1, -0.3, 1e-3, 3.141592653589793};
    Program program;
    std::vector<int> numbers;  // steps that are numbers, not conditions
    const auto push = [&](Step s, bool is_number = true) {
        const int at = static_cast<int>(program.steps.size());
        program.steps.push_back(s);
        if (is_number) numbers.push_back(at);
        return at;
    };
    const auto any = [&] {
        const int n = static_cast<int>(numbers.size());
        const int back = random.once_in(2) ? random.below(std::min(n, 4)) : random.below(n);
        return numbers[static_cast<std::size_t>(n - 1 - back)];
    };
    const auto leaf = [&] {
        return random.once_in(3) ? push({Op::constant, {}, random.pick(constants), 0})
                                 : push({Op::symbol, {}, 0.0, random.below(symbols)});
    };
    for (int k = 0; k < symbols; ++k) push({Op::symbol, {}, 0.0, k});
    for (int k = 0; k < operations; ++k) {
        const int kind = random.below(with == Pieces::yes ? 8 : 6);
        const Op op = kind < 4 ? random.pick(arithmetic) : (kind < 6 ? random.pick(smooth) : random.pick(pieces));
        const int a = random.once_in(4) ? leaf() : any();
        const int b = random.once_in(8) ? a : (random.once_in(3) ? leaf() : any());
        if (op == Op::select) {
            const int condition = push({random.pick(comparisons), {a, b, 0}, 0.0, 0}, false);
            push({op, {condition, any(), any()}, 0.0, 0});
        } else {
            push({op, {a, b, 0}, 0.0, op == Op::powi ? random.below(14) - 4 : 0});
        }
    }
    return program;
}

/// Values of all nodes that the roots need, by node number; `leaf(node)` gives those of constants and symbols,
/// `apply(op, a, b, c, exponent)` the others.
template <class V, class Leaf, class Apply>
std::vector<V> evaluate_nodes(const Graph& graph, std::span<const Expr> roots, Leaf leaf, Apply apply_op) {
    std::vector<V> value(graph.size());
    for (const Expr e : reachable(graph, roots)) {
        const Node& n = graph[e];
        value[e.id] = operand_count(n.op) == 0
                          ? leaf(n)
                          : apply_op(n.op, value[n.a.id], value[n.b.id], value[n.c.id], n.exponent);
    }
    return value;
}

/// Values of symbols by their number in the graph.
inline std::vector<double> evaluate(const Graph& graph, std::span<const Expr> roots, std::span<const double> symbols) {
    return evaluate_nodes<double>(
        graph, roots,
        [&](const Node& n) { return n.op == Op::constant ? n.value : symbols[static_cast<std::size_t>(n.exponent)]; },
        [](Op op, double a, double b, double c, int n) { return apply(op, a, b, c, n); });
}
inline double evaluate(const Graph& graph, Expr root, std::span<const double> symbols) {
    return evaluate(graph, std::span(&root, 1), symbols)[root.id];
}

/// The operations with eleven bits more; zeros have no sign here, as for real numbers.
inline long double apply_long(Op op, long double a, long double b, long double c, int exponent) {
    switch (op) {
        case Op::add: return a + b;
        case Op::sub: return a - b;
        case Op::mul: return a * b;
        case Op::div: return a / b;
        case Op::neg: return -a;
        case Op::powi: return power(a, exponent);
        case Op::pow:
            return b == std::trunc(b) && std::fabs(b) <= 64.0L ? power(a, static_cast<int>(b)) : std::pow(a, b);
        case Op::sqrt: return std::sqrt(a);
        case Op::exp: return std::exp(a);
        case Op::log: return std::log(a);
        case Op::sin: return std::sin(a);
        case Op::cos: return std::cos(a);
        case Op::tan: return std::tan(a);
        case Op::asin: return std::asin(a);
        case Op::acos: return std::acos(a);
        case Op::atan: return std::atan(a);
        case Op::sinh: return std::sinh(a);
        case Op::cosh: return std::cosh(a);
        case Op::tanh: return std::tanh(a);
        case Op::abs: return std::fabs(a);
        case Op::sign: return static_cast<long double>((a > 0.0L) - (a < 0.0L));
        case Op::atan2: return std::atan2(a + 0.0L, b + 0.0L);
        case Op::hypot: return std::hypot(a, b);
        case Op::min: return b < a ? b : a;
        case Op::max: return a < b ? b : a;
        case Op::less: return a < b ? 1.0L : 0.0L;
        case Op::less_equal: return a <= b ? 1.0L : 0.0L;
        case Op::equal: return a == b ? 1.0L : 0.0L;
        case Op::not_equal: return a != b ? 1.0L : 0.0L;
        case Op::select: return a != 0.0L ? b : c;
        case Op::constant:
        case Op::symbol: break;
    }
    return std::numeric_limits<long double>::quiet_NaN();
}

inline Interval apply_interval(Op op, const Interval& a, const Interval& b, const Interval& c, int exponent) {
    switch (op) {
        case Op::add: return a + b;
        case Op::sub: return a - b;
        case Op::mul: return a * b;
        case Op::div: return a / b;
        case Op::neg: return -a;
        case Op::powi: return powi(a, exponent);
        case Op::pow: return pow(a, b);
        case Op::sqrt: return sqrt(a);
        case Op::exp: return exp(a);
        case Op::log: return log(a);
        case Op::sin: return sin(a);
        case Op::cos: return cos(a);
        case Op::tan: return tan(a);
        case Op::asin: return asin(a);
        case Op::acos: return acos(a);
        case Op::atan: return atan(a);
        case Op::sinh: return sinh(a);
        case Op::cosh: return cosh(a);
        case Op::tanh: return tanh(a);
        case Op::abs: return abs(a);
        case Op::sign: return sign(a);
        case Op::atan2: return atan2(a, b);
        case Op::hypot: return hypot(a, b);
        case Op::min: return min(a, b);
        case Op::max: return max(a, b);
        case Op::less: return less(a, b);
        case Op::less_equal: return less_equal(a, b);
        case Op::equal: return equal(a, b);
        case Op::not_equal: return not_equal(a, b);
        case Op::select: return select(a, b, c);
        case Op::constant:
        case Op::symbol: break;
    }
    return entire(false);
}

/// x and all numbers within the given relative and absolute distance of its ends.
inline Interval widened(const Interval& x, double relative, double absolute) {
    const auto room = [&](double end) { return std::fabs(end) * relative + absolute; };
    const double lo = std::isfinite(x.lo) ? std::max(x.lo - room(x.lo), -infinity) : x.lo;
    const double hi = std::isfinite(x.hi) ? std::min(x.hi + room(x.hi), infinity) : x.hi;
    return {lo, hi, x.defined};
}

inline bool encloses(const Interval& range, long double value) {
    return static_cast<long double>(range.lo) <= value && value <= static_cast<long double>(range.hi);
}

}  // namespace saltus::expr::testing
