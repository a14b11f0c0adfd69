// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "saltus/solvers/linear/block_matrix.hpp"

namespace saltus::solvers {

/// LU factors of a matrix of blocks. The pattern is ordered and analysed once; then factorising and solving allocate
/// nothing. Pivots are chosen inside the diagonal blocks only, so the caller checks what comes out.
class BlockLU {
public:
    /// Takes the pattern of W, made symmetric, with the blocks `extra` (row, column) added. A pattern already analysed
    /// costs a comparison. False when the factors would hold more than `most` numbers; then nothing else may be called
    /// until a larger `most` is allowed.
    bool analyse(const BlockMatrix& W, std::span<const std::pair<int, int>> extra, double most = 4e7);

    double work() const { return work_; }  ///< multiplications of one factorisation

    /// A block inside its row: element (i, j) at data[i * stride + j].
    struct View {
        double* data;
        int stride;
    };

    void clear();               ///< all blocks to zero, no row the unit matrix's
    View at_entry(int entry);   ///< the block of an entry of W
    View at(int a, int b);      ///< block (a, b) of the pattern
    void make_identity(int a);  ///< row a is that of the unit matrix: costs nothing

    bool factorise();  ///< false when a diagonal block is singular
    void solve(std::span<const double> b, std::span<double> x);

private:
    int size_of(int row) const { return size_[static_cast<std::size_t>(row)]; }
    int find(int i, int j) const;  // the entry of a block
    View view(int row, int entry);
    bool eliminate(int i);

    // Rows and columns below are in elimination order. A block row is a panel, row-major over all its blocks, so that
    // neighbouring blocks are eliminated in one go.
    std::vector<int> new_of_, old_of_, size_, start_;  // start_: in the caller's numbering
    std::vector<int> row_start_, diagonal_, column_;   // entries of L + U by rows; diagonal_: entry of the pivot block
    std::vector<int> shift_;                           // of each entry's first column in its panel
    std::vector<int> width_;                           // of each panel
    std::vector<std::size_t> panel_;                   // offset of each panel
    std::vector<std::size_t> inverse_at_;              // offset of each inverted pivot block
    std::vector<int> of_entry_, row_of_entry_;         // entry here and block row of each entry of W
    std::vector<double> values_, inverse_;
    std::vector<char> trivial_;
    std::vector<int> position_;  // scratch: entry of each column in the row at work
    std::vector<double> scratch_;
    double work_ = 0.0;
    // What was analysed.
    std::vector<int> seen_start_, seen_row_start_, seen_column_;
    std::vector<std::pair<int, int>> seen_extra_;
    double numbers_ = 0.0;  // of the factors; of a pattern given up, those counted so far
    bool usable_ = false;
};

}  // namespace saltus::solvers
