// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace saltus::solvers {

/// A −= L U for a few rows at a time: L is m × k (row-major, stride ld_l), U k × n (stride ld_u), A m × n (stride
/// ld_a), with m and k the size of a contact and n as long as it comes. Every element is reduced in the same order on
/// every processor, so that the result does not depend on its vector unit.
void subtract_panel(int m, int k, int n, const double* L, int ld_l, const double* U, int ld_u, double* A, int ld_a);

/// Gauss elimination of the first `steps` columns of a matrix, row-major, with row pivots among the first `pivot_rows`
/// rows; the part below the diagonal is left as it comes. False when a pivot is not larger than `nothing`.
bool eliminate(double* A, int rows, int columns, int stride, int steps, int pivot_rows, double nothing);

/// Rows of a tableau whose columns can be taken four numbers at a time: n and up to three of zeros.
constexpr int padded(int n) { return (n + 3) & ~3; }

/// The tableau of x = T y after x_r and y_c have changed places; column-major with `padded` rows, and as many columns
/// as it has, those of right sides included. T_rc must not be 0.
void exchange(double* T, int padded_rows, int columns, int r, int c);
/// The same; entries that are less than `rounding` of what they were become zero.
void exchange(double* T, int padded_rows, int columns, int r, int c, double rounding);

/// y += A x for columns of n numbers.
void add_columns(int n, int columns, const double* A, const double* x, double* y);

double largest_of(const double* x, int n);  ///< max |x|

}  // namespace saltus::solvers
