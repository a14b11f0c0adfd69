// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "saltus/expr/graph.hpp"
#include "saltus/expr/symbol_sets.hpp"

namespace saltus::expr {

/// Exact derivative of expressions along a direction. A seed (x, v) gives the symbol x the rate v; every other symbol
/// has the rate 0. Two uses:
///     seeds (x, 1)                                   the partial derivative ∂/∂x;
///     seeds (q_i, u_i) for all i, and (t, 1)         the rate D = u·∂/∂q + ∂/∂t at frozen velocities.
///
/// Piecewise operations are differentiated branch by branch; a jump has no derivative and contributes nothing:
///     abs' = sign, so 0 at 0;   hypot' = 0 if hypot is 0;   sign' = 0;
///     min(a, b)' = a' if a <= b, else b';   max(a, b)' = a' if a >= b, else b';   if(c, a, b)' = if(c, a', b').
///
/// Derivatives of shared subexpressions are computed once and kept, so one object should be used for many expressions.
/// It refers to the graph and adds nodes to it.
class Derivative {
public:
    /// Derivatives of one graph should share the symbols of its nodes; otherwise each one finds them for itself.
    using SharedSets = std::shared_ptr<SymbolSets>;
    Derivative(Graph& graph, std::span<const std::pair<Expr, Expr>> seeds, SharedSets symbols = {});
    Derivative(Graph& graph, Expr symbol, SharedSets symbols = {});  ///< ∂/∂symbol

    /// The derivative of `e`. It is the constant 0 if `e` does not depend on a seeded symbol.
    Expr operator()(Expr e);

private:
    /// Rates by node, in a hash table with open addressing. An expression that contains thousands of symbols depends on
    /// one of them in few of its nodes, so that a rate for every node of the graph would need too much memory.
    class Rates {
    public:
        const Expr* find(Expr node) const;
        void set(Expr node, Expr rate);

    private:
        struct Slot {
            std::uint32_t node = UINT32_MAX;  // UINT32_MAX: the slot is empty
            Expr rate;
        };
        std::size_t slot_of(Expr node) const;
        std::vector<Slot> slots_;
        std::size_t used_ = 0;
    };

    bool constant(Expr e) const { return !symbols_->of(e).may_meet(seeded_); }
    Expr past_constant_terms(Expr e) const;
    bool known(Expr e) const { return constant(e) || rates_.find(e) != nullptr; }
    Expr rate(Expr e) const;
    Expr of_node(Expr e);
    // Product and sum that skip a rate which is the constant 0, so that no node is made for it.
    Expr times(Expr factor, Expr rate);
    Expr plus(Expr a, Expr b);

    Graph& graph_;
    SharedSets symbols_;
    SymbolSet seeded_;
    Rates rates_;  // of the nodes that may depend on a seeded symbol
    Expr zero_;
};

}  // namespace saltus::expr
