// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/standard_form.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

constexpr double pivot_threshold = 1e-13;  // smallest pivot, relative to the largest entry of the matrix

}  // namespace

double StandardForm::origin(int i) const {
    return std::isfinite(problem_.lower[i]) ? problem_.lower[i] : problem_.upper[i];
}
double StandardForm::direction(int i) const { return std::isfinite(problem_.lower[i]) ? 1.0 : -1.0; }
bool StandardForm::is_free(int i) const {
    return !std::isfinite(problem_.lower[i]) && !std::isfinite(problem_.upper[i]);
}

/// Decides what must be done; also counts the free unknowns.
StandardForm::Way StandardForm::way_of(const BoundedView& p) {
    free_ = 0;
    if (p.lower == nullptr) return Way::none;
    bool shifted = false, rebuilt = false;
    for (int i = 0; i < p.n; ++i) {
        free_ += is_free(i) ? 1 : 0;
        shifted = shifted || p.lower[i] != 0.0;
        rebuilt = rebuilt || !std::isfinite(p.lower[i]) || p.lower[i] == p.upper[i];
    }
    return rebuilt ? Way::eliminated : shifted ? Way::shifted : Way::none;
}

bool StandardForm::reduce(const BoundedView& p, double* numbers, int* integers) {
    problem_ = reduced_ = p;
    reduced_.lower = nullptr;
    way_ = way_of(p);
    if (way_ == Way::none) return true;
    double* const q = numbers;
    double* const upper = q + p.rows();
    shift(q, upper);
    reduced_.q = q;
    reduced_.upper = upper;
    if (way_ == Way::shifted) return true;
    set_order(integers);
    if (eliminate_free(q, upper, upper + p.n)) return true;
    way_ = Way::exchanged;
    return exchange_free(q, upper, upper + p.n, integers + 2 * p.n + p.extra);
}

/// q ← q + M · origins, and the upper bounds of y.
void StandardForm::shift(double* q, double* upper) const {
    const BoundedView& p = problem_;
    std::copy_n(p.q, p.rows(), q);
    for (int j = 0; j < p.n; ++j) {
        upper[j] = p.upper[j] - p.lower[j];  // infinite if one of them is
        if (is_free(j)) continue;
        if (const double z = origin(j); z != 0.0)
            add_columns(p.rows(), 1, p.M + static_cast<std::ptrdiff_t>(j) * p.rows(), &z, q);
    }
}

/// Sets order_, row_, kept_ and turned_.
void StandardForm::set_order(int* order) {
    const BoundedView& p = problem_;
    int next_free = 0, next = free_, last = p.n;
    turned_ = false;
    for (int i = 0; i < p.n; ++i) {
        if (is_free(i))
            order[next_free++] = i;
        else if (p.lower[i] == p.upper[i])
            order[--last] = i;
        else
            order[next++] = i;
        turned_ = turned_ || (!std::isfinite(p.lower[i]) && std::isfinite(p.upper[i]));
    }
    order_ = order;
    kept_ = last;
    row_ = order + p.n;
    for (int a = 0; a < kept_ + p.extra; ++a)
        row_[a] = p.extra == 0 ? order_[a] : a < free_ + p.extra ? a : order_[a - p.extra] + p.extra;
}

/// Writes the matrix in the new order, with the signs of the directions, and q as its last column.
void StandardForm::fill(const double* q, double* A, int row_stride, int column_stride) const {
    const int all = kept_ + problem_.extra, equations = free_ + problem_.extra;
    for (int b = 0; b <= kept_; ++b) {
        const double* const from =
            b < kept_ ? problem_.M + static_cast<std::ptrdiff_t>(order_[b]) * problem_.rows() : q;
        double* const to = A + static_cast<std::ptrdiff_t>(b) * column_stride;
        for (int a = 0; a < all; ++a) to[static_cast<std::ptrdiff_t>(a) * row_stride] = from[row_[a]];
        if (!turned_) continue;
        const double side = b < free_ || b == kept_ ? 1.0 : direction(order_[b]);
        for (int a = 0; a < all; ++a)
            to[static_cast<std::ptrdiff_t>(a) * row_stride] *=
                a < equations ? side : side * direction(order_[a - problem_.extra]);
    }
}

/// Gauss elimination of the free unknowns by the equations:
///     [ A_ff A_fy a_f ]      [ U C a ]
///     [ A_yf A_yy a_y ]  →   [ 0 S s ],     w = S y + s.
/// False if the equations are singular in the free unknowns.
bool StandardForm::eliminate_free(const double* q, const double* upper, double* rows) {
    const int extra = problem_.extra, equations = free_ + extra, all = kept_ + extra, stride = kept_ + 1;
    const int m = kept_ - free_;
    rows_ = rows;
    fill(q, rows, stride, 1);
    const double smallest_pivot = pivot_threshold * largest_of(problem_.M, problem_.n * problem_.rows());
    if (!eliminate(rows, all, stride, stride, free_, equations, smallest_pivot)) return false;
    double* const S = rows + static_cast<std::ptrdiff_t>(all) * stride;
    double* const s = S + static_cast<std::ptrdiff_t>(m) * m;
    double* const bound = s + m;
    for (int a = 0; a < m; ++a) {
        const double* const row = rows + static_cast<std::ptrdiff_t>(equations + a) * stride;
        for (int b = 0; b < m; ++b) S[static_cast<std::ptrdiff_t>(b) * m + a] = row[free_ + b];
        s[a] = row[kept_];
        bound[a] = upper[order_[free_ + a]];
    }
    reduced_ = {m, S, s, nullptr, bound};
    return true;
}

/// Exchanges the basic unknown of row r and the nonbasic one of column c.
void StandardForm::swap(int r, int c) {
    exchange(T_, padded(kept_), kept_ + 1, r, c);
    std::swap(basic_[r], nonbasic_[c]);
    where_[basic_[r]] = -1 - r;
    where_[nonbasic_[c]] = c;
}

/// The same in a tableau, for equations that are singular in the free unknowns. First free unknowns are exchanged with
/// equations, as long as there are pivots. A free unknown that is left over appears in no equation any more; it is
/// exchanged with the w of a pair (w, z), and that z with an equation. The pair has then exchanged its roles.
bool StandardForm::exchange_free(const double* q, const double* upper, double* T, int* integers) {
    if (problem_.extra > 0) return false;
    T_ = T;
    basic_ = integers;
    nonbasic_ = basic_ + kept_;
    where_ = nonbasic_ + kept_;
    const int rows = padded(kept_);
    std::fill_n(T, static_cast<std::ptrdiff_t>(kept_ + 1) * rows, 0.0);
    fill(q, T, 1, rows);
    for (int a = 0; a < kept_; ++a) {
        basic_[a] = a;
        nonbasic_[a] = kept_ + a;
        where_[a] = -1 - a;
        where_[kept_ + a] = a;
    }
    const double smallest_pivot = pivot_threshold * largest_of(T, kept_ * rows);
    exchange_with_equations(smallest_pivot);
    if (!exchange_pairs(smallest_pivot)) return false;
    read_reduced(upper);
    return true;
}

/// Exchanges free unknowns with equations, the largest pivot first.
void StandardForm::exchange_with_equations(double smallest_pivot) {
    const int rows = padded(kept_);
    for (;;) {
        double largest = smallest_pivot;
        int r = -1, c = -1;
        for (int b = 0; b < kept_; ++b) {
            if (nonbasic_[b] < kept_ || nonbasic_[b] >= kept_ + free_) continue;
            for (int a = 0; a < kept_; ++a)
                if (const double size = std::abs(T_[static_cast<std::ptrdiff_t>(b) * rows + a]);
                    basic_[a] < free_ && size > largest)
                    largest = size, r = a, c = b;
        }
        if (r < 0) break;
        swap(r, c);
    }
}

/// The reduced problem from the tableau: one basic and one nonbasic unknown of each complementary pair.
void StandardForm::read_reduced(const double* upper) {
    const int rows = padded(kept_), m = kept_ - free_;
    const double* const right = T_ + static_cast<std::ptrdiff_t>(kept_) * rows;
    double* const S = T_ + static_cast<std::ptrdiff_t>(kept_ + 1) * rows;
    double* const s = S + static_cast<std::ptrdiff_t>(m) * m;
    double* const bound = s + m;
    const auto basic_row = [&](int a) {  // of the basic unknown of pair a
        const int w = where_[free_ + a], z = where_[kept_ + free_ + a];
        return -1 - (w < 0 ? w : z);
    };
    const auto nonbasic_column = [&](int a) {  // of the other one
        const int w = where_[free_ + a], z = where_[kept_ + free_ + a];
        return w < 0 ? z : w;
    };
    for (int a = 0; a < m; ++a) {
        const int row = basic_row(a);
        for (int b = 0; b < m; ++b)
            S[static_cast<std::ptrdiff_t>(b) * m + a] =
                T_[static_cast<std::ptrdiff_t>(nonbasic_column(b)) * rows + row];
        s[a] = right[row];
        bound[a] = upper[order_[free_ + a]];
    }
    reduced_ = {m, S, s, nullptr, bound};
}

/// Exchanges each free unknown that is left over by way of a complementary pair. The pair and the equation are chosen
/// such that the smaller of the two pivots is as large as possible. False if there are none.
bool StandardForm::exchange_pairs(double smallest_pivot) {
    const int rows = padded(kept_);
    for (int f = 0; f < free_; ++f) {
        const int c = where_[kept_ + f];
        if (c < 0) continue;
        double largest = 0.0;
        int best = -1, best_equation = -1;
        for (int pair = free_; pair < kept_; ++pair) {
            // Pairs that have exchanged their roles already, and pairs with an upper bound, are not available.
            if (where_[pair] >= 0 || std::isfinite(problem_.upper[order_[pair]])) continue;
            const double first = std::abs(T_[static_cast<std::ptrdiff_t>(c) * rows - 1 - where_[pair]]);
            for (int e = 0; e < free_; ++e) {
                if (where_[e] >= 0) continue;
                const double second =
                    std::abs(T_[static_cast<std::ptrdiff_t>(where_[kept_ + pair]) * rows - 1 - where_[e]]);
                if (const double size = std::min(first, second); size > largest)
                    largest = size, best = pair, best_equation = e;
            }
        }
        if (!(largest > smallest_pivot)) return false;
        swap(-1 - where_[best], c);
        swap(-1 - where_[best_equation], where_[kept_ + best]);
    }
    return true;
}

void StandardForm::expand(const double* y, double* z) const {
    const int n = problem_.n;
    if (way_ == Way::none) {
        std::copy_n(y, n, z);
        return;
    }
    if (way_ == Way::shifted) {
        for (int i = 0; i < n; ++i) z[i] = std::min(problem_.lower[i] + y[i], problem_.upper[i]);
        return;
    }
    for (int i = kept_; i < n; ++i) z[order_[i]] = problem_.lower[order_[i]];
    if (way_ == Way::eliminated)
        expand_eliminated(y, z);
    else
        expand_exchanged(y, z);
}

/// Sets the unknown at position a of the order from its value: z itself if it is free, else y.
void StandardForm::put(int a, double value, double* z) const {
    const int i = order_[a];
    z[i] = a < free_ ? value : std::clamp(origin(i) + direction(i) * value, problem_.lower[i], problem_.upper[i]);
}

/// Free unknowns by back substitution: U z_free = −(C y + a).
void StandardForm::expand_eliminated(const double* y, double* z) const {
    const int m = reduced_.n;
    for (int b = 0; b < m; ++b) put(free_ + b, y[b], z);
    for (int a = free_ - 1; a >= 0; --a) {
        const double* const row = rows_ + static_cast<std::ptrdiff_t>(a) * (kept_ + 1);
        double sum = row[kept_];
        for (int b = a + 1; b < free_; ++b) sum += row[b] * z[order_[b]];
        for (int b = 0; b < m; ++b) sum += row[free_ + b] * y[b];
        z[order_[a]] = -sum / row[a];
    }
}

/// Nonbasic unknowns are y; basic ones are their row of the tableau times y.
void StandardForm::expand_exchanged(const double* y, double* z) const {
    const int m = reduced_.n;
    for (int a = 0; a < kept_; ++a) {
        const int at = where_[kept_ + a];
        if (at >= 0) {
            put(a, y[a - free_], z);
            continue;
        }
        const int row = -1 - at;
        double sum = T_[static_cast<std::ptrdiff_t>(kept_) * padded(kept_) + row];
        for (int b = 0; b < m; ++b) {
            const int w = where_[free_ + b];
            const int column = w >= 0 ? w : where_[kept_ + free_ + b];
            sum += T_[static_cast<std::ptrdiff_t>(column) * padded(kept_) + row] * y[b];
        }
        put(a, sum, z);
    }
}

}  // namespace saltus::solvers
