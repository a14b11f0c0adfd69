// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace saltus::solvers {

/// LU factors with row pivots of a small or full matrix, row-major. Allocates only when it grows.
class DenseLU {
public:
    /// An n × n matrix of zeros to be filled by `at`.
    void clear(int n);
    double& at(int i, int j) {
        return values_[static_cast<std::size_t>(i) * static_cast<std::size_t>(n_) + static_cast<std::size_t>(j)];
    }

    bool factorise();  ///< false when singular or not finite
    void solve(std::span<const double> b, std::span<double> x) const;

private:
    int n_ = 0;
    std::vector<double> values_;
    std::vector<int> pivot_;
};

}  // namespace saltus::solvers
