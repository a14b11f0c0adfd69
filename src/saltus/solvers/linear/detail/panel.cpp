// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/linear/detail/panel.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

// Compiles each loop for several vector units and chooses at run time. The project is built without contraction to
// fused multiply-adds (-ffp-contract=off), so all variants compute the same numbers.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define SALTUS_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SALTUS_WIDE
#endif

namespace saltus::solvers {

namespace {

/// A −= L U for 3 × 3 blocks L.
SALTUS_WIDE void subtract_3(int n, const double* __restrict L, int ld_l, const double* __restrict U, int ld_u,
                            double* __restrict A, int ld_a) {
    const double *const u0 = U, *const u1 = U + ld_u, *const u2 = U + 2 * ld_u;
    const double *const l0 = L, *const l1 = L + ld_l, *const l2 = L + 2 * ld_l;
    const double l00 = l0[0], l01 = l0[1], l02 = l0[2], l10 = l1[0], l11 = l1[1], l12 = l1[2], l20 = l2[0], l21 = l2[1],
                 l22 = l2[2];
    double* const __restrict a0 = A, * const __restrict a1 = A + ld_a, * const __restrict a2 = A + 2 * ld_a;
    for (int j = 0; j < n; ++j) {
        const double x = u0[j], y = u1[j], z = u2[j];
        a0[j] = ((a0[j] - l00 * x) - l01 * y) - l02 * z;
        a1[j] = ((a1[j] - l10 * x) - l11 * y) - l12 * z;
        a2[j] = ((a2[j] - l20 * x) - l21 * y) - l22 * z;
    }
}

/// A −= L U for 2 × 2 blocks L.
SALTUS_WIDE void subtract_2(int n, const double* __restrict L, int ld_l, const double* __restrict U, int ld_u,
                            double* __restrict A, int ld_a) {
    const double *const u0 = U, *const u1 = U + ld_u;
    for (int r = 0; r < 2; ++r) {
        const double l0 = L[r * ld_l], l1 = L[r * ld_l + 1];
        double* const a = A + r * ld_a;
        for (int j = 0; j < n; ++j) a[j] = (a[j] - l0 * u0[j]) - l1 * u1[j];
    }
}

SALTUS_WIDE void subtract_any(int m, int k, int n, const double* __restrict L, int ld_l, const double* __restrict U,
                              int ld_u, double* __restrict A, int ld_a) {
    for (int r = 0; r < m; ++r)
        for (int l = 0; l < k; ++l) {
            const double f = L[r * ld_l + l];
            const double* const u = U + l * ld_u;
            double* const a = A + r * ld_a;
            for (int j = 0; j < n; ++j) a[j] -= f * u[j];
        }
}

/// One elimination step: subtracts multiples of row k from the rows below, in the columns right of k.
SALTUS_WIDE void eliminate_below(double* A, int rows, int columns, int stride, int k) {
    const double* const __restrict pivot = A + static_cast<std::ptrdiff_t>(k) * stride;
    const double over = 1.0 / pivot[k];
    for (int i = k + 1; i < rows; ++i) {
        double* const __restrict a = A + static_cast<std::ptrdiff_t>(i) * stride;
        if (a[k] == 0.0) continue;
        const double f = a[k] * over;
        for (int j = k + 1; j < columns; ++j) a[j] -= f * pivot[j];
    }
}

/// a −= f x. The inner loop of four numbers is vectorised by every compiler.
inline void subtract_multiple(double* __restrict a, double f, const double* __restrict x, int padded_rows) {
    for (int k = 0; k < padded_rows; k += 4)
        for (int l = 0; l < 4; ++l) a[k + l] -= f * x[k + l];
}

/// The same; a result of at most `rounding` times the old value is set to zero.
inline void subtract_and_clean(double* __restrict a, double f, const double* __restrict x, int padded_rows,
                               double rounding) {
    for (int k = 0; k < padded_rows; k += 4)
        for (int l = 0; l < 4; ++l) {
            const double before = a[k + l], left = before - f * x[k + l];
            a[k + l] = std::abs(left) <= rounding * std::abs(before) ? 0.0 : left;
        }
}

/// The pivot column of an exchange: divided by the pivot, with 1/pivot in the pivot row.
inline void finish_exchange(double* own, int padded_rows, int r, double over) {
    for (int k = 0; k < padded_rows; k += 4)
        for (int l = 0; l < 4; ++l) own[k + l] *= over;
    own[r] = over;
}

SALTUS_WIDE void exchange_any(double* T, int padded_rows, int columns, int r, int c) {
    double* const own = T + static_cast<std::ptrdiff_t>(c) * padded_rows;
    const double over = 1.0 / own[r];
    double* column = T;
    for (int j = 0; j < columns; ++j, column += padded_rows) {
        const double f = column[r] * over;
        if (j == c || f == 0.0) continue;
        subtract_multiple(column, f, own, padded_rows);
        column[r] = -f;
    }
    finish_exchange(own, padded_rows, r, over);
}

// The same loop as exchange_any with the other inner operation. It is written out, because this is the inner loop of
// Lemke's method and the operation must be inlined into every variant of `target_clones`.
SALTUS_WIDE void exchange_clean(double* T, int padded_rows, int columns, int r, int c, double rounding) {
    double* const own = T + static_cast<std::ptrdiff_t>(c) * padded_rows;
    const double over = 1.0 / own[r];
    double* column = T;
    for (int j = 0; j < columns; ++j, column += padded_rows) {
        const double f = column[r] * over;
        if (j == c || f == 0.0) continue;
        subtract_and_clean(column, f, own, padded_rows, rounding);
        column[r] = -f;
    }
    finish_exchange(own, padded_rows, r, over);
}

/// y += A x, four columns at a time.
SALTUS_WIDE void add_any(int n, int columns, const double* __restrict A, const double* __restrict x,
                         double* __restrict y) {
    int j = 0;
    for (; j + 4 <= columns; j += 4, A += 4 * static_cast<std::ptrdiff_t>(n)) {
        const double *const a = A, *const b = A + n, *const c = A + 2 * n, *const d = A + 3 * n;
        const double xa = x[j], xb = x[j + 1], xc = x[j + 2], xd = x[j + 3];
        for (int i = 0; i < n; ++i) y[i] = (((y[i] + a[i] * xa) + b[i] * xb) + c[i] * xc) + d[i] * xd;
    }
    for (; j < columns; ++j, A += n)
        for (int i = 0; i < n; ++i) y[i] += A[i] * x[j];
}

/// Σ x_i y_i with eight independent sums.
SALTUS_WIDE double dot_any(const double* x, const double* y, int n) {
    double part[8] = {};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k) part[k] += x[i + k] * y[i + k];
    double sum = ((part[0] + part[1]) + (part[2] + part[3])) + ((part[4] + part[5]) + (part[6] + part[7]));
    for (; i < n; ++i) sum += x[i] * y[i];
    return sum;
}

/// max |x_i| with eight independent maxima.
SALTUS_WIDE double largest_any(const double* x, int n) {
    double part[8] = {};
    int i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; ++k) {
            const double size = std::abs(x[i + k]);
            part[k] = size > part[k] ? size : part[k];
        }
    double largest = 0.0;
    for (; i < n; ++i) largest = std::max(largest, std::abs(x[i]));
    for (const double size : part) largest = std::max(largest, size);
    return largest;
}

}  // namespace

bool eliminate(double* A, int rows, int columns, int stride, int steps, int pivot_rows, double smallest_pivot) {
    for (int k = 0; k < steps; ++k) {
        double* const column = A + k;
        int best = k;
        double largest = 0.0;
        for (int i = k; i < pivot_rows; ++i) {
            const double size = std::abs(column[static_cast<std::ptrdiff_t>(i) * stride]);
            if (size > largest) largest = size, best = i;
        }
        if (!(largest > smallest_pivot)) return false;
        if (best != k)
            std::swap_ranges(A + static_cast<std::ptrdiff_t>(k) * stride + k,
                             A + static_cast<std::ptrdiff_t>(k) * stride + columns,
                             A + static_cast<std::ptrdiff_t>(best) * stride + k);
        eliminate_below(A, rows, columns, stride, k);
    }
    return true;
}

void exchange(double* T, int padded_rows, int columns, int r, int c) { exchange_any(T, padded_rows, columns, r, c); }

void exchange(double* T, int padded_rows, int columns, int r, int c, double rounding) {
    exchange_clean(T, padded_rows, columns, r, c, rounding);
}

void add_columns(int n, int columns, const double* A, const double* x, double* y) { add_any(n, columns, A, x, y); }

double dot(const double* x, const double* y, int n) { return dot_any(x, y, n); }

double largest_of(const double* x, int n) { return largest_any(x, n); }

void subtract_panel(int m, int k, int n, const double* L, int ld_l, const double* U, int ld_u, double* A, int ld_a) {
    if (m % 3 == 0 && k % 3 == 0)
        for (int r = 0; r < m; r += 3)
            for (int l = 0; l < k; l += 3)
                subtract_3(n, L + r * ld_l + l, ld_l, U + l * ld_u, ld_u, A + r * ld_a, ld_a);
    else if (m == 2 && k == 2)
        subtract_2(n, L, ld_l, U, ld_u, A, ld_a);
    else
        subtract_any(m, k, n, L, ld_l, U, ld_u, A, ld_a);
}

}  // namespace saltus::solvers
