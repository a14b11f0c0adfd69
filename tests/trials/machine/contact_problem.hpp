// SPDX-License-Identifier: Apache-2.0
//
// A random contact or complementarity problem as a value, in the text format that `saltus solve` reads.
#pragma once

#include <string>

#include "machine/linear.hpp"

namespace trials {

/// v = W r + q. dimension 1: 0 <= v ⊥ r >= 0. Dimension 2 or 3: contacts with friction, the normal component first.
struct ContactProblem {
    std::size_t dimension = 1;
    Matrix W;
    Vector q, mu;  ///< mu: one for each contact; empty for dimension 1

    std::size_t contacts() const { return q.size() / dimension; }
    /// The problem file. The remark stands behind the last number, where readers ignore it.
    std::string text(const std::string& remark) const;
};

}  // namespace trials
