// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/linalg.hpp"

namespace saltus::solvers {

/// A square matrix of dense blocks in compressed block rows: block row after block row, ascending columns within each.
/// Blocks that are absent are zero. Blocks may have different sizes. A dense matrix has every block present. Symmetry
/// is not assumed. An "entry" is the number of a stored block.
struct BlockMatrix {
    std::vector<int> start{0};        ///< first row of each block, then the number of rows
    std::vector<int> row_start{0};    ///< first entry of each block row, then the number of entries
    std::vector<int> block_column;    ///< block column of each entry
    std::vector<std::size_t> offset;  ///< index in `values` of the first number of each entry
    std::vector<double> values;       ///< the blocks, each row-major

    int blocks() const { return static_cast<int>(start.size()) - 1; }
    int rows() const { return start.back(); }
    int block_size(int b) const { return start[static_cast<std::size_t>(b) + 1] - start[static_cast<std::size_t>(b)]; }

    /// The entry of a block, or -1 if the block is absent.
    int find(int block_row, int column) const;

    double at(int row, int column) const;  ///< one element; a slow search, for tests
    double diagonal_mean() const;          ///< mean of the diagonal elements, without overflow; 0 if there are no rows

    int uniform_size() const;  ///< the common size of all blocks, or 0 if they differ

    /// y = A x. The vectors must not overlap.
    void multiply(std::span<const double> x, std::span<double> y) const;
    /// y = Σ_b A_ab x_b over block row a; y has the size of that block.
    void multiply_row(int block_row, std::span<const double> x, double* y) const;
    /// The same sum without the entry `without`.
    void multiply_row(int block_row, std::span<const double> x, double* y, int without) const;

    /// All blocks of A, zero ones included. The block sizes must add up to the size of A.
    static BlockMatrix from_dense(const Matrix& A, std::span<const int> block_sizes);

    /// Gives the matrix all blocks of the given sizes. The values are undefined. Memory that is large enough is kept.
    void set_full(std::span<const int> block_sizes);

    struct Triplet {
        int row, column;
        double value;
    };
    /// The blocks that contain a triplet, and every diagonal block. Triplets at the same place are added.
    static BlockMatrix from_triplets(std::span<const Triplet> triplets, std::span<const int> block_sizes);
};

Matrix to_dense(const BlockMatrix& A);

}  // namespace saltus::solvers
