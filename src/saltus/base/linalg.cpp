// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/linalg.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/base/numbers.hpp"

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
    const auto n = static_cast<std::size_t>(rows.cols()), count = static_cast<std::size_t>(rows.rows());
    const std::size_t max_rank = std::min(count, n);
    // The columns of Q and R, the row that is examined, its coordinates c, and the lengths of all rows.
    std::vector<double> memory(n * max_rank + max_rank * max_rank + n + max_rank + count, 0.0);
    double *const Q = memory.data(), *const R = Q + n * max_rank, *const rest = R + max_rank * max_rank,
                  *const c = rest + n, *const length = c + max_rank;
    const auto norm = [n](const double* x) {
        double sum = 0.0;
        for (std::size_t k = 0; k < n; ++k) sum += x[k] * x[k];
        return std::sqrt(sum);
    };
    std::size_t rank = 0;
    for (std::size_t i = 0; i < count; ++i) {
        for (std::size_t k = 0; k < n; ++k) rest[k] = rows.data()[i + k * count];
        const double size = length[i] = norm(rest);
        std::fill_n(c, rank, 0.0);
        if (size > 0.0) {
            for (std::size_t k = 0; k < n; ++k) rest[k] /= size;
            for (int pass = 0; pass < 2; ++pass)
                for (std::size_t j = 0; j < rank; ++j) {
                    const double* const q = Q + j * n;
                    double part = 0.0;
                    for (std::size_t k = 0; k < n; ++k) part += q[k] * rest[k];
                    for (std::size_t k = 0; k < n; ++k) rest[k] -= part * q[k];
                    c[j] += part;
                }
            const double left = norm(rest);
            if (rank < max_rank && left > tolerance) {
                std::copy_n(c, rank, R + rank * max_rank);
                R[rank * max_rank + rank] = left;
                for (std::size_t k = 0; k < n; ++k) Q[rank * n + k] = rest[k] / left;
                ++rank;
                result.independent.push_back(static_cast<int>(i));
                continue;
            }
        }
        RowRank::Dependent dependent{static_cast<int>(i), {}};
        if (size > 0.0 && rank > 0) {
            double largest = 0.0;
            for (std::size_t k = rank; k-- > 0;) {  // c becomes R⁻¹c
                for (std::size_t j = k + 1; j < rank; ++j) c[k] -= R[j * max_rank + k] * c[j];
                c[k] /= R[k * max_rank + k];
                largest = std::max(largest, std::abs(c[k]));
            }
            for (std::size_t k = 0; k < rank; ++k) {
                const int row = result.independent[k];
                if (std::abs(c[k]) > tolerance * largest)
                    dependent.combination.emplace_back(row, c[k] * size / length[row]);
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

namespace {

/// The complete orthogonal decomposition A P = Q [T 0; 0 0] Z of a small matrix: P exchanges columns, Q and Z are
/// products of reflections, T is upper triangular with the rank of A as its size. It gives the least squares of
/// least norm: x = P Zᵀ [T⁻¹ c; 0], where c are the first components of Qᵀb. Plain loops on the stack: for 4 × 4
/// matrices Eigen's decomposition, which finds the same, takes twenty times as many instructions.
class SmallDecomposition {
public:
    static constexpr int max_size = 16;

    /// `tolerance` as in least_squares.
    SmallDecomposition(const Matrix& A, double tolerance)
        : m_(static_cast<int>(A.rows())), n_(static_cast<int>(A.cols())), diagonal_(std::min(m_, n_)) {
        for (int j = 0; j < n_; ++j) {
            std::copy_n(A.data() + A.rows() * j, m_, a_[j]);
            column_[j] = j;
        }
        reflect_columns();
        double largest = 0.0;
        for (int k = 0; k < diagonal_; ++k) {
            largest = std::max(largest, std::abs(a_[k][k]));
            finite_ = finite_ && std::isfinite(a_[k][k]);
        }
        const double cutoff = (tolerance > 0.0 ? tolerance : epsilon * diagonal_) * largest;
        while (rank_ < diagonal_ && std::abs(a_[rank_][rank_]) > cutoff) ++rank_;
        reflect_rows();
    }

    /// Writes the solution x for the right-hand side b, which is overwritten. It is NaN if A is not finite.
    void solve(double* b, double* x) const {
        if (!finite_) return void(std::fill_n(x, n_, nan));
        for (int k = 0; k < diagonal_; ++k) reflect(a_[k] + k, left_[k], b + k, m_ - k);
        double y[max_size] = {};
        for (int k = rank_ - 1; k >= 0; --k) {
            double sum = b[k];
            for (int j = k + 1; j < rank_; ++j) sum -= a_[j][k] * y[j];
            y[k] = sum / a_[k][k];
        }
        for (int k = 0; k < rank_ && rank_ < n_; ++k) {
            double sum = y[k];
            for (int j = rank_; j < n_; ++j) sum += a_[j][k] * y[j];
            sum *= right_[k];
            y[k] -= sum;
            for (int j = rank_; j < n_; ++j) y[j] -= sum * a_[j][k];
        }
        for (int j = 0; j < n_; ++j) x[column_[j]] = y[j];
    }

private:
    /// The reflection I − τ v vᵀ with v_0 = 1 that maps a vector (alpha, rest) to (beta, 0).
    struct Reflection {
        double beta, tau, scale;  // v = scale · rest behind v_0
    };
    static Reflection reflection(double alpha, double rest_squares) {
        if (!(rest_squares > 0.0)) return {alpha, 0.0, 0.0};
        const double beta = -std::copysign(std::sqrt(alpha * alpha + rest_squares), alpha);
        return {beta, (beta - alpha) / beta, 1.0 / (alpha - beta)};
    }
    /// x becomes x − τ v (v·x), with v_0 = 1 and v_i = v[i] for i >= 1.
    static void reflect(const double* v, double tau, double* x, int size) {
        double sum = x[0];
        for (int i = 1; i < size; ++i) sum += v[i] * x[i];
        sum *= tau;
        x[0] -= sum;
        for (int i = 1; i < size; ++i) x[i] -= sum * v[i];
    }

    /// A P = Q R. Each step takes the column with the largest rest. R is on and above the diagonal, the vectors of the
    /// reflections are below it.
    void reflect_columns() {
        for (int k = 0; k < diagonal_; ++k) {
            double most = -1.0;
            int best = k;
            for (int j = k; j < n_; ++j) {
                double squares = 0.0;
                for (int i = k; i < m_; ++i) squares += a_[j][i] * a_[j][i];
                if (squares > most) most = squares, best = j;
            }
            if (best != k) {
                std::swap_ranges(a_[k], a_[k] + m_, a_[best]);
                std::swap(column_[k], column_[best]);
            }
            double rest = 0.0;
            for (int i = k + 1; i < m_; ++i) rest += a_[k][i] * a_[k][i];
            const Reflection r = reflection(a_[k][k], rest);
            for (int i = k + 1; i < m_; ++i) a_[k][i] *= r.scale;
            for (int j = k + 1; j < n_; ++j) reflect(a_[k] + k, r.tau, a_[j] + k, m_ - k);
            a_[k][k] = r.beta;
            left_[k] = r.tau;
        }
    }

    /// If the rank is smaller than the number of columns: reflections from the right clear the columns behind T. Their
    /// vectors take the place of these columns.
    void reflect_rows() {
        for (int k = rank_ - 1; k >= 0 && rank_ < n_; --k) {
            double rest = 0.0;
            for (int j = rank_; j < n_; ++j) rest += a_[j][k] * a_[j][k];
            const Reflection r = reflection(a_[k][k], rest);
            for (int j = rank_; j < n_; ++j) a_[j][k] *= r.scale;
            for (int i = 0; i < k; ++i) {
                double sum = a_[k][i];
                for (int j = rank_; j < n_; ++j) sum += a_[j][k] * a_[j][i];
                sum *= r.tau;
                a_[k][i] -= sum;
                for (int j = rank_; j < n_; ++j) a_[j][i] -= sum * a_[j][k];
            }
            a_[k][k] = r.beta;
            right_[k] = r.tau;
        }
    }

    int m_, n_, diagonal_, rank_ = 0;
    bool finite_ = true;
    double a_[max_size][max_size];  // by column
    double left_[max_size], right_[max_size];
    int column_[max_size];  // of A, for each column of A P
};

}  // namespace

Matrix least_squares_columns(const Matrix& A, const Matrix& B, double tolerance) {
    if (A.rows() == 0 || A.cols() == 0) return Matrix::Zero(A.cols(), B.cols());
    if (A.rows() <= SmallDecomposition::max_size && A.cols() <= SmallDecomposition::max_size) {
        const SmallDecomposition decomposition(A, tolerance);
        Matrix X(A.cols(), B.cols());
        double right[SmallDecomposition::max_size];
        for (Eigen::Index k = 0; k < B.cols(); ++k) {
            std::copy_n(B.data() + k * B.rows(), B.rows(), right);
            decomposition.solve(right, X.data() + k * X.rows());
        }
        return X;
    }
    Eigen::CompleteOrthogonalDecomposition<Matrix> decomposition(A.rows(), A.cols());
    if (tolerance > 0.0) decomposition.setThreshold(tolerance);
    decomposition.compute(A);
    return decomposition.solve(B);
}

Matrix solve_columns(const Matrix& A, const Matrix& B) { return Eigen::PartialPivLU<Matrix>(A).solve(B); }

}  // namespace saltus
