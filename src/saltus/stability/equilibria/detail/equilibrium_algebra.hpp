// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/base/linalg.hpp"

namespace saltus::stability {

/// Lower bound of a divisor that may be 0: x/max(y, smallest_divisor) stays finite for x of ordinary size.
inline constexpr double smallest_divisor = 1e-300;

/// An orthonormal basis of the range of A, by columns. The columns of A are first scaled to unit length. A column whose
/// distance to the span of the others is at most `tolerance` does not count (pivoted QR).
Matrix range_of(const Matrix& A, double tolerance = 1e-10);

/// An orthonormal basis of the kernel { x : A x = 0 }, by columns (SVD). A singular value s counts as 0 if
/// s <= max(tolerance · s_max, least).
Matrix kernel_of(const Matrix& A, double tolerance = 1e-9, double least = 0.0);

/// Another basis of the same span that contains a unit matrix in some of its rows (reduced column echelon form).
/// Entries of at most `tolerance` are set to 0, so that directions along coordinates become exact. The columns of
/// `basis` must be independent.
Matrix reduced_basis(Matrix basis, double tolerance = 1e-10);

/// Singular values in descending order.
Vector singular_values(const Matrix& A);

struct Modes {
    bool found = false;  ///< false if M is not positive definite
    Vector values;       ///< eigenvalues, ascending
    Matrix vectors;      ///< eigenvectors by columns, xᵀMx = 1
};
/// The eigenproblem A x = λ M x of symmetric matrices.
Modes modes(const Matrix& A, const Matrix& M);

}  // namespace saltus::stability
