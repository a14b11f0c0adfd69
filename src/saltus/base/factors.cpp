// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/factors.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace saltus {

using Eigen::Index;

Cholesky::Cholesky(const Matrix& A) {
    const Eigen::LLT<Matrix> llt(A);
    positive_definite_ = llt.info() == Eigen::Success;
    lower_ = llt.matrixL();
}

Vector Cholesky::solve_lower(const Vector& b) const { return lower_.triangularView<Eigen::Lower>().solve(b); }

Matrix Cholesky::solve_lower_columns(const Matrix& B) const { return lower_.triangularView<Eigen::Lower>().solve(B); }

Vector Cholesky::solve_upper(const Vector& b) const {
    return lower_.transpose().triangularView<Eigen::Upper>().solve(b);
}

Vector Cholesky::solve(const Vector& b) const { return solve_upper(solve_lower(b)); }

Matrix Cholesky::solve_columns(const Matrix& B) const {
    return lower_.transpose().triangularView<Eigen::Upper>().solve(solve_lower_columns(B));
}

struct FullPivotLu::Factors {
    Eigen::FullPivLU<Matrix> lu;
};

FullPivotLu::FullPivotLu(const Matrix& A, double tolerance) {
    const auto factors = std::make_shared<Factors>();
    if (tolerance > 0.0) factors->lu.setThreshold(tolerance);
    factors->lu.compute(A);
    factors_ = factors;
}

int FullPivotLu::rank() const { return static_cast<int>(factors_->lu.rank()); }

bool FullPivotLu::invertible() const { return factors_->lu.isInvertible(); }

Vector FullPivotLu::solve(const Vector& b) const { return factors_->lu.solve(b); }

Matrix FullPivotLu::solve_columns(const Matrix& B) const { return factors_->lu.solve(B); }

Matrix FullPivotLu::inverse() const { return factors_->lu.inverse(); }

std::vector<int> FullPivotLu::pivot_rows() const {
    std::vector<int> rows(static_cast<std::size_t>(rank()));
    const auto& place = factors_->lu.permutationP().indices();
    for (Index i = 0; i < place.size(); ++i)
        if (const auto k = static_cast<std::size_t>(place(i)); k < rows.size()) rows[k] = static_cast<int>(i);
    return rows;
}

std::vector<int> FullPivotLu::pivot_columns() const {
    const auto& place = factors_->lu.permutationQ().indices();
    return {place.data(), place.data() + rank()};
}

Matrix inverse(const Matrix& A) { return A.inverse(); }

double determinant(const Matrix& A) { return A.determinant(); }

Matrix orthonormal_range(const Matrix& A, double tolerance) {
    if (A.size() == 0) return Matrix(A.rows(), 0);
    Eigen::ColPivHouseholderQR<Matrix> qr(A);
    qr.setThreshold(tolerance);
    return qr.householderQ() * Matrix::Identity(A.rows(), qr.rank());
}

OrthogonalFactors orthogonal_factors(const Matrix& A) {
    const Eigen::HouseholderQR<Matrix> qr(A);
    return {qr.householderQ() * Matrix::Identity(A.rows(), A.rows()), qr.matrixQR().diagonal()};
}

std::vector<int> columns_by_independence(const Matrix& A) {
    const Eigen::ColPivHouseholderQR<Matrix> qr(A);
    const auto& place = qr.colsPermutation().indices();
    return {place.data(), place.data() + place.size()};
}

Vector orthogonal_solve(const Matrix& A, const Vector& b) { return A.colPivHouseholderQr().solve(b); }

Matrix orthogonal_solve_columns(const Matrix& A, const Matrix& B) { return A.colPivHouseholderQr().solve(B); }

SingularParts singular_parts(const Matrix& A, SingularBases bases) {
    const bool full = bases == SingularBases::full;
    const Eigen::JacobiSVD<Matrix> svd(
        A, full ? Eigen::ComputeFullU | Eigen::ComputeFullV : Eigen::ComputeThinU | Eigen::ComputeThinV);
    return {svd.matrixU(), svd.singularValues(), svd.matrixV()};
}

SymmetricPencil symmetric_pencil(const Matrix& A, const Matrix& M) {
    const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(A, M);
    if (solver.info() != Eigen::Success) return {};
    return {true, solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace saltus
