// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "saltus/base/linalg.hpp"

// Orthogonal bases, singular values and eigenvalues. Eigen's templates for them take seconds to compile; they are
// instantiated in decompositions.cpp alone.

namespace saltus {

/// Orthonormal basis of the span of A's columns. A pivot counts as zero if it is <= `tolerance` times the largest.
Matrix orthonormal_range(const Matrix& A, double tolerance);
/// A = Q R of a matrix with at least as many rows as columns: Q is square and orthogonal.
struct OrthogonalFactors {
    Matrix Q;
    Vector diagonal;  ///< the diagonal of R
};
OrthogonalFactors orthogonal_factors(const Matrix& A);
/// The columns of A, those first that are farthest from the span of the columns chosen before them.
std::vector<int> columns_by_independence(const Matrix& A);
/// Solution of A x = b in the sense of least squares, by an orthogonal decomposition with column pivoting.
Vector orthogonal_solve(const Matrix& A, const Vector& b);
Matrix orthogonal_solve_columns(const Matrix& A, const Matrix& B);

/// A = U diag(values) Vᵀ with values that do not increase.
struct SingularParts {
    Matrix U;
    Vector values;
    Matrix V;
};
enum class SingularBases { thin, full };  ///< as many vectors as values, or square matrices U and V
SingularParts singular_parts(const Matrix& A, SingularBases bases);

/// A v = w M v with a symmetric A and a symmetric positive definite M; VᵀMV = I. Only lower triangles are read.
struct SymmetricPencil {
    bool solved = false;
    Vector values;   ///< ascending
    Matrix vectors;  ///< columns
};
SymmetricPencil symmetric_pencil(const Matrix& A, const Matrix& M);

/// Solutions of A x = b of least ‖x‖ in the sense of least squares, for several b. A may have any shape and rank.
class OrthogonalDecomposition {
public:
    /// A pivot counts as zero if it is <= `tolerance` times the largest; 0 selects Eigen's default, which is of the
    /// size of the rounding errors.
    explicit OrthogonalDecomposition(const Matrix& A, double tolerance = 0.0);
    Vector solve(const Vector& b) const;

private:
    struct Factors;
    std::shared_ptr<const Factors> factors_;
};

}  // namespace saltus
