// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "saltus/base/linalg.hpp"

// Factors of square matrices that are used more than once. Eigen's templates for them take seconds to compile; they are
// instantiated in factors.cpp alone. decompositions.hpp has orthogonal bases, singular values and eigenvalues.

namespace saltus {

/// A = L Lᵀ of a symmetric matrix. Only the lower triangle of A is read.
class Cholesky {
public:
    explicit Cholesky(const Matrix& A);
    /// False if A is not positive definite to rounding; then the other functions give no useful numbers.
    bool positive_definite() const { return positive_definite_; }
    const Matrix& lower() const { return lower_; }      ///< L, with zeros above its diagonal
    Vector solve(const Vector& b) const;                ///< A⁻¹b
    Matrix solve_columns(const Matrix& B) const;        ///< A⁻¹B
    Vector solve_lower(const Vector& b) const;          ///< L⁻¹b
    Matrix solve_lower_columns(const Matrix& B) const;  ///< L⁻¹B
    Vector solve_upper(const Vector& b) const;          ///< L⁻ᵀb

private:
    Matrix lower_;
    bool positive_definite_ = false;
};

/// P A Q = L U with full pivoting, which shows the rank of A. A may have any shape.
class FullPivotLu {
public:
    /// A pivot counts as zero if it is <= `tolerance` times the largest; 0 selects Eigen's default, which is of the
    /// size of the rounding errors.
    explicit FullPivotLu(const Matrix& A, double tolerance = 0.0);
    int rank() const;
    bool invertible() const;                      ///< square and of full rank
    Vector solve(const Vector& b) const;          ///< x with A x = b, if there is one
    Matrix solve_columns(const Matrix& B) const;  ///< X with A X = B, if there is one
    Matrix inverse() const;                       ///< of an invertible A
    /// Row and column of A in which the first rank() pivots stand.
    std::vector<int> pivot_rows() const;
    std::vector<int> pivot_columns() const;

private:
    struct Factors;
    std::shared_ptr<const Factors> factors_;
};

/// The inverse of a square regular matrix. A singular one gives numbers that are not finite.
Matrix inverse(const Matrix& A);
double determinant(const Matrix& A);

}  // namespace saltus
