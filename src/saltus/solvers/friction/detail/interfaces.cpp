// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/friction/detail/interfaces.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/solvers/complementarity/detail/sequence.hpp"

namespace saltus::solvers {

namespace {

constexpr double dependent_share =
    1e-11;                          // a row depends on the pivots if its remaining diagonal is at most this share
constexpr double rounding = 1e-11;  // ‖W x − Θ w Θᵀx‖ <= rounding ‖W x‖ counts as equal
constexpr double largest_reduction = 0.8;  // the factorisation pays if w has at most this share of the rows of W

}  // namespace

void Interfaces::find_groups(const BlockMatrix& W) {
    const int n = W.blocks();
    const auto columns = [&](int a) {
        return std::span(W.block_column)
            .subspan(ix(W.row_start[ix(a)]), ix(W.row_start[ix(a) + 1] - W.row_start[ix(a)]));
    };
    // Blocks with the same neighbours become adjacent in order_, by ascending number among themselves.
    order_.resize(ix(n));
    for (int a = 0; a < n; ++a) order_[ix(a)] = a;
    std::sort(order_.begin(), order_.end(), [&](int a, int b) {
        const auto x = columns(a), y = columns(b);
        if (x.size() != y.size()) return x.size() < y.size();
        const auto [p, q] = std::mismatch(x.begin(), x.end(), y.begin());
        return p == x.end() ? a < b : *p < *q;
    });
    group_of_.assign(ix(n), -1);
    members_.clear();
    first_.assign(1, 0);
    for (std::size_t k = 0; k < order_.size();) {
        const auto own = columns(order_[k]);
        std::size_t end = k + 1;
        while (end < order_.size() && std::ranges::equal(own, columns(order_[end]))) ++end;
        // Blocks with the same neighbours form one interface only if they are neighbours of each other.
        const bool together = std::ranges::find(own, order_[k]) != own.end();
        for (std::size_t l = k; l < end; ++l) {
            group_of_[ix(order_[l])] = static_cast<int>(first_.size()) - 1;
            members_.push_back(order_[l]);
            if (!together || l + 1 == end) first_.push_back(static_cast<int>(members_.size()));
        }
        k = end;
    }
}

/// The independent rows P of one interface and its rows of Θ. The interface's own block of W, symmetrised, is
/// factorised as L Lᵀ with pivots until only dependent rows are left. With the pivot rows L_P of L the block is L Lᵀ =
/// (L L_P⁻¹)(L_P L_Pᵀ)(L L_P⁻¹)ᵀ, hence Θ = L L_P⁻¹.
bool Interfaces::choose_rows(const BlockMatrix& W, int group) {
    const std::span<const int> members = blocks(group);
    if (!gather_group(W, members)) return false;
    factorise_group();
    express_rows(W, members);
    w_.start.push_back(w_.start.back() + static_cast<int>(pivots_.size()));
    return !pivots_.empty();
}

/// The interface's block of W, symmetrised, into matrix_, and its diagonal into left_. False if a block is absent.
bool Interfaces::gather_group(const BlockMatrix& W, std::span<const int> members) {
    std::size_t m = 0;
    for (const int a : members) m += ix(W.block_size(a));
    matrix_.assign(m * m, 0.0);
    std::size_t row = 0;
    for (const int a : members) {
        const std::size_t rows = ix(W.block_size(a));
        std::size_t column = 0;
        for (const int b : members) {
            const std::size_t width = ix(W.block_size(b));
            const int entry = W.find(a, b);
            if (entry < 0) return false;
            const double* const value = W.values.data() + W.offset[ix(entry)];
            for (std::size_t i = 0; i < rows; ++i)
                for (std::size_t j = 0; j < width; ++j) {
                    matrix_[(row + i) * m + column + j] += 0.5 * value[i * width + j];
                    matrix_[(column + j) * m + row + i] += 0.5 * value[i * width + j];
                }
            column += width;
        }
        row += rows;
    }
    left_.resize(m);
    for (std::size_t i = 0; i < m; ++i) left_[i] = matrix_[i * m + i];
    return true;
}

/// Pivoted Cholesky factorisation. The pivot is the row that keeps the largest share of its diagonal.
void Interfaces::factorise_group() {
    const std::size_t m = left_.size();
    factor_.assign(m * m, 0.0);
    pivots_.clear();
    for (std::size_t k = 0; k < m; ++k) {
        std::size_t best = m;
        double largest_share = dependent_share;
        for (std::size_t i = 0; i < m; ++i)
            if (left_[i] > largest_share * matrix_[i * m + i]) largest_share = left_[i] / matrix_[i * m + i], best = i;
        if (best == m) break;
        double* const column = factor_.data() + k * m;
        std::copy_n(matrix_.data() + best * m, m, column);
        for (std::size_t l = 0; l < k; ++l) {
            const double f = factor_[l * m + best];
            for (std::size_t i = 0; i < m; ++i) column[i] -= f * factor_[l * m + i];
        }
        const double over = 1.0 / std::sqrt(left_[best]);
        for (std::size_t i = 0; i < m; ++i) {
            column[i] *= over;
            left_[i] -= column[i] * column[i];
        }
        for (const int p : pivots_) column[ix(p)] = 0.0;
        pivots_.push_back(static_cast<int>(best));
        left_[best] = 0.0;
    }
}

/// The rows θ of Θ from θ L_P = (row of L), by substitution from the last column. Records which rows are in P.
void Interfaces::express_rows(const BlockMatrix& W, std::span<const int> members) {
    const std::size_t m = left_.size(), rank = pivots_.size();
    std::size_t i = 0;
    for (const int a : members) {
        theta_at_[ix(a)] = theta_.size();
        chosen_[ix(a)].clear();
        for (int r = 0; r < W.block_size(a); ++r, ++i) {
            theta_.resize(theta_.size() + rank);
            double* const theta = theta_.data() + theta_.size() - rank;
            for (std::size_t k = rank; k-- > 0;) {
                double sum = factor_[k * m + i];
                for (std::size_t l = k + 1; l < rank; ++l) sum -= theta[l] * factor_[k * m + ix(pivots_[l])];
                theta[k] = sum / factor_[k * m + ix(pivots_[k])];
            }
            const auto found = std::ranges::find(pivots_, static_cast<int>(i));
            if (found != pivots_.end()) chosen_[ix(a)].push_back({r, static_cast<int>(found - pivots_.begin())});
        }
    }
}

/// w = W_PP: its pattern from the first block of each interface, its values from the rows and columns P of W.
void Interfaces::fill_reduced(const BlockMatrix& W) {
    const int groups = static_cast<int>(first_.size()) - 1;
    w_.row_start.assign(1, 0);
    w_.block_column.clear();
    w_.offset.clear();
    std::size_t values = 0;
    mark_.assign(ix(groups), -1);
    for (int g = 0; g < groups; ++g) {
        const int a = members_[ix(first_[ix(g)])];
        const auto begin = static_cast<std::ptrdiff_t>(w_.block_column.size());
        for (int e = W.row_start[ix(a)]; e < W.row_start[ix(a) + 1]; ++e)
            if (const int h = group_of_[ix(W.block_column[ix(e)])]; mark_[ix(h)] != g) {
                mark_[ix(h)] = g;
                w_.block_column.push_back(h);
            }
        std::sort(w_.block_column.begin() + begin, w_.block_column.end());
        for (std::size_t e = static_cast<std::size_t>(begin); e < w_.block_column.size(); ++e) {
            w_.offset.push_back(values);
            values += ix(w_.block_size(g)) * ix(w_.block_size(w_.block_column[e]));
        }
        w_.row_start.push_back(static_cast<int>(w_.block_column.size()));
    }
    w_.values.assign(values, 0.0);
    for (int g = 0; g < groups; ++g) {
        for (int e = w_.row_start[ix(g)]; e < w_.row_start[ix(g) + 1]; ++e) mark_[ix(w_.block_column[ix(e)])] = e;
        for (const int a : blocks(g))
            for (const Chosen& row : chosen_[ix(a)])
                for (int e = W.row_start[ix(a)]; e < W.row_start[ix(a) + 1]; ++e) {
                    const int b = W.block_column[ix(e)], h = group_of_[ix(b)];
                    const double* const from = W.values.data() + W.offset[ix(e)] + ix(row.row) * ix(W.block_size(b));
                    double* const to =
                        w_.values.data() + w_.offset[ix(mark_[ix(h)])] + ix(row.place) * ix(w_.block_size(h));
                    for (const Chosen& column : chosen_[ix(b)]) to[column.place] = from[column.row];
                }
    }
}

/// True if W x = Θ w Θᵀx to rounding for a pseudo-random x.
bool Interfaces::reproduces(const BlockMatrix& W) {
    Sequence random;
    probe_.resize(ix(W.rows()));
    image_.resize(ix(W.rows()));
    small_.assign(ix(w_.rows()), 0.0);
    small_image_.resize(ix(w_.rows()));
    for (double& x : probe_) x = 2.0 * random() - 1.0;
    W.multiply(probe_, image_);
    for (int a = 0; a < W.blocks(); ++a) {
        const int g = group_of_[ix(a)], rank = w_.block_size(g);
        const double* t = theta(a);
        for (int i = 0; i < W.block_size(a); ++i)
            for (int k = 0; k < rank; ++k) small_[ix(w_.start[ix(g)] + k)] += *t++ * probe_[ix(W.start[ix(a)] + i)];
    }
    w_.multiply(small_, small_image_);
    double size = 0.0, wrong = 0.0;
    for (int a = 0; a < W.blocks(); ++a) {
        const int g = group_of_[ix(a)], rank = w_.block_size(g);
        const double* t = theta(a);
        for (int i = W.start[ix(a)]; i < W.start[ix(a) + 1]; ++i) {
            double sum = image_[ix(i)];
            size += sum * sum;
            for (int k = 0; k < rank; ++k) sum -= *t++ * small_image_[ix(w_.start[ix(g)] + k)];
            wrong += sum * sum;
        }
    }
    return wrong <= rounding * rounding * size;
}

bool Interfaces::prepare(const BlockMatrix& W) {
    if (seen_start_ != W.start || seen_row_start_ != W.row_start || seen_column_ != W.block_column) {
        seen_start_ = W.start;
        seen_row_start_ = W.row_start;
        seen_column_ = W.block_column;
        find_groups(W);
    }
    const int groups = static_cast<int>(first_.size()) - 1;
    if (groups > largest_reduction * W.blocks()) return false;
    chosen_.resize(ix(W.blocks()));
    theta_at_.resize(ix(W.blocks()));
    theta_.clear();
    w_.start.assign(1, 0);
    for (int g = 0; g < groups; ++g)
        if (!choose_rows(W, g) || w_.rows() > largest_reduction * W.rows()) return false;
    fill_reduced(W);
    return reproduces(W);
}

}  // namespace saltus::solvers
