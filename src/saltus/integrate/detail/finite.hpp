// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Sets the status to `failed` if a number of the motion is infinite or not a number: states, events, reactions,
/// energies or violations. The reason names the first one that was found.
void fail_if_not_finite(trajectory::Trajectory& motion);

}  // namespace saltus::integrate
