// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/expr/interval/interval.hpp"

namespace saltus::expr {

/// The operation of a node. Arithmetic, functions of one argument (sqrt … sign), functions of two arguments,
/// comparisons (less … not_equal, which give 1 or 0) and `select`, which is written if(condition, a, b).
enum class Op : std::uint8_t {
    constant,
    symbol,
    add,
    sub,
    mul,
    div,
    neg,
    powi,  ///< integer exponent, stored in the node
    pow,   ///< exponent is an expression
    sqrt,
    exp,
    log,
    sin,
    cos,
    tan,
    asin,
    acos,
    atan,
    sinh,
    cosh,
    tanh,
    abs,
    sign,
    atan2,
    hypot,
    min,
    max,
    less,
    less_equal,
    equal,
    not_equal,
    select,
};

/// What a symbol stands for. `auxiliary` symbols are those that an algorithm adds for itself.
enum Kind : std::uint8_t { time = 1, position = 2, velocity = 4, parameter = 8, auxiliary = 16 };
/// A set of kinds: the bitwise or of Kind values.
using Kinds = std::uint8_t;

/// A handle to a node of one Graph. It is only meaningful together with that graph (or a copy of it).
struct Expr {
    std::uint32_t id = 0;
    friend bool operator==(Expr, Expr) = default;
};

/// One operation of a graph with its operands.
struct Node {
    Op op = Op::constant;
    Kinds kinds = 0;               ///< kinds of all symbols that the node depends on
    bool total = true;             ///< finite for all finite inputs of moderate size; then 0 times the node is 0
    bool kinked = false;           ///< the node or an operand of it, however deep, is abs, sign, min, max, hypot or if
    Expr a, b, c;                  ///< operands, as many as operand_count(op); their ids are smaller than the node's
    double value = 0.0;            ///< value of a constant; 0 for other nodes
    double low = 0.0, high = 0.0;  ///< enclosure of the exact number that a constant stands for, such as 1/3 or pi
    int exponent = 0;              ///< exponent of powi; index in Graph::symbols of a symbol
};

/// A name that expressions may contain.
struct Symbol {
    std::string name;
    Kind kind;
    Expr node;
};

/// An expression graph in which equal expressions are one node (hash consing). A node only refers to nodes with smaller
/// ids. So the order of the ids is an order of evaluation, and no algorithm needs recursion.
///
/// The functions that make nodes also simplify: they fold constants, drop neutral elements, move signs outward and
/// collect constant factors. A simplification changes a value by rounding errors at most and never hides a NaN: x/x
/// stays, and 0*x becomes 0 only if x is total. Two things may change: the sign of a zero, and an overflow or underflow
/// that occurs in one order of a product but not in the other. A folded constant keeps an enclosure of the exact number
/// it was folded from, so that bounds computed with intervals remain bounds.
///
/// A graph is a value: a copy has the same ids, so handles are valid in both.
class Graph {
public:
    enum class Simplify { yes, no };

    /// Making more than `node_limit` nodes throws Error.
    explicit Graph(Simplify simplify = Simplify::yes, std::size_t node_limit = 4'000'000);

    Expr constant(double value);  ///< exactly this number; it may be NaN or infinite
    /// A number that is only known to lie in `range`. `value` must be finite and in the range.
    Expr constant(double value, const Interval& range);
    Expr symbol(std::string_view name, Kind kind);  ///< a new symbol, also if the name exists already

    Expr add(Expr a, Expr b);
    Expr sub(Expr a, Expr b);
    Expr mul(Expr a, Expr b);
    Expr div(Expr a, Expr b);
    Expr neg(Expr a);
    Expr powi(Expr a, int exponent);  ///< |exponent| <= 1000
    Expr pow(Expr a, Expr b);
    Expr unary(Op op, Expr a);                    ///< neg and sqrt … sign
    Expr binary(Op op, Expr a, Expr b);           ///< any operation with two operands, comparisons included
    Expr select(Expr condition, Expr a, Expr b);  ///< a if the condition is not 0, otherwise b

    const Node& operator[](Expr e) const { return nodes_[e.id]; }
    std::size_t size() const { return nodes_.size(); }
    std::span<const Symbol> symbols() const { return symbols_; }

    bool is_constant(Expr e) const { return nodes_[e.id].op == Op::constant; }
    /// Exactly this number.
    bool is_constant(Expr e, double value) const {
        const Node& n = nodes_[e.id];
        return n.op == Op::constant && n.value == value && n.low == n.high;
    }
    bool is_zero(Expr e) const { return is_constant(e, 0.0); }
    bool is_truth(Expr e) const;  ///< a comparison, that is, a condition and not a number
    Kinds kinds(Expr e) const { return nodes_[e.id].kinds; }
    /// Whether `e` contains a symbol of any of these kinds.
    bool depends_on(Expr e, Kinds kinds) const { return (nodes_[e.id].kinds & kinds) != 0; }

private:
    Expr insert(Node node);
    Expr scaled(Expr factor, Expr e);
    bool is_nonnegative(Expr e) const;
    std::optional<Expr> fold(Op op, Expr a, Expr b, int exponent = 0);
    Expr divided(Expr a, Expr b);
    Expr multiplied(Expr a, Expr b);
    Expr commuted(Op op, Expr a, Expr b);
    Interval range(Expr constant) const { return {nodes_[constant.id].low, nodes_[constant.id].high}; }
    void grow_table();

    Simplify simplify_;
    std::size_t node_limit_;
    std::vector<Node> nodes_;
    std::vector<Symbol> symbols_;
    std::vector<std::uint32_t> table_;  // hash table with open addressing: node id + 1, or 0 for an empty slot
};

int operand_count(Op op);         ///< 0 to 3
std::string_view op_name(Op op);  ///< operation as the grammar writes it: "+", "sin", "if"

/// One operation on numbers. It defines the meaning: every other evaluation of a graph must give the same bits.
/// Operands that the operation does not have are ignored.
double apply(Op op, double a, double b, double c, int exponent);
/// The same on intervals: an enclosure of the results for all operands in the intervals.
Interval apply(Op op, const Interval& a, const Interval& b, const Interval& c, int exponent);

/// x^n by repeated squaring, for any type V of values. Emitted code multiplies in the same order, so that it gives the
/// same bits. A negative n gives the reciprocal of the positive power.
template <class V>
V power(V x, int n) {
    if (n < 0) return V(1.0) / power(x, -n);
    V result(1.0);
    bool started = false;
    for (V square = x;; square = square * square) {
        if ((n & 1) != 0) {
            result = started ? result * square : square;
            started = true;
        }
        n >>= 1;
        if (n == 0) return result;
    }
}

/// All nodes that the given expressions are made of, the expressions included, in an order of evaluation.
std::vector<Expr> reachable(const Graph& graph, std::span<const Expr> roots);

/// The expression as a person would write it. It is cut off with "..." after about `limit` characters.
std::string to_string(const Graph& graph, Expr e, std::size_t limit = 160);

/// Names of the operations with kinks or jumps (abs, sign, min, max, hypot, if) in `e` that depend on any of `kinds`,
/// each name once. An `if` counts if its condition depends on them.
std::vector<std::string> kinks(const Graph& graph, Expr e, Kinds kinds);

/// Whether `terms` multiplies out products that contain a sum.
enum class Products { keep, expand };

/// Terms whose sum is `e`: the operands of its outermost additions and subtractions, with their signs. If products are
/// expanded, then a*(b + c) gives a*b and a*c; expansion stops when there are about 300 terms.
std::vector<Expr> terms(Graph& graph, Expr e, Products products = Products::keep);

/// Replaces symbols (or other nodes) by expressions. Images of shared subexpressions are computed once and kept, so one
/// object should be used for many expressions. It refers to the graph and adds nodes to it.
class Substitution {
public:
    /// Each pair is (node, its replacement).
    Substitution(Graph& graph, std::vector<std::pair<Expr, Expr>> replacements);
    Expr operator()(Expr e);

private:
    Graph& graph_;
    std::vector<Expr> image_;  // by node; valid if done_
    std::vector<bool> done_;
};

}  // namespace saltus::expr
