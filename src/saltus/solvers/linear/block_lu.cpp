// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/linear/block_lu.hpp"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

/// A pivot of a diagonal block counts as zero below this share of the block's largest element. It is far below
/// rounding: nearly singular blocks are factorised, and the caller's residual check decides.
constexpr double smallest_pivot = std::numeric_limits<double>::epsilon() * 1e-3;

/// The product by its formula. The operator of std::complex also treats infinite numbers, which costs a call.
double times(double a, double b) { return a * b; }
std::complex<double> times(std::complex<double> a, std::complex<double> b) {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// A −= L U; `turned` is scratch memory for complex numbers.
void subtract(int m, int k, int n, const double* L, int ld_l, const double* U, int ld_u, double* A, int ld_a,
              std::vector<double>& /*turned*/) {
    subtract_panel(m, k, n, L, ld_l, U, ld_u, A, ld_a);
}
/// With u = a + ib and l = c + id the real and imaginary parts of l u are c (a, b) + d (−b, a). Hence the product of
/// complex matrices is that of real ones, if each row of U is followed by the row i U.
void subtract(int m, int k, int n, const std::complex<double>* L, int ld_l, const std::complex<double>* U, int ld_u,
              std::complex<double>* A, int ld_a, std::vector<double>& turned) {
    turned.resize(std::max(turned.size(), 4 * ix(k) * ix(n)));
    for (int l = 0; l < k; ++l) {
        double* const row = turned.data() + 4 * ix(l) * ix(n);
        for (int j = 0; j < n; ++j) {
            const std::complex<double> u = U[l * ld_u + j];
            row[2 * j] = u.real(), row[2 * j + 1] = u.imag();
            row[2 * n + 2 * j] = -u.imag(), row[2 * n + 2 * j + 1] = u.real();
        }
    }
    subtract_panel(m, 2 * k, 2 * n, reinterpret_cast<const double*>(L), 2 * ld_l, turned.data(), 2 * n,
                   reinterpret_cast<double*>(A), 2 * ld_a);
}

/// B = A⁻¹ by Gauss–Jordan elimination with row pivots; A is destroyed. False if A is singular.
template <class Scalar>
bool invert(Scalar* A, Scalar* B, int n) {
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
        const Scalar f = 1.0 / A[k * n + k];
        for (int j = 0; j < n; ++j) {
            A[k * n + j] = times(A[k * n + j], f);
            B[k * n + j] = times(B[k * n + j], f);
        }
        for (int i = 0; i < n; ++i) {
            if (i == k) continue;
            const Scalar g = A[i * n + k];
            if (g == 0.0) continue;
            for (int j = 0; j < n; ++j) {
                A[i * n + j] -= times(g, A[k * n + j]);
                B[i * n + j] -= times(g, B[k * n + j]);
            }
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

template <class Scalar>
bool BasicBlockLU<Scalar>::same_pattern(const BlockMatrix& W, std::span<const std::pair<int, int>> extra) const {
    return seen_start_ == W.start && seen_row_start_ == W.row_start && seen_column_ == W.block_column &&
           std::equal(extra.begin(), extra.end(), seen_extra_.begin(), seen_extra_.end());
}

template <class Scalar>
bool BasicBlockLU<Scalar>::analyse(const BlockMatrix& W, std::span<const std::pair<int, int>> extra,
                                   double max_numbers) {
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
template <class Scalar>
bool BasicBlockLU<Scalar>::symbolic_factors(const Columns& neighbours, double max_numbers, Columns& below) {
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
template <class Scalar>
void BasicBlockLU<Scalar>::lay_out_panels(const Columns& below) {
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
    const int widest = n > 0 ? *std::max_element(width_.begin(), width_.end()) : 0;
    scratch_.assign(ix(largest) * ix(largest) + ix(largest), 0.0);
    turned_.assign(4 * ix(largest) * ix(widest), 0.0);
}

template <class Scalar>
int BasicBlockLU<Scalar>::find(int i, int j) const {
    const auto first = column_.begin() + row_start_[ix(i)], last = column_.begin() + row_start_[ix(i) + 1];
    const auto found = std::lower_bound(first, last, j);
    SALTUS_EXPECT(found != last && *found == j);
    return static_cast<int>(found - column_.begin());
}

template <class Scalar>
typename BasicBlockLU<Scalar>::View BasicBlockLU<Scalar>::view(int row, int entry) {
    return {values_.data() + panel_[ix(row)] + shift_[ix(entry)], width_[ix(row)]};
}

template <class Scalar>
void BasicBlockLU<Scalar>::clear() {
    std::fill(values_.begin(), values_.end(), 0.0);
    std::fill(identity_.begin(), identity_.end(), char{0});
}

template <class Scalar>
typename BasicBlockLU<Scalar>::View BasicBlockLU<Scalar>::at_entry(int entry) {
    return view(row_of_entry_[ix(entry)], of_entry_[ix(entry)]);
}

template <class Scalar>
typename BasicBlockLU<Scalar>::View BasicBlockLU<Scalar>::at(int a, int b) {
    const int i = new_of_[ix(a)];
    return view(i, a == b ? diagonal_[ix(i)] : find(i, new_of_[ix(b)]));
}

template <class Scalar>
void BasicBlockLU<Scalar>::make_identity(int a) {
    identity_[ix(new_of_[ix(a)])] = 1;
}

/// Eliminates block row i against the finished rows k < i and inverts its diagonal block D. With the inverted diagonal
/// D_k⁻¹ of row k:  L_ik = A_ik D_k⁻¹,  A_ij ← A_ij − L_ik U_kj for j > k.
template <class Scalar>
bool BasicBlockLU<Scalar>::eliminate(int i) {
    const int m = size_of(i), width = width_[ix(i)];
    Scalar* const panel = values_.data() + panel_[ix(i)];
    for (int e = row_start_[ix(i)]; e < row_start_[ix(i) + 1]; ++e) position_[ix(column_[ix(e)])] = e;
    for (int e = row_start_[ix(i)]; e < diagonal_[ix(i)]; ++e) {
        const int k = column_[ix(e)];
        if (identity_[ix(k)] != 0) continue;  // D_k = 1 and U_kj = 0: nothing changes
        const int s = size_of(k);
        Scalar* const L = panel + shift_[ix(e)];
        bool zero = true;
        Scalar* const old = scratch_.data();
        for (int r = 0; r < m; ++r)
            for (int c = 0; c < s; ++c) {
                old[r * s + c] = L[r * width + c];
                zero = zero && L[r * width + c] == 0.0;
            }
        if (zero) continue;
        // L ← A D⁻¹
        const Scalar* const inverse = inverse_.data() + inverse_at_[ix(k)];
        for (int r = 0; r < m; ++r)
            for (int c = 0; c < s; ++c) {
                Scalar sum{};
                for (int l = 0; l < s; ++l) sum += times(old[r * s + l], inverse[l * s + c]);
                L[r * width + c] = sum;
            }
        // Blocks that are neighbours in both rows are subtracted in one call.
        const Scalar* const pivot = values_.data() + panel_[ix(k)];
        const int last = row_start_[ix(k) + 1];
        for (int f = diagonal_[ix(k)] + 1; f < last;) {
            const int target = position_[ix(column_[ix(f)])];
            int run = 1;
            while (f + run < last && position_[ix(column_[ix(f + run)])] == target + run) ++run;
            const int end = f + run < last ? shift_[ix(f + run)] : width_[ix(k)];
            solvers::subtract(m, s, end - shift_[ix(f)], L, width, pivot + shift_[ix(f)], width_[ix(k)],
                              panel + shift_[ix(target)], width, turned_);
            f += run;
        }
    }
    Scalar* const D = scratch_.data();
    const Scalar* const own = panel + shift_[ix(diagonal_[ix(i)])];
    for (int r = 0; r < m; ++r) std::copy_n(own + r * width, m, D + r * m);
    return invert(D, inverse_.data() + inverse_at_[ix(i)], m);
}

template <class Scalar>
bool BasicBlockLU<Scalar>::factorise() {
    const int n = static_cast<int>(size_.size());
    for (int i = 0; i < n; ++i)
        if (identity_[ix(i)] == 0 && !eliminate(i)) return false;
    return true;
}

/// y −= the product of the entries [first, last) of block row i with x.
template <>
void BasicBlockLU<double>::subtract(int i, int first, int last, std::span<const double> x, double* y) {
    const int m = size_of(i), width = width_[ix(i)];
    for (int e = first; e < last; ++e) {
        const double* const A = values_.data() + panel_[ix(i)] + shift_[ix(e)];
        const double* const other = x.data() + start_[ix(old_of_[ix(column_[ix(e)])])];
        const int k = size_of(column_[ix(e)]);
        for (int r = 0; r < m; ++r) {
            double sum = 0.0;
            for (int c = 0; c < k; ++c) sum += A[r * width + c] * other[c];
            y[r] -= sum;
        }
    }
}
/// The parts of x lie far apart. They are collected first, so that the products run along whole rows. With a = c + id
/// and x = p + iq the real part of a x is that of the row (c, d) with (p, −q), the imaginary part that with (q, p).
template <>
void BasicBlockLU<std::complex<double>>::subtract(int i, int first, int last, std::span<const std::complex<double>> x,
                                                  std::complex<double>* y) {
    if (first == last) return;
    const int m = size_of(i), width = width_[ix(i)], from = shift_[ix(first)];
    double *const real = turned_.data(), *const imaginary = turned_.data() + 2 * width;
    int count = 0;
    for (int e = first; e < last; ++e) {
        const std::complex<double>* const other = x.data() + start_[ix(old_of_[ix(column_[ix(e)])])];
        for (int c = 0; c < size_of(column_[ix(e)]); ++c, count += 2) {
            real[count] = other[c].real(), real[count + 1] = -other[c].imag();
            imaginary[count] = other[c].imag(), imaginary[count + 1] = other[c].real();
        }
    }
    const auto* const A = reinterpret_cast<const double*>(values_.data() + panel_[ix(i)] + from);
    for (int r = 0; r < m; ++r) {
        const double* const row = A + 2 * r * width;
        y[r] -= std::complex<double>(dot(row, real, count), dot(row, imaginary, count));
    }
}

template <class Scalar>
void BasicBlockLU<Scalar>::solve(std::span<const Scalar> b, std::span<Scalar> x) {
    const int n = static_cast<int>(size_.size());
    const auto part = [&](int row) { return x.data() + start_[ix(old_of_[ix(row)])]; };
    std::copy(b.begin(), b.end(), x.begin());
    for (int i = 0; i < n; ++i)
        if (identity_[ix(i)] == 0) subtract(i, row_start_[ix(i)], diagonal_[ix(i)], x, part(i));
    for (int i = n - 1; i >= 0; --i) {
        if (identity_[ix(i)] != 0) continue;
        const int m = size_of(i);
        Scalar* const y = part(i);
        subtract(i, diagonal_[ix(i)] + 1, row_start_[ix(i) + 1], x, y);
        const Scalar* const inverse = inverse_.data() + inverse_at_[ix(i)];
        Scalar* const right = scratch_.data();
        std::copy_n(y, m, right);
        for (int r = 0; r < m; ++r) {
            Scalar sum{};
            for (int c = 0; c < m; ++c) sum += times(inverse[r * m + c], right[c]);
            y[r] = sum;
        }
    }
}

template class BasicBlockLU<double>;
template class BasicBlockLU<std::complex<double>>;

}  // namespace saltus::solvers
