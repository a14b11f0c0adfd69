// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency/consistency.hpp"
#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// What a piece of the boundary of the consistency set lies on.
enum class Bound {
    contact,  ///< γ = 0 of contact `index`
    impulse,  ///< only contact `index` acts: an edge of z⁻ − T^⊥
    ball,     ///< the work allowed is used up, against corner point `index` of `consistency_balls`
};

/// A segment or an arc of an ellipse from one vertex to the next, counter-clockwise:
///     u(s) = from + s (to − from)      or      u(s) = centre + cos φ·first + sin φ·second,  φ = φ₀ + s (φ₁ − φ₀).
struct BoundaryPiece {
    Bound bound = Bound::contact;
    int index = -1;
    Vector from, to;
    bool arc = false;
    Vector centre, first, second;  ///< of an arc; `first` and `second` are M-orthogonal and of its radius's M-length
    double phi_from = 0.0, phi_to = 0.0;

    Vector at(double s) const;
};

/// The consistency set exactly, where the velocities that contacts can change are one or two.
struct ConsistencyBoundary {
    enum class Status { described, empty, other_dimension, too_large, invalid };
    Status status = Status::invalid;
    std::string why;
    int dimension = 0;  ///< of the set: 2, or 1 for a segment, 0 for a point
    std::vector<BoundaryPiece> pieces;
    std::vector<Vector> vertices;  ///< where pieces meet, in their order
    double area = 0.0;             ///< for two velocities; in closed form, by Green's theorem
};

ConsistencyBoundary consistency_boundary(const FrictionlessCollision& collision, const Allowance& allowance = {});

/// The same with planar friction. Balls are around the corner points of { b : γ_N(b) >= μ|γ_T(b)| }; contacts are
/// counted without what is none.
ConsistencyBoundary consistency_boundary(const FrictionalCollision& collision, const Allowance& allowance = {});
Balls consistency_balls(const FrictionalCollision& collision, const Allowance& allowance = {});

}  // namespace saltus::impact
