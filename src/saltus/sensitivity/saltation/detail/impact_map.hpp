// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// A quantity that must not change to first order. If change·δ ≠ 0 then there is no derivative along δ.
struct Condition {
    Eigen::RowVectorXd change;  ///< derivative of the quantity, in the columns of Tangent
    std::string otherwise;      ///< why there is no derivative, as a text for the user
};

/// The derivative of u⁺ = R(t, q, u⁻, p) of one impact.
struct ImpactDerivative {
    bool exists = true;
    std::string why_not;  ///< if it does not exist
    Matrix velocity;      ///< ∂u⁺, n × columns of Tangent; the columns of u belong to u⁻
    std::vector<Condition> conditions;
};

/// Differentiates the equations that a recorded impact fulfils, with its contact modes (closing, sticking, slipping)
/// held fixed:
///     M(u⁺ − u⁻) = WΛ;   γ_N⁺ + e_N γ_N⁻ = 0 if Λ_N > 0, otherwise Λ_N = 0;
///     γ_T⁺ + e_T γ_T⁻ = 0 if friction sticks, Λ_T = −Λ_N ∇σ(γ_T⁺ + e_T γ_T⁻) if it slips.
/// Newton's law solves them once, Poisson's law twice (compression and expansion). The energy law takes the direction
/// of the inelastic collision. The tangent must be in the mode before the impact; q points to the n coordinates.
ImpactDerivative differentiate(Tangent& tangent, double t, const double* q, const integrate::RecordedImpact& impact);

/// Differentiates the projection of a velocity u onto all equations of the tangent's mode at (t, q). The projection
/// uses impulses along the force directions F of the mode, M(u⁺ − u) = FΛ. `before` is ∂u, n × columns; the result is
/// ∂u⁺. If u fulfils the equations already then the result is the part of `before` that keeps them fulfilled.
Matrix differentiate_arrest(Tangent& tangent, double t, const double* q, const Vector& u, const Matrix& before);

/// Closed contacts of the tangent's mode without a contact force, now and soon: λ = 0 and λ̇ = 0 to rounding. Any
/// variation of their velocity or force decides whether they open. If the result is not empty then the tangent's
/// linearised equations are those of this state afterwards.
std::vector<int> idle_contacts(Tangent& tangent, double t, const double* x);
/// The text of a refusal because of an idle contact.
std::string idle_text(const Tangent& tangent, int element);

}  // namespace saltus::sensitivity
