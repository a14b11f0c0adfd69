// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::control {

/// The largest differences of two motions (sup norms).
struct MotionDistance {
    double q = 0.0, u = 0.0;        ///< largest |difference| of a coordinate and of a velocity
    double q_at = 0.0, u_at = 0.0;  ///< the times at which they occur
    int q_of = 0, u_of = 0;         ///< the coordinates of which they are
};
/// Compares two motions over the time that both have. On every piece where both are smooth the extrema are found as
/// roots of the derivative of the difference, so that the result is exact to rounding. At events both limits of the
/// velocities count.
MotionDistance distance(const trajectory::Trajectory& a, const trajectory::Trajectory& b);

}  // namespace saltus::control
