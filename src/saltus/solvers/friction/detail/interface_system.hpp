// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/friction/detail/interfaces.hpp"
#include "saltus/solvers/linear/block_lu.hpp"

namespace saltus::solvers {

/// Solves the Newton system J x = b with J = C (W + ε) + E, C and E block diagonal, if W = Θ w Θᵀ by interfaces
/// (interfaces.hpp). Put B = ε C + E and y = Θᵀx. Then B x = b − C Θ w y, and multiplying by Θᵀ B⁻¹ gives, with
/// K = Θᵀ B⁻¹ C Θ,
///     (I + K w) y = Θᵀ B⁻¹ b,     x = B⁻¹ (b − C Θ w y).
/// The system for y has only the rows of the interfaces. K is block diagonal.
class InterfaceSystem {
public:
    /// Prepares the factors of W. Returns false if W has no such form, or if the reduction is not worthwhile.
    bool prepare(const BlockMatrix& W);

    double work() const { return lu_.work(); }  ///< estimated multiplications of one factorisation

    /// Factorises I + K w. `at` gives the offset of each block in C and E; it must stay valid until the last `solve`.
    /// Returns false if a matrix is singular.
    bool factorise(const BlockMatrix& W, std::span<const double> C, std::span<const double> E,
                   std::span<const std::size_t> at, double epsilon);
    /// Solves J x = b with the last factors.
    void solve(const BlockMatrix& W, std::span<const double> b, std::span<double> x);

private:
    Interfaces interfaces_;
    BlockLU lu_;
    std::span<const std::size_t> at_;
    std::vector<double> inverse_, product_;  // blocks of B⁻¹ and B⁻¹ C
    std::vector<double> K_, scratch_, y_, z_;
};

}  // namespace saltus::solvers
