// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

#include "saltus/impact/frictionless.hpp"

namespace saltus::impact {

/// Coordinates in which the theory of [Glocker] is Euclidean. The origin is z⁻ = u⁻ + M⁻¹P, the velocity after the
/// external impulse alone, and the axes span the directions in which contact impulses act.
///
/// Let M = L Lᵀ and x = Lᵀu, so that ‖x‖² = ‖u‖²_M. If z⁻ violates a bilateral constraint, it is first projected onto
/// it. Q is an orthonormal basis of the span of the vectors L⁻¹w_i, made orthogonal to the bilateral directions. Then
///     u = L⁻ᵀ(origin + Q y),      γ_i = s_i (n_iᵀy + d_i),      y⁺ = Σ n_i (s_i Λ_i)
/// with unit vectors n_i. Directions outside the span do not matter: γ is constant along them, and M(u⁺ − z⁻) vanishes
/// on them for every u⁺ that contact impulses can reach.
///
/// The contact work of u⁺ against a point b ∈ P⁺ with coordinates η is ([Glocker] 6, with b + M⁻¹P/2 for b if P ≠ 0)
///     ½‖u⁺ − b‖²_M − ½‖z⁻ − b‖²_M = ½‖y‖² − (η + ϖ)·y + w₀,     ϖ = ½Qᵀ(L⁻¹P),
/// where w₀ = 0 if z⁻ fulfils the bilateral constraints.
struct KineticFrame {
    bool valid = false;  ///< M is positive definite and all numbers are finite
    std::string why;     ///< the reason if it is not valid

    Matrix cholesky;           ///< L
    Matrix basis;              ///< Q, n × rank
    Vector origin;             ///< Lᵀz⁻, projected onto the bilateral constraints
    Vector z;                  ///< Lᵀz⁻
    Vector pi;                 ///< L⁻¹P
    Matrix bilateral;          ///< orthonormal basis of the bilateral directions L⁻¹w_i
    Matrix normals;            ///< n_i, rank × contacts; a zero column if the bilateral constraints hold the contact
    Vector scale;              ///< s_i > 0
    Vector distance;           ///< d_i
    Vector half_impulse;       ///< ϖ
    double work_offset = 0.0;  ///< w₀
    double noise = 0.0;        ///< bound of the rounding errors of a length in this frame

    Eigen::Index rank() const { return basis.cols(); }
    Vector coordinates(const Vector& u) const;     ///< y of the part of u that contacts can change
    Vector velocity(const Vector& y) const;        ///< u of y; its other components are those of z⁻
    Vector representative(const Vector& y) const;  ///< the u of least ‖u‖_M with these coordinates
    double norm(const Vector& u) const;            ///< ‖u‖_M
};

/// Unit vectors count as linearly dependent if the orthogonal remainder of one of them is <= this length.
inline constexpr double dependence_tolerance = 1e-10;

/// γ_i = w_i·u + χ_i counts as zero if |γ_i| <= this times the sum of its absolute terms: the rounding error of a dot
/// product of moderate length. Contacts that meet in a corner must meet there exactly.
inline constexpr double cancellation = 32.0 * std::numeric_limits<double>::epsilon();

/// Orthonormal basis of the span of the columns. The columns are scaled to unit length and compared by
/// `dependence_tolerance`.
Matrix orthonormal_span(Matrix columns);

/// The frame of a collision. u⁺ is not read.
KineticFrame kinetic_frame(const FrictionlessCollision& collision);

}  // namespace saltus::impact
