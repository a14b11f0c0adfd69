// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// The derivative of the time that slip in a plane needs to come to rest, in the form that an Euler step to rest needs.
/// Let g be the gradient of this time T(γ) by the velocity γ of slip, at the time t and the state x = (q, u, …) next to
/// rest. The derivatives δz were carried from t to rest in one Euler step of the length `little`. The result gives
///     gradient·δγ(t + little) + others·δz(t + little) = g·δγ(t).
/// The directions of slip of the dynamics must be those of this state, and stay. Nothing if slip does not come to rest
/// along a direction that can be followed.
std::optional<Tangent::EventMemory::Rest> gradient_of_rest(Tangent& tangent, double t, const std::vector<double>& x,
                                                           double little, int part);

}  // namespace saltus::sensitivity
