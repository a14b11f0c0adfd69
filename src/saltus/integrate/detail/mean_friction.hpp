// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Adds the mean friction forces of sliders (model::MeanFriction) to `reactions`, which have one entry for each element
/// of the model. `coefficients` are those of the model at the same state.
void add_mean_friction(const model::Mechanics& model, std::span<const double> coefficients,
                       std::vector<trajectory::Reaction>& reactions);

}  // namespace saltus::integrate
