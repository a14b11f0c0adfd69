// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/sensitivity/detail/tangent.hpp"

namespace saltus::sensitivity {

/// Something that must not change along a direction, or there is no derivative along it.
struct Condition {
    Eigen::RowVectorXd change;
    std::string otherwise;  ///< why there is none
};

/// How velocities after an impact follow t, q, the velocities before it and the parameters.
struct ImpactDerivative {
    bool exists = true;
    std::string why_not;
    Matrix velocity;  ///< δu⁺, n × columns; `u` in the columns is u⁻
    std::vector<Condition> conditions;
};

/// Differentiates the equations that an impact fulfils in the mode in which it was solved:
///     M(u⁺ − u⁻) = WΛ;  γ_N⁺ + e γ_N⁻ = 0 where Λ_N > 0, otherwise Λ_N = 0;
///     γ_T⁺ + e_T γ_T⁻ = 0 where friction sticks, Λ_T = −Λ_N ∇σ(γ_T⁺ + e_T γ_T⁻) where it slips
/// — once for Newton's law, twice for Poisson's, and along the impulse of the inelastic collision for the energy law.
/// The tangent's mode is that before the impact.
ImpactDerivative differentiate(Tangent& tangent, double t, const double* q, const integrate::RecordedImpact& impact);

/// Velocities u brought to rest in all equations of the tangent's mode by impulses along its forces, at (t, q): δ of
/// the result, from those before (n × columns). Where u is at rest already, this takes away what is not tangent.
Matrix differentiate_arrest(Tangent& tangent, double t, const double* q, const Vector& u, const Matrix& before);

/// Closed contacts of the tangent's mode that no force holds, now or soon: λ and λ̇ are nothing. Whatever changes there
/// opens them, or not. The linearised equations are those of the state afterwards, where there is any.
std::vector<int> idle_contacts(Tangent& tangent, double t, const double* x);
std::string idle_text(const Tangent& tangent, int element);

}  // namespace saltus::sensitivity
