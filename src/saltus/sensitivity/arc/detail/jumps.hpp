// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// Cuts the arcs of a motion where an expression jumps or has a kink (`if`, `sign`, `abs`, `min`, `max`) and puts a
/// change there. The motion does not look for them: where it feels them its steps become short. Returns why there are
/// no derivatives, where the motion keeps to a jump; otherwise nothing.
std::string cut_at_jumps(const model::Model& model, const std::vector<Variable>& variables,
                         integrate::Recording& recording);

}  // namespace saltus::sensitivity
