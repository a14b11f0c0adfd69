// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "saltus/expr/graph.hpp"

namespace saltus::expr {

/// Exact derivative along a direction: each symbol moves with the rate of its seed, all others stand still.
/// With the seeds (x, 1) it is ∂/∂x; with (q, u) for all coordinates and (t, 1) it is d/dt at frozen velocities.
///
/// Piecewise operations are differentiated branch by branch, jumps are ignored. The convention at the kinks:
///     abs'(x) = sign(x), so 0 at 0;   hypot' = 0 where hypot is 0;   sign' = 0;   min(a, b)' = a' if a <= b else b';
///     max(a, b)' = a' if a >= b else b'; if(c, a, b)' = if(c, a', b').
class Derivative {
public:
    Derivative(Graph& graph, std::span<const std::pair<Expr, Expr>> seeds);
    Derivative(Graph& graph, Expr symbol);

    /// The derivative; the constant 0 where `e` does not depend on the seeded symbols.
    Expr operator()(Expr e);

private:
    Expr of_node(Expr e);
    Expr times(Expr factor, Expr rate);  // rate is known to be the structural zero or not
    Expr plus(Expr a, Expr b);

    Graph& graph_;
    std::vector<Expr> rate_;
    std::vector<bool> known_;
    Expr zero_;
};

}  // namespace saltus::expr
