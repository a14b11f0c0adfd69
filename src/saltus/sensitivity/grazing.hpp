// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/sensitivity/tangent.hpp"

namespace saltus::sensitivity {

/// A gap that turns round just before it would close. Motions beside it strike or do not.
struct NearMiss {
    double t = 0.0;
    std::string text;  ///< "": there is none
};

/// The first one on an arc whose distance is rounding: below 1e-14 of the positions, what the margin of transversality
/// is on the other side of zero.
NearMiss near_miss(Tangent& tangent, const integrate::RecordedArc& arc);

}  // namespace saltus::sensitivity
