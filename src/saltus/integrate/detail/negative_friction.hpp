// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <string>

#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

/// Friction coefficients above minus this, and normal forces above minus this times 1 + (largest force), are not
/// negative but rounded. Too small: formulas that touch zero make runs fail. Too large: friction supplies energy.
inline constexpr double negligible_friction = 1e-12;

/// What is negative although it must not be: a friction coefficient, or the normal force FN of a slider, given the
/// coefficients at a state. Both may depend on time, positions and velocities, so that building a model can examine
/// them at the start only. Friction would push along its slip and supply energy. Negative numbers within rounding do
/// not count: mu >= −negligible_friction, FN >= −negligible_friction · (1 + force_scale). `touches` says which contacts
/// are closed; the others have no friction. Empty if nothing is negative.
std::string negative_friction(const model::Mechanics& model, std::span<const double> coefficients, double force_scale,
                              const std::function<bool(std::size_t)>& touches);

}  // namespace saltus::integrate
