// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/expr/interval/interval.hpp"

namespace saltus::proof {

using expr::Interval;

/// A matrix of intervals; it stands for all matrices with entries in them.
class IntervalMatrix {
public:
    IntervalMatrix() = default;
    IntervalMatrix(int rows, int cols) : rows_(rows), cols_(cols), a_(static_cast<std::size_t>(rows * cols)) {}
    explicit IntervalMatrix(const Matrix& A);
    static IntervalMatrix identity(int n);

    int rows() const { return rows_; }
    int cols() const { return cols_; }
    Interval& operator()(int i, int j) { return a_[static_cast<std::size_t>(i * cols_ + j)]; }
    const Interval& operator()(int i, int j) const { return a_[static_cast<std::size_t>(i * cols_ + j)]; }

    Matrix middle() const;  ///< of finite entries
    bool finite() const;

private:
    int rows_ = 0, cols_ = 0;
    std::vector<Interval> a_;
};

IntervalMatrix operator*(const IntervalMatrix& A, const IntervalMatrix& B);
IntervalMatrix operator+(const IntervalMatrix& A, const IntervalMatrix& B);
IntervalMatrix operator-(const IntervalMatrix& A, const IntervalMatrix& B);
IntervalMatrix transpose(const IntervalMatrix& A);
IntervalMatrix rows_of(const IntervalMatrix& A, const std::vector<int>& rows);

/// Σ a_k b_k; terms with a zero factor vanish even where the other is unbounded.
Interval dot(const std::vector<Interval>& a, const std::vector<Interval>& b);

/// Every X with A X = B for some A and B in them, where all A are proved regular; nothing where that fails.
/// The system is multiplied by the inverse of its middle first, so that narrow systems give narrow answers.
std::optional<IntervalMatrix> solve(const IntervalMatrix& A, const IntervalMatrix& B);

/// All matrices in A are regular.
bool regular(const IntervalMatrix& A);

/// All symmetric matrices in A are positive definite: with A_mid = LLᵀ, ‖L⁻¹AL⁻ᵀ − I‖ < 1.
bool positive_definite(const IntervalMatrix& A);

/// No matrix in A has a nonzero x with A x = 0: some square combination of rows is regular.
bool independent_columns(const IntervalMatrix& A);

/// Upper bound of the eigenvalues of B x = λ M x over all symmetric B and M in them; M must be provably positive
/// definite, else +∞. By Gershgorin's circles in the eigenvectors of the middle.
double largest_eigenvalue(const IntervalMatrix& B, const IntervalMatrix& M);

/// Upper bound of √(lᵀM⁻¹l).
double dual_norm(const std::vector<Interval>& l, const IntervalMatrix& M);

}  // namespace saltus::proof
