// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Eigen/Core>
#include <utility>
#include <vector>

namespace saltus {

using Vector = Eigen::VectorXd;
using Matrix = Eigen::MatrixXd;

/// Factorisations behind plain functions, so that Eigen's decompositions are compiled once.

struct Spectrum {
    double smallest = 0.0, largest = 0.0;
    Vector smallest_direction;  ///< unit eigenvector of the smallest eigenvalue, its largest component positive
};

/// Extreme eigenvalues of a symmetric matrix (its lower triangle is read).
Spectrum symmetric_spectrum(const Matrix& A);

struct RowRank {
    int rank = 0;
    std::vector<int> independent;  ///< rows that span, in their order
    struct Dependent {
        int row;
        std::vector<std::pair<int, double>> combination;  ///< row = Σ factor · independent row
    };
    std::vector<Dependent> dependent;
};

/// Rank of the rows. Rows are scaled to unit length first; a row counts as dependent when what is left of it after
/// removing the span of the independent ones is below `tolerance`. Earlier rows are preferred as independent.
RowRank row_rank(const Matrix& rows, double tolerance = 1e-10);

/// x of least ‖x‖ that minimises ‖A x − b‖; A may have any shape and rank. What is left of a column after the others is
/// nothing below `tolerance` of the largest one; 0: rounding.
Vector least_squares(const Matrix& A, const Vector& b, double tolerance = 0.0);
/// The same for each column of B.
Matrix least_squares_columns(const Matrix& A, const Matrix& B, double tolerance = 0.0);

/// x with A x = b for each column of B, A square and regular.
Matrix solve_columns(const Matrix& A, const Matrix& B);

}  // namespace saltus
