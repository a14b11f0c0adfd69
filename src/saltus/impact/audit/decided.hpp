// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <vector>

#include "saltus/impact/collision.hpp"
#include "saltus/impact/frictional.hpp"

namespace saltus::impact {

/// An impact that a law has decided, row by row; the memory is the caller's.
struct DecidedImpact {
    std::span<const double> gamma_minus, gamma_plus, chi, Lambda;  ///< one a row
    std::span<const int> start;                                    ///< first row of each block, and one past the last
    std::span<const solvers::Law> laws;                            ///< one a block
};

/// What the contacts did to the energy: T⁺ − T⁻ = work + obstacle_work.
struct DecidedWork {
    double work = 0.0;           ///< Σ ½(γ⁺ + γ⁻)·Λ
    double tangential = 0.0;     ///< the part of friction
    double obstacle_work = 0.0;  ///< −Σ χΛ, what moving obstacles did on the system
    double noise = 0.0;          ///< what rounding and the tolerance may do to the work
    int block = -1;              ///< that did most, where work > noise

    bool supplies_energy() const { return !(work <= noise); }  ///< also where it is no number
};

/// The audit of every impact of a simulation: arithmetic over the rows, no program, no allocation. `tolerance` is
/// relative to the sizes of the terms, and a thousandth of it to the fastest row times all impulses: a row that holds
/// is off by what its solver leaves of the others.
DecidedWork audit(const DecidedImpact& impact, double tolerance = 1e-9);

/// Why an impact supplies energy. Newton's and Poisson's law fix impulses that need not be unique: energy counts as
/// created if every impulse in the cones that leads to the same u⁺ supplies it (a program).
struct EnergyFinding {
    double created = 0.0;  ///< the least work of such impulses; 0: others would not supply any
    bool proved = false;   ///< by the program; otherwise it is the work of the given impulses
    int block = -1;        ///< whose work is most
    std::string law;       ///< of that block: "newton, eN = 0.5, eT = 0"
    std::string sentence;
};

/// Restitution of the rows and law of the blocks, as in `Collision`.
struct Restitutions {
    Vector e;
    std::vector<ImpactLaw> law;
};

/// `Lambda` leads from u⁻ to u⁺ of the collision and supplies energy.
EnergyFinding find_cause(const FrictionalCollision& collision, const Vector& Lambda, const Restitutions& restitutions,
                         double tolerance = 1e-9);

std::string_view to_string(ImpactLaw law);

}  // namespace saltus::impact
