// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/base/decompositions.hpp"

#include <Eigen/SVD>
#include <algorithm>
#include <cmath>

namespace saltus::stability {

Matrix range_of(const Matrix& A, double tolerance) {
    if (A.size() == 0) return Matrix(A.rows(), 0);
    Matrix unit = A;
    for (Eigen::Index c = 0; c < unit.cols(); ++c) {
        const double length = unit.col(c).norm();
        if (length > 0.0) unit.col(c) /= length;
    }
    return orthonormal_range(unit, tolerance);
}

Matrix kernel_of(const Matrix& A, double tolerance, double least) {
    if (A.rows() == 0 || A.cols() == 0) return Matrix::Identity(A.cols(), A.cols());
    const Eigen::JacobiSVD<Matrix, Eigen::FullPivHouseholderQRPreconditioner> svd(A, Eigen::ComputeFullV);
    const Vector& s = svd.singularValues();
    Eigen::Index rank = 0;
    while (rank < s.size() && s(rank) > std::max(tolerance * s(0), least)) ++rank;
    return svd.matrixV().rightCols(A.cols() - rank);
}

Vector singular_values(const Matrix& A) {
    if (A.size() == 0) return {};
    return Eigen::JacobiSVD<Matrix, Eigen::FullPivHouseholderQRPreconditioner>(A).singularValues();
}

Matrix reduced_basis(Matrix B, double tolerance) {
    std::vector<Eigen::Index> pivots;
    for (Eigen::Index c = 0; c < B.cols(); ++c) {
        // The pivot row is the one with the largest norm in the remaining columns. Rows count as equal up to
        // equal_rows, so that rounding does not change the choice: the first of them is taken.
        constexpr double equal_rows = 1e-6;
        Eigen::Index row = 0;
        double largest = 0.0;
        for (Eigen::Index r = 0; r < B.rows(); ++r) {
            const double size = B.row(r).tail(B.cols() - c).norm();
            if (size > largest * (1.0 + equal_rows)) {
                largest = size;
                row = r;
            }
        }
        Eigen::Index column = c;
        B.row(row).tail(B.cols() - c).cwiseAbs().maxCoeff(&column);
        column += c;
        B.col(c).swap(B.col(column));
        B.col(c) /= B(row, c);
        for (Eigen::Index k = 0; k < B.cols(); ++k)
            if (k != c) B.col(k) -= B(row, k) * B.col(c);
        pivots.push_back(row);
    }
    for (Eigen::Index i = 0; i < B.size(); ++i)
        if (std::abs(B.data()[i]) < tolerance) B.data()[i] = 0.0;
    for (std::size_t c = 0; c < pivots.size(); ++c) {
        B.row(pivots[c]).setZero();
        B(pivots[c], static_cast<Eigen::Index>(c)) = 1.0;
    }
    return B;
}

Modes modes(const Matrix& A, const Matrix& M) {
    SymmetricPencil p = symmetric_pencil(A, M);
    return {p.solved, std::move(p.values), std::move(p.vectors)};
}

}  // namespace saltus::stability
