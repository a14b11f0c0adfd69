// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/model/pattern.hpp"

namespace saltus::model {

/// M = L Lᵀ, block by block: coordinates that the pattern of M does not couple are factored apart, so that a diagonal
/// mass matrix costs one square root a coordinate. The blocks are found once; factoring and solving allocate nothing.
class MassFactor {
public:
    explicit MassFactor(const Pattern& lower);

    /// False when M is not positive definite.
    bool factorise(std::span<const double> M);

    void solve(std::span<double> x) const;                               ///< x ← M⁻¹x
    void solve(std::span<double> x, std::span<const int> blocks) const;  ///< of an x that is zero in all other blocks
    void solve_all(std::span<double> x, int count) const;  ///< of so many x, whose numbers of a coordinate lie together
    void solve_half(std::span<double> x) const;            ///< x ← L⁻¹x
    void solve_half_transposed(std::span<double> x) const;  ///< x ← L⁻ᵀx

    /// Coordinates of each block, ascending.
    const std::vector<std::vector<int>>& blocks() const { return blocks_; }

    /// Extreme eigenvalues of M over all blocks, with the direction of the smallest.
    Spectrum spectrum(std::span<const double> M) const;

private:
    void solve_half(std::size_t block, std::span<double> x) const;
    void solve_half_transposed(std::size_t block, std::span<double> x) const;

    struct Entry {
        int from, to;  // in the values of M, in the factor
    };
    Pattern pattern_;
    bool diagonal_ = false;  // every coordinate by itself: factor_ has the roots in their order
    std::vector<std::vector<int>> blocks_;
    std::vector<std::size_t> offset_;  // of each block's dense lower triangle, row-major square
    std::vector<Entry> entries_;
    std::vector<double> factor_;
};

}  // namespace saltus::model
