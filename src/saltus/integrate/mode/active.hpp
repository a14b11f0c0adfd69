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

/// A set of rows of a model in blocks with a law each, and their Delassus matrix D = WᵀM⁻¹W: a contact problem of
/// velocities. If it is filled again with the same pattern of blocks, then it allocates no memory.
class ActiveRows {
public:
    /// `mass` has the blocks of M; it is not kept.
    ActiveRows(const model::Layout& layout, const model::MassFactor& mass);

    void clear();
    /// Appends a block of rows under a law; returns its number.
    int add(std::span<const int> rows, const solvers::Law& law);
    int add_row(int row, const solvers::Law& law) { return add({&row, 1}, law); }
    int blocks() const { return static_cast<int>(problem.laws.size()); }
    int rows() const { return static_cast<int>(rows_.size()); }
    std::span<const int> row_numbers() const { return rows_; }  ///< number in the model of each row
    int first_row(int block) const { return first_[static_cast<std::size_t>(block)]; }
    std::span<const int> first_rows() const { return first_; }  ///< first row of each block, then the number of rows

    /// Fills D from W and M of the terms. If there are many rows, then D is sparse: blocks that no body of M connects
    /// are absent.
    void assemble(const model::Terms& terms, const model::MassFactor& mass) {
        assemble_columns(terms, true, [&](std::span<double> x, std::span<const int> bodies) { mass.solve(x, bodies); });
        assemble_matrix(terms, true);
    }
    /// The same in steps, for another matrix in place of M. First M⁻¹W: `solve(x, bodies)` replaces x by M⁻¹x. With
    /// `by_bodies`, x is zero outside of the given blocks of M; otherwise the matrix couples all coordinates.
    template <class Solve>
    void assemble_columns(const model::Terms& terms, bool by_bodies, Solve solve);
    /// Then D as a full matrix, row-major, …
    void assemble_dense(const model::Terms& terms, std::vector<double>& D) const;
    /// … or D in the problem.
    void assemble_matrix(const model::Terms& terms, bool by_bodies);

    /// du = M⁻¹ W r, with M⁻¹W of the last assembly.
    void velocity_change(std::span<const double> r, std::span<double> du) const;
    /// Adds W r to the generalised forces f.
    void forces(const model::Terms& terms, std::span<const double> r, std::span<double> f) const;

    solvers::FrictionProblem problem;  ///< W is filled by assemble, q by the caller

private:
    void clear_columns();

    const model::Layout& layout_;
    std::vector<int> rows_, first_{0};
    std::vector<double> inverse_w_;          // M⁻¹ W, n numbers for each row; zero outside of its coordinates
    std::vector<int> body_of_;               // block of M of each coordinate
    std::vector<std::vector<int>> bodies_;   // of each row of the model: blocks of M that it touches
    std::vector<std::vector<int>> touched_;  // of each row of the model: their coordinates
    std::vector<int> filled_;                // rows whose columns are filled
    bool full_ = false;                      // all coordinates of the columns can be different from zero
    std::vector<std::vector<int>> of_body_;  // scratch: blocks of rows at each block of M
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
