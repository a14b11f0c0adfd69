// SPDX-License-Identifier: Apache-2.0
#pragma once

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

}  // namespace saltus::stability
