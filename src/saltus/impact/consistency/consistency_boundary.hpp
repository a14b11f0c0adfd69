// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency/consistency.hpp"
#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// The inequality that holds with equality on a piece of the boundary of the consistency set.
enum class Bound {
    contact,  ///< γ = 0 of contact `index`
    impulse,  ///< only contact `index` has an impulse: an edge of z⁻ − T^⊥
    ball,     ///< the contact work against corner point `index` of `consistency_balls` equals α
};

/// A segment or an arc of an ellipse from one vertex to the next, counter-clockwise:
///     u(s) = from + s (to − from)      or      u(s) = centre + cos φ·first + sin φ·second,  φ = φ₀ + s (φ₁ − φ₀).
struct BoundaryPiece {
    Bound bound = Bound::contact;
    int index = -1;
    Vector from, to;
    bool arc = false;
    Vector centre, first, second;         ///< an arc: centre and M-orthogonal axes, with the radius as M-length
    double phi_from = 0.0, phi_to = 0.0;  ///< angles at which an arc begins and ends, in rad

    Vector at(double s) const;  ///< u(s), 0 <= s <= 1
};

/// The consistency set exactly, if contact impulses act in at most two directions.
struct ConsistencyBoundary {
    enum class Status {
        described,
        empty,
        other_dimension,  ///< contact impulses act in more directions, or the friction cones are round
        too_large,        ///< too many corner points
        invalid           ///< the collision has no kinetic frame
    };
    Status status = Status::invalid;
    std::string why;                    ///< the reason if it is not described
    int dimension = 0;                  ///< dimension of the set: 2, 1 for a segment, 0 for a point
    std::vector<BoundaryPiece> pieces;  ///< counter-clockwise
    std::vector<Vector> vertices;       ///< where pieces meet, in their order
    double area = 0.0;                  ///< if n = 2; in closed form, by Green's theorem
};

/// The boundary of the consistency set of a collision without friction.
ConsistencyBoundary consistency_boundary(const FrictionlessCollision& collision, const Allowance& allowance = {});

/// The same with planar friction. The balls are around the corner points of { b : γ_N(b) >= μ|γ_T(b)| }. Contacts are
/// numbered without the other blocks of the collision.
ConsistencyBoundary consistency_boundary(const FrictionalCollision& collision, const Allowance& allowance = {});
Balls consistency_balls(const FrictionalCollision& collision, const Allowance& allowance = {});

}  // namespace saltus::impact
