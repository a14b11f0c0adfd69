// SPDX-License-Identifier: Apache-2.0
#include "saltus/expr/differentiate.hpp"

#include <array>

#include "saltus/base/error.hpp"

namespace saltus::expr {

void SymbolSets::extend() {
    sets_.reserve(graph_.size());
    while (sets_.size() < graph_.size()) {
        const Node& n = graph_[Expr{static_cast<std::uint32_t>(sets_.size())}];
        const int operands = operand_count(n.op);
        SymbolSet set;
        if (n.op == Op::symbol) {
            const auto index = static_cast<std::uint32_t>(n.exponent);
            set = {index, index, std::uint64_t{1} << (index % 64)};
        }
        if (operands > 0) set.add(sets_[n.a.id]);
        if (operands > 1) set.add(sets_[n.b.id]);
        if (operands > 2) set.add(sets_[n.c.id]);
        sets_.push_back(set);
    }
}

std::size_t Derivative::Rates::slot_of(Expr node) const {
    const std::size_t mask = slots_.size() - 1;
    constexpr std::uint64_t spread = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio
    auto slot = static_cast<std::size_t>((node.id * spread) >> 32) & mask;
    while (slots_[slot].node != node.id && slots_[slot].node != UINT32_MAX) slot = (slot + 1) & mask;
    return slot;
}

const Expr* Derivative::Rates::find(Expr node) const {
    if (slots_.empty()) return nullptr;
    const Slot& slot = slots_[slot_of(node)];
    return slot.node == node.id ? &slot.rate : nullptr;
}

void Derivative::Rates::set(Expr node, Expr rate) {
    constexpr std::size_t first_size = 16;  // sizes are powers of two, because slot_of masks the hash with size − 1
    if (2 * (used_ + 1) > slots_.size()) {
        std::vector<Slot> old = std::move(slots_);
        slots_.assign(old.empty() ? first_size : 2 * old.size(), {});
        for (const Slot& s : old)
            if (s.node != UINT32_MAX) slots_[slot_of({s.node})] = s;
    }
    Slot& slot = slots_[slot_of(node)];
    used_ += slot.node != node.id ? 1 : 0;
    slot = {node.id, rate};
}

Derivative::Derivative(Graph& graph, std::span<const std::pair<Expr, Expr>> seeds, SharedSets symbols)
    : graph_(graph), symbols_(symbols ? std::move(symbols) : std::make_shared<SymbolSets>(graph)) {
    zero_ = graph.constant(0.0);
    for (const auto& [symbol, rate] : seeds) {
        SALTUS_EXPECT(graph[symbol].op == Op::symbol);
        seeded_.add(symbols_->of(symbol));
        rates_.set(symbol, rate);
    }
}

Derivative::Derivative(Graph& graph, Expr symbol, SharedSets symbols)
    : Derivative(graph, std::array{std::pair{symbol, graph.constant(1.0)}}, std::move(symbols)) {}

/// Goes down a sum as long as one of its two operands is constant: (c + x)' = x'. A sum of n terms is a chain of n
/// nodes, of which nothing needs to be stored then.
Expr Derivative::past_constant_terms(Expr e) const {
    for (;;) {
        const Node& n = graph_[e];
        const bool sum = n.op == Op::add || n.op == Op::sub;
        if (sum && constant(n.b))
            e = n.a;
        else if (n.op == Op::add && constant(n.a))
            e = n.b;
        else
            return e;
    }
}

/// The rate of a node that is known.
Expr Derivative::rate(Expr e) const { return constant(e) ? zero_ : *rates_.find(e); }

Expr Derivative::operator()(Expr root) {
    root = past_constant_terms(root);
    if (known(root)) return rate(root);
    // Depth first with an explicit stack. A node is differentiated when the derivatives of its operands are known. The
    // condition of a select is not differentiated.
    std::vector<Expr> stack{root};
    while (!stack.empty()) {
        const Expr e = stack.back();
        if (known(e)) {
            stack.pop_back();
            continue;
        }
        const Node n = graph_[e];
        const int operands = operand_count(n.op);
        bool ready = true;
        const auto need = [&](Expr x) {
            if (!known(x)) {
                stack.push_back(x);
                ready = false;
            }
        };
        if (operands > 0 && n.op != Op::select) need(n.a);
        if (operands > 1) need(n.b);
        if (operands > 2) need(n.c);
        if (!ready) continue;
        rates_.set(e, of_node(e));
        stack.pop_back();
    }
    return rate(root);
}

Expr Derivative::times(Expr factor, Expr rate) { return rate == zero_ ? zero_ : graph_.mul(factor, rate); }

Expr Derivative::plus(Expr a, Expr b) {
    if (a == zero_) return b;
    if (b == zero_) return a;
    return graph_.add(a, b);
}

Expr Derivative::of_node(Expr e) {
    const Node n = graph_[e];
    Graph& g = graph_;
    const auto one = [&] { return g.constant(1.0); };
    const auto square = [&](Expr x) { return g.mul(x, x); };
    const Expr da = operand_count(n.op) > 0 && n.op != Op::select ? rate(n.a) : zero_;
    const Expr db = operand_count(n.op) > 1 ? rate(n.b) : zero_;
    const Expr dc = operand_count(n.op) > 2 ? rate(n.c) : zero_;
    if (n.op == Op::select) return db == zero_ && dc == zero_ ? zero_ : g.select(n.a, db, dc);
    if (da == zero_ && db == zero_) return zero_;

    switch (n.op) {
        case Op::add: return plus(da, db);
        case Op::sub: return db == zero_ ? da : g.sub(da, db);
        case Op::mul:
            if (n.a == n.b) return times(g.mul(g.constant(2.0), n.a), da);
            return plus(times(n.b, da), times(n.a, db));
        case Op::div:
            // (a/b)' = (a' − (a/b) b')/b
            return db == zero_ ? g.div(da, n.b) : g.div(g.sub(da, times(e, db)), n.b);
        case Op::neg: return g.neg(da);
        case Op::powi: return times(g.mul(g.constant(n.exponent), g.powi(n.a, n.exponent - 1)), da);
        case Op::pow:
            // ∂(a^b)/∂a = b a^(b−1) is finite at a = 0 for b >= 1, whereas b a^b/a is 0/0. ∂(a^b)/∂b = a^b log a tends
            // to 0 at a = 0 for b > 0, but is computed as 0·(−∞) = NaN. So it is set to 0 there.
            return plus(
                times(g.mul(n.b, g.pow(n.a, g.sub(n.b, one()))), da),
                db == zero_
                    ? zero_
                    : times(g.select(g.binary(Op::equal, n.a, zero_), zero_, g.mul(e, g.unary(Op::log, n.a))), db));
        case Op::sqrt: return g.div(da, g.mul(g.constant(2.0), e));
        case Op::exp: return times(e, da);
        case Op::log: return g.div(da, n.a);
        case Op::sin: return times(g.unary(Op::cos, n.a), da);
        case Op::cos: return g.neg(times(g.unary(Op::sin, n.a), da));
        case Op::tan: return times(g.add(one(), square(e)), da);
        case Op::asin: return g.div(da, g.unary(Op::sqrt, g.sub(one(), square(n.a))));
        case Op::acos: return g.neg(g.div(da, g.unary(Op::sqrt, g.sub(one(), square(n.a)))));
        case Op::atan: return g.div(da, g.add(one(), square(n.a)));
        case Op::sinh: return times(g.unary(Op::cosh, n.a), da);
        case Op::cosh: return times(g.unary(Op::sinh, n.a), da);
        case Op::tanh: return times(g.sub(one(), square(e)), da);
        case Op::abs: return times(g.unary(Op::sign, n.a), da);
        case Op::atan2: {
            const Expr numerator = db == zero_ ? times(n.b, da) : g.sub(times(n.b, da), times(n.a, db));
            return g.div(numerator, g.add(square(n.a), square(n.b)));
        }
        case Op::hypot: {
            const Expr inner = plus(times(n.a, da), times(n.b, db));
            // hypot has a kink where it is 0; its derivative there is defined as 0 (docs/notation.md).
            return g.select(g.binary(Op::equal, e, zero_), zero_, g.div(inner, e));
        }
        // The derivative of the operand whose value the result has; of the first one if both are equal.
        case Op::min: return g.select(g.binary(Op::less, n.b, n.a), db, da);
        case Op::max: return g.select(g.binary(Op::less, n.a, n.b), db, da);
        default: return zero_;  // sign and comparisons are piecewise constant
    }
}

}  // namespace saltus::expr
