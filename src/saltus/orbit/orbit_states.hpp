// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/orbit/orbit.hpp"

namespace saltus::orbit {

/// A stable orbit by its states at multiples of the period of the excitation, or on its section.
struct OrbitStates {
    double period = 0.0;                      ///< period of the whole orbit, in s
    int returns = 1;                          ///< number of points
    double energy = 0.0;                      ///< T + U at the first point
    double largest_multiplier = 0.0;          ///< largest modulus; of autonomous systems beside the trivial one
    std::vector<std::vector<double>> points;  ///< (q, u)
    std::vector<double> range;                ///< highest − lowest value of each component on the orbit
};

/// The orbit that a motion near it has reached: one that Newton's method finds from `state`, a point of the motion,
/// which repeats after `returns` points. `options` say what the points are (period or section); Options::search_time
/// limits how long a return is waited for. If the orbit closes sooner than after `returns` points then it is given with
/// as few points as it has. Nothing if there is no orbit, if it is not stable, or if that is not known.
std::optional<OrbitStates> stable_orbit_near(const model::Model& model, const Options& options,
                                             const trajectory::State& state, int returns);

}  // namespace saltus::orbit
