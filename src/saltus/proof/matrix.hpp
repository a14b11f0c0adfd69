// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/expr/interval/interval.hpp"

namespace saltus::proof {

using expr::Interval;

/// A matrix of intervals. It stands for the set of all real matrices A with A(i, j) in the interval (i, j). "All
/// matrices in A" means this set. All functions of this header round outwards: what they state holds for every matrix
/// in the set.
class IntervalMatrix {
public:
    IntervalMatrix() = default;
    /// All entries are [0, 0].
    IntervalMatrix(int rows, int cols) : rows_(rows), cols_(cols), a_(static_cast<std::size_t>(rows * cols)) {}
    /// The set that contains A only.
    explicit IntervalMatrix(const Matrix& A);
    static IntervalMatrix identity(int n);

    int rows() const { return rows_; }
    int cols() const { return cols_; }
    Interval& operator()(int i, int j) { return a_[at(i, j)]; }
    const Interval& operator()(int i, int j) const { return a_[at(i, j)]; }

    /// The midpoints of the entries. All entries must be bounded.
    Matrix middle() const;
    /// All entries are bounded, and the functions that gave them exist on the whole box (Interval::defined).
    bool finite() const;

private:
    std::size_t at(int i, int j) const {
        return static_cast<std::size_t>(i) * static_cast<std::size_t>(cols_) + static_cast<std::size_t>(j);
    }

    int rows_ = 0, cols_ = 0;
    std::vector<Interval> a_;
};

IntervalMatrix operator*(const IntervalMatrix& A, const IntervalMatrix& B);
IntervalMatrix operator+(const IntervalMatrix& A, const IntervalMatrix& B);
IntervalMatrix operator-(const IntervalMatrix& A, const IntervalMatrix& B);
IntervalMatrix transpose(const IntervalMatrix& A);
/// (A + Aᵀ)/2 of a square matrix.
IntervalMatrix symmetric_part(const IntervalMatrix& A);
/// The given rows of A, in the given order.
IntervalMatrix rows_of(const IntervalMatrix& A, const std::vector<int>& rows);

/// Σ a_k b_k. A term with the factor [0, 0] is 0, also if the other factor is unbounded.
Interval dot(const std::vector<Interval>& a, const std::vector<Interval>& b);

/// Contains every X with A X = B for some matrices in A and B. std::nullopt if it is not proved that all square
/// matrices in A are regular. The system is multiplied by the inverse of A.middle() first, so that narrow data give a
/// narrow result.
std::optional<IntervalMatrix> solve(const IntervalMatrix& A, const IntervalMatrix& B);

/// Whether an interval is the number 0.
bool is_zero(const Interval& x);

/// The midpoints of the entries. All entries must be bounded.
Vector midpoints(const std::vector<Interval>& v);

/// Proves that all square matrices in A are regular. False: not proved.
bool regular(const IntervalMatrix& A);

/// Proves that all symmetric matrices in A are positive definite. False: not proved.
bool positive_definite(const IntervalMatrix& A);

/// Proves that all symmetric matrices in A are positive semidefinite. False: not proved. A singular matrix is proved
/// only if its elimination is exact, as it is for small integers.
bool positive_semidefinite(const IntervalMatrix& A);

/// xᵀAx for a symmetric matrix.
Interval quadratic_form(const IntervalMatrix& A, const std::vector<double>& x);

/// Proves that no matrix in A has a vector x ≠ 0 with A x = 0. False: not proved.
bool independent_columns(const IntervalMatrix& A);

/// Upper bound of all eigenvalues λ of B x = λ M x, for all symmetric matrices in B and M. +∞ if it is not proved that
/// the matrices in M are positive definite.
double largest_eigenvalue(const IntervalMatrix& B, const IntervalMatrix& M);

/// Upper bound of √(lᵀM⁻¹l), the largest l·u over all u with uᵀMu <= 1. +∞ if it is not proved that the matrices in M
/// are regular. M must be symmetric and positive definite.
double dual_norm(const std::vector<Interval>& l, const IntervalMatrix& M);

}  // namespace saltus::proof
