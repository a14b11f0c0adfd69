// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_collocation.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"

namespace saltus::sensitivity {

namespace {

/// Systems up to this size are solved by the unblocked LU decomposition, larger ones by the blocked one. (Speed only.)
constexpr Eigen::Index max_unblocked_size = 80;
/// Successive Legendre coefficients a, b, c of an exponential satisfy b ≈ this · √(ac) at least; of functions with a
/// pole b is larger. A smaller b is small by chance.
constexpr double log_concavity = 0.77;
/// Weight of the error estimate from the coefficients before the last ones. Coefficients decay faster and faster, so
/// the earlier ones overestimate the error.
constexpr double earlier_estimate_weight = 0.02;
/// A sum of accelerations below this part of the sum of its terms' magnitudes is rounding.
constexpr double rounding_ratio = 1e-14;
/// Part of a step between its end and the nearest Gauss node.
constexpr double end_share = 0.05;
/// The polynomial misses a smooth acceleration at an end by at most this times its last two Legendre coefficients.
constexpr double end_error_factor = 4.0;

}  // namespace

// Derivation. Let P_k be the shifted Legendre polynomials on [0, 1], x = 2c − 1. With V_ki = P_k(c_i) and
// I_ki = ∫₀^{c_i} P_k, the matrix A of a collocation method integrates all P_k, k < s, exactly: Σ_j a_ij P_k(c_j) =
// I_ki, i.e. V Aᵀ = I. Likewise V b = (1, 0, …, 0), because ∫₀¹ P_k = 0 for k > 0. Recurrences:
//     (k + 1) P_{k+1} = (2k + 1) x P_k − k P_{k−1},     ∫₀^c P_k = ½ (P_{k+1} − P_{k−1})/(2k + 1).
// The values at the nodes are V transposed times the Legendre coefficients. P_k(1) = 1 and P_k(0) = (−1)^k.
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
    A_squared = A * A;
    weights = solve_columns(values, whole);
    position_weights = A.transpose() * weights;
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
const Nodes& gauss_one() {
    static const Nodes nodes(Vector{{0.5}});
    return nodes;
}
const Nodes& gauss_two() {
    static const Nodes nodes(Vector{{0.21132486540518712, 0.78867513459481288}});
    return nodes;
}
const Nodes& gauss_five() {
    static const Nodes nodes(
        Vector{{0.046910077030668004, 0.23076534494715845, 0.5, 0.76923465505284155, 0.953089922969332}});
    return nodes;
}

double node(double t, double end, double c) { return c == 1.0 ? end : t + c * (end - t); }

bool ArcCollocation::prepare(double t, double end, const Nodes& nodes, const Matrix& directions) {
    parameter_rows_ = directions.rightCols(x_.parameters());
    return collect(t, end, nodes);
}

bool ArcCollocation::prepare(double t, double end, const Nodes& nodes) {
    parameter_rows_.setIdentity(x_.parameters(), x_.parameters());
    return collect(t, end, nodes);
}

/// Evaluates f_q, f_u and f_p · (parameter variations) at all nodes. Only columns that the accelerations depend on are
/// evaluated.
bool ArcCollocation::collect(double t, double end, const Nodes& nodes) {
    nodes_ = &nodes;
    h_ = end - t;
    const Eigen::Index s = nodes.c.size(), states = 2 * n_, variations = parameter_rows_.rows();
    coefficients_.resize(ix(s));
    is_active_.assign(ix(n_), 0);
    for (Eigen::Index i = 0; i < s; ++i) {
        if (!motion_.prepare(node(t, end, nodes.c(i)))) return false;
        x_.linearised.touched(1 + 2 * n_, touched_);
        const auto count = static_cast<Eigen::Index>(std::count(touched_.begin() + 1, touched_.end(), 1));
        asked_.setZero(count + variations, x_.columns());
        Eigen::Index row = 0;
        for (Eigen::Index c = 0; c < states; ++c)
            if (touched_[ix(1 + c)] != 0) {
                asked_(row++, 1 + c) = 1.0;
                is_active_[ix(c % n_)] = 1;
            }
        asked_.bottomRightCorner(variations, x_.parameters()) = parameter_rows_;
        x_.linearised.along(asked_, answers_);
        Matrix& f = coefficients_[ix(i)];
        f.resize(states + variations, n_);
        for (int a = 0; a < n_; ++a) {
            row = 0;
            for (Eigen::Index c = 0; c < states; ++c) f(c, a) = touched_[ix(1 + c)] != 0 ? answers_(row++, a) : 0.0;
            for (Eigen::Index r = 0; r < variations; ++r) f(states + r, a) = answers_(count + r, a);
        }
    }
    active_.clear();
    for (int a = 0; a < n_; ++a)
        if (is_active_[ix(a)] != 0) active_.push_back(a);
    return true;
}

// Solves for the accelerations of the active coordinates at all nodes. From the equations in the header the matrix is
//     S_(ia)(jb) = δ_ij δ_ab − h² (A²)_ij f_q,ab(t_i) − h a_ij f_u,ab(t_i),
// with f evaluated at the node i of the row. `right_` is the right-hand side; the result is `solution_`.
bool ArcCollocation::solve(Orientation orientation) {
    const Eigen::Index s = nodes_->c.size(), na = static_cast<Eigen::Index>(active_.size()), size = s * na;
    const bool unblocked = size <= max_unblocked_size, transposed = orientation == Orientation::transposed;
    const auto fill = [&](auto&& put) {
        for (Eigen::Index i = 0; i < s; ++i) {
            const Matrix& f = coefficients_[ix(i)];
            for (Eigen::Index j = 0; j < s; ++j) {
                const double by_q = h_ * h_ * nodes_->A_squared(i, j), by_u = h_ * nodes_->A(i, j);
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
    if (unblocked) {
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
    if (!unblocked) {
        solution_ = solve_columns(system_, right_);
        return solution_.allFinite();
    }
    solution_.resize(size, right_.cols());
    if (size == 0) return true;
    if (!lu_.factorise()) return false;
    for (Eigen::Index r = 0; r < right_.cols(); ++r)
        lu_.solve({right_.col(r).data(), ix(size)}, {solution_.col(r).data(), ix(size)});
    return true;
}

// k_i = f_q (q + h c_i u) + f_u u + f_p p + [f_q h² Σ (A²)_ij k_j + f_u h Σ a_ij k_j]. The first part is known (`k_` at
// first, and `right_` for the active coordinates). The bracket contains active accelerations only and is added after
// they are solved for. Then q⁺ = q + h u + h² Σ (Aᵀb)_j k_j and u⁺ = u + h Σ b_j k_j.
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
    if (!solve(Orientation::plain)) return false;
    to.resize(rows, 2 * n_);
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (Eigen::Index i = 0; i < s; ++i)
            for (Eigen::Index b = 0; b < na; ++b) {
                double q = 0.0, u = 0.0;
                for (Eigen::Index j = 0; j < s; ++j) {
                    q += nodes_->A_squared(i, j) * solution_(j * na + b, r);
                    u += nodes_->A(i, j) * solution_(j * na + b, r);
                }
                const Matrix& f = coefficients_[ix(i)];
                const int from_b = active_[ix(b)];
                for (int a = 0; a < n_; ++a) k_(i * n_ + a, r) += h_ * (h_ * q * f(from_b, a) + u * f(n_ + from_b, a));
            }
        for (int a = 0; a < n_; ++a) {
            double q = 0.0, u = 0.0;
            for (Eigen::Index j = 0; j < s; ++j) {
                q += nodes_->position_weights(j) * k_(j * n_ + a, r);
                u += nodes_->weights(j) * k_(j * n_ + a, r);
            }
            to(r, a) = from(r, a) + h_ * (from(r, n_ + a) + h_ * q);
            to(r, n_ + a) = from(r, n_ + a) + h_ * u;
        }
    }
    return true;
}

// The quadrature with s Gauss nodes is exact to degree 2s − 1, so the error of the step is of the size of the Legendre
// coefficient number 2s of the accelerations. Only the coefficients 0 … s − 1 are known. They are assumed to go on
// falling by the ratio r of the last two of them: c_2s ≈ c_{s−1} r^{s+1}. The ratio c/b of two coefficients is too
// large or too small if one of them is small by chance. Smooth functions have log-concave coefficients, b² ≥
// (log_concavity)² a c, which gives a lower bound of b (`decay`). A second estimate starts one coefficient earlier.
void ArcCollocation::estimate_error(Eigen::Index rows, const Matrix* left, const Matrix* right, Matrix& error) const {
    const Eigen::Index s = nodes_->c.size();
    const auto decay = [](double a, double b, double c) {
        const double from = std::max(b, log_concavity * std::sqrt(a * c));
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
                last[m] = std::max(last[m], std::abs(sum) - rounding_ratio * terms);
            }
        const auto power = static_cast<double>(s + 1);
        const double beyond =
            std::max(last[3] * std::pow(decay(last[1], last[2], last[3]), power),
                     earlier_estimate_weight * last[2] * std::pow(decay(last[0], last[1], last[2]), power + 1.0));
        // The interpolating polynomial must agree with the exact accelerations at the ends of the step.
        double off = 0.0;
        for (const auto& [rates, weights] : {std::pair{left, &nodes_->left}, std::pair{right, &nodes_->right}})
            for (int a = 0; a < n_ && rates != nullptr; ++a) {
                double sum = 0.0, terms = std::abs((*rates)(r, a));
                for (Eigen::Index j = 0; j < s; ++j) {
                    sum += (*weights)(j)*k_(j * n_ + a, r);
                    terms += std::abs((*weights)(j)*k_(j * n_ + a, r));
                }
                off = std::max(off, std::abs(sum - (*rates)(r, a)) - rounding_ratio * terms);
            }
        if (off <= end_error_factor * std::max(last[2], last[3])) off = 0.0;
        error(r, 0) = h_ * h_ * std::max(beyond, end_share * off);
        error(r, n_) = h_ * std::max(beyond, end_share * off);
    }
}

// The transpose of forwards. Write one step as
//     k = S⁻¹ (F_x x + F_p p),     x⁺ = E x + B k,     E = [I, hI; 0, I],     B = [h² Aᵀb; h b],
// where row i of F_x is (f_q, h c_i f_q + f_u) at node i. A gradient (y, g) by (x⁺, p) becomes
//     z = S⁻ᵀ Bᵀ y,     y ← Eᵀ y + F_xᵀ z,     g ← g + F_pᵀ z.
// Accelerations of coordinates that are not active are explicit functions of the active ones: first their part of Bᵀ y
// is added to the right-hand side of the active ones, with the transposed bracket of `forwards`.
bool ArcCollocation::backwards(Matrix& gradients) {
    const Eigen::Index s = nodes_->c.size(), rows = gradients.rows(), na = static_cast<Eigen::Index>(active_.size());
    k_.resize(s * n_, rows);
    right_.resize(s * na, rows);
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (Eigen::Index j = 0; j < s; ++j) {
            for (int a = 0; a < n_; ++a)
                k_(j * n_ + a, r) = h_ * nodes_->weights(j) * gradients(r, n_ + a) +
                                    h_ * h_ * nodes_->position_weights(j) * gradients(r, a);
            for (Eigen::Index b = 0; b < na; ++b) right_(j * na + b, r) = k_(j * n_ + active_[ix(b)], r);
        }
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
                    right_(j * na + b, r) += h_ * (h_ * nodes_->A_squared(i, j) * q + nodes_->A(i, j) * u);
            }
    }
    if (!solve(Orientation::transposed)) return false;
    for (Eigen::Index r = 0; r < rows; ++r) {
        for (Eigen::Index j = 0; j < s; ++j)
            for (Eigen::Index b = 0; b < na; ++b) k_(j * n_ + active_[ix(b)], r) = solution_(j * na + b, r);
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
