// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

namespace saltus::sensitivity {

/// The linearisation of the reset x⁺ = R(t, x⁻, p) of a mode change at a fixed time. R contains the impacts of the
/// change one after the other, then the removal of velocities in closed contacts (see Arrest). q is continuous, except
/// at a jump of the model.
struct Reset {
    bool exists = true;
    std::string why_not;                ///< why the derivative does not exist; else empty
    Matrix map;                         ///< (R_t, R_q, R_u, R_p), 2n × columns of Tangent
    Matrix before_arrest;               ///< for a jump of the model: the map without the removal of velocities
    std::vector<Condition> conditions;  ///< linear conditions on the variation, under which the derivative holds
};

/// A variation of the motion can leave a velocity in a closed contact or in sticking friction. The contact force stops
/// it within a time proportional to it, so that positions do not change to first order, and the reset removes it
/// ("Arrest" in reset.cpp). This says at which changes of mode the reset does so.
enum class Arrest {
    /// After impacts, and if slip in a plane comes to rest. At other changes the variation δt of the event time removes
    /// it: the velocity that comes to zero is the event function. Slip in a plane has two components, and δt removes
    /// only the one along the direction of slip.
    if_needed,
    always,  ///< at every change
    never,   ///< the caller does it
};

/// Linearises the reset of a change. Leaves the tangent in the mode after the change. `memory` serves for `map`.
Reset reset(Tangent& tangent, const integrate::RecordedChange& change, Arrest arrest = Arrest::if_needed,
            Matrix memory = {});

/// A derivative with its rounding residue removed: entries of `sum` that are below 1e-12 of the sum of the magnitudes
/// of their terms (`terms`) are set to zero.
Eigen::RowVectorXd without_rounding(const Eigen::RowVectorXd& sum, const Eigen::RowVectorXd& terms);

}  // namespace saltus::sensitivity
