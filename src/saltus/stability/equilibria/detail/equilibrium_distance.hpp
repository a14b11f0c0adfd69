// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/equilibrium_set.hpp"

namespace saltus::stability {

/// How far a position lies from a set, and from which copy of the set.
struct SetDistance {
    double value = 0.0;      ///< in 1 + |q_i|; > cutoff if only a lower bound was computed
    std::vector<int> turns;  ///< for each coordinate: whole periods from the stored copy of the set to the position
};

/// The distance of q from the extent, the plane and the samples of a set. Nothing is solved. Once the distance is known
/// to exceed `cutoff`, the rest is not computed.
SetDistance distance_from(const std::vector<double>& periods, const EquilibriumSet& set, const Vector& q,
                          double cutoff);

}  // namespace saltus::stability
