// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace saltus::solvers {

/// LU factors with row pivots of a dense row-major matrix. Memory grows with the largest matrix and is reused.
class DenseLU {
public:
    /// Starts an n × n matrix of zeros, to be filled by `at`.
    void clear(int n);
    double& at(int i, int j) {
        return values_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j)];
    }

    /// Replaces the matrix by its factors. False if it is singular or not finite; then `solve` must not be called.
    bool factorise();
    /// Solves A x = b with the factors.
    void solve(std::span<const double> b, std::span<double> x) const;

private:
    int n_ = 0;
    std::vector<double> values_;
    std::vector<int> pivot_;  // row exchanged with row k in step k
};

}  // namespace saltus::solvers
