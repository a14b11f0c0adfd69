// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>

#include "saltus/expr/graph.hpp"

namespace saltus::proof {

/// The parts of a function of the velocities, by their degree p: Σ_p part_p(q, u) with
/// part_p(q, s u) = s^p part_p(q, u) for all s > 0.
using HomogeneousParts = std::map<double, expr::Expr>;

/// Writes e as a sum of positively homogeneous functions of the velocities. Powers, roots, abs, sign, hypot, min, max
/// and comparisons of terms of one degree are homogeneous: c*abs(x')*x' has the degree 2. std::nullopt if e has no such
/// form that the rules find (tanh(x'), 1/(1 + x'^2)) or if it has too many terms.
std::optional<HomogeneousParts> homogeneous_parts(expr::Graph& graph, expr::Expr e);

}  // namespace saltus::proof
