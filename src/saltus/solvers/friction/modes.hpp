// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// What going through all modes of a problem found.
struct AllSolutions {
    std::vector<std::vector<double>> r;  ///< reactions, each solution once, the smallest reaction first
    bool complete = false;               ///< there are no others: every mode was decided
    int modes = 0;                       ///< that were looked at
};

/// All solutions, for problems of Painlevé's kind that have none or several. Every combination of open, stick and the
/// two directions of slip is a linear system: for planar contacts, unilateral and bilateral rows and scalar sliders, up
/// to `most_modes` combinations. One spatial contact by itself is a quartic for the direction of slip. Modes whose
/// system is singular but consistent have a continuum of reactions; one of them is given and `complete` stays false if
/// it does not satisfy the law. Nothing, and not complete, for other problems.
AllSolutions all_solutions(const FrictionProblem& problem, int most_modes = 70000);

}  // namespace saltus::solvers
