// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/solvers/friction/friction.hpp"

namespace saltus::impact {

/// In the order of precedence: if contacts with different laws collide at once, the last one of these rules them all.
enum class ImpactLaw { newton, poisson, energy };

/// A collision as matrices and laws, for all closed contacts and all bilateral rows at once:
///     γ⁺ = γ⁻ + D Λ,   D = WᵀM⁻¹W.
/// A block is the set of rows of one contact (normal row first), slider or bilateral constraint. The impact laws are
///     Newton   ξ = γ⁺ + E γ⁻ and Λ obey the contact laws of `problem`; [Leine] (64)–(73)
///     Poisson  compression with E = 0 gives Λ_C; the expansion impulse is at least e_N Λ_CN
///     energy   T⁺ = (Π e²) T⁻ along the impulse of the inelastic collision; [Tornambe] (46)
/// e_N acts on contacts that approach. A contact that separates already must keep γ_N⁺ >= 0, whatever its e_N is.
struct CollisionRows {
    std::vector<double> gamma_minus;  ///< γ⁻, one per row
    std::vector<double> e;            ///< restitution, one per row: e_N for normal, e_T for tangential, 0 for bilateral
    std::vector<ImpactLaw> law;       ///< impact law of each block
    double kinetic_energy = 0.0;      ///< T⁻; only the energy law reads it
    std::vector<double> chi;  ///< χ of γ = Wᵀu + χ, one per row; only the energy law reads it; empty means 0
};

/// The same with the matrix D and the contact laws of the blocks.
struct Collision : CollisionRows {
    solvers::FrictionProblem problem;  ///< its q is not read
};

/// What a collision leads to.
struct Outcome {
    /// The status of the last contact problem; infeasible: see `collide`.
    solvers::Status status = solvers::Status::converged;
    std::vector<double> Lambda, gamma_plus;  ///< Λ and γ⁺ of each row
    ImpactLaw law = ImpactLaw::newton;       ///< the law that was applied to all blocks
    std::vector<double> compression;  ///< Λ of the inelastic collision (Poisson's and the energy law); else empty
    std::vector<char> held;           ///< Poisson: 1 for each block with Λ_EN = e_N Λ_CN; else empty
    double work = 0.0;      ///< contact work Σ ½(γ⁺ + γ⁻)·Λ; positive means that the contacts supplied energy
    double residual = 0.0;  ///< largest residual of the contact problems that were solved
    int solves = 0;         ///< number of contact problems that were solved
    std::string note;       ///< why there is no outcome, or which choice was made; else empty

    /// Memory of the computation. If an outcome is used again, then collisions of the same size allocate nothing.
    struct Scratch {
        solvers::FrictionProblem problem;
        solvers::Solution solution;
        std::vector<double> Lambda, gamma, prescribed;
        std::vector<char> held;
    } scratch;
};

/// Computes the outcome. The law is the one of the approaching contacts; if these have different laws, then the energy
/// law precedes Poisson's, and Poisson's precedes Newton's, and the note says so. If the energy law has no admissible
/// root, then the status is infeasible, the note has the numbers, and Λ = 0. If a contact problem is not solved, then
/// the outcome has its status and its best iterate. `tolerance` is the relative residual asked of each contact problem.
/// `problem` has D and the contact laws of the blocks; its q is not read.
void collide(const solvers::FrictionProblem& problem, const CollisionRows& rows, double tolerance,
             solvers::Workspace& workspace, Outcome& outcome);
inline void collide(const Collision& collision, double tolerance, solvers::Workspace& workspace, Outcome& outcome) {
    collide(collision.problem, collision, tolerance, workspace, outcome);
}

}  // namespace saltus::impact
