// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/linear/block_lu.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

/// A pivot of a diagonal block counts as zero below this share of the block's largest element. It is far below
/// rounding: nearly singular blocks are factorised, and the caller's residual check decides.
constexpr double smallest_pivot = std::numeric_limits<double>::epsilon() * 1e-3;

/// B = A⁻¹ by Gauss–Jordan elimination with row pivots; A is destroyed. False if A is singular.
bool invert(double* A, double* B, int n) {
    double largest = 0.0;
    for (int i = 0; i < n * n; ++i) {
        B[i] = 0.0;
        largest = std::max(largest, std::abs(A[i]));
    }
    for (int i = 0; i < n; ++i) B[i * n + i] = 1.0;
    if (!(largest > 0.0) || !std::isfinite(largest)) return false;
    for (int k = 0; k < n; ++k) {
        int pivot = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(A[i * n + k]) > std::abs(A[pivot * n + k])) pivot = i;
        if (!(std::abs(A[pivot * n + k]) > smallest_pivot * largest)) return false;
        if (pivot != k)
            for (int j = 0; j < n; ++j) {
                std::swap(A[k * n + j], A[pivot * n + j]);
                std::swap(B[k * n + j], B[pivot * n + j]);
            }
        const double f = 1.0 / A[k * n + k];
        for (int j = 0; j < n; ++j) A[k * n + j] *= f, B[k * n + j] *= f;
        for (int i = 0; i < n; ++i) {
            if (i == k) continue;
            const double g = A[i * n + k];
            if (g == 0.0) continue;
            for (int j = 0; j < n; ++j) A[i * n + j] -= g * A[k * n + j], B[i * n + j] -= g * B[k * n + j];
        }
    }
    return true;
}

/// Fill-reducing order of the blocks (approximate minimum degree): the block eliminated at each position.
std::vector<int> elimination_order(int blocks, const std::vector<std::vector<int>>& neighbours) {
    std::vector<int> order(ix(blocks));
    if (blocks <= 2) {
        for (int a = 0; a < blocks; ++a) order[ix(a)] = a;
        return order;
    }
    std::vector<Eigen::Triplet<double>> entries;
    for (int a = 0; a < blocks; ++a) {
        entries.emplace_back(a, a, 1.0);
        for (const int b : neighbours[ix(a)]) entries.emplace_back(a, b, 1.0);
    }
    Eigen::SparseMatrix<double> pattern(blocks, blocks);
    pattern.setFromTriplets(entries.begin(), entries.end());
    Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, int> permutation;
    Eigen::AMDOrdering<int>()(pattern.selfadjointView<Eigen::Lower>(), permutation);
    for (int k = 0; k < blocks; ++k) order[ix(k)] = permutation.indices()(k);
    return order;
}

}  // namespace

namespace {

/// Blocks coupled to each block by W or `extra`, ascending, without the block itself.
std::vector<std::vector<int>> neighbours_of(const BlockMatrix& W, std::span<const std::pair<int, int>> extra) {
    const int n = W.blocks();
    std::vector<std::vector<int>> neighbours(ix(n));
    const auto join = [&](int a, int b) {
        if (a == b) return;
        neighbours[ix(a)].push_back(b);
        neighbours[ix(b)].push_back(a);
    };
    for (int a = 0; a < n; ++a)
        for (int e = W.row_start[ix(a)]; e < W.row_start[ix(a) + 1]; ++e) join(a, W.block_column[ix(e)]);
    for (const auto& [a, b] : extra) join(a, b);
    for (std::vector<int>& list : neighbours) {
        std::sort(list.begin(), list.end());
        list.erase(std::unique(list.begin(), list.end()), list.end());
    }
    return neighbours;
}

}  // namespace

bool BlockLU::same_pattern(const BlockMatrix& W, std::span<const std::pair<int, int>> extra) const {
    return seen_start_ == W.start && seen_row_start_ == W.row_start && seen_column_ == W.block_column &&
           std::equal(extra.begin(), extra.end(), seen_extra_.begin(), seen_extra_.end());
}

bool BlockLU::analyse(const BlockMatrix& W, std::span<const std::pair<int, int>> extra, double max_numbers) {
    if (same_pattern(W, extra) && (usable_ || numbers_ > max_numbers)) return numbers_ <= max_numbers;
    seen_start_ = W.start;
    seen_row_start_ = W.row_start;
    seen_column_ = W.block_column;
    seen_extra_.assign(extra.begin(), extra.end());
    usable_ = false;

    const int n = W.blocks();
    const Columns neighbours = neighbours_of(W, extra);
    old_of_ = elimination_order(n, neighbours);
    new_of_.assign(ix(n), 0);
    size_.assign(ix(n), 0);
    for (int k = 0; k < n; ++k) {
        new_of_[ix(old_of_[ix(k)])] = k;
        size_[ix(k)] = W.block_size(old_of_[ix(k)]);
    }
    start_ = W.start;
    Columns below(ix(n));
    if (!symbolic_factors(neighbours, max_numbers, below)) return false;
    lay_out_panels(below);
    usable_ = true;

    of_entry_.resize(W.block_column.size());
    row_of_entry_.resize(W.block_column.size());
    for (int a = 0; a < n; ++a)
        for (int e = W.row_start[ix(a)]; e < W.row_start[ix(a) + 1]; ++e) {
            of_entry_[ix(e)] = find(new_of_[ix(a)], new_of_[ix(W.block_column[ix(e)])]);
            row_of_entry_[ix(e)] = new_of_[ix(a)];
        }
    return true;
}

/// The pattern of each column k of L: its neighbours below k, and the rows of all columns whose first row below the
/// diagonal is k (the children of k in the elimination tree), because eliminating those fills them in. Counts numbers
/// and work; false if there are more than `max_numbers` numbers.
bool BlockLU::symbolic_factors(const Columns& neighbours, double max_numbers, Columns& below) {
    const int n = static_cast<int>(size_.size());
    Columns children(ix(n));
    numbers_ = 0.0;
    work_ = 0.0;
    std::vector<int> mark(ix(n), -1);
    for (int k = 0; k < n; ++k) {
        std::vector<int>& list = below[ix(k)];
        mark[ix(k)] = k;
        const auto take = [&](int row) {
            if (row > k && mark[ix(row)] != k) {
                mark[ix(row)] = k;
                list.push_back(row);
            }
        };
        for (const int b : neighbours[ix(old_of_[ix(k)])]) take(new_of_[ix(b)]);
        for (const int child : children[ix(k)])
            for (const int row : below[ix(child)]) take(row);
        std::sort(list.begin(), list.end());
        if (!list.empty()) children[ix(list.front())].push_back(k);
        double rows = 0.0;
        for (const int row : list) rows += size_of(row);
        numbers_ += size_of(k) * (size_of(k) + 2.0 * rows);
        work_ += size_of(k) * (rows + size_of(k)) * (rows + size_of(k));
        if (numbers_ > max_numbers) return false;
    }
    return true;
}

/// Memory of the factors: for each block row one panel with its blocks of L, the diagonal block and its blocks of U.
void BlockLU::lay_out_panels(const Columns& below) {
    const int n = static_cast<int>(size_.size());
    Columns before(ix(n));  // pattern of the block rows of L
    for (int k = 0; k < n; ++k)
        for (const int row : below[ix(k)]) before[ix(row)].push_back(k);

    row_start_.assign(1, 0);
    diagonal_.clear();
    column_.clear();
    shift_.clear();
    width_.clear();
    panel_.clear();
    inverse_at_.clear();
    std::size_t total = 0, inverses = 0;
    for (int i = 0; i < n; ++i) {
        int width = 0;
        const auto add = [&](int j) {
            column_.push_back(j);
            shift_.push_back(width);
            width += size_of(j);
        };
        for (const int k : before[ix(i)]) add(k);
        diagonal_.push_back(static_cast<int>(column_.size()));
        add(i);
        for (const int j : below[ix(i)]) add(j);
        row_start_.push_back(static_cast<int>(column_.size()));
        width_.push_back(width);
        panel_.push_back(total);
        inverse_at_.push_back(inverses);
        total += ix(width) * ix(size_of(i));
        inverses += ix(size_of(i)) * ix(size_of(i));
    }
    values_.assign(total, 0.0);
    inverse_.assign(inverses, 0.0);
    identity_.assign(ix(n), 0);
    position_.assign(ix(n), -1);
    const int largest = n > 0 ? *std::max_element(size_.begin(), size_.end()) : 0;
    scratch_.assign(ix(largest) * ix(largest) + ix(largest), 0.0);
}

int BlockLU::find(int i, int j) const {
    const auto first = column_.begin() + row_start_[ix(i)], last = column_.begin() + row_start_[ix(i) + 1];
    const auto found = std::lower_bound(first, last, j);
    SALTUS_EXPECT(found != last && *found == j);
    return static_cast<int>(found - column_.begin());
}

BlockLU::View BlockLU::view(int row, int entry) {
    return {values_.data() + panel_[ix(row)] + shift_[ix(entry)], width_[ix(row)]};
}

void BlockLU::clear() {
    std::fill(values_.begin(), values_.end(), 0.0);
    std::fill(identity_.begin(), identity_.end(), char{0});
}

BlockLU::View BlockLU::at_entry(int entry) { return view(row_of_entry_[ix(entry)], of_entry_[ix(entry)]); }

BlockLU::View BlockLU::at(int a, int b) {
    const int i = new_of_[ix(a)];
    return view(i, a == b ? diagonal_[ix(i)] : find(i, new_of_[ix(b)]));
}

void BlockLU::make_identity(int a) { identity_[ix(new_of_[ix(a)])] = 1; }

/// Eliminates block row i against the finished rows k < i and inverts its diagonal block D. With the inverted diagonal
/// D_k⁻¹ of row k:  L_ik = A_ik D_k⁻¹,  A_ij ← A_ij − L_ik U_kj for j > k.
bool BlockLU::eliminate(int i) {
    const int m = size_of(i), width = width_[ix(i)];
    double* const panel = values_.data() + panel_[ix(i)];
    for (int e = row_start_[ix(i)]; e < row_start_[ix(i) + 1]; ++e) position_[ix(column_[ix(e)])] = e;
    for (int e = row_start_[ix(i)]; e < diagonal_[ix(i)]; ++e) {
        const int k = column_[ix(e)];
        if (identity_[ix(k)] != 0) continue;  // D_k = 1 and U_kj = 0: nothing changes
        const int s = size_of(k);
        double* const L = panel + shift_[ix(e)];
        bool zero = true;
        double* const old = scratch_.data();
        for (int r = 0; r < m; ++r)
            for (int c = 0; c < s; ++c) {
                old[r * s + c] = L[r * width + c];
                zero = zero && L[r * width + c] == 0.0;
            }
        if (zero) continue;
        // L ← A D⁻¹
        const double* const inverse = inverse_.data() + inverse_at_[ix(k)];
        for (int r = 0; r < m; ++r)
            for (int c = 0; c < s; ++c) {
                double sum = 0.0;
                for (int l = 0; l < s; ++l) sum += old[r * s + l] * inverse[l * s + c];
                L[r * width + c] = sum;
            }
        // Blocks that are neighbours in both rows are subtracted in one call.
        const double* const pivot = values_.data() + panel_[ix(k)];
        const int last = row_start_[ix(k) + 1];
        for (int f = diagonal_[ix(k)] + 1; f < last;) {
            const int target = position_[ix(column_[ix(f)])];
            int run = 1;
            while (f + run < last && position_[ix(column_[ix(f + run)])] == target + run) ++run;
            const int end = f + run < last ? shift_[ix(f + run)] : width_[ix(k)];
            subtract_panel(m, s, end - shift_[ix(f)], L, width, pivot + shift_[ix(f)], width_[ix(k)],
                           panel + shift_[ix(target)], width);
            f += run;
        }
    }
    double* const D = scratch_.data();
    const double* const own = panel + shift_[ix(diagonal_[ix(i)])];
    for (int r = 0; r < m; ++r) std::copy_n(own + r * width, m, D + r * m);
    return invert(D, inverse_.data() + inverse_at_[ix(i)], m);
}

bool BlockLU::factorise() {
    const int n = static_cast<int>(size_.size());
    for (int i = 0; i < n; ++i)
        if (identity_[ix(i)] == 0 && !eliminate(i)) return false;
    return true;
}

void BlockLU::solve(std::span<const double> b, std::span<double> x) {
    const int n = static_cast<int>(size_.size());
    const auto part = [&](int row) { return x.data() + start_[ix(old_of_[ix(row)])]; };
    const auto subtract = [&](int i, int first, int last, double* y) {
        const int m = size_of(i), width = width_[ix(i)];
        for (int e = first; e < last; ++e) {
            const double* const A = values_.data() + panel_[ix(i)] + shift_[ix(e)];
            const double* const other = part(column_[ix(e)]);
            const int k = size_of(column_[ix(e)]);
            for (int r = 0; r < m; ++r) {
                double sum = 0.0;
                for (int c = 0; c < k; ++c) sum += A[r * width + c] * other[c];
                y[r] -= sum;
            }
        }
    };
    std::copy(b.begin(), b.end(), x.begin());
    for (int i = 0; i < n; ++i)
        if (identity_[ix(i)] == 0) subtract(i, row_start_[ix(i)], diagonal_[ix(i)], part(i));
    for (int i = n - 1; i >= 0; --i) {
        if (identity_[ix(i)] != 0) continue;
        const int m = size_of(i);
        double* const y = part(i);
        subtract(i, diagonal_[ix(i)] + 1, row_start_[ix(i) + 1], y);
        const double* const inverse = inverse_.data() + inverse_at_[ix(i)];
        double* const right = scratch_.data();
        std::copy_n(y, m, right);
        for (int r = 0; r < m; ++r) {
            double sum = 0.0;
            for (int c = 0; c < m; ++c) sum += inverse[r * m + c] * right[c];
            y[r] = sum;
        }
    }
}

}  // namespace saltus::solvers
