// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "saltus/solvers/complementarity/detail/bounded_form.hpp"

namespace saltus::solvers {

/// The result of `branch`.
struct BranchingResult {
    enum class End {
        solved,     ///< `accept` returned true for a z.
        excluded,   ///< There is no solution; `certificate` proves it.
        undecided,  ///< The nodes are used up, or a combination of states could not be decided within rounding.
    };
    End end = End::undecided;
    std::vector<double> certificate;  ///< proof of `excluded`, see exclusion.hpp; else empty
    int nodes = 0;                    ///< linear programs that were solved
};

/// Branch and bound over the states of the unknowns. A node allows some unknowns several states. The relaxation of a
/// node (the bounds and signs that all its allowed states share) is a linear program. If the program is infeasible, its
/// certificate excludes the whole branch. If its solution satisfies all laws, it is shown to `accept`. Otherwise the
/// unknown that violates its law most is restricted to one state after the other. This decides every problem that is
/// not on the boundary of solvability, also with singular M. The cost grows exponentially in the worst case; at most
/// `max_nodes` programs are solved.
BranchingResult branch(const BoundedForm& form, int max_nodes,
                       const std::function<bool(std::span<const double>)>& accept);

}  // namespace saltus::solvers
