// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "saltus/stability/basin/basin.hpp"

namespace saltus::stability {

/// A motion as a curve in the plane of two axes of a basin.
struct PhasePath {
    int set = -1;  ///< the motion leaves a tip of Basin::sets[set]; −1: it starts at the edge of the plane
    std::vector<std::array<double, 2>> points;
    std::vector<std::size_t> breaks;  ///< k: something jumps between points k and k + 1
};

/// Motions that show how the plane of a basin flows: `count` motions from the edge of the plane, and for each
/// equilibrium set of positive length two motions that leave its tips. The plane is that of the two axes with more than
/// one value; the result is empty if there are not exactly two. Tips exist if one axis is a coordinate and the other
/// one its velocity. The motions are event-driven, up to BasinOptions::t_max, and are thinned for drawing.
std::vector<PhasePath> phase_paths(const model::Mechanics& model, const BasinOptions& options, const Basin& basin,
                                   int count);

}  // namespace saltus::stability
