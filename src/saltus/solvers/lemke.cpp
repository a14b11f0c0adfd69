// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/lemke.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/residual.hpp"

namespace saltus::solvers {

namespace {

/// The tableau of w − M z − d z₀ = q, columns w (n), z (n), z₀, right side. Row and column scaling makes the largest
/// entries about 1, so that pivot tolerances mean something.
class Tableau {
public:
    explicit Tableau(const LinearComplementarity& p) : n_(p.q.size()) {
        T_.resize(n_, 2 * n_ + 2);
        scale_.setOnes(n_);
        for (int round = 0; round < 3; ++round)  // symmetric equilibration: D M D
            for (Eigen::Index i = 0; i < n_; ++i) {
                double largest = 0.0;
                for (Eigen::Index j = 0; j < n_; ++j)
                    largest = std::max({largest, std::abs(p.M(i, j) * scale_(i) * scale_(j)),
                                        std::abs(p.M(j, i) * scale_(i) * scale_(j))});
                if (largest > 0.0) scale_(i) /= std::sqrt(largest);
            }
        T_.leftCols(n_).setIdentity();
        T_.middleCols(n_, n_) = -(scale_.asDiagonal() * p.M * scale_.asDiagonal());
        T_.col(2 * n_).setConstant(-1.0);
        T_.col(2 * n_ + 1) = scale_.asDiagonal() * p.q;
        const double size = T_.col(2 * n_ + 1).cwiseAbs().maxCoeff();
        if (size > 0.0) T_.col(2 * n_ + 1) /= size;
        q_scale_ = size > 0.0 ? size : 1.0;
        for (Eigen::Index i = 0; i < n_; ++i) basis_.push_back(i);
    }

    enum class End { solution, ray, limit };

    End run(int max_pivots, int& pivots) {
        const Eigen::Index artificial = 2 * n_;
        Eigen::Index row = lexicographic_minimum_of_right_side();
        if (T_(row, 2 * n_ + 1) >= 0.0) return End::solution;
        Eigen::Index entering = artificial;
        for (pivots = 0; pivots < max_pivots; ++pivots) {
            const Eigen::Index leaving = basis_[static_cast<std::size_t>(row)];
            pivot(row, entering);
            if (leaving == artificial) return End::solution;
            entering = leaving < n_ ? leaving + n_ : leaving - n_;  // the complement
            row = ratio_test(entering);
            if (row < 0) {
                ray_ = entering;
                return End::ray;
            }
        }
        return End::limit;
    }

    std::vector<double> solution() const {
        std::vector<double> z(static_cast<std::size_t>(n_), 0.0);
        for (Eigen::Index i = 0; i < n_; ++i) {
            const Eigen::Index b = basis_[static_cast<std::size_t>(i)];
            if (b >= n_ && b < 2 * n_)
                z[static_cast<std::size_t>(b - n_)] = std::max(0.0, T_(i, 2 * n_ + 1)) * q_scale_ * scale_(b - n_);
        }
        return z;
    }

    /// Which z are basic.
    std::vector<Eigen::Index> active() const {
        std::vector<Eigen::Index> list;
        for (const Eigen::Index b : basis_)
            if (b >= n_ && b < 2 * n_) list.push_back(b - n_);
        std::sort(list.begin(), list.end());
        return list;
    }

    /// The z-part of the ray that ended the method.
    std::vector<double> ray() const {
        std::vector<double> y(static_cast<std::size_t>(n_), 0.0);
        const auto put = [&](Eigen::Index variable, double value) {
            if (variable >= n_ && variable < 2 * n_)
                y[static_cast<std::size_t>(variable - n_)] = value * scale_(variable - n_);
        };
        put(ray_, 1.0);
        for (Eigen::Index i = 0; i < n_; ++i) put(basis_[static_cast<std::size_t>(i)], std::max(0.0, -T_(i, ray_)));
        return y;
    }

private:
    static constexpr double pivot_tolerance = 1e-11;

    /// Rows compared by (right side, the columns of w): ties of degenerate problems are broken once and for all.
    bool smaller(Eigen::Index a, double pa, Eigen::Index b, double pb) const {
        const auto compare = [&](Eigen::Index column) {
            const double x = T_(a, column) / pa, y = T_(b, column) / pb;
            const double size = std::max({std::abs(x), std::abs(y), 1e-300});
            return std::abs(x - y) <= 1e-13 * size ? 0 : (x < y ? -1 : 1);
        };
        if (const int c = compare(2 * n_ + 1); c != 0) return c < 0;
        for (Eigen::Index j = 0; j < n_; ++j)
            if (const int c = compare(j); c != 0) return c < 0;
        return false;
    }

    Eigen::Index lexicographic_minimum_of_right_side() const {
        Eigen::Index best = 0;
        for (Eigen::Index i = 1; i < n_; ++i)
            if (smaller(i, 1.0, best, 1.0)) best = i;
        return best;
    }

    Eigen::Index ratio_test(Eigen::Index entering) const {
        Eigen::Index best = -1;
        const double threshold = pivot_tolerance * std::max(1.0, T_.col(entering).cwiseAbs().maxCoeff());
        for (Eigen::Index i = 0; i < n_; ++i) {
            if (T_(i, entering) <= threshold) continue;
            // The artificial variable leaves as soon as it can.
            if (best < 0 || smaller(i, T_(i, entering), best, T_(best, entering))) best = i;
        }
        if (best < 0) return best;
        const double ratio = T_(best, 2 * n_ + 1) / T_(best, entering);
        for (Eigen::Index i = 0; i < n_; ++i)
            if (basis_[static_cast<std::size_t>(i)] == 2 * n_ && T_(i, entering) > threshold &&
                T_(i, 2 * n_ + 1) / T_(i, entering) <= ratio * (1.0 + 1e-13) + 1e-15)
                return i;
        return best;
    }

    void pivot(Eigen::Index row, Eigen::Index entering) {
        T_.row(row) /= T_(row, entering);
        for (Eigen::Index i = 0; i < n_; ++i) {
            if (i == row) continue;
            const double factor = T_(i, entering);
            if (factor != 0.0) T_.row(i) -= factor * T_.row(row);
        }
        basis_[static_cast<std::size_t>(row)] = entering;
    }

    Eigen::Index n_;
    Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> T_;
    Vector scale_;
    double q_scale_ = 1.0;
    std::vector<Eigen::Index> basis_;
    Eigen::Index ray_ = 0;
};

/// The basic z once more from the original data: rounding of many pivots is left behind.
std::vector<double> refine(const LinearComplementarity& p, const std::vector<Eigen::Index>& active) {
    const auto k = static_cast<Eigen::Index>(active.size());
    Matrix A(k, k);
    Vector b(k);
    for (Eigen::Index i = 0; i < k; ++i) {
        b(i) = -p.q(active[static_cast<std::size_t>(i)]);
        for (Eigen::Index j = 0; j < k; ++j)
            A(i, j) = p.M(active[static_cast<std::size_t>(i)], active[static_cast<std::size_t>(j)]);
    }
    std::vector<double> z(static_cast<std::size_t>(p.q.size()), 0.0);
    if (k == 0) return z;
    const Vector x = A.fullPivLu().solve(b);
    for (Eigen::Index i = 0; i < k; ++i)
        z[static_cast<std::size_t>(active[static_cast<std::size_t>(i)])] = std::max(0.0, x(i));
    return z;
}

}  // namespace

Solution solve(const LinearComplementarity& p, const Lemke& method) {
    Solution s;
    s.method = "lemke";
    const auto n = static_cast<std::size_t>(p.q.size());
    s.r.assign(n, 0.0);
    if (!p.M.allFinite() || !p.q.allFinite()) {
        s.status = Status::non_finite;
        s.residual = std::numeric_limits<double>::infinity();
        return s;
    }
    const auto finish = [&](Status status) {
        s.status = status;
        s.residual = residual(p, s.r);
        if (s.residual <= method.tolerance) s.status = Status::converged;
        const Vector w = p.M * Eigen::Map<const Vector>(s.r.data(), static_cast<Eigen::Index>(n)) + p.q;
        s.v.assign(w.data(), w.data() + w.size());
        s.attempts.push_back({s.method, s.iterations, s.residual});
        return s;
    };
    if (n == 0 || p.q.minCoeff() >= 0.0) return finish(Status::converged);

    Tableau tableau(p);
    const int max_pivots = method.max_pivots > 0 ? method.max_pivots : 50 * (static_cast<int>(n) + 10);
    const Tableau::End end = tableau.run(max_pivots, s.iterations);
    if (end == Tableau::End::ray) {
        // A ray proves insolubility when yᵀM <= 0 and yᵀq < 0: then yᵀ(M z + q) < 0 for every z >= 0.
        const std::vector<double> y = tableau.ray();
        const Eigen::Map<const Vector> direction(y.data(), static_cast<Eigen::Index>(n));
        const Vector row = p.M.transpose() * direction;
        const double size = p.M.cwiseAbs().maxCoeff() * direction.cwiseAbs().sum();
        const double value = direction.dot(p.q);
        if (row.maxCoeff() <= 1e-12 * size && value < -1e-12 * direction.cwiseAbs().dot(p.q.cwiseAbs())) {
            s.certificate = y;
            return finish(Status::infeasible);
        }
        return finish(Status::stalled);
    }
    s.r = tableau.solution();
    const std::vector<double> refined = refine(p, tableau.active());
    if (residual(p, refined) < residual(p, s.r)) s.r = refined;
    return finish(end == Tableau::End::limit ? Status::limit : Status::stalled);
}

}  // namespace saltus::solvers
