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
    std::string operation;  ///< what switches there: "sign", "if", "atan2", "a division or power" or "tan"
};

/// What a search for jumps has found.
struct JumpSearch {
    std::optional<Jump> jump;  ///< the first jump; none if all sampled points are continuous
    /// Algebra shows for every switching surface of sign, if and atan2 that the expression is continuous there.
    bool decided = true;
    int points = 0;  ///< points of switching surfaces that were examined
};

/// Whether an operation inside of `e` that depends on time, positions or velocities can jump: sign, a comparison,
/// atan2, a division, a power with a negative exponent, or tan.
bool can_jump(const Graph& graph, Expr e);

/// Searches for jumps of `e`, an expression of `variables` alone. sign, if and atan2 jump at a switching surface: where
/// the argument of sign, the difference of the two sides of a comparison, or the first argument of atan2 is zero.
/// A division, a power or tan can jump at its poles, as in abs(x)/x and atan(tan(x)). abs, min, max and hypot are
/// continuous.
///
/// Every surface is sampled: straight lines through boxes of several sizes around `center` are searched for changes of
/// sign, and `e` is compared on both sides of each. `reach` has the size of the box in each variable. The points are
/// pseudo-random, and the same in every call. If no jump is found, then `decided` says whether this was proved too:
/// both branches agree after the equation of the surface was inserted. The search adds nodes to the graph.
///
/// Poles are searched only if interval arithmetic cannot exclude them in the largest box. Then the differences along
/// the lines are bisected. A jump has finite limits on both sides; a pole where the values themselves grow without
/// bound, such as 1/x, is not called a jump.
JumpSearch find_jump(Graph& graph, Expr e, std::span<const Expr> variables, std::span<const double> center,
                     std::span<const double> reach);

}  // namespace saltus::expr
