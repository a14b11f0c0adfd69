// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "saltus/stability/equilibria/equilibrium_point.hpp"
#include "saltus/stability/equilibria/equilibrium_set.hpp"

namespace saltus::stability {

/// Points of a one-dimensional set in their order along it, from one end to the other: at most `count` of its ends and
/// samples (count >= 2), evenly chosen. Of a straight set between two ends the points are equidistant. Empty if the set
/// has another dimension or no end.
std::vector<Vector> points_along(const EquilibriumSet& set, int count);

/// The forces that hold the model at these points, with the ranges of the normal forces. Points that are no equilibria
/// (to rounding, at the ends) are left out.
std::vector<EquilibriumPoint> forces_along(RestingModel& model, const std::vector<Vector>& points);

/// The forces along the sets that are curves, one list for each set, for plots: at most 33 points of each of the first
/// eight curves, because more fill no page. The lists of other sets are empty. `time`: that of the equilibria. `stop`
/// may be empty.
std::vector<std::vector<EquilibriumPoint>> forces_along_curves(const model::Mechanics& model,
                                                               const std::vector<EquilibriumSet>& sets, double time,
                                                               const std::function<bool()>& stop);

}  // namespace saltus::stability
