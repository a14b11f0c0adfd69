// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/linear/block_matrix.hpp"

namespace saltus::solvers {

/// Several contacts between one pair of rigid bodies: their rows of W depend on the six velocities of the one body
/// relative to the other, so most of them follow from a few. With the rows P of W that are independent within each such
/// interface, w = W_PP, and Θ that expresses the others by them,
///     W = Θ w Θᵀ.
/// w has the pattern of the interfaces and is often half as large.
class Interfaces {
public:
    /// Takes on W, whose pattern must be symmetric. False when it is not of that form to rounding, or when w would not
    /// be much smaller. Problems with the pattern of the one before cost no allocation.
    bool prepare(const BlockMatrix& W);

    const BlockMatrix& reduced() const { return w_; }
    int of_block(int block) const { return group_of_[static_cast<std::size_t>(block)]; }
    /// Blocks of an interface.
    std::span<const int> blocks(int interface) const {
        const auto i = static_cast<std::size_t>(interface);
        return {members_.data() + first_[i], static_cast<std::size_t>(first_[i + 1] - first_[i])};
    }
    /// Rows of Θ that belong to a block, row-major, as wide as its interface's block of w.
    const double* theta(int block) const { return theta_.data() + theta_at_[static_cast<std::size_t>(block)]; }

private:
    void find_groups(const BlockMatrix& W);
    bool choose_rows(const BlockMatrix& W, int group);
    void fill_reduced(const BlockMatrix& W);
    bool holds(const BlockMatrix& W);

    // Of the pattern.
    std::vector<int> seen_start_, seen_row_start_, seen_column_;
    std::vector<int> group_of_, members_, first_;  // members_[first_[g] …]: blocks of a group
    std::vector<int> order_;
    // Of the numbers.
    struct Chosen {
        int row, place;  // row of the block, and where it comes in w's block
    };
    std::vector<std::vector<Chosen>> chosen_;  // of each block
    std::vector<double> theta_;
    std::vector<std::size_t> theta_at_;
    BlockMatrix w_;
    std::vector<int> mark_;
    std::vector<double> matrix_, factor_, left_, probe_, image_, small_, small_image_;
    std::vector<int> pivots_, row_block_, row_in_block_;
};

}  // namespace saltus::solvers
