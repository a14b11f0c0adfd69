// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// A gap that turns round just before it would close. Motions beside it strike or do not.
struct NearMiss {
    double t = 0.0;
    std::string text;  ///< "": there is none
};

/// The first one on an arc whose distance is rounding: below 1e-14 of the positions, what the margin of transversality
/// is on the other side of zero.
NearMiss near_miss(Tangent& tangent, const integrate::RecordedArc& arc);

/// Open contacts that are as good as closed at the end of an arc, the last of its motion: ∂δt of the impacts that would
/// come, one a row in the columns of Tangent.
Matrix imminent(Tangent& tangent, const integrate::RecordedArc& arc, const trajectory::Trajectory& motion);

}  // namespace saltus::sensitivity
