// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "saltus/impact/collision.hpp"
#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// Default relative tolerance of the audits below.
inline constexpr double audit_tolerance = 1e-9;

/// An impact whose impulses Λ were computed by an impact law. The memory belongs to the caller.
struct DecidedImpact {
    std::span<const double> gamma_minus, gamma_plus, chi, Lambda;  ///< one per row
    std::span<const int> start;                                    ///< first row of each block, and the number of rows
    std::span<const solvers::Law> laws;                            ///< one per block
};

/// Energy balance of an impact: T⁺ − T⁻ = work + obstacle_work.
/// From M(u⁺ − u⁻) = WΛ follows T⁺ − T⁻ = ½(u⁺ + u⁻)ᵀWΛ = ½(γ⁺ + γ⁻)ᵀΛ − χᵀΛ, because γ = Wᵀu + χ. [Glocker] 5
struct DecidedWork {
    double work = 0.0;           ///< contact work Σ ½(γ⁺ + γ⁻)·Λ
    double tangential = 0.0;     ///< the part of the tangential rows
    double obstacle_work = 0.0;  ///< −Σ χΛ: work of the moving obstacles on the system
    double noise = 0.0;          ///< bound of the error of `work` by rounding and by the tolerance
    int block = -1;              ///< block with the largest work if work > noise; otherwise −1

    bool supplies_energy() const { return !(work <= noise); }  ///< also true if the work is NaN
};

/// Audits one impact of a simulation. It is O(rows) arithmetic, without programs and without allocation. The noise is
/// `tolerance` times Σ|terms of the work|, plus a thousandth of it times the largest row velocity times Σ|Λ|: a row
/// that sticks or stays closed has a velocity error of the size of the contact solver's residual.
DecidedWork audit(const DecidedImpact& impact, double tolerance = audit_tolerance);

/// Why an impact supplies energy. Impulses need not be unique for a given u⁺. Energy counts as created only if every
/// Λ ∈ K that leads to the same u⁺ supplies energy; a program decides it.
struct EnergyFinding {
    double created = 0.0;  ///< least work of all such Λ, in J; 0 if some Λ supplies no energy
    bool proved = false;   ///< `created` was computed by the program; otherwise it is the work of the given impulses
    int block = -1;        ///< block with the largest work; −1 without blocks
    std::string law;       ///< law and coefficients of that block: "newton, eN = 0.5, eT = 0"
    std::string sentence;  ///< the finding in words
};

/// Restitution of the rows and law of the blocks, as in `Collision`.
struct Restitutions {
    Vector e;                    ///< restitution coefficient of each row
    std::vector<ImpactLaw> law;  ///< impact law of each block
};

/// Finds out why the impulses `Lambda`, which lead from u⁻ to u⁺ of the collision, supply energy.
EnergyFinding find_cause(const FrictionalCollision& collision, const Vector& Lambda, const Restitutions& restitutions,
                         double tolerance = audit_tolerance);

std::string_view to_string(ImpactLaw law);  ///< "newton", "poisson", "energy"

}  // namespace saltus::impact
