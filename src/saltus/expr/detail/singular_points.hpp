// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/expr/jumps.hpp"

namespace saltus::expr {

/// An operation that has no value where `function` is zero: a quotient, a power, tan, log or atan2.
struct Singularity {
    Expr function;
    std::string name;
    bool on_lines = true;  ///< the zeros can be a surface that a line crosses; those of atan2 are not searched so
};

/// The singularities of `e` that interval arithmetic cannot exclude in the region. The region is bisected, and a part
/// of it counts only if it may contain an admissible point.
std::vector<Singularity> possible_singularities(Graph& graph, Expr e, const JumpRegion& region);

/// Examines `e` around zeros of its singularities, which Newton's iteration finds. At a zero that is a single point
/// or a curve, a line misses the jump: x*y/(x^2 + y^2) has every value between -1/2 and 1/2 near the origin.
///
/// Let osc(r) be the largest difference of e between two points of a box of size r around the zero. It is bounded from
/// below by samples in interval arithmetic. e has a limit there only if osc(r) → 0 as r → 0. So
///     osc stays the same while r shrinks by powers of ten:  a jump;
///     osc grows, with values of both signs:                 a doubt, since a motion might pass from +∞ to −∞;
///     osc shrinks as r^0.15 or faster:                      continuous, as far as samples show;
///     anything else:                                        a doubt.
/// A zero counts only if the admissible functions permit it.
void examine_singular_points(Graph& graph, Expr e, const std::vector<Singularity>& singularities,
                             const JumpRegion& region, JumpSearch& out);

}  // namespace saltus::expr
