// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency/consistency.hpp"
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
/// By the projections of the theory without friction, with impulses along the edges of the cones. Planar cones have
/// two, and the answer is exact to rounding. Others are met by polygons inside them, with edges in the directions that
/// a second-order cone program finds, and more where the impulses of the answer lie between two.
NearestByFriction nearest_consistent(const FrictionalCollision& collision, const Allowance& allowance = {});

}  // namespace saltus::impact
