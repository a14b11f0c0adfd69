// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/linalg.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
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
    // Gram–Schmidt with reorthogonalisation keeps the order of the rows, which pivoting would not: the later of two
    // equal constraints is the redundant one.
    RowRank result;
    const Eigen::Index n = rows.cols();
    Matrix basis(n, 0);
    for (Eigen::Index i = 0; i < rows.rows(); ++i) {
        const double length = n > 0 ? rows.row(i).norm() : 0.0;
        Vector rest = n > 0 ? Vector(rows.row(i).transpose()) : Vector();
        if (length > 0.0) rest /= length;
        for (int pass = 0; pass < 2 && basis.cols() > 0; ++pass) rest -= basis * (basis.transpose() * rest);
        if (length > 0.0 && rest.norm() > tolerance) {
            basis.conservativeResize(n, basis.cols() + 1);
            basis.col(basis.cols() - 1) = rest / rest.norm();
            result.independent.push_back(static_cast<int>(i));
            continue;
        }
        RowRank::Dependent dependent{static_cast<int>(i), {}};
        if (length > 0.0 && !result.independent.empty()) {
            Matrix span(n, static_cast<Eigen::Index>(result.independent.size()));
            for (std::size_t k = 0; k < result.independent.size(); ++k)
                span.col(static_cast<Eigen::Index>(k)) = rows.row(result.independent[k]).transpose();
            const Vector factor = least_squares(span, rows.row(i).transpose());
            const double largest = factor.cwiseAbs().maxCoeff();
            for (std::size_t k = 0; k < result.independent.size(); ++k) {
                const double f = factor(static_cast<Eigen::Index>(k));
                if (std::abs(f) > tolerance * largest) dependent.combination.emplace_back(result.independent[k], f);
            }
        }
        result.dependent.push_back(std::move(dependent));
    }
    result.rank = static_cast<int>(result.independent.size());
    return result;
}

Vector least_squares(const Matrix& A, const Vector& b) {
    if (A.rows() == 0 || A.cols() == 0) return Vector::Zero(A.cols());
    return A.completeOrthogonalDecomposition().solve(b);
}

}  // namespace saltus
