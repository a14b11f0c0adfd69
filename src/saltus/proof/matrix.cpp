// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/decompositions.hpp"
#include "saltus/base/error.hpp"
#include "saltus/base/factors.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::proof {

namespace {

/// max |x| and min |x| over the interval.
double magnitude(const Interval& x) { return std::max(std::fabs(x.lo), std::fabs(x.hi)); }
double mignitude(const Interval& x) {
    return x.lo <= 0.0 && x.hi >= 0.0 ? 0.0 : std::min(std::fabs(x.lo), std::fabs(x.hi));
}
double sum_up(double a, double b) { return expr::detail::add_up(a, b); }

/// Upper bound of ‖A − I‖_∞ over all matrices in A. If it is below 1 then every matrix in A is regular, because the
/// Neumann series of A⁻¹ = (I − (I − A))⁻¹ converges.
double distance_from_identity(const IntervalMatrix& A) {
    double worst = 0.0;
    for (int i = 0; i < A.rows(); ++i) {
        double sum = 0.0;
        for (int j = 0; j < A.cols(); ++j) sum = sum_up(sum, magnitude(i == j ? A(i, j) - Interval(1.0) : A(i, j)));
        worst = std::max(worst, sum);
    }
    return std::isnan(worst) ? infinity : worst;
}

/// a b, with 0 times an unbounded interval = 0.
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

IntervalMatrix symmetric_part(const IntervalMatrix& A) {
    IntervalMatrix S(A.rows(), A.cols());
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) S(i, j) = (A(i, j) + A(j, i)) * Interval(0.5);
    return S;
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

/// With R ≈ A_mid⁻¹ the system A X = B becomes (R A) X = R B, where R A is close to the identity. Interval Gauss
/// elimination without pivoting performs the elimination of every matrix in R A at once. If no pivot contains 0 then
/// all matrices in R A are regular, so R and all matrices in A are regular too, both systems have the same solutions,
/// and the result encloses them. ‖R A − I‖_∞ < 1 is sufficient for that, but not necessary: a triangular matrix with
/// ones on its diagonal may have any norm. (Neumaier, Interval Methods for Systems of Equations, 4.5)
std::optional<IntervalMatrix> solve(const IntervalMatrix& A, const IntervalMatrix& B) {
    const int n = A.rows();
    SALTUS_EXPECT(A.cols() == n && B.rows() == n);
    if (n == 0) return B;
    if (!A.finite()) return std::nullopt;
    const FullPivotLu lu(A.middle());
    if (!lu.invertible()) return std::nullopt;
    const IntervalMatrix R(lu.inverse());
    IntervalMatrix P = R * A, X = R * B;
    if (!P.finite()) return std::nullopt;  // R has overflowed
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

bool is_zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }

Vector midpoints(const std::vector<Interval>& v) {
    Vector x(static_cast<Eigen::Index>(v.size()));
    for (std::size_t k = 0; k < v.size(); ++k) x(static_cast<Eigen::Index>(k)) = expr::midpoint(v[k]);
    return x;
}

bool regular(const IntervalMatrix& A) {
    if (A.rows() == 0) return true;
    if (!A.finite()) return false;
    const FullPivotLu lu(A.middle());
    return lu.invertible() && distance_from_identity(IntervalMatrix(lu.inverse()) * A) < 1.0;
}

/// With A_mid = L Lᵀ and X ≈ L⁻¹ the matrix X A Xᵀ is close to the identity. A symmetric matrix with
/// ‖X A Xᵀ − I‖_∞ < 1 has all eigenvalues in (0, 2). It is regular, so X is regular, and A is congruent to it: A is
/// positive definite (Sylvester's law of inertia).
bool positive_definite(const IntervalMatrix& A) {
    if (A.rows() == 0) return true;
    if (!A.finite()) return false;
    const Matrix middle = A.middle();
    const Cholesky factor(middle);
    if (!factor.positive_definite()) return false;
    const Matrix X = inverse(factor.lower());
    if (!X.allFinite()) return false;
    return distance_from_identity(IntervalMatrix(X) * A * IntervalMatrix(Matrix(X.transpose()))) < 1.0;
}

/// Elimination without pivoting of all matrices in A at once: A = [p wᵀ; w B] with p > 0 is positive semidefinite
/// exactly if B − w wᵀ/p is. If p = 0 then w must be 0. The factor w/p is computed first: it is exact for rows that are
/// multiples of the pivot row.
bool positive_semidefinite(const IntervalMatrix& A) {
    if (!A.finite()) return false;
    const auto zero = [](const Interval& x) { return x.lo == 0.0 && x.hi == 0.0; };
    IntervalMatrix S = A;
    for (int k = 0; k < S.rows(); ++k) {
        if (zero(S(k, k))) {
            for (int j = k + 1; j < S.cols(); ++j)
                if (!zero(S(k, j)) || !zero(S(j, k))) return false;
            continue;
        }
        if (!(S(k, k).lo > 0.0)) return false;
        for (int i = k + 1; i < S.rows(); ++i) {
            const Interval factor = S(i, k) / S(k, k);
            for (int j = k + 1; j < S.cols(); ++j) S(i, j) -= times(factor, S(k, j));
        }
    }
    return true;
}

Interval quadratic_form(const IntervalMatrix& A, const std::vector<double>& x) {
    Interval sum;
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j)
            sum += times(A(i, j), Interval(x[static_cast<std::size_t>(i)]) * Interval(x[static_cast<std::size_t>(j)]));
    return sum;
}

namespace {

/// The rows of A, each multiplied by the power of two that brings its largest entry near 1. The products are exact
/// except for underflow, which is rounded outwards. The vectors with A x = 0 stay the same.
IntervalMatrix scaled_rows(const IntervalMatrix& A) {
    IntervalMatrix S(A.rows(), A.cols());
    for (int i = 0; i < A.rows(); ++i) {
        double size = 0.0;
        for (int j = 0; j < A.cols(); ++j) size = std::max(size, magnitude(A(i, j)));
        const Interval factor(size > 0.0 ? std::exp2(-std::clamp(std::ceil(std::log2(size)), -500.0, 500.0)) : 1.0);
        for (int j = 0; j < A.cols(); ++j) S(i, j) = A(i, j) * factor;
    }
    return S;
}

}  // namespace

/// If R A is regular for some R then A x = 0 implies R A x = 0, so x = 0. R is the pseudo-inverse of A_mid. Rows of
/// very different size are scaled first: the pseudo-inverse ignores rows that are small by comparison.
bool independent_columns(const IntervalMatrix& A) {
    if (A.cols() == 0) return true;
    if (A.rows() < A.cols() || !A.finite()) return false;
    const IntervalMatrix S = scaled_rows(A);
    const Matrix left = least_squares_columns(S.middle(), Matrix::Identity(S.rows(), S.rows()));
    return left.allFinite() && distance_from_identity(IntervalMatrix(left) * S) < 1.0;
}

/// Let the columns of V be the eigenvectors of the middle, so that VᵀMV ≈ I and D = VᵀBV ≈ diag. With x = V y:
///     xᵀBx / xᵀMx = yᵀDy / yᵀ(VᵀMV)y,   yᵀDy <= g yᵀy (Gershgorin: g = max_i D_ii + Σ_j≠i |D_ij|),
///     (1 − e) yᵀy <= yᵀ(VᵀMV)y <= (1 + e) yᵀy,   e = ‖VᵀMV − I‖_∞ < 1.
/// So λ <= g/(1 − e) for g >= 0 and λ <= g/(1 + e) for g < 0. e < 1 also proves that V is regular and M > 0.
double largest_eigenvalue(const IntervalMatrix& B, const IntervalMatrix& M) {
    const int n = M.rows();
    if (n == 0) return 0.0;
    if (!B.finite() || !M.finite()) return infinity;
    const Matrix middle = M.middle();
    if (!Cholesky(middle).positive_definite()) return infinity;
    const SymmetricPencil solver = symmetric_pencil(B.middle(), middle);
    if (!solver.solved) return infinity;
    const Matrix& V = solver.vectors;
    const IntervalMatrix left(Matrix(V.transpose())), right(V);
    const double e = distance_from_identity(left * M * right);
    if (!(e < 1.0)) return infinity;
    const IntervalMatrix D = left * B * right;
    double gershgorin = -infinity;
    for (int i = 0; i < n; ++i) {
        double sum = D(i, i).hi;
        for (int j = 0; j < n; ++j)
            if (j != i) sum = sum_up(sum, magnitude(D(i, j)));
        gershgorin = std::max(gershgorin, sum);
    }
    const Interval metric = gershgorin >= 0.0 ? Interval(1.0) - Interval(e) : Interval(1.0) + Interval(e);
    return (Interval(gershgorin) / metric).hi;
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
    if (!b.finite()) return infinity;
    const std::optional<IntervalMatrix> x = solve(M, b);
    if (!x) return infinity;
    Interval square;
    for (int i = 0; i < n; ++i) square += times(b(i, 0), (*x)(i, 0));
    return square.hi <= 0.0 ? 0.0 : expr::sqrt(Interval(square.hi)).hi;
}

}  // namespace saltus::proof
