// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// Cuts the arcs of a recorded motion at the times at which an expression jumps or has a kink (`if`, `sign`, `abs`,
/// `min`, `max`), and inserts a mode change there. The simulation does not locate these times; it only takes short
/// steps around them. If the motion follows a jump (slides along it) then there are no derivatives: returns the reason.
/// Otherwise returns "".
std::string cut_at_jumps(const model::Mechanics& model, const std::vector<Variable>& variables,
                         integrate::Recording& recording);

}  // namespace saltus::sensitivity
