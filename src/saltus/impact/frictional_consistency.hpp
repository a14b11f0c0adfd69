// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency.hpp"
#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// The consistent velocity next to u⁺ where contacts have friction, with impulses that lead to it.
struct NearestByFriction {
    NearestConsistent::Status status = NearestConsistent::Status::invalid;
    std::string why;  ///< where nothing was found
    Vector u, Lambda;
    double distance = 0.0;  ///< ‖u⁺ − u‖_M
    double work = 0.0;      ///< of Lambda, no more than is allowed
    double least = 0.0;     ///< the least work of any compatible velocity
    double gap = 0.0;       ///< of the program, relative
};

/// With y the jump in the kinetic metric and Λ in the friction cones, the contact work is ½‖y‖² + a linear form of Λ:
/// what is consistent is convex,
///     min ‖y − y⁺‖   over   y = A Λ,  Λ ∈ K,  γ_N(y) >= 0,  ½‖y‖² + c·Λ <= α,
/// a second-order cone program; its solution is moved towards the compatible velocity of least work by what is left of
/// its error, so that all conditions hold. Without friction it is `nearest_consistent` of the normal part, exact.
NearestByFriction nearest_consistent(const FrictionalCollision& collision, const Allowance& allowance = {});

}  // namespace saltus::impact
