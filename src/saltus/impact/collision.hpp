// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/solvers/friction/friction.hpp"

namespace saltus::impact {

enum class ImpactLaw { newton, poisson, energy };

/// A collision as matrices and laws: all closed contacts and all bilateral rows at once,
///     γ⁺ = γ⁻ + D Λ.
/// Newton: ξ = γ⁺ + E γ⁻ and Λ obey the laws of `problem`. Poisson: compression with E = 0, then expansion impulses of
/// at least e_N times those of compression. Energy: T⁺ = (Π e²) T⁻ along the impulse of the inelastic collision. e_N
/// belongs to approaching contacts: one that leaves already has γ_N⁺ >= 0 for its law, whatever e_N. [Glocker], [Leine]
/// (64)–(73), [Tornambè] (46)
struct Collision {
    solvers::FrictionProblem problem;  ///< D and the laws of the blocks; q is not read
    std::vector<double> gamma_minus;   ///< γ⁻, one a row
    std::vector<double> e;             ///< restitution, one a row (normal e_N, tangential e_T; bilateral rows 0)
    std::vector<ImpactLaw> law;        ///< one a block
    double kinetic_energy = 0.0;       ///< T⁻, read by the energy law
    std::vector<double> chi;  ///< χ of γ = Wᵀu + χ, one a row, read by the energy law; empty: nothing moves
};

struct Outcome {
    solvers::Status status = solvers::Status::converged;
    std::vector<double> Lambda, gamma_plus;  ///< one a row
    ImpactLaw law = ImpactLaw::newton;       ///< that all blocks followed
    std::vector<double> compression;         ///< Λ of the inelastic collision of Poisson's and the energy law
    std::vector<char> held;                  ///< blocks whose expansion is e times their compression (Poisson)
    double work = 0.0;                       ///< Σ ½(γ⁺ + γ⁻)·Λ
    double residual = 0.0;                   ///< of the worst contact problem solved
    int solves = 0;                          ///< contact problems
    std::string note;  ///< why there is no outcome, or what was chosen where the law leaves a choice

    /// Memory of the computation. An outcome that is used again allocates nothing for collisions of the same size.
    struct Scratch {
        solvers::FrictionProblem problem;
        solvers::Solution solution;
        std::vector<double> Lambda, gamma, prescribed;
        std::vector<char> held;
    } scratch;
};

/// The outcome by the laws of the blocks that approach; where blocks of one collision have different laws, energy comes
/// before Poisson before Newton for all of them, and the note says so. An energy law without an admissible root has
/// status infeasible with the numbers in the note, and Λ = 0. A contact problem that is not solved gives its status and
/// its best iterate.
void collide(const Collision& collision, double tolerance, solvers::Workspace& workspace, Outcome& outcome);

}  // namespace saltus::impact
