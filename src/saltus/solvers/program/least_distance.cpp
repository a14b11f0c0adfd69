// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/program/least_distance.hpp"

#include <Eigen/QR>
#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::solvers {

namespace {

using Eigen::Index;

/// Below this distance of the nonnegative least squares problem the polyhedron counts as empty (least_distance.hpp):
/// the distance is 1/√(1 + s²) with s = ‖x − p‖/(worst violation).
constexpr double empty_distance = 1e-7;

/// The passive columns, those with x > 0, as factors Q R. Q is orthonormal to rounding, even if the columns are nearly
/// dependent. Decisions based on the residual b − Q Qᵀb are therefore those of data changed by rounding at most.
class PassiveColumns {
public:
    PassiveColumns(const Matrix& A, const Vector& b)
        : A_(A),
          b_(b),
          max_size_(std::min(A.rows(), A.cols())),
          Q_(A.rows(), max_size_),
          R_(Matrix::Zero(max_size_, max_size_)) {}

    Index size() const { return size_; }
    const std::vector<Index>& columns() const { return columns_; }

    /// Adds column j; false if it depends on the passive ones to rounding. Three passes of Gram–Schmidt keep Q
    /// orthonormal.
    bool append(Index j) {
        if (size_ == max_size_) return false;
        Vector rest = A_.col(j);
        const double length = rest.norm();
        Vector coordinates = Vector::Zero(size_);
        for (int pass = 0; pass < 3; ++pass) {
            const Vector part = Q_.leftCols(size_).transpose() * rest;
            rest -= Q_.leftCols(size_) * part;
            coordinates += part;
        }
        const double left = rest.norm();
        if (!(left > 64.0 * epsilon * static_cast<double>(A_.rows() + 4) * length)) return false;
        R_.col(size_).head(size_) = coordinates;
        R_(size_, size_) = left;
        Q_.col(size_) = rest / left;
        columns_.push_back(j);
        ++size_;
        return true;
    }

    /// Removes the k-th passive column; Givens rotations make R triangular again.
    void remove(Index k) {
        for (Index c = k; c + 1 < size_; ++c) R_.col(c) = R_.col(c + 1);
        R_.col(size_ - 1).setZero();
        columns_.erase(columns_.begin() + k);
        --size_;
        for (Index c = k; c < size_; ++c) {
            const double norm = std::hypot(R_(c, c), R_(c + 1, c));
            const double cosine = norm == 0.0 ? 1.0 : R_(c, c) / norm, sine = norm == 0.0 ? 0.0 : R_(c + 1, c) / norm;
            for (Index l = c; l < size_; ++l) {
                const double upper = R_(c, l), lower = R_(c + 1, l);
                R_(c, l) = cosine * upper + sine * lower;
                R_(c + 1, l) = cosine * lower - sine * upper;
            }
            R_(c + 1, c) = 0.0;
            const Vector left = Q_.col(c), right = Q_.col(c + 1);
            Q_.col(c) = cosine * left + sine * right;
            Q_.col(c + 1) = cosine * right - sine * left;
        }
    }

    Vector solution() const {
        const Vector target = Q_.leftCols(size_).transpose() * b_;
        return R_.topLeftCorner(size_, size_).triangularView<Eigen::Upper>().solve(target);
    }

    Vector residual() const {
        Vector rest = b_;
        for (int pass = 0; pass < 2; ++pass)
            rest -= Q_.leftCols(size_) * (Q_.leftCols(size_).transpose() * rest).eval();
        return rest;
    }

private:
    const Matrix& A_;
    const Vector& b_;
    Index max_size_, size_ = 0;
    Matrix Q_, R_;
    std::vector<Index> columns_;
};

/// Moves from z towards the least squares solution of the passive columns, as far as z >= 0 allows; columns that reach
/// 0 are removed; repeated until the solution is reached.
void walk(PassiveColumns& passive, Vector& z) {
    Vector target = passive.solution();
    while (passive.size() > 0 && target.minCoeff() <= 0.0) {
        double fraction = 1.0;
        Index first = -1;
        for (Index k = 0; k < passive.size(); ++k) {
            if (target(k) > 0.0) continue;
            const double limit = z(k) > 0.0 ? z(k) / (z(k) - target(k)) : 0.0;
            if (first < 0 || limit < fraction) {
                fraction = limit;
                first = k;
            }
        }
        z += fraction * (target - z);
        z(first) = 0.0;
        for (Index k = passive.size() - 1; k >= 0; --k) {
            if (k != first && (z(k) > 0.0 || target(k) > 0.0)) continue;
            passive.remove(k);
            const Index behind = z.size() - k - 1;
            z.segment(k, behind) = z.tail(behind).eval();
            z.conservativeResize(z.size() - 1);
            target.segment(k, behind) = target.tail(behind).eval();
            target.conservativeResize(target.size() - 1);
        }
        target = passive.solution();
    }
    z = target;
}

}  // namespace

NonnegativeLeastSquares nonnegative_least_squares(const Matrix& A, const Vector& b) {
    SALTUS_EXPECT(A.rows() == b.size());
    NonnegativeLeastSquares result{Vector::Zero(A.cols()), b, b.norm()};
    const double negligible_distance = 4.0 * epsilon * static_cast<double>(b.size() + 4) * result.distance;
    const double longest = A.cols() == 0 || A.rows() == 0 ? 0.0 : A.colwise().norm().maxCoeff();
    if (!(longest > 0.0) || !std::isfinite(longest)) return result;
    PassiveColumns passive(A, b);
    std::vector<char> barred(static_cast<std::size_t>(A.cols()), 0);
    Vector z;
    // The column with the largest gain −∂(½‖A x − b‖²)/∂x_j = (Aᵀ residual)_j becomes passive. A column that did not
    // shorten the residual is barred until another one does. This and the limit on rounds guarantee termination.
    for (Index round = 0; round < 10 * (A.cols() + 4) && result.distance > negligible_distance; ++round) {
        const Vector gain = A.transpose() * result.residual;
        Index best = -1;
        double largest_gain = 16.0 * epsilon * static_cast<double>(b.size() + 4) * longest * result.distance;
        for (Index j = 0; j < A.cols(); ++j) {
            if (barred[static_cast<std::size_t>(j)] || !(gain(j) > largest_gain)) continue;
            if (std::find(passive.columns().begin(), passive.columns().end(), j) != passive.columns().end()) continue;
            largest_gain = gain(j);
            best = j;
        }
        if (best < 0) break;
        barred[static_cast<std::size_t>(best)] = 1;
        if (!passive.append(best)) continue;
        if (!(passive.solution()(passive.size() - 1) > 0.0)) {
            passive.remove(passive.size() - 1);
            continue;
        }
        z.conservativeResize(passive.size());
        z(passive.size() - 1) = 0.0;
        walk(passive, z);
        const Vector residual = passive.residual();
        const double distance = residual.norm();
        if (distance < result.distance) std::fill(barred.begin(), barred.end(), char{0});
        result.residual = residual;
        result.distance = distance;
    }
    for (Index k = 0; k < passive.size(); ++k) result.x(passive.columns()[static_cast<std::size_t>(k)]) = z(k);
    return result;
}

LeastDistance least_distance(const Matrix& G, const Vector& h, const Vector& p) {
    SALTUS_EXPECT(G.rows() == h.size() && (G.rows() == 0 || G.cols() == p.size()));
    LeastDistance result{true, p, Vector::Zero(h.size())};
    if (h.size() == 0) return result;
    const Vector shortfall = h - G * p;
    const double worst = shortfall.maxCoeff();
    if (!(worst > 0.0)) return result;
    // Lawson and Hanson's reduction. In units of the worst shortfall let z >= 0 minimise ‖E z − f‖ with
    // E = [Gᵀ; shortfallᵀ] and f = (0, 1). Its residual is (−Gᵀz, ρ) with ρ = 1 − shortfallᵀz, and the optimality
    // conditions Eᵀ residual <= 0 read G(Gᵀz/ρ) >= shortfall: x − p = Gᵀz/ρ. If ρ = 0, then z proves that no x exists.
    Matrix E(p.size() + 1, h.size());
    E.topRows(p.size()) = G.transpose();
    E.bottomRows(1) = shortfall.transpose() / worst;
    // Rows that are satisfied by a wide margin would give long columns. Scaling a column changes its z only.
    const Vector length = E.colwise().norm().cwiseMax(1.0);
    for (Index i = 0; i < h.size(); ++i) E.col(i) /= length(i);
    const NonnegativeLeastSquares dual = nonnegative_least_squares(E, Vector::Unit(p.size() + 1, p.size()));
    Vector z = dual.x.cwiseQuotient(length);
    if (dual.distance < empty_distance) {
        result.feasible = false;
        result.multipliers = z;
        return result;
    }
    // Solve again from the active rows, G_A (x − p) = shortfall_A, which removes the rounding of 1/ρ.
    std::vector<Index> active;
    for (Index i = 0; i < h.size(); ++i)
        if (z(i) > 0.0) active.push_back(i);
    if (active.empty()) return result;  // the shortfall is too small for the dual to see: x = p
    Matrix rows(static_cast<Index>(active.size()), p.size());
    Vector ends(rows.rows());
    for (Index k = 0; k < rows.rows(); ++k) {
        rows.row(k) = G.row(active[static_cast<std::size_t>(k)]);
        ends(k) = shortfall(active[static_cast<std::size_t>(k)]);
    }
    const auto factors = rows.completeOrthogonalDecomposition();
    Vector step = factors.solve(ends);
    step += factors.solve(ends - rows * step);
    const Vector multipliers = rows.transpose().completeOrthogonalDecomposition().solve(step);
    const double rho = dual.residual(p.size());
    const Vector rough = G.transpose() * z * (worst / rho);
    const auto violation = [&](const Vector& d) { return (shortfall - G * d).maxCoeff(); };
    result.multipliers.setZero();
    if (multipliers.minCoeff() >= 0.0 || violation(step) <= violation(rough)) {
        result.x = p + step;
        for (Index k = 0; k < rows.rows(); ++k)
            result.multipliers(active[static_cast<std::size_t>(k)]) = std::max(0.0, multipliers(k));
    } else {
        result.x = p + rough;
        result.multipliers = z * (worst / rho);
    }
    return result;
}

}  // namespace saltus::solvers
