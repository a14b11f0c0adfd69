// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency/velocity_polyhedron.hpp"
#include "saltus/impact/frictionless.hpp"

namespace saltus::impact {

/// How much work the contacts may do.
struct Allowance {
    double alpha = 0.0;
    bool external_work = false;  ///< alpha + ½(u⁺ + u⁻)ᵀP in the place of alpha
};

/// The consistency set [Glocker] 8
///     I = P⁺ ∩ (z⁻ − T^⊥) ∩ W_α,     W_α = ⋂ over corner points b of { u : ‖u − b‖²_M <= 2α + ‖z⁻ − b‖²_M },
/// with z⁻ = u⁻ + M⁻¹P, and b + M⁻¹P/2 in the place of b.
struct Ball {
    Vector centre;
    double radius_squared = 0.0;  ///< in the M-norm; negative: no u at all
    std::vector<int> contacts;    ///< with γ = 0 in the corner point
};

struct Balls {
    VelocityPolyhedron::Status status = VelocityPolyhedron::Status::invalid;
    std::string why;
    std::vector<Ball> balls;
    bool empty() const;  ///< some ball is: no u⁺ does so little work
};

Balls consistency_balls(const FrictionlessCollision& collision, const Allowance& allowance = {});

/// The consistent velocity next to u⁺.
struct NearestConsistent {
    enum class Status { found, empty, stalled, invalid };
    Status status = Status::invalid;
    std::string why;        ///< where nothing was found
    Vector u;               ///< the nearest point of I
    double distance = 0.0;  ///< ‖u⁺ − u‖_M
    /// Residual of u⁺ − u ∈ N_I(u) over the distance, and what u violates over the size of the collision: a check by
    /// nonnegative least squares over the normals at u. Large for a set without interior, where normals do not add up.
    double optimality = 0.0, violation = 0.0;
    int corner_points = 0;  ///< that had a say
};

/// By projections in the kinetic frame with the balls and edges that linear programs show to matter: no corner points
/// are listed, any number of contacts will do.
NearestConsistent nearest_consistent(const FrictionlessCollision& collision, const Allowance& allowance = {},
                                     double tolerance = 1e-12);

/// The compatible velocity of least contact work: I is empty for every alpha below that work.
struct LeastWork {
    NearestConsistent::Status status = NearestConsistent::Status::invalid;
    std::string why;
    Vector u;
    double work = 0.0;  ///< less the external work, where that is allowed for
};

LeastWork least_contact_work(const FrictionlessCollision& collision, bool external_work = false,
                             double tolerance = 1e-12);

}  // namespace saltus::impact
