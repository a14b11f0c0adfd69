// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// An open gap whose minimum is zero to the accuracy of the motion. Some neighbouring motions strike there, others do
/// not, so the motion has no derivative beyond this time.
struct NearMiss {
    double t = 0.0;    ///< time of the minimum, in s
    std::string text;  ///< explanation; "" if there is no near miss
};

/// The first near miss on an arc. The limit is a gap of 2e-13 relative to the positions; relative_depth_margin is the
/// limit on the other side of zero.
NearMiss near_miss(Tangent& tangent, const integrate::RecordedArc& arc);

/// The impacts that would follow immediately after the last arc of a motion: open contacts that would close within
/// rounding of the end time. Returns ∂t of these impacts, one per row, in the columns of Tangent.
Matrix imminent(Tangent& tangent, const integrate::RecordedArc& arc, const trajectory::Trajectory& motion);

}  // namespace saltus::sensitivity
