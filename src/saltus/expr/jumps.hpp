// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/expr/graph.hpp"

namespace saltus::expr {

/// A place at which an expression jumps: its values on both sides of a switching surface, as near to it as numbers
/// permit.
struct Jump {
    std::vector<double> at;  ///< values of the variables
    double before, after;
    std::string operation;  ///< what switches there: "sign", "if" or "atan2"
};

/// What a search for jumps has found.
struct JumpSearch {
    std::optional<Jump> jump;  ///< the first jump; none if all sampled points are continuous
    bool decided = true;       ///< algebra shows for every switching surface that the expression is continuous there
    int points = 0;            ///< points of switching surfaces that were examined
};

/// Searches for jumps of `e`, an expression of `variables` alone. Only sign, if and atan2 can jump; abs, min, max and
/// hypot are continuous. A switching surface is where the argument of sign, the difference of the two sides of a
/// comparison, or the first argument of atan2 is zero.
///
/// Every surface is sampled: straight lines through boxes of several sizes around `center` are searched for changes of
/// sign, and `e` is compared on both sides of each. `reach` has the size of the box in each variable. The points are
/// pseudo-random, and the same in every call. If no jump is found, then `decided` says whether this was proved too:
/// both branches agree after the equation of the surface was inserted. The search adds nodes to the graph.
JumpSearch find_jump(Graph& graph, Expr e, std::span<const Expr> variables, std::span<const double> center,
                     std::span<const double> reach);

}  // namespace saltus::expr
