// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "saltus/solvers/complementarity/detail/bounded_form.hpp"

namespace saltus::solvers {

struct BranchingResult {
    enum class End {
        solved,     ///< `accept` took a z
        excluded,   ///< there is no solution; `certificate` proves it
        undecided,  ///< too many nodes, or a combination of states could not be decided within rounding
    };
    End end = End::undecided;
    std::vector<double> certificate;  ///< see exclusion.hpp
    int nodes = 0;
};

/// Goes through the combinations of states as a tree. A node leaves several states to some unknowns, and what is left
/// of the laws is a linear program; where that has no solution, its certificate excludes the whole branch, where it has
/// one that satisfies the laws, that is shown to `accept`, else the unknown that breaks its law most is decided.
/// Decides every problem that is not on the edge of solvability, with singular M too, at a cost that grows
/// exponentially at worst.
BranchingResult branch(const Box& box, int most_nodes, const std::function<bool(std::span<const double>)>& accept);

}  // namespace saltus::solvers
