// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// The gradient g of the time T(γ) that slip in a plane needs to come to rest, by the velocity γ of slip, at the time t
/// and the state x = (q, u, …) next to rest, where nothing but the direction of slip matters. The directions of slip of
/// the dynamics must be those of this state, and stay. Nothing if slip does not come to rest along a direction that can
/// be followed.
std::optional<Tangent::EventMemory::Rest> gradient_of_rest(Tangent& tangent, double t, const std::vector<double>& x,
                                                           int part);

}  // namespace saltus::sensitivity
