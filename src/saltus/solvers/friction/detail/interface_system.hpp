// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/friction/detail/interfaces.hpp"
#include "saltus/solvers/linear/block_lu.hpp"

namespace saltus::solvers {

/// The Newton system J x = b with J = C (W + ε) + E, C and E in blocks on the diagonal, where W = Θ w Θᵀ by the
/// interfaces between bodies. With B = ε C + E, y = Θᵀ x, K = Θᵀ B⁻¹ C Θ
///     (I + K w) y = Θᵀ B⁻¹ b,     x = B⁻¹ (b − C Θ w y):
/// a system in the few rows of each interface.
class InterfaceSystem {
public:
    /// Takes on W; false when its rows do not depend on each other enough for this to be worth while.
    bool prepare(const BlockMatrix& W);

    double work() const { return lu_.work(); }  ///< multiplications of one factorisation

    /// `at`: where each block's C and E begin.
    bool factorise(const BlockMatrix& W, std::span<const double> C, std::span<const double> E,
                   std::span<const std::size_t> at, double epsilon);
    void solve(const BlockMatrix& W, std::span<const double> b, std::span<double> x);

private:
    Interfaces interfaces_;
    BlockLU lu_;
    std::span<const std::size_t> at_;
    std::vector<double> inverse_, product_;  // B⁻¹ and B⁻¹ C
    std::vector<double> K_, scratch_, y_, z_;
};

}  // namespace saltus::solvers
