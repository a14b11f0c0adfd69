// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/integrate/mode/elements.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/model/mass.hpp"
#include "saltus/model/system.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::integrate {

/// Blocks of rows of a model with a law each, and their Delassus matrix D = WᵀM⁻¹W. The same pattern of blocks costs no
/// allocation.
class ActiveRows {
public:
    explicit ActiveRows(const model::Model& model);

    void clear();
    /// Appends a block of rows under a law; returns its number.
    int add(std::span<const int> rows, const solvers::Law& law);
    int add_row(int row, const solvers::Law& law) { return add({&row, 1}, law); }
    int blocks() const { return static_cast<int>(problem.laws.size()); }
    int rows() const { return static_cast<int>(rows_.size()); }
    std::span<const int> row_numbers() const { return rows_; }
    int first_row(int block) const { return first_[static_cast<std::size_t>(block)]; }
    std::span<const int> first_rows() const { return first_; }  ///< of all blocks, then the number of rows

    /// D from W and M of the terms. With many rows D is sparse: blocks without a coordinate in common through M are
    /// absent.
    void assemble(const model::Terms& terms, const model::MassFactor& mass) {
        assemble_columns(terms, true, [&](std::span<double> x, std::span<const int> bodies) { mass.solve(x, bodies); });
        assemble_matrix(terms, true);
    }
    /// The same in parts: M⁻¹W, where `solve` is x ← M⁻¹x of an x that is zero but in the blocks of M given with it, or
    /// not `by_bodies`, where another matrix in the place of M couples everything; D of it in full, row-major; and D of
    /// it in the problem.
    template <class Solve>
    void assemble_columns(const model::Terms& terms, bool by_bodies, Solve solve);
    void assemble_dense(const model::Terms& terms, std::vector<double>& D) const;
    void assemble_matrix(const model::Terms& terms, bool by_bodies);

    /// du = M⁻¹ W r of the last assembly.
    void velocity_change(std::span<const double> r, std::span<double> du) const;
    /// Σ over the rows of W_row r, generalised forces.
    void forces(const model::Terms& terms, std::span<const double> r, std::span<double> f) const;

    solvers::FrictionProblem problem;  ///< W is filled by assemble, q by the caller

private:
    void clear_columns();

    const model::Layout& layout_;
    std::vector<int> rows_, first_{0};
    std::vector<double> inverse_w_;          // M⁻¹ W, a column of n a row; zero outside of its coordinates
    std::vector<int> body_of_;               // block of M of each coordinate
    std::vector<std::vector<int>> bodies_;   // of each row of the model: blocks of M that it touches
    std::vector<std::vector<int>> touched_;  // of each row of the model: their coordinates
    std::vector<int> filled_;                // rows whose columns are not zero
    bool full_ = false;                      // all coordinates of the columns are
    std::vector<std::vector<int>> of_body_;  // scratch: blocks at each of them
    std::vector<int> columns_;               // scratch
};

template <class Solve>
void ActiveRows::assemble_columns(const model::Terms& terms, bool by_bodies, Solve solve) {
    const model::Pattern& W = layout_.rows;
    const auto n = static_cast<std::size_t>(layout_.coordinates);
    clear_columns();
    inverse_w_.resize(rows_.size() * n, 0.0);
    filled_ = rows_;
    full_ = !by_bodies;
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        const std::span<double> column(inverse_w_.data() + k * n, n);
        const auto row = static_cast<std::size_t>(rows_[k]);
        for (auto e = static_cast<std::size_t>(W.start[row]); e < static_cast<std::size_t>(W.start[row + 1]); ++e)
            column[static_cast<std::size_t>(W.column[e])] = terms.W[e];
        solve(column, std::span<const int>(bodies_[row]));
    }
}

}  // namespace saltus::integrate
