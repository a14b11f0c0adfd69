// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

// Matrix factorisations behind plain functions, so that their users do not compile Eigen's templates.

namespace saltus {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// Extreme eigenvalues of a symmetric matrix. Both are 0 and the direction is empty for a 0 × 0 matrix.
struct Spectrum {
    double smallest = 0.0, largest = 0.0;
    Vector smallest_direction;  ///< unit eigenvector of the smallest eigenvalue; its largest component is positive
};

/// Extreme eigenvalues of a symmetric matrix. Only the lower triangle of A is read.
Spectrum symmetric_spectrum(const Matrix& A);

/// Which rows of a matrix are linearly independent, and how the others depend on them.
struct RowRank {
    int rank = 0;
    std::vector<int> independent;  ///< rows that span the row space, ascending
    struct Dependent {
        int row;
        std::vector<std::pair<int, double>> combination;  ///< (k, factor): row = Σ factor · row k, k independent
    };
    std::vector<Dependent> dependent;  ///< all other rows, ascending; a zero row has an empty combination
};

/// Rank of the rows. Each row is scaled to unit length. A row is dependent if the part of it that is orthogonal to the
/// independent rows before it has a length <= `tolerance`. Hence the later one of two equal rows is dependent.
RowRank row_rank(const Matrix& rows, double tolerance = 1e-10);

/// The x of least ‖x‖ among the minimisers of ‖A x − b‖. A may have any shape and rank. A pivot of A's orthogonal
/// decomposition counts as zero if it is <= `tolerance` times the largest pivot; 0 selects Eigen's default, which is of
/// the size of the rounding errors.
Vector least_squares(const Matrix& A, const Vector& b, double tolerance = 0.0);
/// The same for each column of B.
Matrix least_squares_columns(const Matrix& A, const Matrix& B, double tolerance = 0.0);

/// X with A X = B. A must be square and regular: a singular A gives numbers that are not finite.
Matrix solve_columns(const Matrix& A, const Matrix& B);

}  // namespace saltus
