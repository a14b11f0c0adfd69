// SPDX-License-Identifier: Apache-2.0
#pragma once

// The inner loops of the linear algebra. Each element is computed with the same operations in the same order on every
// processor, so that results do not depend on the vector unit.

namespace saltus::solvers {

/// A −= L U. L is m × k, U is k × n, A is m × n, all row-major with the strides ld_l, ld_u, ld_a. m and k are the size
/// of a contact block; n is the length of a panel.
void subtract_panel(int m, int k, int n, const double* L, int ld_l, const double* U, int ld_u, double* A, int ld_a);

/// Gauss elimination of the first `steps` columns of a row-major matrix. Row pivots are taken from the first
/// `pivot_rows` rows. The elements below the diagonal are not cleared. Returns false if a pivot is not larger than
/// `smallest_pivot` in absolute value.
bool eliminate(double* A, int rows, int columns, int stride, int steps, int pivot_rows, double smallest_pivot);

/// Rows of a tableau column rounded up to a multiple of four, so that loops run over groups of four numbers. The
/// additional rows hold zeros.
constexpr int padded(int n) { return (n + 3) & ~3; }

/// Principal exchange in a tableau x = T y: x_r and y_c change places. T is column-major with `padded_rows` rows;
/// `columns` includes columns of right-hand sides. T_rc must not be 0. With p = T_rc the new tableau is
///     T_rc ← 1/p,   T_rj ← −T_rj/p,   T_ic ← T_ic/p,   T_ij ← T_ij − T_ic T_rj/p.
void exchange(double* T, int padded_rows, int columns, int r, int c);
/// The same. An entry whose new absolute value is at most `rounding` times the old one is set to zero.
void exchange(double* T, int padded_rows, int columns, int r, int c, double rounding);

/// y += A x. A is column-major with n rows.
void add_columns(int n, int columns, const double* A, const double* x, double* y);

double dot(const double* x, const double* y, int n);  ///< Σ x_i y_i

double largest_of(const double* x, int n);  ///< max |x_i|; 0 for n = 0

}  // namespace saltus::solvers
