// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/kinetic_frame.hpp"
#include "saltus/solvers/program/linear_program.hpp"

namespace saltus::impact {

/// The programs behind the contact work, in the kinetic frame: of all Λ̂ >= 0 with Σ n_iΛ̂_i = y,
///     min Σ d_iΛ̂_i  =  max −η·y over n_i·η + d_i >= 0,       least work = ½‖y‖² − ϖ·y + w₀ + this minimum,
/// and the greatest with the signs of d and of the inequality turned. [Glocker] 8
class WorkProgram {
public:
    explicit WorkProgram(const KineticFrame& frame)
        : frame_(frame), program_{frame.normals, {}, frame.distance, {}, {}} {
        if (frame.rank() != frame.normals.cols()) return;
        // Independent contacts: their impulses are unique, and this is the only basis.
        basis_.unknown.assign(static_cast<std::size_t>(2 * frame.rank()), solvers::SimplexBasis::At::lower);
        for (int i = 0; i < frame.rank(); ++i) {
            basis_.unknown[static_cast<std::size_t>(i)] = solvers::SimplexBasis::At::basic;
            basis_.basic.push_back(i);
        }
    }

    /// Work with d_i in its given sign (+1: least) or turned (−1: greatest). The dual point η is −y of the solution for
    /// the least work, +y for the greatest.
    const solvers::ProgramSolution& solve(const Vector& y, double sign) {
        program_.b = y;
        program_.c = sign * frame_.distance;
        solution_ = solvers::solve(program_, method_, basis_);
        return solution_;
    }
    const solvers::LinearProgram& program() const { return program_; }

    /// ½‖y‖² − ϖ·y + w₀: the work less what the program adds.
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
