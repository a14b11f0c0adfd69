// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::orbit {

/// The states at which a motion passes a section s(q, u) = 0 upwards (a Poincaré section), in the order of time. Jumps
/// of the velocity over the section are no passages. `expression` is s; arcs may be a part of a motion.
std::vector<trajectory::State> section_points(const model::Model& model, const std::string& expression,
                                              const std::vector<trajectory::Arc>& arcs);

}  // namespace saltus::orbit
