// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/decompositions.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace saltus {

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

struct OrthogonalDecomposition::Factors {
    Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition;
};

OrthogonalDecomposition::OrthogonalDecomposition(const Matrix& A, double tolerance) {
    const auto factors = std::make_shared<Factors>();
    if (tolerance > 0.0) factors->decomposition.setThreshold(tolerance);
    factors->decomposition.compute(A);
    factors_ = factors;
}

Vector OrthogonalDecomposition::solve(const Vector& b) const { return factors_->decomposition.solve(b); }

}  // namespace saltus
