// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc_collocation.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::sensitivity {

namespace {

std::size_t ix(Eigen::Index i) { return static_cast<std::size_t>(i); }

/// Up to this size matrices are worked off row by row, without blocks.
constexpr Eigen::Index small = 80;

}  // namespace

/// From the monomials that polynomials through the nodes have, and integrate, exactly.
Radau::Radau(const Vector& nodes) : c(nodes) {
    const Eigen::Index s = c.size();
    Matrix powers(s, s), integrals(s, s);
    for (Eigen::Index i = 0; i < s; ++i)
        for (Eigen::Index k = 0; k < s; ++k) {
            powers(k, i) = std::pow(c(i), static_cast<double>(k));
            integrals(k, i) = std::pow(c(i), static_cast<double>(k + 1)) / static_cast<double>(k + 1);
        }
    A = solve_columns(powers, integrals).transpose();
    twice = A * A;
}

const Radau& three_stages() {
    static const Radau radau(Vector{{0.15505102572168219, 0.64494897427831781, 1.0}});
    return radau;
}
const Radau& five_stages() {
    static const Radau radau(
        Vector{{0.05710419611451768, 0.27684301363812383, 0.58359043236891683, 0.86024013565621945, 1.0}});
    return radau;
}

double node(double t, double end, double c) { return c == 1.0 ? end : t + c * (end - t); }

bool ArcCollocation::prepare(double t, double end, const Radau& radau, const Matrix& rows) {
    asked_.setZero(2 * n_ + rows.rows(), x_.columns());
    asked_.bottomRightCorner(rows.rows(), x_.parameters()) = rows.rightCols(x_.parameters());
    return collect(t, end, radau);
}

bool ArcCollocation::prepare(double t, double end, const Radau& radau) {
    asked_.setZero(2 * n_ + x_.parameters(), x_.columns());
    asked_.bottomRightCorner(x_.parameters(), x_.parameters()).setIdentity();
    return collect(t, end, radau);
}

bool ArcCollocation::collect(double t, double end, const Radau& radau) {
    asked_.block(0, 1, 2 * n_, 2 * n_).setIdentity();
    radau_ = &radau;
    h_ = end - t;
    const Eigen::Index s = radau.c.size();
    system_.setIdentity(s * n_, s * n_);
    coefficients_.resize(ix(s));
    for (Eigen::Index i = 0; i < s; ++i) {
        if (!motion_.prepare(node(t, end, radau.c(i)))) return false;
        Matrix& f = coefficients_[ix(i)];
        x_.linearised.along(asked_, f);
        for (Eigen::Index j = 0; j < s; ++j) {
            const double by_q = h_ * h_ * radau.twice(i, j), by_u = h_ * radau.A(i, j);
            for (int b = 0; b < n_; ++b)
                for (int a = 0; a < n_; ++a) system_(i * n_ + a, j * n_ + b) -= by_q * f(b, a) + by_u * f(n_ + b, a);
        }
    }
    return true;
}

bool ArcCollocation::solve(bool transposed) {
    const Eigen::Index size = system_.rows();
    if (size > small) {
        if (transposed) system_.transposeInPlace();
        k_ = solve_columns(system_, right_);
        return k_.allFinite();
    }
    lu_.clear(static_cast<int>(size));
    if (!transposed) system_.transposeInPlace();
    std::copy(system_.data(), system_.data() + system_.size(), &lu_.at(0, 0));
    if (!lu_.factorise()) return false;
    k_.resize(size, right_.cols());
    for (Eigen::Index r = 0; r < right_.cols(); ++r)
        lu_.solve({right_.col(r).data(), ix(size)}, {k_.col(r).data(), ix(size)});
    return true;
}

bool ArcCollocation::forwards(const Matrix& from, Matrix& to) {
    const Eigen::Index s = radau_->c.size(), rows = from.rows();
    right_.resize(s * n_, rows);
    for (Eigen::Index r = 0; r < rows; ++r)
        for (Eigen::Index i = 0; i < s; ++i) {
            const Matrix& f = coefficients_[ix(i)];
            const double h = h_ * radau_->c(i);
            for (int a = 0; a < n_; ++a) {
                double sum = f(2 * n_ + r, a);
                for (int b = 0; b < n_; ++b)
                    sum += f(b, a) * (from(r, b) + h * from(r, n_ + b)) + f(n_ + b, a) * from(r, n_ + b);
                right_(i * n_ + a, r) = sum;
            }
        }
    if (!solve(false)) return false;
    to.resize(rows, 2 * n_);
    for (Eigen::Index r = 0; r < rows; ++r)
        for (int a = 0; a < n_; ++a) {
            double q = 0.0, u = 0.0;
            for (Eigen::Index j = 0; j < s; ++j) {
                q += radau_->twice(s - 1, j) * k_(j * n_ + a, r);
                u += radau_->A(s - 1, j) * k_(j * n_ + a, r);
            }
            to(r, a) = from(r, a) + h_ * (from(r, n_ + a) + h_ * q);
            to(r, n_ + a) = from(r, n_ + a) + h_ * u;
        }
    return true;
}

bool ArcCollocation::backwards(Matrix& gradients) {
    const Eigen::Index s = radau_->c.size(), rows = gradients.rows();
    right_.resize(s * n_, rows);
    for (Eigen::Index r = 0; r < rows; ++r)
        for (Eigen::Index j = 0; j < s; ++j)
            for (int a = 0; a < n_; ++a)
                right_(j * n_ + a, r) = h_ * radau_->A(s - 1, j) * gradients(r, n_ + a) +
                                        h_ * h_ * radau_->twice(s - 1, j) * gradients(r, a);
    if (!solve(true)) return false;
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (int a = 0; a < n_; ++a) gradients(r, n_ + a) += h_ * gradients(r, a);
        for (Eigen::Index i = 0; i < s; ++i)
            for (int a = 0; a < n_; ++a) {
                const Matrix& f = coefficients_[ix(i)];
                const double z = k_(i * n_ + a, r), hz = h_ * radau_->c(i) * z;
                for (Eigen::Index b = 0; b < gradients.cols(); ++b) gradients(r, b) += z * f(b, a);
                for (int b = 0; b < n_; ++b) gradients(r, n_ + b) += hz * f(b, a);
            }
    }
    return true;
}

}  // namespace saltus::sensitivity
