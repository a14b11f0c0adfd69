// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::control {

/// The largest difference of two motions over the time that both have, to rounding: on every piece where both are
/// smooth the extrema are found as roots of the derivative. Velocities count with both limits at events.
struct MotionDistance {
    double q = 0.0, u = 0.0;
    double q_at = 0.0, u_at = 0.0;  ///< when
    int q_of = 0, u_of = 0;         ///< whose
};
MotionDistance distance(const trajectory::Trajectory& a, const trajectory::Trajectory& b);

}  // namespace saltus::control
