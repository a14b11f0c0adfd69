// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

namespace saltus::sensitivity {

/// The linearisation of the reset x⁺ = R(t, x⁻, p) of a mode change at a fixed time. R contains the impacts of the
/// change one after the other, then the loss of the velocities that do not last (see Arrest). q is continuous.
struct Reset {
    bool exists = true;
    std::string why_not;  ///< if the derivative does not exist
    Matrix map;           ///< (R_t, R_q, R_u, R_p), 2n × columns of Tangent
    std::vector<Condition> conditions;
};

/// When a reset removes velocity variations that closed contacts and sticking friction do not let last.
enum class Arrest {
    if_needed,  ///< after impacts, and where slip in a plane comes to rest: there δt does not determine what is left
    always      ///< at every change
};

/// Linearises the reset of a change. Leaves the tangent in the mode after the change.
Reset reset(Tangent& tangent, const integrate::RecordedChange& change, Arrest arrest = Arrest::if_needed);

/// A derivative with its rounding residue removed: entries of `sum` that are below 1e-12 of the sum of the magnitudes
/// of their terms (`terms`) are set to zero.
Eigen::RowVectorXd without_rounding(const Eigen::RowVectorXd& sum, const Eigen::RowVectorXd& terms);

}  // namespace saltus::sensitivity
