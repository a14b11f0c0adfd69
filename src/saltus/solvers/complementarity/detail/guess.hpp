// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "saltus/solvers/complementarity/detail/bounded_form.hpp"

namespace saltus::solvers {

/// Position of an unknown relative to its bounds.
enum Place : char { at_lower, at_upper, between };

/// The solution that belongs to guessed places of all unknowns. The inner unknowns (`between`) solve w = 0; the system
/// is eliminated from the data of the problem, so no rounding of earlier pivots enters. Extra rows are not supported.
class Guess {
public:
    /// Numbers and integers of memory that n unknowns need.
    static constexpr std::size_t numbers(std::size_t n) { return n * (n + 2); }
    static constexpr std::size_t integers(std::size_t n) { return n; }

    /// The problem and the memory must outlive this object.
    Guess(const BoundedView& problem, double* numbers, int* integers);

    /// Computes z of the places; false if the system of the inner unknowns is singular.
    bool solve(const Place* place, double* z);

    /// Corrects the places that the last z and w contradict; returns how many there were.
    int move(const double* z, Place* place);

private:
    double lower(int i) const;
    double upper(int i) const;

    const BoundedView& p_;
    double *w_, *A_;                  // w of the last solve; augmented matrix of the inner unknowns, row-major
    int* inner_;                      // numbers of the inner unknowns
    double smallest_pivot_, q_size_;  // absolute smallest pivot; max |q_i|
};

}  // namespace saltus::solvers
