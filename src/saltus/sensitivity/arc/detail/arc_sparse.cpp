// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/arc/detail/arc_sparse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/ode/radau_iia.hpp"

namespace saltus::sensitivity {

namespace {

constexpr const auto& radau = ode::radau_iia::five;
constexpr Eigen::Index radau_stages = 5;
/// The node at which the matrix of the iteration is evaluated: the middle one.
constexpr Eigen::Index middle_node = 2;
/// The iteration ends if its estimated error is below this part of the tolerance of the step.
constexpr double iteration_share = 0.1;
/// Rounds after which the iteration has failed.
constexpr int max_rounds = 12;
/// Up to this convergence factor the matrix is kept. A larger one costs more rounds than a new matrix.
constexpr double good_contraction = 0.03;
/// Convergence factor that the first round assumes. Factors of earlier steps may be much smaller than that of this one.
constexpr double unknown_rate = 0.5;
/// From this convergence factor on the iteration has failed.
constexpr double divergence = 0.7;
/// Corrections that fall less than this have come down to rounding errors, if they are below the tolerance.
constexpr double no_decrease = 0.3;
/// Steps that differ by this share use the same factors.
constexpr double same_step = 1e-4;
/// The accelerations of the step before are extrapolated over up to this times its length. Beyond that their last
/// values are the better guess.
constexpr double longest_extrapolation = 1.5;
/// A velocity counts for the size of positions, and a position for that of velocities, as this part of what it makes
/// over a step.
constexpr double cross_part = 0.1;

}  // namespace

ArcSparse::ArcSparse(Tangent& tangent, ArcMotion& motion)
    : x_(tangent),
      motion_(motion),
      n_(tangent.n()),
      systems_(tangent.dynamics, tangent.linearised),
      maps_(radau_stages),
      k_(radau_stages),
      accepted_k_(radau_stages),
      residual_(radau_stages),
      change_(radau_stages),
      re_(ix(n_)),
      im_(ix(n_)),
      state_(ix(tangent.dynamics.state_size())) {}

bool ArcSparse::begin_arc() {
    has_jacobian_ = has_factors_ = has_accepted_ = false;
    contraction_ = good_contraction;
    end_ = nan;
    return systems_.serves_mode();
}

/// Evaluates the equations at the nodes, and the factors for this step.
bool ArcSparse::prepare(double t, double end, Jacobian jacobian) {
    for (Eigen::Index i = 0; i < radau_stages; ++i) {
        if (jacobian == Jacobian::renewed && i != middle_node) continue;  // the nodes are those of the last call
        ++evaluations;
        if (!motion_.prepare(node(t, end, radau.c[i]))) return false;
        x_.linearised.keep(maps_[ix(i)]);
        if (i != middle_node || (has_jacobian_ && jacobian == Jacobian::kept)) continue;
        if (systems_.adopt_prepared() != ode::StepStatus::accepted) return false;
        has_jacobian_ = true;
        has_factors_ = false;
    }
    if (has_factors_ && std::abs(h_ - factor_step_) <= same_step * h_) return true;
    std::array<std::complex<double>, radau_stages / 2> shifts;
    for (std::size_t k = 0; k < shifts.size(); ++k)
        shifts[k] = std::complex<double>(radau.alpha[k], radau.beta[k]) / h_;
    has_factors_ = systems_.factorise(radau.gamma / h_, shifts);
    factor_step_ = h_;
    return has_factors_;
}

// The polynomial of degree 4 through the accelerations of the step before, at θ = 1 + c_i h/h_before.
void ArcSparse::guess(const Matrix& rows) {
    const bool follows = has_accepted_ && accepted_end_ == t_ && accepted_k_[0].rows() == rows.rows();
    for (Eigen::Index i = 0; i < radau_stages; ++i) {
        Matrix& k = k_[ix(i)];
        if (!follows) {
            k.setZero(rows.rows(), n_);
            continue;
        }
        if (h_ > longest_extrapolation * accepted_h_) {
            k = accepted_k_[radau_stages - 1];
            continue;
        }
        const double theta = 1.0 + radau.c[i] * h_ / accepted_h_;
        k.setZero(rows.rows(), n_);
        for (Eigen::Index j = 0; j < radau_stages; ++j) {
            double weight = 1.0;
            for (Eigen::Index m = 0; m < radau_stages; ++m)
                if (m != j) weight *= (theta - radau.c[m]) / (radau.c[j] - radau.c[m]);
            k += weight * accepted_k_[ix(j)];
        }
    }
}

/// The directions at a node: q + h c u + h² Σ (A²)_ij k_j and u + h Σ a_ij k_j.
void ArcSparse::stage(const Matrix& rows, Eigen::Index i) {
    const Nodes& nodes = radau_five();
    directions_ = rows;
    directions_.middleCols(1, n_) += (h_ * nodes.c(i)) * rows.middleCols(1 + n_, n_);
    for (Eigen::Index j = 0; j < radau_stages; ++j) {
        directions_.middleCols(1, n_) += (h_ * h_ * nodes.A_squared(i, j)) * k_[ix(j)];
        directions_.middleCols(1 + n_, n_) += (h_ * nodes.A(i, j)) * k_[ix(j)];
    }
}

/// Δk from the residuals, by the systems of the header.
void ArcSparse::correct() {
    const Eigen::Index count = residual_[0].rows();
    for (Eigen::Index i = 0; i < radau_stages; ++i) {
        change_[ix(i)].setZero(count, n_);
        for (Eigen::Index j = 0; j < radau_stages; ++j) change_[ix(i)] += radau.T_inverse[i][j] * residual_[ix(j)];
    }
    for (Eigen::Index r = 0; r < count; ++r) {
        for (int a = 0; a < n_; ++a) re_[ix(a)] = radau.gamma / h_ * change_[0](r, a);
        systems_.solve_velocity(re_);
        for (int a = 0; a < n_; ++a) change_[0](r, a) = re_[ix(a)];
        for (std::size_t pair = 0; pair < static_cast<std::size_t>(radau_stages) / 2; ++pair) {
            Matrix &real = change_[2 * pair + 1], &imaginary = change_[2 * pair + 2];
            const double alpha = radau.alpha[pair] / h_, beta = radau.beta[pair] / h_;
            for (int a = 0; a < n_; ++a) {
                re_[ix(a)] = alpha * real(r, a) - beta * imaginary(r, a);
                im_[ix(a)] = beta * real(r, a) + alpha * imaginary(r, a);
            }
            systems_.solve_velocity_pair(pair, re_, im_);
            for (int a = 0; a < n_; ++a) {
                real(r, a) = re_[ix(a)];
                imaginary(r, a) = im_[ix(a)];
            }
        }
    }
    for (Eigen::Index i = 0; i < radau_stages; ++i) {
        residual_[ix(i)].setZero(count, n_);
        for (Eigen::Index j = 0; j < radau_stages; ++j) residual_[ix(i)] += radau.T[i][j] * change_[ix(j)];
    }
    residual_.swap(change_);
}

/// The largest effect of the correction on a state, relative to the states at both ends of the step. After `stage` for
/// the last node, which is the end of the step.
double ArcSparse::correction_size(const Matrix& rows) const {
    double worst = 0.0;
    for (Eigen::Index r = 0; r < rows.rows(); ++r) {
        double change = 0.0;
        for (const Matrix& c : change_) change = std::max(change, c.row(r).cwiseAbs().maxCoeff());
        if (change == 0.0) continue;
        const auto size = [&](Eigen::Index first) {
            return std::max(rows.row(r).segment(first, n_).cwiseAbs().maxCoeff(),
                            directions_.row(r).segment(first, n_).cwiseAbs().maxCoeff());
        };
        const double q = size(1), u = size(1 + n_);
        const double ratio = std::max(h_ * h_ * change / std::max(q, cross_part * h_ * u),
                                      h_ * change / std::max(u, cross_part * q / h_));
        if (!std::isfinite(ratio)) return ratio;
        worst = std::max(worst, ratio);
    }
    return worst;
}

// With the size δ_k of the k-th correction and the convergence factor Θ = δ_k/δ_{k−1}, the remaining error is about
// Θ/(1 − Θ) δ_k.
bool ArcSparse::iterate(const Matrix& rows, double tolerance) {
    double before = 0.0, rate = unknown_rate;
    for (int round = 1; round <= max_rounds; ++round) {
        for (Eigen::Index i = 0; i < radau_stages; ++i) {
            stage(rows, i);
            x_.linearised.along(maps_[ix(i)], directions_, residual_[ix(i)]);
            residual_[ix(i)] -= k_[ix(i)];
        }
        correct();
        for (Eigen::Index i = 0; i < radau_stages; ++i) k_[ix(i)] += change_[ix(i)];
        stage(rows, radau_stages - 1);
        const double size = correction_size(rows);
        if (!std::isfinite(size)) return false;
        if (size == 0.0) return true;
        if (round > 1) {
            rate = size / before;
            if (rate > no_decrease && size <= tolerance) return true;  // rounding errors do not fall
            contraction_ = std::max(rate, round > 2 ? contraction_ : 0.0);
            if (rate > divergence) return false;
        }
        if (rate / (1.0 - rate) * size <= iteration_share * tolerance) return true;
        before = size;
    }
    return false;
}

bool ArcSparse::forwards(double t, double end, const Matrix& rows, double tolerance, Matrix& next) {
    if (t == end_) {  // the last step was accepted
        accepted_k_.swap(k_);
        accepted_end_ = end_;
        accepted_h_ = h_;
        has_accepted_ = true;
    }
    t_ = t;
    end_ = nan;
    h_ = end - t;
    if (contraction_ > good_contraction) has_jacobian_ = false;
    from_ = rows;
    const bool fresh = !has_jacobian_;
    if (!prepare(t, end, Jacobian::kept)) return false;
    guess(rows);
    if (!iterate(rows, tolerance)) {
        if (fresh) return false;
        contraction_ = good_contraction;
        if (!prepare(t, end, Jacobian::renewed)) return false;
        guess(rows);
        if (!iterate(rows, tolerance)) return false;
    }
    const Nodes& nodes = radau_five();
    next = rows.middleCols(1, 2 * n_);
    next.leftCols(n_) += h_ * rows.middleCols(1 + n_, n_);
    for (Eigen::Index j = 0; j < radau_stages; ++j) {
        next.leftCols(n_) += (h_ * h_ * nodes.position_weights(j)) * k_[ix(j)];
        next.rightCols(n_) += (h_ * nodes.weights(j)) * k_[ix(j)];
    }
    if (!next.allFinite()) return false;
    end_ = end;
    return true;
}

// The estimate of radau_iia.hpp, (γ/h − J)⁻¹ (ẋ(t) + Σ e_i z_i/h), with z_i = x_i − x: h c_i u + h² Σ (A²)_ij k_j for
// positions and h Σ a_ij k_j for velocities.
bool ArcSparse::estimate_error(Eigen::Index count, Matrix& error) {
    const Nodes& nodes = radau_five();
    if (has_accepted_ && accepted_end_ == t_ && accepted_k_[0].rows() == from_.rows()) {
        start_rates_ = accepted_k_[radau_stages - 1];
    } else {
        ++evaluations;
        if (!motion_.prepare(t_)) return false;
        x_.linearised.along(from_, start_rates_);
    }
    error.resize(count, 2 * n_);
    double by_u = 0.0;  // Σ e_i c_i
    Vector by_k_in_q = Vector::Zero(radau_stages), by_k_in_u = Vector::Zero(radau_stages);
    for (Eigen::Index i = 0; i < radau_stages; ++i) {
        by_u += radau.error[i] * nodes.c(i);
        by_k_in_q += radau.error[i] * h_ * nodes.A_squared.row(i).transpose();
        by_k_in_u += radau.error[i] * nodes.A.row(i).transpose();
    }
    for (Eigen::Index r = 0; r < count; ++r) {
        for (int a = 0; a < n_; ++a) {
            double q = (1.0 + by_u) * from_(r, 1 + n_ + a), u = start_rates_(r, a);
            for (Eigen::Index j = 0; j < radau_stages; ++j) {
                q += by_k_in_q(j) * k_[ix(j)](r, a);
                u += by_k_in_u(j) * k_[ix(j)](r, a);
            }
            state_[ix(a)] = q;
            state_[ix(n_ + a)] = u;
        }
        state_[ix(2 * n_)] = 0.0;
        systems_.solve(state_);
        for (Eigen::Index a = 0; a < 2 * n_; ++a) error(r, a) = state_[ix(a)];
    }
    return true;
}

}  // namespace saltus::sensitivity
