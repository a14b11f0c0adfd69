// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/base/short_vector.hpp"
#include "saltus/integrate/mode/dynamics.hpp"

namespace saltus::integrate {

/// The contact problem of the accelerations. Its unknowns are the relative accelerations v = γ̇ and the reactions r = λ
/// of all contacts, constraints, clutches and friction parts that may hold. They fulfil the contact laws and
///     v = D r + q,   D = A M⁻¹ F,   q = A M⁻¹ h + ζ.
/// F contains the friction forces of slipping parts, which are proportional to the normal reactions. The solution shows
/// which elements hold; ModeChange reads the next mode from it. If the equations of a mode are redundant, then the
/// problem also gives admissible reactions. The reactions of least norm need not be admissible.
class HoldProblem {
public:
    /// A block of rows under one law.
    struct Block {
        int element;                ///< number of the element that the block belongs to
        ShortVector<int, 6> rows;   ///< numbers of its rows in the model
        ShortVector<int, 3> parts;  ///< undecided friction parts, in the order of their rows
        bool normal;                ///< the first row is the normal of the element
    };

    /// Collects the blocks: all constraints, contacts and clutches with `closed`, and friction parts with `undecided`,
    /// which are free to stick. Friction parts that slip in `mode` are forces. Forces that are known (of springs, of
    /// slip under a known load) are added to `force`, generalised forces at the state of the last evaluate_terms.
    void collect(const Dynamics& dynamics, const SystemMode& mode, const std::vector<char>& closed,
                 const std::vector<char>& undecided, std::span<double> force);
    /// Fills D and q of the problem, at the state and in the mode of `collect`. `free` is the acceleration without the
    /// reactions of the problem. If there are no rows, then D keeps its last value.
    void assemble(const Dynamics& dynamics, const SystemMode& mode, std::span<const double> free);

    int first_row(std::size_t block) const { return first_[block]; }
    int rows() const { return static_cast<int>(rows_.size()); }

    std::vector<Block> blocks;
    solvers::FrictionProblem problem;

private:
    void collect_contact(const Dynamics& dynamics, const std::vector<char>& undecided, int element);
    void collect_friction_of_constraints(const Dynamics& dynamics, const std::vector<char>& undecided);
    void number_rows();

    std::vector<int> rows_, first_, sizes_;
    std::vector<double> columns_;  // M⁻¹F
};

}  // namespace saltus::integrate
