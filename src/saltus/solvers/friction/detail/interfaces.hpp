// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/linear/block_matrix.hpp"

namespace saltus::solvers {

/// Factorisation of W by interfaces. An interface is the set of all contacts between one pair of rigid bodies. The
/// velocities at these contacts are determined by the six velocities of one body relative to the other. Hence at most
/// six of their rows of W are independent. Let P be a set of independent rows of each interface, w = W_PP, and let Θ
/// express all rows by those of P. Then
///     W = Θ w Θᵀ.
/// w has one block per interface and is often half as large as W.
class Interfaces {
public:
    /// Finds the interfaces and the factors. The pattern of W must be symmetric. Returns false if W does not have this
    /// form to rounding, or if w would not be much smaller than W. If the pattern is that of the last call, nothing is
    /// allocated.
    bool prepare(const BlockMatrix& W);

    const BlockMatrix& reduced() const { return w_; }  ///< w
    /// The interface to which a block of W belongs.
    int of_block(int block) const { return group_of_[static_cast<std::size_t>(block)]; }
    /// The blocks of W that belong to an interface.
    std::span<const int> blocks(int interface) const {
        const auto i = static_cast<std::size_t>(interface);
        return {members_.data() + first_[i], static_cast<std::size_t>(first_[i + 1] - first_[i])};
    }
    /// The rows of Θ that belong to a block of W, row-major, as wide as the interface's block of w.
    const double* theta(int block) const { return theta_.data() + theta_at_[static_cast<std::size_t>(block)]; }

private:
    void find_groups(const BlockMatrix& W);
    bool choose_rows(const BlockMatrix& W, int group);
    bool gather_group(const BlockMatrix& W, std::span<const int> members);
    void factorise_group();
    void express_rows(const BlockMatrix& W, std::span<const int> members);
    void fill_reduced(const BlockMatrix& W);
    bool reproduces(const BlockMatrix& W);

    // Determined by the pattern of W.
    std::vector<int> seen_start_, seen_row_start_, seen_column_;
    std::vector<int> group_of_, members_, first_;  // members_[first_[g]] … are the blocks of interface g
    std::vector<int> order_;
    // Determined by the values of W.
    struct Chosen {
        int row, place;  // row inside the block of W, and row inside the interface's block of w
    };
    std::vector<std::vector<Chosen>> chosen_;  // the rows of P in each block of W
    std::vector<double> theta_;
    std::vector<std::size_t> theta_at_;
    BlockMatrix w_;
    // Scratch.
    std::vector<int> mark_;
    std::vector<double> matrix_, factor_, left_;  // of one interface: its block of W, L by columns, remaining diagonal
    std::vector<double> probe_, image_, small_, small_image_;
    std::vector<int> pivots_;
};

}  // namespace saltus::solvers
