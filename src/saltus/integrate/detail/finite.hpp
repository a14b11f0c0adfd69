// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Sets the status to `failed` if a number of the motion is infinite or not a number: states, events, reactions,
/// energies or violations. The reason names the first one that was found. `infinite`: what is not finite in parts of
/// the motion that it does not contain any more; empty: nothing.
void fail_if_not_finite(trajectory::Trajectory& motion, const std::string& infinite = "");

/// The first event that has a number that is not finite, in words; empty if there is none.
std::string infinite_event(const std::vector<trajectory::Event>& events);

}  // namespace saltus::integrate
