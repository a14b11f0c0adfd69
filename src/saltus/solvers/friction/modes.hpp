// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// The result of enumerating all modes of a problem.
struct AllSolutions {
    std::vector<std::vector<double>> r;  ///< the distinct solutions, sorted by ascending ‖r‖
    bool complete = false;               ///< true if every mode was decided: there are no other solutions
    int modes = 0;                       ///< number of modes that were examined
};

/// Finds all solutions of a small problem. Meant for problems of Painlevé's kind, which may have no solution or
/// several. A mode assigns to each block one of: open, stick, slip in one of two directions. In a given mode the laws
/// are a linear system. This covers planar contacts, unilateral and bilateral rows and scalar sliders, up to
/// `max_modes` combinations. A single spatial contact is solved by a quartic for the direction of slip. A mode with a
/// singular but consistent system has a continuum of reactions; one of them is tried, and if it violates the laws then
/// `complete` becomes false. For other problems the result is empty and not complete.
AllSolutions all_solutions(const FrictionProblem& problem, int max_modes = 70000);

}  // namespace saltus::solvers
