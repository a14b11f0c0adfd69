// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/factors.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>

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

}  // namespace saltus
