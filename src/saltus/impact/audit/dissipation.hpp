// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// The data on which the dissipation of Newton's impact law depends. [Leine] (70)–(76), condition 7.
/// From ξ = γ⁺ + Eγ⁻ and γ⁺ = γ⁻ + DΛ follows γ⁻ = (I + E)⁻¹(ξ − DΛ) and ½(γ⁺ + γ⁻) = (I + E)⁻¹ξ − ½B DΛ with
/// B = (I − E)(I + E)⁻¹. So the contact work is
///     W = Σ ξ·Λ/(1 + e) − ½ ΛᵀD B Λ.
/// The law ξ ∈ N_C(−Λ) with 0 ∈ C gives ξ_N Λ_N = 0 and ξ_T·Λ_T <= 0 for each contact. So W <= 0 if the symmetric part
/// of D B is positive semidefinite.
struct Restitution {
    Matrix delassus;       ///< D of all rows, normal and tangential
    Vector e;              ///< restitution coefficient of each row
    bool friction = true;  ///< some contact has μ > 0
};

/// Which sufficient condition guarantees that no collision creates energy under Newton's law.
struct DissipationTest {
    /// Condition 7a: 2 e_max/(1 + e_max) < 1/cond(D), and all e >= 0. The printed condition also admits e_T < 0, but
    /// its proof needs (1 − e)/(1 + e) <= 1 (docs/papers.md, "Condition 7a needs e ≥ 0").
    bool small_coefficients = false;
    bool small_coefficients_as_printed = false;  ///< 7a without e >= 0
    double left = 0.0, right = 0.0;              ///< left and right side of condition 7a
    double condition = 0.0;                      ///< cond(D); +∞ for linearly dependent rows
    double largest_e = 0.0;                      ///< 1/(2 cond(D) − 1), the bound that 7a sets for e_max
    bool equal_coefficients = false;             ///< condition 7b: all e are equal, 0 <= e <= 1
    bool no_friction = false;                    ///< condition 7c: no friction, 0 <= e <= 1
    /// Smallest eigenvalue of ½(D B + B D), the symmetric part of D B. If it is >= 0, then no Λ of Newton's law does
    /// positive work (above). Condition 7a implies this, but requires far more (docs/papers.md).
    double smallest_eigenvalue = 0.0;
    bool definite = false;  ///< the eigenvalue is >= 0 up to rounding
    bool safe = false;      ///< one of the conditions holds
    std::string sentence;   ///< the result in words
};

/// Tests all conditions for given D and e.
DissipationTest dissipation_test(const Restitution& restitution);

/// D and e of the contacts of a collision; `e` has the coefficients of all rows. Bilateral constraints are eliminated:
/// D is the Delassus matrix of the motion that they leave free.
Restitution restitution_of(const FrictionalCollision& collision, const Vector& e);

/// A collision in which Newton's law creates energy. For given Λ in the friction cones the work is largest if ξ = 0,
/// that is, if all contacts stick and stay closed. Then γ⁺ = −Eγ⁻ and, with T = ½γᵀD⁻¹γ of the motion that contacts
/// change,
///     W/T⁻ = ‖Eγ⁻‖²/‖γ⁻‖² − 1   in the D⁻¹-norm,      Λ = −D⁻¹(I + E)γ⁻ ∈ K,  γ_N⁻ <= 0.
/// A deterministic random search from many starts maximises the quotient.
struct EnergyCreation {
    bool found = false;
    std::string why;                         ///< the reason if no search was made; empty if one found nothing
    Vector u_minus, u_plus, Lambda;          ///< the collision; Lambda has one number per row
    double work = 0.0, energy_before = 0.0;  ///< W and T⁻ in J; u⁻ is scaled so that T⁻ = 1
};

/// Searches for a collision that creates energy. `e` has the restitution coefficient of each row.
EnergyCreation find_energy_creation(const FrictionalCollision& collision, const Vector& e);

}  // namespace saltus::impact
