// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency/consistency.hpp"
#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// The consistent velocity nearest to u⁺ for contacts with friction, with impulses that lead to it.
struct NearestByFriction {
    NearestConsistent::Status status = NearestConsistent::Status::invalid;
    std::string why;        ///< the reason if nothing was found
    Vector u, Lambda;       ///< the velocity, and impulses in the friction cones that lead to it
    double distance = 0.0;  ///< ‖u⁺ − u‖_M
    double work = 0.0;      ///< contact work of Lambda, at most what is allowed
    double least = 0.0;     ///< the least contact work of any compatible velocity
    double gap = 0.0;       ///< duality gap of the work program, relative
};

/// With y the jump in the kinetic metric and Λ in the friction cones K, the contact work is ½‖y‖² plus a linear form of
/// Λ. So the set of consistent velocities is convex, and the problem is
///     min ‖y − y⁺‖   over   y = A Λ,  Λ ∈ K,  γ_N(y) >= 0,  ½‖y‖² + c·Λ <= α.
/// It is solved by the projections of the frictionless theory, with impulses along the edges of the cones. A planar
/// cone has two edges, and the answer is exact up to rounding. A round cone is replaced by a polyhedral cone inside it.
/// Its edges lie in the directions that a second-order cone program finds; edges are added as long as the answer
/// improves.
NearestByFriction nearest_consistent(const FrictionalCollision& collision, const Allowance& allowance = {});

}  // namespace saltus::impact
