// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/linalg.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>

namespace saltus {

Spectrum symmetric_spectrum(const Matrix& A) {
    Spectrum s;
    if (A.rows() == 0) return s;
    const Eigen::SelfAdjointEigenSolver<Matrix> solver(A);
    s.smallest = solver.eigenvalues()(0);
    s.largest = solver.eigenvalues()(A.rows() - 1);
    s.smallest_direction = solver.eigenvectors().col(0);
    Eigen::Index largest = 0;
    s.smallest_direction.cwiseAbs().maxCoeff(&largest);
    if (s.smallest_direction(largest) < 0.0) s.smallest_direction = -s.smallest_direction;
    return s;
}

RowRank row_rank(const Matrix& rows, double tolerance) {
    // Gram–Schmidt with reorthogonalisation keeps the order of the rows: the later of two equal constraints is the
    // redundant one. Pivoting would not keep it. The independent unit rows are the columns of Q R. So a dependent unit
    // row with coordinates c in the basis Q is the combination R⁻¹c of them.
    RowRank result;
    const Eigen::Index n = rows.cols(), max_rank = std::min(rows.rows(), n);
    Matrix Q(n, max_rank), R = Matrix::Zero(max_rank, max_rank);
    Eigen::Index rank = 0;
    std::vector<double> length(static_cast<std::size_t>(rows.rows()), 0.0);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
        if (n > 0) length[static_cast<std::size_t>(i)] = rows.row(i).norm();
        const double size = length[static_cast<std::size_t>(i)];
        Vector c = Vector::Zero(rank);
        if (size > 0.0) {
            Vector rest = rows.row(i).transpose() / size;
            for (int pass = 0; pass < 2 && rank > 0; ++pass) {
                const Vector part = Q.leftCols(rank).transpose() * rest;
                rest -= Q.leftCols(rank) * part;
                c += part;
            }
            if (rank < max_rank && rest.norm() > tolerance) {
                R.col(rank).head(rank) = c;
                R(rank, rank) = rest.norm();
                Q.col(rank++) = rest / rest.norm();
                result.independent.push_back(static_cast<int>(i));
                continue;
            }
        }
        RowRank::Dependent dependent{static_cast<int>(i), {}};
        if (size > 0.0 && rank > 0) {
            const Vector x = R.topLeftCorner(rank, rank).triangularView<Eigen::Upper>().solve(c);
            const double largest = x.cwiseAbs().maxCoeff();
            for (Eigen::Index k = 0; k < rank; ++k) {
                const int row = result.independent[static_cast<std::size_t>(k)];
                if (std::abs(x(k)) > tolerance * largest)
                    dependent.combination.emplace_back(row, x(k) * size / length[static_cast<std::size_t>(row)]);
            }
        }
        result.dependent.push_back(std::move(dependent));
    }
    result.rank = static_cast<int>(rank);
    return result;
}

Vector least_squares(const Matrix& A, const Vector& b, double tolerance) {
    return least_squares_columns(A, b, tolerance);
}

Matrix least_squares_columns(const Matrix& A, const Matrix& B, double tolerance) {
    if (A.rows() == 0 || A.cols() == 0) return Matrix::Zero(A.cols(), B.cols());
    Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition(A.rows(), A.cols());
    if (tolerance > 0.0) decomposition.setThreshold(tolerance);
    decomposition.compute(A);
    return decomposition.solve(B);
}

Matrix solve_columns(const Matrix& A, const Matrix& B) { return Eigen::PartialPivLU<Matrix>(A).solve(B); }

}  // namespace saltus
