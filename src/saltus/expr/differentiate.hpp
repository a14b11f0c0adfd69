// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "saltus/expr/graph.hpp"

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
    Derivative(Graph& graph, std::span<const std::pair<Expr, Expr>> seeds);
    Derivative(Graph& graph, Expr symbol);  ///< ∂/∂symbol

    /// The derivative of `e`. It is the constant 0 if `e` does not depend on a seeded symbol.
    Expr operator()(Expr e);

private:
    Expr of_node(Expr e);
    // Product and sum that skip a rate which is the constant 0, so that no node is made for it.
    Expr times(Expr factor, Expr rate);
    Expr plus(Expr a, Expr b);

    Graph& graph_;
    std::vector<Expr> rate_;   // by node; valid if known_
    std::vector<bool> known_;  // by node
    Expr zero_;
};

}  // namespace saltus::expr
