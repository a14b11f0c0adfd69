// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Block Gauss–Seidel: every block solved exactly in turn, the others held.
class Sweeper {
public:
    /// Looks up what the sweeps over this problem need; allocates only where this one is larger than those before.
    void prepare(const FrictionProblem& problem);

    /// One sweep, in order or backwards. Blocks without a solution are left as they are.
    void sweep(const FrictionProblem& problem, std::span<double> r, bool backwards = false);

private:
    std::vector<int> diagonal_;    // entry of each diagonal block
    int uniform_ = 0;              // size of all blocks
    std::vector<double> scratch_;  // of the largest block
};

}  // namespace saltus::solvers
