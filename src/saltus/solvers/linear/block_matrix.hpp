// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/linalg.hpp"

namespace saltus::solvers {

/// A square matrix of dense blocks, block row by block row, columns ascending; absent blocks are zero. Blocks may have
/// different sizes. A dense matrix is one with every block present. Nothing is assumed about symmetry.
struct BlockMatrix {
    std::vector<int> start{0};        ///< first row of each block, and the number of rows
    std::vector<int> row_start{0};    ///< first entry of each block row, and the number of entries
    std::vector<int> block_column;    ///< of each entry
    std::vector<std::size_t> offset;  ///< of each entry's values, row-major
    std::vector<double> values;

    int blocks() const { return static_cast<int>(start.size()) - 1; }
    int rows() const { return start.back(); }
    int block_size(int b) const { return start[static_cast<std::size_t>(b) + 1] - start[static_cast<std::size_t>(b)]; }

    /// The entry of a block, or -1 where it is absent.
    int find(int block_row, int column) const;

    double at(int row, int column) const;  ///< slow, for tests
    double diagonal_mean() const;

    int uniform_size() const;  ///< of all blocks, 0 when they differ

    /// y = A x
    void multiply(std::span<const double> x, std::span<double> y) const;
    /// Σ_b A_ab x_b over one block row, into y (its size the block's).
    void multiply_row(int block_row, std::span<const double> x, double* y) const;
    /// The same but for one entry, which is left out.
    void multiply_row(int block_row, std::span<const double> x, double* y, int without) const;

    static BlockMatrix from_dense(const Matrix& A, std::span<const int> block_sizes);

    struct Triplet {
        int row, column;
        double value;
    };
    /// Duplicates add up; every diagonal block is present.
    static BlockMatrix from_triplets(std::span<const Triplet> triplets, std::span<const int> block_sizes);
};

Matrix to_dense(const BlockMatrix& A);

}  // namespace saltus::solvers
