// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/kinetic_frame.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::impact {

/// The linear programs of the contact work in the kinetic frame, [Glocker] 8. With Λ̂_i = s_iΛ_i:
///     min Σ d_iΛ̂_i over Λ̂ >= 0, Σ n_iΛ̂_i = y     =     max −η·y over η with n_i·η + d_i >= 0  (η ∈ P⁺).
/// Derivation: γ_i at the mean velocity is s_i(½n_i·y + d_i) up to the terms of P. So the contact work is
/// Σ ½(γ⁺ + γ⁻)Λ = ½‖y‖² − ϖ·y + w₀ + Σ d_iΛ̂_i, because Σ n_iΛ̂_i = y. Only the last sum depends on how y is shared.
/// The greatest work is the same program with −d; its dual set is P⁻.
class WorkProgram {
public:
    explicit WorkProgram(const KineticFrame& frame)
        : frame_(frame), program_{frame.normals, {}, frame.distance, {}, {}} {
        if (frame.rank() != frame.normals.cols()) return;
        // The contact directions are independent, so the impulses are unique: start from the only basis.
        basis_.unknown.assign(static_cast<std::size_t>(2 * frame.rank()), solvers::SimplexBasis::At::lower);
        for (int i = 0; i < frame.rank(); ++i) {
            basis_.unknown[static_cast<std::size_t>(i)] = solvers::SimplexBasis::At::basic;
            basis_.basic.push_back(i);
        }
    }

    /// Solves for the least (sign +1, cost d) or the greatest work (sign −1, cost −d). The dual point is η = −y of the
    /// solution for the least and η = +y for the greatest work.
    const solvers::ProgramSolution& solve(const Vector& y, double sign) {
        program_.b = y;
        program_.c = sign * frame_.distance;
        solution_ = solvers::solve(program_, method_, basis_);
        return solution_;
    }
    const solvers::LinearProgram& program() const { return program_; }

    /// ½‖y‖² − ϖ·y + w₀: the part of the work that does not depend on how y is shared.
    double base(const Vector& y) const {
        return 0.5 * y.squaredNorm() - frame_.half_impulse.dot(y) + frame_.work_offset;
    }

private:
    const KineticFrame& frame_;
    solvers::LinearProgram program_;
    solvers::Simplex method_;
    solvers::SimplexBasis basis_;
    solvers::ProgramSolution solution_;
};

}  // namespace saltus::impact
