// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// The gradient g of the time T(γ) that slip in a plane needs to come to rest, by the velocity γ of slip, in the form
/// that an Euler step to rest needs: w with w·δγ(t + little) = g·δγ(t), where the derivatives δγ were carried from t to
/// rest in one Euler step of the length `little`. The state x = (q, u, …) at t is next to rest. The directions of slip
/// of the dynamics must be those of this state, and stay. Nothing if slip does not come to rest along a direction that
/// can be followed.
std::optional<integrate::SlipDirection> gradient_of_rest(Tangent& tangent, double t, const std::vector<double>& x,
                                                         double little, int part);

}  // namespace saltus::sensitivity
