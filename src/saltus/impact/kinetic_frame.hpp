// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/frictionless.hpp"

namespace saltus::impact {

/// Velocities measured in the kinetic metric, from the velocity that there would be without contacts, in the directions
/// in which contacts can act: everything about a collision that does not depend on the frame of the observer.
///
/// With M = L Lᵀ, x = Lᵀu has ‖x‖² = ‖u‖²_M. z⁻ = u⁻ + M⁻¹P, moved onto the bilateral constraints where it misses them,
/// is the origin; Q has an orthonormal basis of the span of L⁻¹w_i (less what the bilateral constraints hold), so that
///     u = origin + L⁻ᵀQ y,      γ_i = s_i (n_iᵀy + d_i),      y⁺ = Σ n_i (s_i Λ_i)
/// with unit vectors n_i. What is lost are directions in which no contact impulse acts: γ is constant along them, and
/// M(u⁺ − z⁻) vanishes on them. The contact work of u⁺ against a point b ∈ P⁺ with coordinates η is [Glocker] 6
///     ½‖u⁺ − b‖²_M − ½‖z⁻ − b‖²_M = ½‖y‖² − (η + ϖ)·y + w₀        (with P: b + M⁻¹P/2 in the place of b)
/// where ϖ = ½Qᵀ(L⁻¹P), and w₀ = 0 unless z⁻ misses a bilateral constraint.
struct KineticFrame {
    bool valid = false;  ///< M is positive definite and all numbers are finite
    std::string why;     ///< it is not

    Matrix cholesky;           ///< L
    Matrix basis;              ///< Q, n × rank
    Vector origin;             ///< Lᵀ(z⁻ on the bilateral constraints)
    Vector z;                  ///< Lᵀz⁻
    Vector pi;                 ///< L⁻¹P
    Matrix bilateral;          ///< orthonormal basis of the bilateral directions
    Matrix normals;            ///< rank × contacts, n_i; a zero column where the contact feels no impulse
    Vector scale;              ///< s_i
    Vector distance;           ///< d_i
    Vector half_impulse;       ///< ϖ
    double work_offset = 0.0;  ///< w₀
    double noise = 0.0;        ///< what rounding may do to a length in this frame

    Eigen::Index rank() const { return basis.cols(); }
    Vector coordinates(const Vector& u) const;     ///< y of the part of u that contacts can change
    Vector velocity(const Vector& y) const;        ///< u of y, that moves like z⁻ otherwise
    Vector representative(const Vector& y) const;  ///< the u of least ‖u‖_M with these coordinates
    double norm(const Vector& u) const;            ///< ‖u‖_M
};

/// Orthonormal basis of the columns' span; columns are taken with length 1 and count as dependent within 1e-10.
Matrix orthonormal_span(Matrix columns);

KineticFrame kinetic_frame(const FrictionlessCollision& collision);

}  // namespace saltus::impact
