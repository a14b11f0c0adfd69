// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// What Newton's impact law with friction promises before any collision: the contact work of ξ = γ⁺ + Eγ⁻ ∈ N_C(−Λ) is
///     W = Σ ξ·Λ/(1 + e) − ½ ΛᵀD B Λ <= −½ ΛᵀD B Λ,      B = (I − E)(I + E)⁻¹,
/// so that it is not positive if D B is positive semidefinite. [Leine] (70)–(76), condition 7
struct Restitution {
    Matrix delassus;       ///< D, all rows, normal and tangential
    Vector e;              ///< restitution coefficient of each row
    bool friction = true;  ///< some contact has μ > 0
};

struct DissipationTest {
    /// Condition 7a: 2 e_max/(1 + e_max) < 1/cond(D). As printed it also admits e_T < 0, where it proves nothing (the
    /// proof needs (1 − e)/(1 + e) <= 1): all e >= 0 is asked here.
    bool small_coefficients = false;
    bool small_coefficients_as_printed = false;
    double left = 0.0, right = 0.0;   ///< of 7a
    double condition = 0.0;           ///< cond(D); +∞ for dependent rows
    double largest_e = 0.0;           ///< 1/(2 cond(D) − 1): what 7a allows
    bool equal_coefficients = false;  ///< condition 7b: all e equal, 0 <= e <= 1
    bool no_friction = false;         ///< condition 7c, for contacts that approach, 0 <= e <= 1
    /// Smallest eigenvalue of ½(D B + B D), which decides what 7a only bounds: not negative means that no Λ of Newton's
    /// law does positive work.
    double smallest_eigenvalue = 0.0;
    bool definite = false;
    bool safe = false;  ///< by one of them
    std::string sentence;
};

DissipationTest dissipation_test(const Restitution& restitution);

/// Of the contacts of a collision, given the coefficients of all rows: D less what bilateral rows hold.
Restitution restitution_of(const FrictionalCollision& collision, const Vector& e);

/// A collision in which Newton's law creates energy. For given Λ in the friction cones the work is largest where ξ = 0,
/// all contacts sticking and closed: then γ⁺ = −Eγ⁻ and, with T = ½γᵀD⁻¹γ of what the contacts can change,
///     W/T⁻ = ‖Eγ⁻‖²/‖γ⁻‖² − 1   in the norm of D⁻¹,      Λ = −D⁻¹(I + E)γ⁻ in the cones,  γ_N⁻ <= 0.
/// The quotient is made as large as a deterministic search from many starts gets it.
struct EnergyCreation {
    bool found = false;
    std::string why;  ///< nothing was looked for
    Vector u_minus, u_plus, Lambda;
    double work = 0.0, energy_before = 0.0;  ///< W, T⁻; u⁻ has unit T⁻
};

EnergyCreation find_energy_creation(const FrictionalCollision& collision, const Vector& e);

}  // namespace saltus::impact
