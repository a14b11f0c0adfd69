// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "saltus/solvers/complementarity/detail/guess.hpp"
#include "saltus/solvers/complementarity/detail/lemke_tableau.hpp"
#include "saltus/solvers/complementarity/detail/standard_form.hpp"

namespace saltus::solvers {

/// Direct methods for a problem in the bounded form (bounded_form.hpp), fast for the small problems that a simulation
/// solves by the thousand. Free unknowns are eliminated. A Gauss–Seidel sweep guesses the place of each unknown. The
/// places are then corrected, all wrong ones together, as long as fewer and fewer are wrong (block principal pivoting).
/// If that fails, Lemke's path follows. The caller judges the result.
class Pivoting {
public:
    /// Numbers and integers of memory that n unknowns and `extra` rows need.
    static constexpr std::size_t numbers(std::size_t n, std::size_t extra = 0) {
        return StandardForm::numbers(n, extra) + n + LemkeTableau::numbers(n);
    }
    static constexpr std::size_t integers(std::size_t n, std::size_t extra = 0) {
        return StandardForm::integers(n, extra) + LemkeTableau::integers(n);
    }

    /// Whether `solve` uses the places that `place` has set, or guesses them itself.
    enum class Places { guess, given };

    Pivoting(double* numbers, int* integers, Place* places) : numbers_(numbers), integers_(integers), place_(places) {}

    /// z after one projected Gauss–Seidel sweep from zero. It is the solution if M is lower triangular. Not for
    /// problems with free unknowns or extra rows.
    void sweep(const BoundedView& problem, double* z);
    /// Guesses the places from w at a z that has been swept.
    void place(const BoundedView& problem, const double* z, const double* w);

    /// Computes z. Returns false if no method found consistent places; z is then undefined.
    bool solve(const BoundedView& problem, double* z, Places places = Places::guess);

    int changes() const { return changes_; }  ///< number of sweeps, guesses and pivots so far

private:
    void guess(const BoundedView& standard, double* y, double* numbers);

    double* numbers_;
    int* integers_;
    Place* place_;
    int changes_ = 0;
};

}  // namespace saltus::solvers
