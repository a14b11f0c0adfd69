// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/graph.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"

namespace saltus::expr {

namespace {

struct OpInfo {
    std::string_view name;
    int operands;
    bool total;  // finite for operands that are finite and of moderate size
    bool kink;   // has a kink or a jump
};

/// In the order of Op.
constexpr std::array<OpInfo, 32> op_table{{
    {"constant", 0, true, false}, {"symbol", 0, true, false}, {"+", 2, true, false},     {"-", 2, true, false},
    {"*", 2, true, false},        {"/", 2, false, false},     {"-", 1, true, false},     {"^", 1, true, false},
    {"^", 2, false, false},       {"sqrt", 1, false, false},  {"exp", 1, false, false},  {"log", 1, false, false},
    {"sin", 1, true, false},      {"cos", 1, true, false},    {"tan", 1, false, false},  {"asin", 1, false, false},
    {"acos", 1, false, false},    {"atan", 1, true, false},   {"sinh", 1, false, false}, {"cosh", 1, false, false},
    {"tanh", 1, true, false},     {"abs", 1, true, true},     {"sign", 1, true, true},   {"atan2", 2, true, false},
    {"hypot", 2, true, true},     {"min", 2, true, true},     {"max", 2, true, true},    {"<", 2, true, false},
    {"<=", 2, true, false},       {"==", 2, true, false},     {"!=", 2, true, false},    {"if", 3, true, true},
}};

const OpInfo& info(Op op) { return op_table[static_cast<std::size_t>(op)]; }

bool commutative(Op op) { return op == Op::add || op == Op::mul || op == Op::equal || op == Op::not_equal; }

/// Combines a hash with one more word; the constants are those of the golden ratio and of MurmurHash3's finaliser.
std::uint64_t mix(std::uint64_t h, std::uint64_t x) {
    h ^= x + 0x9e3779b97f4a7c15ULL + (h << 6) + (h >> 2);
    return h * 0xff51afd7ed558ccdULL;
}

std::uint64_t hash_of(const Node& n) {
    std::uint64_t h = mix(0, static_cast<std::uint64_t>(n.op));
    h = mix(h, (static_cast<std::uint64_t>(n.a.id) << 32) | n.b.id);
    h = mix(h, (static_cast<std::uint64_t>(n.c.id) << 32) | static_cast<std::uint32_t>(n.exponent));
    for (const double x : {n.value, n.low, n.high}) h = mix(h, std::bit_cast<std::uint64_t>(x));
    return h ^ (h >> 29);
}

/// Bitwise equality, so that 0 and -0 are different constants and a NaN equals itself.
bool same(const Node& x, const Node& y) {
    return x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c && x.exponent == y.exponent &&
           std::bit_cast<std::uint64_t>(x.value) == std::bit_cast<std::uint64_t>(y.value) &&
           std::bit_cast<std::uint64_t>(x.low) == std::bit_cast<std::uint64_t>(y.low) &&
           std::bit_cast<std::uint64_t>(x.high) == std::bit_cast<std::uint64_t>(y.high);
}

/// Whether a constant may be multiplied into another such constant: the product neither underflows nor overflows,
/// because 1e-150² and 1e150² are representable.
bool moderate(double x) { return std::isfinite(x) && std::abs(x) > 1e-150 && std::abs(x) < 1e150; }

}  // namespace

int operand_count(Op op) { return info(op).operands; }
std::string_view op_name(Op op) { return info(op).name; }

double apply(Op op, double a, double b, double c, int exponent) {
    switch (op) {
        case Op::constant:
        case Op::symbol: break;
        case Op::add: return a + b;
        case Op::sub: return a - b;
        case Op::mul: return a * b;
        case Op::div: return a / b;
        case Op::neg: return -a;
        case Op::powi: return power(a, exponent);
        case Op::pow: return std::pow(a, b);
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
        case Op::abs: return std::abs(a);
        case Op::sign: return a > 0.0 ? 1.0 : (a < 0.0 ? -1.0 : a);
        case Op::atan2: return std::atan2(a + 0.0, b + 0.0);  // -0 is 0: on the cut the angle is pi
        case Op::hypot: return std::hypot(a, b);
        case Op::min: return b < a ? b : a;
        case Op::max: return a < b ? b : a;
        case Op::less: return a < b ? 1.0 : 0.0;
        case Op::less_equal: return a <= b ? 1.0 : 0.0;
        case Op::equal: return a == b ? 1.0 : 0.0;
        case Op::not_equal: return a != b ? 1.0 : 0.0;
        case Op::select: return a != 0.0 ? b : c;
    }
    misuse("an operation with operands", __FILE__, __LINE__);
}

Interval apply(Op op, const Interval& a, const Interval& b, const Interval& c, int exponent) {
    switch (op) {
        case Op::constant:
        case Op::symbol: break;
        case Op::add: return a + b;
        case Op::sub: return a - b;
        case Op::mul: return a * b;
        case Op::div: return a / b;
        case Op::neg: return -a;
        case Op::powi: return expr::powi(a, exponent);
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
        case Op::select: return expr::select(a, b, c);
    }
    misuse("an operation with operands", __FILE__, __LINE__);
}

Graph::Graph(Simplify simplify, std::size_t node_limit)
    : simplify_(simplify), node_limit_(node_limit), table_(256, 0) {}

void Graph::grow_table() {
    std::vector<std::uint32_t> larger(table_.size() * 2, 0);
    const std::size_t mask = larger.size() - 1;
    for (std::uint32_t id = 0; id < nodes_.size(); ++id) {
        std::size_t slot = hash_of(nodes_[id]) & mask;
        while (larger[slot] != 0) slot = (slot + 1) & mask;
        larger[slot] = id + 1;
    }
    table_ = std::move(larger);
}

Expr Graph::insert(Node node) {
    const std::size_t mask = table_.size() - 1;
    std::size_t slot = hash_of(node) & mask;
    for (; table_[slot] != 0; slot = (slot + 1) & mask)
        if (same(nodes_[table_[slot] - 1], node)) return {table_[slot] - 1};

    if (nodes_.size() >= node_limit_)
        throw Error("the expressions are too large: more than " + std::to_string(node_limit_) +
                        " operations after differentiation",
                    {}, "split the model or write it in C++");
    const int operands = info(node.op).operands;
    const std::array<Expr, 3> operand{node.a, node.b, node.c};
    for (int i = 0; i < operands; ++i) {
        const Node& x = nodes_[operand[static_cast<std::size_t>(i)].id];
        node.kinds = static_cast<Kinds>(node.kinds | x.kinds);
        node.total = node.total && x.total;
        node.kinked = node.kinked || x.kinked;
    }
    constexpr int max_total_exponent = 8;  // beyond it, a base of moderate size may overflow
    node.total = node.total && info(node.op).total &&
                 !(node.op == Op::powi && (node.exponent < 0 || node.exponent > max_total_exponent));
    node.kinked = node.kinked || info(node.op).kink;
    const Expr e{static_cast<std::uint32_t>(nodes_.size())};
    nodes_.push_back(node);
    table_[slot] = e.id + 1;
    if (nodes_.size() * 2 > table_.size()) grow_table();
    return e;
}

Expr Graph::constant(double value) {
    Node n;
    n.value = n.low = n.high = value;
    n.total = std::isfinite(value);
    return insert(n);
}

Expr Graph::constant(double value, const Interval& range) {
    SALTUS_EXPECT(std::isfinite(value) && range.lo <= value && value <= range.hi);
    Node n;
    n.value = value;
    n.low = range.lo;
    n.high = range.hi;
    return insert(n);
}

/// The constant that an operation on constants gives. None if the result, or a bound of its enclosure, is not finite:
/// then the operation stays in the graph and fails at evaluation.
std::optional<Expr> Graph::fold(Op op, Expr a, Expr b, int exponent) {
    const double value = apply(op, nodes_[a.id].value, nodes_[b.id].value, 0.0, exponent);
    if (!std::isfinite(value)) return std::nullopt;
    const Interval exact = apply(op, range(a), range(b), Interval(0.0), exponent);
    if (!exact.defined || !std::isfinite(exact.lo) || !std::isfinite(exact.hi)) return std::nullopt;
    return constant(value, hull(exact, Interval(value)));
}

Expr Graph::symbol(std::string_view name, Kind kind) {
    Node n;
    n.op = Op::symbol;
    n.exponent = static_cast<int>(symbols_.size());
    n.kinds = kind;
    const Expr e = insert(n);
    symbols_.push_back({std::string(name), kind, e});
    return e;
}

bool Graph::is_truth(Expr e) const {
    const Op op = nodes_[e.id].op;
    return op == Op::less || op == Op::less_equal || op == Op::equal || op == Op::not_equal;
}

/// factor * e, with a constant factor of e multiplied into `factor`, which must be a constant.
Expr Graph::scaled(Expr factor, Expr e) {
    const Node n = nodes_[e.id];
    if (n.op == Op::constant)
        if (const std::optional<Expr> product = fold(Op::mul, factor, e)) return *product;
    if (is_constant(factor, 1.0)) return e;
    if (is_constant(factor, -1.0)) return neg(e);
    if (n.op == Op::neg) return scaled(neg(factor), n.a);
    if (n.op == Op::mul && is_constant(n.a)) {
        const std::optional<Expr> product = fold(Op::mul, factor, n.a);
        if (product && moderate(nodes_[product->id].value)) return scaled(*product, n.b);
    }
    Node m;
    m.op = Op::mul;
    m.a = factor;
    m.b = e;
    return insert(m);
}

/// Whether the form of `e` shows that e >= 0: squares, absolute values, roots and the like, and their sums and
/// products. False if that needs a look at more than 200 nodes.
bool Graph::is_nonnegative(Expr e) const {
    std::vector<Expr> stack{e};
    for (int budget = 200; !stack.empty(); --budget) {
        const Node& n = nodes_[stack.back().id];
        stack.pop_back();
        if (budget == 0) return false;
        const bool square = n.op == Op::mul && n.a == n.b;
        if (square || n.op == Op::abs || n.op == Op::exp || n.op == Op::sqrt || n.op == Op::hypot || n.op == Op::cosh)
            continue;
        if (n.op == Op::constant && n.low >= 0.0) continue;
        if (n.op == Op::powi && n.exponent > 0 && n.exponent % 2 == 0) continue;
        if (n.op != Op::add && n.op != Op::mul) return false;
        stack.insert(stack.end(), {n.a, n.b});
    }
    return true;
}

Expr Graph::add(Expr a, Expr b) { return binary(Op::add, a, b); }
Expr Graph::sub(Expr a, Expr b) { return binary(Op::sub, a, b); }
Expr Graph::mul(Expr a, Expr b) { return binary(Op::mul, a, b); }
Expr Graph::div(Expr a, Expr b) { return binary(Op::div, a, b); }
Expr Graph::neg(Expr a) { return unary(Op::neg, a); }
Expr Graph::pow(Expr a, Expr b) { return binary(Op::pow, a, b); }

Expr Graph::unary(Op op, Expr a) {
    SALTUS_EXPECT(operand_count(op) == 1 && op != Op::powi);
    Node n;
    n.op = op;
    n.a = a;
    if (simplify_ == Simplify::no) return insert(n);

    const Node x = nodes_[a.id];
    if (x.op == Op::constant)
        if (const std::optional<Expr> e = fold(op, a, a)) return *e;
    if (op == Op::neg) {
        if (x.op == Op::neg) return x.a;
        if (x.op == Op::sub) return sub(x.b, x.a);
        if (x.op == Op::mul && is_constant(x.a) && std::isfinite(nodes_[x.a.id].value)) return scaled(neg(x.a), x.b);
    }
    const bool odd = op == Op::sin || op == Op::tan || op == Op::asin || op == Op::atan || op == Op::sinh ||
                     op == Op::tanh || op == Op::sign;
    const bool even = op == Op::cos || op == Op::cosh || op == Op::abs;
    if (x.op == Op::neg && odd) return neg(unary(op, x.a));
    if (x.op == Op::neg && even) return unary(op, x.a);
    if (op == Op::abs && (x.op == Op::abs || x.op == Op::sqrt || x.op == Op::exp)) return a;
    return insert(n);
}

Expr Graph::powi(Expr a, int exponent) {
    SALTUS_EXPECT(std::abs(static_cast<long>(exponent)) <= 1000);
    if (simplify_ == Simplify::yes) {
        if (exponent == 0) return constant(1.0);
        if (exponent == 1) return a;
        if (exponent == 2) return mul(a, a);
        const Node x = nodes_[a.id];
        if (x.op == Op::constant)
            if (const std::optional<Expr> e = fold(Op::powi, a, a, exponent)) return *e;
        if (x.op == Op::neg) return exponent % 2 == 0 ? powi(x.a, exponent) : neg(powi(x.a, exponent));
    }
    Node n;
    n.op = Op::powi;
    n.a = a;
    n.exponent = exponent;
    return insert(n);
}

/// The node without simplification. Both orders of a commutative operation become one node: a constant operand comes
/// first, otherwise the older operand.
Expr Graph::commuted(Op op, Expr a, Expr b) {
    Node n;
    n.op = op;
    n.a = a;
    n.b = b;
    if (commutative(op) && (is_constant(n.b) ? !is_constant(n.a) : (!is_constant(n.a) && n.b.id < n.a.id)))
        std::swap(n.a, n.b);
    return insert(n);
}

/// a*b, not both constants that fold. Constant factors of both operands are collected in front.
Expr Graph::multiplied(Expr a, Expr b) {
    const Node x = nodes_[a.id];
    const Node y = nodes_[b.id];
    if (is_zero(a) && y.total) return a;
    if (is_zero(b) && x.total) return b;
    if (is_zero(a) || is_zero(b)) return commuted(Op::mul, a, b);
    if (x.op == Op::constant && std::isfinite(x.value)) return scaled(a, b);
    if (y.op == Op::constant && std::isfinite(y.value)) return scaled(b, a);
    if (x.op == Op::neg) return neg(mul(x.a, b));
    if (y.op == Op::neg) return neg(mul(a, y.a));
    if (a == b && x.op == Op::hypot) return add(mul(x.a, x.a), mul(x.b, x.b));
    if (a == b && x.op == Op::sqrt && is_nonnegative(x.a)) return x.a;
    const bool fx = x.op == Op::mul && is_constant(x.a) && moderate(nodes_[x.a.id].value);
    const bool fy = y.op == Op::mul && is_constant(y.a) && moderate(nodes_[y.a.id].value);
    if (fx && fy) {
        const std::optional<Expr> factor = fold(Op::mul, x.a, y.a);
        if (factor && moderate(nodes_[factor->id].value)) return scaled(*factor, mul(x.b, y.b));
    }
    if (fx && a != b) return scaled(x.a, mul(x.b, b));
    if (fy && a != b) return scaled(y.a, mul(a, y.b));
    return commuted(Op::mul, a, b);
}

/// a/b, not both constants that fold. Dividing by a power of two is exact, so it becomes a product.
Expr Graph::divided(Expr a, Expr b) {
    const Node x = nodes_[a.id];
    const Node y = nodes_[b.id];
    if (y.op == Op::constant && y.low == y.high && y.value != 0.0 && std::isfinite(y.value)) {
        constexpr int safe_exponent = 900;  // 1/y and products with it stay clear of overflow and underflow
        int exponent = 0;
        const bool power_of_two = std::abs(std::frexp(y.value, &exponent)) == 0.5 && std::abs(exponent) < safe_exponent;
        if (power_of_two) return scaled(constant(1.0 / y.value), a);
    }
    if (x.op == Op::neg) return neg(div(x.a, b));
    if (y.op == Op::neg) return neg(div(a, y.a));
    if (x.op == Op::mul && is_constant(x.a) && moderate(nodes_[x.a.id].value) && y.op == Op::constant &&
        moderate(y.value))
        if (const std::optional<Expr> factor = fold(Op::div, x.a, b)) return scaled(*factor, x.b);
    return commuted(Op::div, a, b);
}

Expr Graph::binary(Op op, Expr a, Expr b) {
    SALTUS_EXPECT(operand_count(op) == 2);
    if (simplify_ == Simplify::no) return commuted(op, a, b);

    const Node x = nodes_[a.id];
    const Node y = nodes_[b.id];
    const bool comparison = op >= Op::less && op <= Op::not_equal;
    if (x.op == Op::constant && y.op == Op::constant && !comparison)
        if (const std::optional<Expr> e = fold(op, a, b)) return *e;
    switch (op) {
        case Op::add:
            if (is_zero(a)) return b;
            if (is_zero(b)) return a;
            if (a == b) return scaled(constant(2.0), a);
            if (y.op == Op::neg) return sub(a, y.a);
            if (x.op == Op::neg) return sub(b, x.a);
            break;
        case Op::sub:
            if (is_zero(b)) return a;
            if (is_zero(a)) return neg(b);
            if (a == b && x.total) return constant(0.0);
            if (y.op == Op::neg) return add(a, y.a);
            if (x.op == Op::neg) return neg(add(x.a, b));
            break;
        case Op::mul: return multiplied(a, b);
        case Op::div: return divided(a, b);
        case Op::pow:
            if (y.op == Op::constant && y.low == y.high) {
                constexpr double max_exponent = 64.0;  // larger integer powers are left to std::pow
                if (y.value == std::round(y.value) && std::abs(y.value) <= max_exponent)
                    return powi(a, static_cast<int>(y.value));
                if (y.value == 0.5) return unary(Op::sqrt, a);
            }
            break;
        case Op::min:
        case Op::max:
            if (a == b) return a;
            break;
        default: break;
    }
    return commuted(op, a, b);
}

Expr Graph::select(Expr condition, Expr a, Expr b) {
    if (simplify_ == Simplify::yes) {
        if (a == b) return a;
        const Node& c = nodes_[condition.id];
        if (operand_count(c.op) == 2 && is_constant(c.a) && is_constant(c.b))
            if (const Interval truth = apply(c.op, range(c.a), range(c.b), Interval(0.0), 0); is_point(truth))
                return truth.lo != 0.0 ? a : b;
    }
    Node n;
    n.op = Op::select;
    n.a = condition;
    n.b = a;
    n.c = b;
    return insert(n);
}

std::vector<Expr> reachable(const Graph& graph, std::span<const Expr> roots) {
    std::vector<bool> seen(graph.size(), false);
    std::vector<Expr> stack(roots.begin(), roots.end());
    std::vector<Expr> found;
    while (!stack.empty()) {
        const Expr e = stack.back();
        stack.pop_back();
        if (seen[e.id]) continue;
        seen[e.id] = true;
        found.push_back(e);
        const Node& n = graph[e];
        const int operands = operand_count(n.op);
        if (operands > 0) stack.push_back(n.a);
        if (operands > 1) stack.push_back(n.b);
        if (operands > 2) stack.push_back(n.c);
    }
    std::sort(found.begin(), found.end(), [](Expr x, Expr y) { return x.id < y.id; });
    return found;
}

namespace {

/// Binding strength of what surrounds an operand: it is put in parentheses if it binds less.
enum Level { lowest = 0, sum = 2, product = 3, sign_level = 4, power_level = 5, atom = 6 };

constexpr int max_written_depth = 64;  // bounds the recursion of Writer

struct Writer {
    const Graph& graph;
    std::size_t limit;
    std::string text;

    void write(Expr e, int outer, int depth) {
        if (text.size() > limit || depth > max_written_depth) {
            if (!text.ends_with("...")) text += "...";
            return;
        }
        const Node& n = graph[e];
        switch (n.op) {
            case Op::constant: return number(n.value, outer);
            case Op::symbol: text += graph.symbols()[static_cast<std::size_t>(n.exponent)].name; return;
            case Op::add: return infix(n, " + ", sum, sum, outer, depth);
            case Op::sub: return infix(n, " - ", sum, product, outer, depth);
            case Op::mul: return infix(n, "*", product, product, outer, depth);
            case Op::div: return infix(n, "/", product, sign_level, outer, depth);
            case Op::pow: return infix(n, "^", atom, sign_level, outer, depth, power_level);
            case Op::less: return infix(n, " < ", sum, sum, outer, depth, lowest);
            case Op::less_equal: return infix(n, " <= ", sum, sum, outer, depth, lowest);
            case Op::equal: return infix(n, " == ", sum, sum, outer, depth, lowest);
            case Op::not_equal: return infix(n, " != ", sum, sum, outer, depth, lowest);
            case Op::neg:
                open(outer > sum);
                text += "-";
                write(n.a, sign_level, depth + 1);
                close(outer > sum);
                return;
            case Op::powi:
                open(outer > power_level);
                write(n.a, atom, depth + 1);
                text += "^" + std::to_string(n.exponent);
                close(outer > power_level);
                return;
            default: {
                const int operands = operand_count(n.op);
                text += std::string(op_name(n.op)) + "(";
                write(n.a, lowest, depth + 1);
                if (operands > 1) text += ", ", write(n.b, lowest, depth + 1);
                if (operands > 2) text += ", ", write(n.c, lowest, depth + 1);
                text += ")";
            }
        }
    }

    void number(double value, int outer) {
        open(value < 0.0 && outer > sum);
        text += number_text(value);
        close(value < 0.0 && outer > sum);
    }
    void infix(const Node& n, std::string_view sign, int left, int right, int outer, int depth, int own = -1) {
        if (own < 0) own = left;
        open(outer > own);
        write(n.a, left, depth + 1);
        text += sign;
        write(n.b, right, depth + 1);
        close(outer > own);
    }
    void open(bool needed) {
        if (needed) text += "(";
    }
    void close(bool needed) {
        if (needed) text += ")";
    }
};

}  // namespace

std::string to_string(const Graph& graph, Expr e, std::size_t limit) {
    Writer writer{graph, limit, {}};
    writer.write(e, lowest, 0);
    return writer.text;
}

std::vector<std::string> kinks(const Graph& graph, Expr e, Kinds kinds) {
    std::vector<std::string> names;
    if (!graph[e].kinked) return names;
    for (const Expr x : reachable(graph, {&e, 1})) {
        const Node& n = graph[x];
        if (!info(n.op).kink) continue;
        // An `if` is as nonsmooth as its condition; its branches are judged by themselves.
        const Kinds decisive = n.op == Op::select ? graph.kinds(n.a) : n.kinds;
        std::string name(op_name(n.op));
        if ((decisive & kinds) != 0 && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(std::move(name));
    }
    return names;
}

std::vector<Expr> terms(Graph& graph, Expr e, Products products) {
    constexpr std::size_t max_terms = 300;  // expansion grows exponentially with nested products; stop it here
    struct Signed {
        Expr e;
        bool negative;
    };
    std::vector<Signed> stack{{e, false}};
    std::vector<Expr> found;
    const auto is_sum = [&](Expr x) { return graph[x].op == Op::add || graph[x].op == Op::sub; };
    while (!stack.empty()) {
        const Signed s = stack.back();
        stack.pop_back();
        const Node n = graph[s.e];
        if (n.op == Op::add || n.op == Op::sub) {
            stack.push_back({n.b, s.negative != (n.op == Op::sub)});
            stack.push_back({n.a, s.negative});
        } else if (n.op == Op::neg) {
            stack.push_back({n.a, !s.negative});
        } else if (const bool left = is_sum(n.a), right = is_sum(n.b); products == Products::expand &&
                                                                       n.op == Op::mul && (left || right) &&
                                                                       found.size() + stack.size() < max_terms) {
            // The products of each part of the sum with the rest; they may be sums again.
            const Expr rest = left ? n.b : n.a;
            for (const Expr part : terms(graph, left ? n.a : n.b)) stack.push_back({graph.mul(part, rest), s.negative});
        } else {
            found.push_back(s.negative ? graph.neg(s.e) : s.e);
        }
    }
    return found;
}

Substitution::Substitution(Graph& graph, std::vector<std::pair<Expr, Expr>> replacements) : graph_(graph) {
    image_.resize(graph.size());
    done_.resize(graph.size(), false);
    for (const auto& [from, to] : replacements) {
        image_[from.id] = to;
        done_[from.id] = true;
    }
}

Expr Substitution::operator()(Expr root) {
    if (root.id >= done_.size()) {
        image_.resize(graph_.size());
        done_.resize(graph_.size(), false);
    }
    for (const Expr e : reachable(graph_, {&root, 1})) {
        if (done_[e.id]) continue;
        const Node n = graph_[e];
        Expr image = e;
        switch (operand_count(n.op)) {
            case 0: break;
            case 1:
                image = n.op == Op::powi ? graph_.powi(image_[n.a.id], n.exponent) : graph_.unary(n.op, image_[n.a.id]);
                break;
            case 2: image = graph_.binary(n.op, image_[n.a.id], image_[n.b.id]); break;
            default: image = graph_.select(image_[n.a.id], image_[n.b.id], image_[n.c.id]);
        }
        image_[e.id] = image;
        done_[e.id] = true;
    }
    return image_[root.id];
}

}  // namespace saltus::expr
