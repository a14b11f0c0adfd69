// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/model/pattern.hpp"

namespace saltus::model {

/// Cholesky factorisation M = L Lᵀ, block by block. Coordinates that the pattern of M does not couple are factorised
/// separately, so a diagonal mass matrix costs one square root per coordinate. The blocks are found once, by the
/// constructor; factorising and solving allocate nothing. One object per thread.
class MassFactor {
public:
    explicit MassFactor(const Pattern& lower);  ///< pattern of the lower triangle of M

    /// Factorises M, given in the order of the pattern. Returns false if M is not positive definite; then the solve
    /// functions must not be called.
    bool factorise(std::span<const double> M);

    void solve(std::span<double> x) const;  ///< x ← M⁻¹x
    /// x ← M⁻¹x for an x that is zero outside these blocks.
    void solve(std::span<double> x, std::span<const int> blocks) const;
    /// x ← M⁻¹x for `count` vectors at once. Component i of vector j is x[i·count + j].
    void solve_all(std::span<double> x, int count) const;
    void solve_half(std::span<double> x) const;             ///< x ← L⁻¹x
    void solve_half_transposed(std::span<double> x) const;  ///< x ← L⁻ᵀx

    /// Coordinates of each block, ascending.
    const std::vector<std::vector<int>>& blocks() const { return blocks_; }

    /// Extreme eigenvalues of M over all blocks, with the eigenvector of the smallest one. Needs no factorisation.
    Spectrum spectrum(std::span<const double> M) const;

private:
    void solve_half(std::size_t block, std::span<double> x) const;
    void solve_half_transposed(std::size_t block, std::span<double> x) const;

    struct Entry {
        int from, to;  // index among the values of M, index in factor_
    };
    Pattern pattern_;
    bool diagonal_ = false;  // every block has size 1; then factor_[i] = √M_ii
    std::vector<std::vector<int>> blocks_;
    std::vector<std::size_t> offset_;  // of each block in factor_
    std::vector<Entry> entries_;
    std::vector<double> factor_;  // L of each block as a dense square, row-major, lower triangle used
};

}  // namespace saltus::model
