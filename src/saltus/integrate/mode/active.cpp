// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/active.hpp"

#include <algorithm>

#include "saltus/base/index.hpp"

namespace saltus::integrate {

ActiveRows::ActiveRows(const model::Layout& layout, const model::MassFactor& mass)
    : layout_(layout), body_of_(ix(layout.coordinates), 0) {
    for (std::size_t b = 0; b < mass.blocks().size(); ++b)
        for (const int c : mass.blocks()[b]) body_of_[ix(c)] = static_cast<int>(b);
    const model::Pattern& W = layout.rows;
    for (int r = 0; r < W.rows; ++r) {
        std::vector<int>& bodies = bodies_.emplace_back();
        for (int e = W.start[ix(r)]; e < W.start[ix(r) + 1]; ++e) bodies.push_back(body_of_[ix(W.column[ix(e)])]);
        std::sort(bodies.begin(), bodies.end());
        bodies.erase(std::unique(bodies.begin(), bodies.end()), bodies.end());
        std::vector<int>& touched = touched_.emplace_back();
        for (const int b : bodies)
            touched.insert(touched.end(), mass.blocks()[ix(b)].begin(), mass.blocks()[ix(b)].end());
    }
}

void ActiveRows::clear_columns() {
    const auto n = ix(layout_.coordinates);
    if (full_) {
        std::fill(inverse_w_.begin(), inverse_w_.end(), 0.0);
        return;
    }
    for (std::size_t k = 0; k < filled_.size(); ++k)
        for (const int c : touched_[ix(filled_[k])]) inverse_w_[k * n + ix(c)] = 0.0;
}

void ActiveRows::clear() {
    rows_.clear();
    first_.assign(1, 0);
    problem.laws.clear();
}

int ActiveRows::add(std::span<const int> rows, const solvers::Law& law) {
    rows_.insert(rows_.end(), rows.begin(), rows.end());
    first_.push_back(static_cast<int>(rows_.size()));
    problem.laws.push_back(law);
    return static_cast<int>(problem.laws.size()) - 1;
}

void ActiveRows::assemble_dense(const model::Terms& terms, std::vector<double>& D) const {
    const model::Pattern& W = layout_.rows;
    const auto n = ix(layout_.coordinates);
    const std::size_t m = rows_.size();
    D.resize(m * m);
    for (std::size_t i = 0; i < m; ++i)
        for (std::size_t j = 0; j < m; ++j)
            D[i * m + j] = model::row_dot(W, terms.W, rows_[i], {inverse_w_.data() + j * n, n});
}

void ActiveRows::assemble_matrix(const model::Terms& terms, bool by_bodies) {
    const model::Pattern& W = layout_.rows;
    const auto n = ix(layout_.coordinates);
    // With at most this many blocks all of D is stored: the search for pairs without a common body costs more than it
    // saves.
    constexpr int max_blocks_full = 16;
    const int blocks = this->blocks();
    const bool all = blocks <= max_blocks_full || !by_bodies;
    if (!all) {
        of_body_.resize(n);
        for (std::vector<int>& list : of_body_) list.clear();
        for (int a = 0; a < blocks; ++a)
            for (int k = first_[ix(a)]; k < first_[ix(a) + 1]; ++k)
                for (int e = W.start[ix(rows_[ix(k)])]; e < W.start[ix(rows_[ix(k)]) + 1]; ++e)
                    of_body_[ix(body_of_[ix(W.column[ix(e)])])].push_back(a);
    }
    solvers::BlockMatrix& D = problem.W;
    D.start.assign(first_.begin(), first_.end());
    D.row_start.assign(1, 0);
    D.block_column.clear();
    D.offset.clear();
    D.values.clear();
    for (int a = 0; a < blocks; ++a) {
        columns_.clear();
        if (all) {
            for (int b = 0; b < blocks; ++b) columns_.push_back(b);
        } else {
            for (int k = D.start[ix(a)]; k < D.start[ix(a) + 1]; ++k)
                for (int e = W.start[ix(rows_[ix(k)])]; e < W.start[ix(rows_[ix(k)]) + 1]; ++e) {
                    const auto& list = of_body_[ix(body_of_[ix(W.column[ix(e)])])];
                    columns_.insert(columns_.end(), list.begin(), list.end());
                }
            columns_.push_back(a);
            std::sort(columns_.begin(), columns_.end());
            columns_.erase(std::unique(columns_.begin(), columns_.end()), columns_.end());
        }
        for (const int b : columns_) {
            D.block_column.push_back(b);
            D.offset.push_back(D.values.size());
            for (int i = D.start[ix(a)]; i < D.start[ix(a) + 1]; ++i)
                for (int j = D.start[ix(b)]; j < D.start[ix(b) + 1]; ++j)
                    D.values.push_back(model::row_dot(W, terms.W, rows_[ix(i)], {inverse_w_.data() + ix(j) * n, n}));
        }
        D.row_start.push_back(static_cast<int>(D.block_column.size()));
    }
    problem.q.assign(rows_.size(), 0.0);
}

void ActiveRows::velocity_change(std::span<const double> r, std::span<double> du) const {
    const auto n = ix(layout_.coordinates);
    std::fill(du.begin(), du.end(), 0.0);
    for (std::size_t k = 0; k < rows_.size(); ++k) {
        if (r[k] == 0.0) continue;
        const double* const column = inverse_w_.data() + k * n;
        if (full_)
            for (std::size_t i = 0; i < n; ++i) du[i] += r[k] * column[i];
        else
            for (const int c : touched_[ix(rows_[k])]) du[ix(c)] += r[k] * column[c];
    }
}

void ActiveRows::forces(const model::Terms& terms, std::span<const double> r, std::span<double> f) const {
    const model::Pattern& W = layout_.rows;
    for (std::size_t k = 0; k < rows_.size(); ++k)
        for (int e = W.start[ix(rows_[k])]; e < W.start[ix(rows_[k]) + 1]; ++e)
            f[ix(W.column[ix(e)])] += terms.W[ix(e)] * r[k];
}

}  // namespace saltus::integrate
