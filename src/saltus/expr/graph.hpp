// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/expr/interval/interval.hpp"

namespace saltus::expr {

enum class Op : std::uint8_t {
    constant,
    symbol,
    add,
    sub,
    mul,
    div,
    neg,
    powi,
    pow,
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

/// What a symbol stands for; the bits of an expression's kinds() say what it depends on.
enum Kind : std::uint8_t { time = 1, position = 2, velocity = 4, parameter = 8, auxiliary = 16 };
using Kinds = std::uint8_t;

/// A handle to a node of one Graph.
struct Expr {
    std::uint32_t id = 0;
    friend bool operator==(Expr, Expr) = default;
};

struct Node {
    Op op = Op::constant;
    Kinds kinds = 0;
    bool total = true;             ///< finite for all finite inputs of moderate size: safe to drop when multiplied by 0
    bool kinked = false;           ///< abs, sign, min, max, hypot or if, here or below
    Expr a, b, c;                  ///< operands; they come before the node in the graph
    double value = 0.0;            ///< of a constant
    double low = 0.0, high = 0.0;  ///< enclosure of the exact value that a constant stands for: 1/3, pi
    int exponent = 0;              ///< of powi; index of a symbol
};

struct Symbol {
    std::string name;
    Kind kind;
    Expr node;
};

/// An expression graph in which equal expressions are one node. Nodes only refer to earlier nodes, so that index
/// order is an evaluation order and no algorithm needs recursion.
///
/// The builders simplify as they go (constant folding, neutral elements, signs, collected constant factors). A
/// simplification never changes a value beyond rounding, and never hides a NaN: x/x stays, and 0*x becomes 0 only
/// if x is total. (Two things are not kept: the sign of a zero, and what overflows or underflows on the way in one
/// order of a product but not in another.) Folded constants carry an enclosure of what they were folded from, so that
/// bounds computed with intervals stay bounds.
class Graph {
public:
    enum class Simplify { yes, no };

    explicit Graph(Simplify simplify = Simplify::yes, std::size_t node_limit = 4'000'000);

    Expr constant(double value);                         ///< exactly this number
    Expr constant(double value, const Interval& range);  ///< a number known to lie in the range
    Expr symbol(std::string_view name, Kind kind);

    Expr add(Expr a, Expr b);
    Expr sub(Expr a, Expr b);
    Expr mul(Expr a, Expr b);
    Expr div(Expr a, Expr b);
    Expr neg(Expr a);
    Expr powi(Expr a, int exponent);
    Expr pow(Expr a, Expr b);
    Expr unary(Op op, Expr a);           ///< sqrt ... sign
    Expr binary(Op op, Expr a, Expr b);  ///< any two-operand operation, comparisons included
    Expr select(Expr condition, Expr a, Expr b);

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
    bool is_truth(Expr e) const;  ///< a comparison: a condition, not a number
    Kinds kinds(Expr e) const { return nodes_[e.id].kinds; }
    bool depends_on(Expr e, Kinds kinds) const { return (nodes_[e.id].kinds & kinds) != 0; }

private:
    Expr insert(Node node);
    Expr scaled(Expr factor, Expr e);
    bool is_nonnegative(Expr e) const;
    Expr fold(Op op, Expr a, Expr b, int exponent, bool& folded);
    Interval range(Expr constant) const { return {nodes_[constant.id].low, nodes_[constant.id].high}; }
    void grow_table();

    Simplify simplify_;
    std::size_t node_limit_;
    std::vector<Node> nodes_;
    std::vector<Symbol> symbols_;
    std::vector<std::uint32_t> table_;  // open addressing; index + 1, 0 is empty
};

int operand_count(Op op);
std::string_view op_name(Op op);

/// One operation on numbers; the meaning that every other evaluation of the graph must agree with.
double apply(Op op, double a, double b, double c, int exponent);
Interval apply(Op op, const Interval& a, const Interval& b, const Interval& c, int exponent);

/// x^n by repeated multiplication, in the order that emitted code uses too.
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

/// Nodes that the given expressions need, in evaluation order.
std::vector<Expr> reachable(const Graph& graph, std::span<const Expr> roots);

/// The expression as a person would write it, cut at about `limit` characters.
std::string to_string(const Graph& graph, Expr e, std::size_t limit = 160);

/// Names of the operations with kinks (abs, sign, min, max, hypot, if) in `e` that depend on any of `kinds`.
std::vector<std::string> kinks(const Graph& graph, Expr e, Kinds kinds);

/// Terms whose sum is `e`: the operands of its outermost + and -, signs included; with `distribute` also through
/// products of sums, as long as that makes no more than a few hundred.
std::vector<Expr> terms(Graph& graph, Expr e, bool distribute = false);

/// `e` with symbols replaced; replacement[i] stands for the symbol number i, or itself where absent.
class Substitution {
public:
    Substitution(Graph& graph, std::vector<std::pair<Expr, Expr>> replacements);
    Expr operator()(Expr e);

private:
    Graph& graph_;
    std::vector<Expr> image_;
    std::vector<bool> done_;
};

}  // namespace saltus::expr
