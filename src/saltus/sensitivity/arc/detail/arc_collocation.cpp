// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_collocation.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"

namespace saltus::sensitivity {

namespace {

/// Up to this size matrices are worked off row by row, without blocks.
constexpr Eigen::Index small = 80;
/// Legendre coefficients of exponentials fall so that b is this times √(ac); those of functions with a pole, slower.
constexpr double concave = 0.77;
/// They fall the faster the higher, so that from earlier ones less is to be feared.
constexpr double by_chance = 0.02;
/// What differences of accelerations leave of nothing.
constexpr double rounding = 1e-14;
/// Part of a step outside its nodes; and how far off an end is, in terms of the last coefficients, where something is
/// there.
constexpr double outside = 0.05, unexpected = 4.0;

}  // namespace

/// From Legendre's polynomials, which are had and integrated exactly by those through the nodes.
Nodes::Nodes(const Vector& nodes) : c(nodes) {
    const Eigen::Index s = c.size();
    Matrix values(s, s), integrals(s, s);
    Vector whole = Vector::Zero(s);
    whole(0) = 1.0;
    for (Eigen::Index i = 0; i < s; ++i) {
        const double x = 2.0 * c(i) - 1.0;
        double before = 1.0, p = x;
        values(0, i) = 1.0;
        integrals(0, i) = c(i);
        for (Eigen::Index k = 1; k < s; ++k) {
            const auto d = static_cast<double>(k);
            const double next = ((2.0 * d + 1.0) * x * p - d * before) / (d + 1.0);
            values(k, i) = p;
            integrals(k, i) = 0.5 * (next - before) / (2.0 * d + 1.0);
            before = p;
            p = next;
        }
    }
    A = solve_columns(values, integrals).transpose();
    twice = A * A;
    weights = solve_columns(values, whole);
    by_twice = A.transpose() * weights;
    legendre = solve_columns(Matrix(values.transpose()), Matrix::Identity(s, s));
    right = legendre.colwise().sum().transpose();
    left = Vector::Zero(s);
    for (Eigen::Index m = 0; m < s; ++m) left += (m % 2 == 0 ? 1.0 : -1.0) * legendre.row(m).transpose();
}

const Nodes& radau_three() {
    static const Nodes nodes(Vector{{0.15505102572168219, 0.64494897427831781, 1.0}});
    return nodes;
}
const Nodes& radau_five() {
    static const Nodes nodes(
        Vector{{0.05710419611451768, 0.27684301363812383, 0.58359043236891683, 0.86024013565621945, 1.0}});
    return nodes;
}
const Nodes& gauss_five() {
    static const Nodes nodes(
        Vector{{0.046910077030668004, 0.23076534494715845, 0.5, 0.76923465505284155, 0.953089922969332}});
    return nodes;
}

double node(double t, double end, double c) { return c == 1.0 ? end : t + c * (end - t); }

bool ArcCollocation::prepare(double t, double end, const Nodes& nodes, const Matrix& rows) {
    beside_ = rows.rightCols(x_.parameters());
    return collect(t, end, nodes);
}

bool ArcCollocation::prepare(double t, double end, const Nodes& nodes) {
    beside_.setIdentity(x_.parameters(), x_.parameters());
    return collect(t, end, nodes);
}

bool ArcCollocation::collect(double t, double end, const Nodes& nodes) {
    nodes_ = &nodes;
    h_ = end - t;
    const Eigen::Index s = nodes.c.size(), states = 2 * n_, beside = beside_.rows();
    coefficients_.resize(ix(s));
    is_active_.assign(ix(n_), 0);
    for (Eigen::Index i = 0; i < s; ++i) {
        if (!motion_.prepare(node(t, end, nodes.c(i)))) return false;
        x_.linearised.touched(1 + 2 * n_, touched_);
        const auto count = static_cast<Eigen::Index>(std::count(touched_.begin() + 1, touched_.end(), 1));
        asked_.setZero(count + beside, x_.columns());
        Eigen::Index row = 0;
        for (Eigen::Index c = 0; c < states; ++c)
            if (touched_[ix(1 + c)] != 0) {
                asked_(row++, 1 + c) = 1.0;
                is_active_[ix(c % n_)] = 1;
            }
        asked_.bottomRightCorner(beside, x_.parameters()) = beside_;
        x_.linearised.along(asked_, answers_);
        Matrix& f = coefficients_[ix(i)];
        f.resize(states + beside, n_);
        for (int a = 0; a < n_; ++a) {
            row = 0;
            for (Eigen::Index c = 0; c < states; ++c) f(c, a) = touched_[ix(1 + c)] != 0 ? answers_(row++, a) : 0.0;
            for (Eigen::Index r = 0; r < beside; ++r) f(states + r, a) = answers_(count + r, a);
        }
    }
    active_.clear();
    for (int a = 0; a < n_; ++a)
        if (is_active_[ix(a)] != 0) active_.push_back(a);
    return true;
}

/// What is known of the active coordinates, from `right_`.
bool ArcCollocation::solve(bool transposed) {
    const Eigen::Index s = nodes_->c.size(), na = static_cast<Eigen::Index>(active_.size()), size = s * na;
    const bool few = size <= small;
    const auto fill = [&](auto&& put) {
        for (Eigen::Index i = 0; i < s; ++i) {
            const Matrix& f = coefficients_[ix(i)];
            for (Eigen::Index j = 0; j < s; ++j) {
                const double by_q = h_ * h_ * nodes_->twice(i, j), by_u = h_ * nodes_->A(i, j);
                for (Eigen::Index a = 0; a < na; ++a) {
                    const double* const column = f.col(active_[ix(a)]).data();
                    for (Eigen::Index b = 0; b < na; ++b) {
                        const int from = active_[ix(b)];
                        put(static_cast<int>(i * na + a), static_cast<int>(j * na + b),
                            (i == j && a == b ? 1.0 : 0.0) - by_q * column[from] - by_u * column[n_ + from]);
                    }
                }
            }
        }
    };
    if (few) {
        lu_.clear(static_cast<int>(size));
        if (transposed)
            fill([&](int r, int c, double value) { lu_.at(c, r) = value; });
        else
            fill([&](int r, int c, double value) { lu_.at(r, c) = value; });
    } else {
        system_.resize(size, size);
        fill([&](int r, int c, double value) { system_(r, c) = value; });
        if (transposed) system_.transposeInPlace();
    }
    if (!few) {
        known_ = solve_columns(system_, right_);
        return known_.allFinite();
    }
    known_.resize(size, right_.cols());
    if (size == 0) return true;
    if (!lu_.factorise()) return false;
    for (Eigen::Index r = 0; r < right_.cols(); ++r)
        lu_.solve({right_.col(r).data(), ix(size)}, {known_.col(r).data(), ix(size)});
    return true;
}

bool ArcCollocation::forwards(const Matrix& from, Matrix& to) {
    const Eigen::Index s = nodes_->c.size(), rows = from.rows(), na = static_cast<Eigen::Index>(active_.size());
    k_.resize(s * n_, rows);
    right_.resize(s * na, rows);
    for (Eigen::Index r = 0; r < rows; ++r)
        for (Eigen::Index i = 0; i < s; ++i) {
            const Matrix& f = coefficients_[ix(i)];
            const double h = h_ * nodes_->c(i);
            for (int a = 0; a < n_; ++a) {
                double sum = f(2 * n_ + r, a);
                for (const int b : active_)
                    sum += f(b, a) * (from(r, b) + h * from(r, n_ + b)) + f(n_ + b, a) * from(r, n_ + b);
                k_(i * n_ + a, r) = sum;
            }
            for (Eigen::Index a = 0; a < na; ++a) right_(i * na + a, r) = k_(i * n_ + active_[ix(a)], r);
        }
    if (!solve(false)) return false;
    to.resize(rows, 2 * n_);
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (Eigen::Index i = 0; i < s; ++i)
            for (Eigen::Index b = 0; b < na; ++b) {
                double q = 0.0, u = 0.0;
                for (Eigen::Index j = 0; j < s; ++j) {
                    q += nodes_->twice(i, j) * known_(j * na + b, r);
                    u += nodes_->A(i, j) * known_(j * na + b, r);
                }
                const Matrix& f = coefficients_[ix(i)];
                const int from_b = active_[ix(b)];
                for (int a = 0; a < n_; ++a) k_(i * n_ + a, r) += h_ * (h_ * q * f(from_b, a) + u * f(n_ + from_b, a));
            }
        for (int a = 0; a < n_; ++a) {
            double q = 0.0, u = 0.0;
            for (Eigen::Index j = 0; j < s; ++j) {
                q += nodes_->by_twice(j) * k_(j * n_ + a, r);
                u += nodes_->weights(j) * k_(j * n_ + a, r);
            }
            to(r, a) = from(r, a) + h_ * (from(r, n_ + a) + h_ * q);
            to(r, n_ + a) = from(r, n_ + a) + h_ * u;
        }
    }
    return true;
}

/// Coefficients beyond those at hand fall at least as fast as the last ones do from one to the next, and the end of a
/// step with s nodes is off by that of number 2s. One of them may be small by chance, hence log-concavity: b² ≥ ac.
void ArcCollocation::doubt(Eigen::Index rows, const Matrix* left, const Matrix* right, Matrix& error) const {
    const Eigen::Index s = nodes_->c.size();
    const auto falls = [](double a, double b, double c) {
        const double from = std::max(b, concave * std::sqrt(a * c));
        return c < from ? c / from : 1.0;
    };
    error.setZero(rows, 2 * n_);
    for (Eigen::Index r = 0; r < rows; ++r) {
        double last[4] = {};
        for (int m = 0; m < 4; ++m)
            for (int a = 0; a < n_; ++a) {
                double sum = 0.0, terms = 0.0;
                for (Eigen::Index j = 0; j < s; ++j) {
                    const double term = nodes_->legendre(s - 4 + m, j) * k_(j * n_ + a, r);
                    sum += term;
                    terms += std::abs(term);
                }
                last[m] = std::max(last[m], std::abs(sum) - rounding * terms);
            }
        const auto power = static_cast<double>(s + 1);
        const double beyond = std::max(last[3] * std::pow(falls(last[1], last[2], last[3]), power),
                                       by_chance * last[2] * std::pow(falls(last[0], last[1], last[2]), power + 1.0));
        // Smooth accelerations are met at the ends about as well as the next coefficient is small.
        double off = 0.0;
        for (const auto& [rates, weights] : {std::pair{left, &nodes_->left}, std::pair{right, &nodes_->right}})
            for (int a = 0; a < n_ && rates != nullptr; ++a) {
                double sum = 0.0, terms = std::abs((*rates)(r, a));
                for (Eigen::Index j = 0; j < s; ++j) {
                    sum += (*weights)(j)*k_(j * n_ + a, r);
                    terms += std::abs((*weights)(j)*k_(j * n_ + a, r));
                }
                off = std::max(off, std::abs(sum - (*rates)(r, a)) - rounding * terms);
            }
        if (off <= unexpected * std::max(last[2], last[3])) off = 0.0;
        error(r, 0) = h_ * h_ * std::max(beyond, outside * off);
        error(r, n_) = h_ * std::max(beyond, outside * off);
    }
}

bool ArcCollocation::backwards(Matrix& gradients) {
    const Eigen::Index s = nodes_->c.size(), rows = gradients.rows(), na = static_cast<Eigen::Index>(active_.size());
    k_.resize(s * n_, rows);  // gradients by the accelerations
    right_.resize(s * na, rows);
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (Eigen::Index j = 0; j < s; ++j) {
            for (int a = 0; a < n_; ++a)
                k_(j * n_ + a, r) =
                    h_ * nodes_->weights(j) * gradients(r, n_ + a) + h_ * h_ * nodes_->by_twice(j) * gradients(r, a);
            for (Eigen::Index b = 0; b < na; ++b) right_(j * na + b, r) = k_(j * n_ + active_[ix(b)], r);
        }
        // Those that follow from the others hand theirs on.
        for (Eigen::Index i = 0; i < s; ++i)
            for (Eigen::Index b = 0; b < na; ++b) {
                const Matrix& f = coefficients_[ix(i)];
                double q = 0.0, u = 0.0;
                for (int a = 0; a < n_; ++a) {
                    if (is_active_[ix(a)] != 0) continue;
                    q += f(active_[ix(b)], a) * k_(i * n_ + a, r);
                    u += f(n_ + active_[ix(b)], a) * k_(i * n_ + a, r);
                }
                for (Eigen::Index j = 0; j < s; ++j)
                    right_(j * na + b, r) += h_ * (h_ * nodes_->twice(i, j) * q + nodes_->A(i, j) * u);
            }
    }
    if (!solve(true)) return false;
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (Eigen::Index j = 0; j < s; ++j)
            for (Eigen::Index b = 0; b < na; ++b) k_(j * n_ + active_[ix(b)], r) = known_(j * na + b, r);
        for (int a = 0; a < n_; ++a) gradients(r, n_ + a) += h_ * gradients(r, a);
        for (Eigen::Index i = 0; i < s; ++i)
            for (int a = 0; a < n_; ++a) {
                const Matrix& f = coefficients_[ix(i)];
                const double z = k_(i * n_ + a, r), hz = h_ * nodes_->c(i) * z;
                for (Eigen::Index b = 0; b < gradients.cols(); ++b) gradients(r, b) += z * f(b, a);
                for (int b = 0; b < n_; ++b) gradients(r, n_ + b) += hz * f(b, a);
            }
    }
    return true;
}

}  // namespace saltus::sensitivity
