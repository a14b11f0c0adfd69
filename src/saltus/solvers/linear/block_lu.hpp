// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <span>
#include <utility>
#include <vector>

#include "saltus/solvers/linear/block_matrix.hpp"

namespace saltus::solvers {

/// Sparse LU factors of a block matrix of real or complex numbers. `analyse` orders the pattern once; after that
/// filling, factorising and solving allocate nothing. Pivots are chosen only inside the diagonal blocks. The factors
/// may therefore be inaccurate, and the caller must check the residual of each solution.
///
/// Use: analyse, then for each matrix clear, fill the blocks by `at_entry` and `at`, factorise, solve. Of W only the
/// pattern is used.
template <class Scalar>
class BasicBlockLU {
public:
    /// Prepares the pattern of W, made symmetric, plus the blocks `extra` (row, column). If the pattern is the one of
    /// the last call, this costs one comparison. Returns false if the factors would hold more than `max_numbers`
    /// numbers; then no other function may be called before a successful `analyse`.
    bool analyse(const BlockMatrix& W, std::span<const std::pair<int, int>> extra, double max_numbers = 4e7);

    double work() const { return work_; }  ///< estimated multiplications of one factorisation

    /// A block inside its block row: element (i, j) is data[i * stride + j].
    struct View {
        Scalar* data;
        int stride;
    };

    void clear();               ///< Sets all blocks to zero and forgets `make_identity`.
    View at_entry(int entry);   ///< The block of an entry of W.
    View at(int a, int b);      ///< Block (a, b); it must be in the pattern.
    void make_identity(int a);  ///< Makes block row a that of the unit matrix; such a row needs no elimination.

    bool factorise();  ///< False if a diagonal block is singular to rounding.
    /// Solves A x = b with the last factors. b and x may be the same memory.
    void solve(std::span<const Scalar> b, std::span<Scalar> x);

private:
    /// Columns of L below the diagonal, in elimination order.
    using Columns = std::vector<std::vector<int>>;

    int size_of(int row) const { return size_[static_cast<std::size_t>(row)]; }
    bool same_pattern(const BlockMatrix& W, std::span<const std::pair<int, int>> extra) const;
    bool symbolic_factors(const Columns& neighbours, double max_numbers, Columns& below);
    void lay_out_panels(const Columns& below);
    int find(int i, int j) const;  // the entry of block (i, j)
    View view(int row, int entry);
    bool eliminate(int i);
    void subtract(int i, int first, int last, std::span<const Scalar> x, Scalar* y);

    // Rows and columns below are in elimination order. The blocks of a block row form one row-major panel, so that
    // neighbouring blocks are eliminated together.
    std::vector<int> new_of_, old_of_;          // elimination position of each block of W, and the inverse
    std::vector<int> size_;                     // rows of each block
    std::vector<int> start_;                    // first row of each block, in the numbering of W
    std::vector<int> row_start_, column_;       // entries of L + U by block rows, and the block column of each
    std::vector<int> diagonal_;                 // entry of the diagonal block of each block row
    std::vector<int> shift_;                    // first column of each entry inside its panel
    std::vector<int> width_;                    // columns of each panel
    std::vector<std::size_t> panel_;            // offset of each panel in values_
    std::vector<std::size_t> inverse_at_;       // offset of each inverted diagonal block in inverse_
    std::vector<int> of_entry_, row_of_entry_;  // for each entry of W: its entry and its block row here
    std::vector<Scalar> values_, inverse_;
    std::vector<char> identity_;  // 1 for block rows of the unit matrix
    std::vector<int> position_;   // scratch: entry of each block column in the block row that is being eliminated
    std::vector<Scalar> scratch_;
    std::vector<double> turned_;  // scratch of complex products
    double work_ = 0.0;
    // The pattern of the last `analyse`.
    std::vector<int> seen_start_, seen_row_start_, seen_column_;
    std::vector<std::pair<int, int>> seen_extra_;
    double numbers_ = 0.0;  // numbers in the factors; if the analysis was given up, those counted until then
    bool usable_ = false;
};

using BlockLU = BasicBlockLU<double>;
using ComplexBlockLU = BasicBlockLU<std::complex<double>>;

}  // namespace saltus::solvers
