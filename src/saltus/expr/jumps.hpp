// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/expr/graph.hpp"

namespace saltus::expr {

/// A place at which an expression jumps: two of its values, as near to that place as numbers permit. At a switching
/// surface they belong to its two sides.
struct Jump {
    std::vector<double> at;  ///< values of the variables
    double before, after;
    std::string operation;  ///< what switches there: "sign", "if", "atan2", "a division or power", "tan" or "log"
};

/// A place at which an operation has no value, and the search cannot decide whether the expression has a limit there.
struct Doubt {
    std::vector<double> at;  ///< values of the variables; empty if no such place was found, but none was excluded
    std::string reason;      ///< continues a sentence about the expression: "grows without bound ..."
};

/// What a search for jumps has found.
struct JumpSearch {
    std::optional<Jump> jump;  ///< the first jump; none if all sampled points are continuous
    /// Algebra shows for every switching surface of sign, if and atan2 that the expression is continuous there.
    bool decided = true;
    int points = 0;              ///< points of switching surfaces that were examined
    std::optional<Doubt> doubt;  ///< the first doubt about a division, power, tan, log or atan2
    int limits = 0;              ///< zeros of denominators around which samples show a limit
};

/// The region in which jumps are searched.
struct JumpRegion {
    std::span<const Expr> variables;
    std::span<const double> center, reach;  ///< the size of the box in each variable is a multiple of `reach`
    /// Functions of the variables that are nonnegative in every admissible state. A denominator that vanishes only
    /// where one of them is negative does no harm.
    std::span<const Expr> admissible = {};
    /// The expression itself is nonnegative in every admissible state, as a gap is.
    bool itself_admissible = false;
};

/// Whether an operation inside of `e` that depends on time, positions or velocities can jump: sign, a comparison,
/// atan2, a division, a power with a negative exponent, tan, or log.
bool can_jump(const Graph& graph, Expr e);

/// Searches for jumps of `e`, an expression of the region's variables alone. sign, if and atan2 jump at a switching
/// surface: where the argument of sign, the difference of the two sides of a comparison, or the first argument of atan2
/// is zero. A division, a power or tan can jump at its poles, as in abs(x)/x and atan(tan(x)). abs, min, max and hypot
/// are continuous.
///
/// Every surface is sampled: straight lines through boxes of several sizes around `center` are searched for changes of
/// sign, and `e` is compared on both sides of each. The points are pseudo-random, and the same in every call. If no
/// jump is found, then `decided` says whether this was proved too: both branches agree after the equation of the
/// surface was inserted. The search adds nodes to the graph.
///
/// Poles are searched only if interval arithmetic cannot exclude them in the admissible part of the largest box. Then
/// the differences along the lines are bisected, and `e` is sampled around zeros of the denominators, which may be
/// single points as in x*y/(x^2 + y^2). A jump has finite limits; a pole where the values themselves grow without
/// bound, such as 1/x, is not called a jump. It is a doubt if the values have both signs.
JumpSearch find_jump(Graph& graph, Expr e, const JumpRegion& region);

}  // namespace saltus::expr
