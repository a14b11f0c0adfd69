// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// What a trajectory of event-driven or penalty integration must fulfil, each with the largest defect found.
struct Validation {
    double position_jump = 0.0;    ///< of q between arcs
    double velocity_jump = 0.0;    ///< of u where no event says so
    double momentum = 0.0;         ///< |M(u⁺ − u⁻) − WΛ| at events, of the largest momentum
    double gap = 0.0;              ///< penetration of rigid contacts, at the samples
    double constraint = 0.0;       ///< |g|
    double complementarity = 0.0;  ///< force of an open contact, velocity of a closed one, |γ_T| of a sticking one
    std::vector<std::string> complaints;  ///< one for each defect above its tolerance, with time and size
    bool ok() const { return complaints.empty(); }
};

/// `samples` times on each step.
Validation validate(const trajectory::Trajectory& trajectory, const model::Model& model, double tolerance = 1e-8,
                    int samples = 3);

}  // namespace saltus::integrate
