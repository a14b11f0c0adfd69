// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency/velocity_polyhedron.hpp"
#include "saltus/impact/frictionless.hpp"

namespace saltus::impact {

// The consistency set of a collision, [Glocker] 8:
//     I = P⁺ ∩ (z⁻ − T^⊥) ∩ W_α,     W_α = ⋂ over corner points b of P⁺ of { u : ‖u − b‖²_M <= 2α + ‖z⁻ − b‖²_M },
// with z⁻ = u⁻ + M⁻¹P, and b + M⁻¹P/2 in the place of b if there is an external impulse P. P⁺ holds the velocities that
// do not penetrate, z⁻ − T^⊥ those that contact impulses Λ >= 0 can produce, W_α those whose least contact work is <=
// α.

/// The contact work that is allowed.
struct Allowance {
    double alpha = 0.0;  ///< α, a work in J
    /// true: contact work up to α + ½(u⁺ + u⁻)ᵀP is allowed, that is, α plus the work of the external impulse P. This
    /// is one reading of "α = W_p", which [Glocker] does not define (docs/papers.md). false: up to α alone; α = 0 then
    /// means that the contacts supply no energy.
    bool external_work = false;
};

/// A ball of W_α, in the M-norm.
struct Ball {
    Vector centre;
    double radius_squared = 0.0;  ///< negative if α is so small that no velocity does so little work
    std::vector<int> contacts;    ///< contacts with γ = 0 at the corner point
};

struct Balls {
    VelocityPolyhedron::Status status = VelocityPolyhedron::Status::invalid;  ///< status of the description of P⁺
    std::string why;                                                          ///< the reason if it is not described
    std::vector<Ball> balls;                                                  ///< one per corner point
    bool empty() const;  ///< whether some ball is empty, and with it W_α
};

/// All balls of W_α. The number of corner points limits it (VelocityPolyhedron::Status::too_large).
Balls consistency_balls(const FrictionlessCollision& collision, const Allowance& allowance = {});

/// The consistent velocity that is nearest to u⁺ in the M-norm: the projection of u⁺ onto I.
struct NearestConsistent {
    enum class Status {
        found,
        empty,    ///< I is empty
        stalled,  ///< a program was not solved, or too many corner points matter
        invalid   ///< the collision has no kinetic frame
    };
    Status status = Status::invalid;
    std::string why;        ///< the reason if nothing was found
    Vector u;               ///< the nearest point of I
    double distance = 0.0;  ///< ‖u⁺ − u‖_M
    /// Independent check of the solution. `optimality` is the distance of u⁺ − u from the cone of the normals of I at
    /// u, relative to ‖u⁺ − u‖. `violation` is the largest violated inequality, relative to the size of the collision.
    /// `optimality` is large if I has no interior, because then the normals do not generate the normal cone.
    double optimality = 0.0, violation = 0.0;
    int corner_points = 0;  ///< number of corner points whose balls were needed
};

/// Default tolerance of the projections below, relative to the velocities of the collision.
inline constexpr double projection_tolerance = 1e-12;

/// Projects in the kinetic frame. Balls and edges of the cone are added one by one, as linear programs find them
/// violated (cutting planes). No corner points are listed, so the number of contacts is not limited. `tolerance` is
/// relative to the velocities of the collision.
NearestConsistent nearest_consistent(const FrictionlessCollision& collision, const Allowance& allowance = {},
                                     double tolerance = projection_tolerance);

/// The velocity of P⁺ ∩ (z⁻ − T^⊥) with the least contact work. I is empty for every α below that work.
struct LeastWork {
    NearestConsistent::Status status = NearestConsistent::Status::invalid;
    std::string why;  ///< the reason if nothing was found
    Vector u;         ///< the velocity
    /// Contact work of u, minus the external work if that is allowed; −∞ if there is no least value.
    double work = 0.0;
};

/// By the same cutting planes. `external_work` as in Allowance.
LeastWork least_contact_work(const FrictionlessCollision& collision, bool external_work = false,
                             double tolerance = projection_tolerance);

}  // namespace saltus::impact
