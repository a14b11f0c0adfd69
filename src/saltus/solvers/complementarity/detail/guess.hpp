// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "saltus/solvers/complementarity/detail/standard_form.hpp"

namespace saltus::solvers {

/// Where an unknown is with respect to its bounds.
enum Place : char { at_lower, at_upper, between };

/// A guess of where all unknowns of a problem are, and what comes of it: the inner ones solve w = 0, by elimination
/// from the data of the problem. Memory is the caller's.
class Guess {
public:
    static constexpr std::size_t numbers(std::size_t n) { return n * (n + 2); }
    static constexpr std::size_t integers(std::size_t n) { return n; }

    Guess(const BoxView& problem, double* numbers, int* integers);

    /// z of the places; false when the inner unknowns have a singular system.
    bool solve(const Place* place, double* z);

    /// Moves the unknowns that the last z shows in a wrong place; returns their number.
    int move(const double* z, Place* place);

private:
    double lower(int i) const;
    double upper(int i) const;

    const BoxView& p_;
    double *w_, *A_;
    int* inner_;
    double nothing_, q_size_;
};

}  // namespace saltus::solvers
