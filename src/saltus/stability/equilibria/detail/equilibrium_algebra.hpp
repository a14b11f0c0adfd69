// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/base/linalg.hpp"

namespace saltus::stability {

/// Orthonormal columns that span those of A, which count at unit length each: one that is within `tolerance` of the
/// span of the others adds nothing.
Matrix range_of(const Matrix& A, double tolerance = 1e-10);

/// Orthonormal columns that span { x : A x = 0 }; singular values below `tolerance` of the largest, or below
/// `least`, count as 0.
Matrix kernel_of(const Matrix& A, double tolerance = 1e-9, double least = 0.0);

/// The same span with a unit matrix in as many rows as there are columns, and entries that are rounding set to 0:
/// directions along coordinates come out exactly so.
Matrix reduced_basis(Matrix basis, double tolerance = 1e-10);

/// Singular values, descending.
Vector singular_values(const Matrix& A);

struct Modes {
    bool found = false;  ///< M is positive definite
    Vector values;       ///< ascending
    Matrix vectors;      ///< columns, xᵀMx = 1
};
/// A x = λ M x, both symmetric.
Modes modes(const Matrix& A, const Matrix& M);

}  // namespace saltus::stability
