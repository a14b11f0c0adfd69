// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Defects of a trajectory of event-driven or penalty integration. Each number is the largest one found; all are
/// relative.
struct Validation {
    double position_jump = 0.0;  ///< jump of q between arcs, relative to 1 + |q|
    double velocity_jump = 0.0;  ///< jump of u without an event, relative to max(1, |u|)
    double momentum = 0.0;       ///< |M(u⁺ − u⁻) − WΛ| at impacts, relative to the largest momentum
    double gap = 0.0;            ///< penetration of rigid contacts, relative to the size of the row
    double constraint = 0.0;     ///< |g|, relative to the size of the row
    /// Largest gap of a closed contact and |γ_T| of a sticking one, relative to the sizes of the rows.
    double complementarity = 0.0;
    std::vector<std::string> complaints;  ///< one for each defect above the tolerance, with time and size
    bool ok() const { return complaints.empty(); }
};

/// Checks a trajectory at all joints, at all impacts, and at `samples` times on each step.
Validation validate(const trajectory::Trajectory& trajectory, const model::Mechanics& model, double tolerance = 1e-8,
                    int samples = 3);

}  // namespace saltus::integrate
