// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Order in which a sweep visits the blocks.
enum class SweepOrder { forward, backward };

/// Block Gauss–Seidel: solves every block exactly in turn while the others are held.
class Sweeper {
public:
    /// Looks up the diagonal blocks of the problem. Allocates only if the problem is larger than all before.
    void prepare(const FrictionProblem& problem);

    /// One sweep over the prepared problem. A block for which no solution is found keeps its reaction.
    void sweep(const FrictionProblem& problem, std::span<double> r, SweepOrder order = SweepOrder::forward);

private:
    std::vector<int> diagonal_;    // entry of each diagonal block of W, -1 if it is absent
    int uniform_ = 0;              // common size of all blocks, 0 if they differ
    std::vector<double> scratch_;  // two vectors of the size of the largest block
};

}  // namespace saltus::solvers
