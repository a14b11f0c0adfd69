// SPDX-License-Identifier: Apache-2.0
//
// Small dense linear algebra of the judges: at most a dozen unknowns, clarity before speed.
#pragma once

#include <span>
#include <vector>

namespace trials {

using Vector = std::vector<double>;
using Matrix = std::vector<Vector>;  ///< rows

double dot(std::span<const double> a, std::span<const double> b);
double norm(std::span<const double> a);
Vector times(const Matrix& a, std::span<const double> x);
/// a + factor b
Vector plus(std::span<const double> a, std::span<const double> b, double factor = 1.0);

/// Solves A x = b by Gaussian elimination with row pivoting; an empty vector if A is singular to rounding.
Vector solve(Matrix a, Vector b);

/// min |A z - b| over z >= 0, for the columns of A (Lawson and Hanson).
Vector nonnegative_least_squares(const std::vector<Vector>& columns, std::span<const double> b);

}  // namespace trials
