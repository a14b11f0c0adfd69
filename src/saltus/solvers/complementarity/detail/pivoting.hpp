// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "saltus/solvers/complementarity/detail/guess.hpp"
#include "saltus/solvers/complementarity/detail/lemke_tableau.hpp"
#include "saltus/solvers/complementarity/detail/standard_form.hpp"

namespace saltus::solvers {

/// Direct methods for w = M z + q, lower <= z <= upper, −w ∈ N_[lower, upper](z). Free unknowns are eliminated; a sweep
/// over the others guesses which are at a bound; a tableau has the inner ones exchanged with their w, and those that
/// come out wrong are moved, all together, as long as they become fewer; at last comes Lemke's path. Quick on the small
/// problems that come by the thousand. The caller judges what comes out.
class Pivoting {
public:
    /// How much memory n unknowns need.
    static constexpr std::size_t numbers(std::size_t n, std::size_t extra = 0) {
        return StandardForm::numbers(n, extra) + n + LemkeTableau::numbers(n);
    }
    static constexpr std::size_t integers(std::size_t n, std::size_t extra = 0) {
        return StandardForm::integers(n, extra) + LemkeTableau::integers(n);
    }

    Pivoting(double* numbers, int* integers, Place* places) : numbers_(numbers), integers_(integers), place_(places) {}

    /// z after one projected Gauss–Seidel sweep: the solution where M is triangular. Not for free unknowns and extra
    /// rows.
    void sweep(const BoxView& problem, double* z);
    /// Guesses where the unknowns are from the w at a z that has been swept.
    void place(const BoxView& problem, const double* z, const double* w);

    /// False when nothing fitted; z is then of no use. `placed`: begins with the places guessed before.
    bool solve(const BoxView& problem, double* z, bool placed = false);

    int changes() const { return changes_; }  ///< sweeps, guesses and pivots so far

private:
    void guess(const BoxView& standard, double* y, double* numbers);

    double* numbers_;
    int* integers_;
    Place* place_;
    int changes_ = 0;
};

}  // namespace saltus::solvers
