// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// The last part of an arc on which slip in a plane comes to rest, from a recorded state to one next to rest.
struct PathToRest {
    int part = 0;               ///< the friction part that comes to rest
    double from = 0.0;          ///< time at which the path begins
    std::vector<double> start;  ///< (q, u, …) there
    double t = 0.0;             ///< time at its end
    std::vector<double> end;  ///< (q, u, …) at its end, where slip is so slow that nothing but its direction matters
    /// The derivatives along the path, at fixed times: the row for a direction (δq, δu, δp) of one is (δq, δu) at the
    /// end, so that δx(end) = (δq, δu, δp)·map. Empty if they cannot be integrated.
    Matrix map;
};

/// Whether slip in a plane comes to rest at the end of an arc, and the way to it.
struct EndInRest {
    bool rests = false;
    std::optional<PathToRest> path;  ///< empty although `rests`: the direction of slip cannot be followed
};

/// The end of the arc that was asked for last. The arc and the event after it both ask.
struct RestMemory {
    const integrate::RecordedArc* arc = nullptr;
    EndInRest end;
};

/// Computes the path anew: near rest the direction of slip of a recorded motion consists of its errors. Leaves the mode
/// of the dynamics with the directions of slip at the end of the path. The result is valid until the next call.
const EndInRest& end_in_rest(Tangent& tangent, const integrate::RecordedArc& arc);

/// The directions of slip in planes of the dynamics become those of the velocities at a state.
void follow_slip(integrate::Dynamics& dynamics, double t, const double* x);

}  // namespace saltus::sensitivity
