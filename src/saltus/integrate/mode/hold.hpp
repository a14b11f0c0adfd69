// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"

namespace saltus::integrate {

/// The acceleration-level contact problem: v = γ̇ and r = λ of everything that may hold, under the laws of contact,
///     v = D r + q,   D = A M⁻¹ F,   q = A M⁻¹ h + ζ,
/// where the forces of what slips are in F. Its solution says what holds; where the equations of a mode are redundant,
/// it also gives reactions that the laws allow, which the smallest multipliers need not be.
class HoldProblem {
public:
    struct Block {
        int element;
        std::vector<int> rows;   ///< of the model
        std::vector<int> parts;  ///< undecided ones, in the order of their rows
        bool normal;             ///< the first row is the element's normal
    };

    /// Contacts and clutches with `closed`, constraints and sliders; friction of parts with `undecided` is free to
    /// stick, that of the others slips or not as in `mode`. Known forces are added to `force`, generalised forces at
    /// the state of the last evaluate_terms.
    void collect(const Dynamics& dynamics, const SystemMode& mode, const std::vector<char>& closed,
                 const std::vector<char>& undecided, std::span<double> force);
    /// D and q at that state and in that mode, `free` the acceleration without the reactions of the problem.
    void assemble(const Dynamics& dynamics, const SystemMode& mode, std::span<const double> free);

    int first_row(std::size_t block) const { return first_[block]; }
    int rows() const { return static_cast<int>(rows_.size()); }

    std::vector<Block> blocks;
    solvers::FrictionProblem problem;

private:
    std::vector<int> rows_, first_, sizes_;
};

}  // namespace saltus::integrate
