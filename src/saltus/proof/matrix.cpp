// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/matrix.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"

namespace saltus::proof {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

double magnitude(const Interval& x) { return std::max(std::fabs(x.lo), std::fabs(x.hi)); }
double mignitude(const Interval& x) {
    return x.lo <= 0.0 && x.hi >= 0.0 ? 0.0 : std::min(std::fabs(x.lo), std::fabs(x.hi));
}
double sum_up(double a, double b) { return expr::detail::add_up(a, b); }

/// Upper bound of ‖A − I‖_∞.
double off_identity(const IntervalMatrix& A) {
    double worst = 0.0;
    for (int i = 0; i < A.rows(); ++i) {
        double sum = 0.0;
        for (int j = 0; j < A.cols(); ++j) sum = sum_up(sum, magnitude(i == j ? A(i, j) - Interval(1.0) : A(i, j)));
        worst = std::max(worst, sum);
    }
    return std::isnan(worst) ? inf : worst;
}

Interval times(const Interval& a, const Interval& b) {
    if ((a.lo == 0.0 && a.hi == 0.0) || (b.lo == 0.0 && b.hi == 0.0)) return Interval(0.0, 0.0, a.defined && b.defined);
    return a * b;
}

}  // namespace

IntervalMatrix::IntervalMatrix(const Matrix& A)
    : IntervalMatrix(static_cast<int>(A.rows()), static_cast<int>(A.cols())) {
    for (int i = 0; i < rows_; ++i)
        for (int j = 0; j < cols_; ++j) (*this)(i, j) = Interval(A(i, j));
}

IntervalMatrix IntervalMatrix::identity(int n) { return IntervalMatrix(Matrix::Identity(n, n)); }

Matrix IntervalMatrix::middle() const {
    Matrix A(rows_, cols_);
    for (int i = 0; i < rows_; ++i)
        for (int j = 0; j < cols_; ++j) A(i, j) = expr::midpoint((*this)(i, j));
    return A;
}

bool IntervalMatrix::finite() const {
    return std::all_of(a_.begin(), a_.end(),
                       [](const Interval& x) { return x.defined && std::isfinite(x.lo) && std::isfinite(x.hi); });
}

IntervalMatrix operator*(const IntervalMatrix& A, const IntervalMatrix& B) {
    SALTUS_EXPECT(A.cols() == B.rows());
    IntervalMatrix C(A.rows(), B.cols());
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < B.cols(); ++j) {
            Interval sum;
            for (int k = 0; k < A.cols(); ++k) sum += times(A(i, k), B(k, j));
            C(i, j) = sum;
        }
    return C;
}

IntervalMatrix operator+(const IntervalMatrix& A, const IntervalMatrix& B) {
    IntervalMatrix C(A.rows(), A.cols());
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) C(i, j) = A(i, j) + B(i, j);
    return C;
}

IntervalMatrix operator-(const IntervalMatrix& A, const IntervalMatrix& B) {
    IntervalMatrix C(A.rows(), A.cols());
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) C(i, j) = A(i, j) - B(i, j);
    return C;
}

IntervalMatrix transpose(const IntervalMatrix& A) {
    IntervalMatrix C(A.cols(), A.rows());
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) C(j, i) = A(i, j);
    return C;
}

IntervalMatrix rows_of(const IntervalMatrix& A, const std::vector<int>& rows) {
    IntervalMatrix C(static_cast<int>(rows.size()), A.cols());
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (int j = 0; j < A.cols(); ++j) C(static_cast<int>(i), j) = A(rows[i], j);
    return C;
}

Interval dot(const std::vector<Interval>& a, const std::vector<Interval>& b) {
    Interval sum;
    for (std::size_t k = 0; k < a.size(); ++k) sum += times(a[k], b[k]);
    return sum;
}

std::optional<IntervalMatrix> solve(const IntervalMatrix& A, const IntervalMatrix& B) {
    const int n = A.rows();
    SALTUS_EXPECT(A.cols() == n && B.rows() == n);
    if (n == 0) return B;
    if (!A.finite()) return std::nullopt;
    const Eigen::FullPivLU<Matrix> lu(A.middle());
    if (!lu.isInvertible()) return std::nullopt;
    const IntervalMatrix R(Matrix(lu.inverse()));
    IntervalMatrix P = R * A, X = R * B;
    if (off_identity(P) >= 1.0) return std::nullopt;  // then every matrix in P is regular, and with it R and A
    // Gauss on a matrix near the identity: pivots stay near 1 and need no exchange.
    for (int k = 0; k < n; ++k) {
        if (mignitude(P(k, k)) == 0.0) return std::nullopt;
        for (int i = k + 1; i < n; ++i) {
            const Interval factor = P(i, k) / P(k, k);
            for (int j = k + 1; j < n; ++j) P(i, j) -= times(factor, P(k, j));
            for (int j = 0; j < X.cols(); ++j) X(i, j) -= times(factor, X(k, j));
        }
    }
    for (int i = n - 1; i >= 0; --i)
        for (int j = 0; j < X.cols(); ++j) {
            for (int k = i + 1; k < n; ++k) X(i, j) -= times(P(i, k), X(k, j));
            X(i, j) = X(i, j) / P(i, i);
        }
    return X;
}

bool regular(const IntervalMatrix& A) {
    if (A.rows() == 0) return true;
    if (!A.finite()) return false;
    const Eigen::FullPivLU<Matrix> lu(A.middle());
    return lu.isInvertible() && off_identity(IntervalMatrix(Matrix(lu.inverse())) * A) < 1.0;
}

bool positive_definite(const IntervalMatrix& A) {
    if (A.rows() == 0) return true;
    if (!A.finite()) return false;
    const Matrix middle = A.middle();
    const Eigen::LLT<Matrix> llt(middle);
    if (llt.info() != Eigen::Success) return false;
    const Matrix X = Matrix(llt.matrixL()).inverse();
    if (!X.allFinite()) return false;
    // XAXᵀ has eigenvalues within ‖XAXᵀ − I‖ of 1; it is regular, so X is, and A is congruent to it.
    return off_identity(IntervalMatrix(X) * A * IntervalMatrix(Matrix(X.transpose()))) < 1.0;
}

bool independent_columns(const IntervalMatrix& A) {
    if (A.cols() == 0) return true;
    if (A.rows() < A.cols() || !A.finite()) return false;
    const Matrix left = least_squares_columns(A.middle(), Matrix::Identity(A.rows(), A.rows()));
    return left.allFinite() && off_identity(IntervalMatrix(left) * A) < 1.0;
}

double largest_eigenvalue(const IntervalMatrix& B, const IntervalMatrix& M) {
    const int n = M.rows();
    if (n == 0) return 0.0;
    if (!B.finite() || !M.finite()) return inf;
    const Matrix middle = M.middle();
    if (Eigen::LLT<Matrix>(middle).info() != Eigen::Success) return inf;
    const Eigen::GeneralizedSelfAdjointEigenSolver<Matrix> solver(B.middle(), middle);
    if (solver.info() != Eigen::Success) return inf;
    const Matrix V = solver.eigenvectors();
    const IntervalMatrix left(Matrix(V.transpose())), right(V);
    const double e = off_identity(left * M * right);
    if (!(e < 1.0)) return inf;
    const IntervalMatrix D = left * B * right;
    double greatest = -inf;
    for (int i = 0; i < n; ++i) {
        double sum = D(i, i).hi;
        for (int j = 0; j < n; ++j)
            if (j != i) sum = sum_up(sum, magnitude(D(i, j)));
        greatest = std::max(greatest, sum);
    }
    const Interval size = greatest >= 0.0 ? Interval(1.0) - Interval(e) : Interval(1.0) + Interval(e);
    return (Interval(greatest) / size).hi;
}

double dual_norm(const std::vector<Interval>& l, const IntervalMatrix& M) {
    const int n = M.rows();
    IntervalMatrix b(n, 1);
    bool zero = true;
    for (int i = 0; i < n; ++i) {
        b(i, 0) = l[static_cast<std::size_t>(i)];
        zero = zero && b(i, 0).lo == 0.0 && b(i, 0).hi == 0.0;
    }
    if (zero) return 0.0;
    if (!b.finite()) return inf;
    const std::optional<IntervalMatrix> x = solve(M, b);
    if (!x) return inf;
    Interval square;
    for (int i = 0; i < n; ++i) square += times(b(i, 0), (*x)(i, 0));
    return square.hi <= 0.0 ? 0.0 : expr::sqrt(Interval(square.hi)).hi;
}

}  // namespace saltus::proof
