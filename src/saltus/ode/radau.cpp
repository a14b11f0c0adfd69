// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/radau.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>

#include "saltus/base/error.hpp"
#include "saltus/ode/detail/radau_iia.hpp"
#include "saltus/ode/detail/step_control.hpp"

// The stages z_i = x_i − x of a step h satisfy Z = h A F(Z), that is A⁻¹Z/h = F(Z) ([Hairer] IV.8). T⁻¹A⁻¹T is block
// diagonal with the real eigenvalue γ and the complex pair α ± iβ. With Z = T W (over the stages) a simplified Newton
// iteration with a fixed Jacobian J is
//     (γ/h − J) δw_1 = r_1,   ((α + iβ)/h − J)(δw_2 + i δw_3) = r_2 + i r_3,   R = T⁻¹F(Z) − T⁻¹A⁻¹T W/h:
// one real and one complex system of size n instead of a real system of size 3n.

namespace saltus::ode {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int max_rounds = 7;  // Newton iterations of a step
constexpr double safety = 0.9;
constexpr double smallest_factor = 1.0 / 5.0, largest_factor = 8.0;  // limits of h_new/h
constexpr double refusal_factor = 0.25;                              // h_new/h if f cannot be evaluated
constexpr double first_error_factor = 0.1;  // h_new/h if the very first step has too large an error
constexpr int estimate_order = 4;           // the error estimate is O(h⁴)
constexpr double smallest_error = 1e-10;    // errors below this, in units of the tolerance, count as this
constexpr double smallest_error_square = 1e-20;
constexpr double smallest_error_before = 0.01;  // the previous error is not taken smaller in the prediction
constexpr double good_contraction = 1e-3;       // up to this convergence factor the Jacobian is kept
constexpr double divergence = 0.99;             // convergence factors from here on count as divergence
constexpr double same_step = 1e-4;              // steps that differ by this share use the same factors
constexpr double kept_growth = 1.2;             // a proposed growth up to this is not worth new factors

// out = Z Mᵀ: each row of Z (the stages of one component) is multiplied by M.
void mix(const Matrix& stages, const double (&M)[3][3], Matrix& out) {
    for (Eigen::Index k = 0; k < stages.rows(); ++k) {
        const double a = stages(k, 0), b = stages(k, 1), c = stages(k, 2);
        for (int i = 0; i < 3; ++i) out(k, i) = M[i][0] * a + M[i][1] * b + M[i][2] * c;
    }
}

}  // namespace

/// The Jacobian and the factors of the two linear systems.
struct Radau::Linear {
    explicit Linear(int n)
        : J(n, n), shifted(n, n), shifted_pair(n, n), real(n), complex(n), image(n), image_pair(n), pair(n) {}

    void factorise(double h) {
        step = h;
        if (J.rows() == 0) return;
        shifted = -J;
        shifted_pair = shifted.cast<std::complex<double>>();
        shifted.diagonal().array() += radau_iia::gamma / h;
        shifted_pair.diagonal().array() += std::complex<double>(radau_iia::alpha, radau_iia::beta) / h;
        real.compute(shifted);
        complex.compute(shifted_pair);
    }
    /// True if the factors can be used for the step h.
    bool serves(double h) const { return std::abs(h - step) <= same_step * h; }

    // Solves the real system in place.
    template <class Column>
    void solve(Column&& b) {
        if (b.size() == 0) return;
        image = b;
        b.noalias() = real.solve(image);
    }
    // Solves the complex system for the right-hand side b + i c in place.
    template <class Column>
    void solve(Column&& b, Column&& c) {
        if (b.size() == 0) return;
        image_pair.real() = b;
        image_pair.imag() = c;
        pair.noalias() = complex.solve(image_pair);
        b = pair.real();
        c = pair.imag();
    }

    Matrix J, shifted;
    Eigen::MatrixXcd shifted_pair;
    Eigen::PartialPivLU<Matrix> real;
    Eigen::PartialPivLU<Eigen::MatrixXcd> complex;
    Vector image;
    Eigen::VectorXcd image_pair, pair;
    bool keep = false;   // J may be used for the next step
    bool fresh = false;  // J was evaluated at the current t, x
    double step = 0.0;   // step length of the factors; 0: J has not been factorised
};

Radau::Radau(int n, Tolerances tolerances, double largest_step, double iteration_tolerance)
    : tolerances_(checked(std::move(tolerances), n)),
      largest_(largest_step),
      iteration_tolerance_(iteration_tolerance),
      x_(n),
      x_old_(n),
      x_new_(n),
      f_(n),
      f_new_(n),
      scale_(n),
      correction_(n),
      combination_(n),
      z_(n, 3),
      w_(n, 3),
      r_(n, 3),
      shape_(n, 3),
      linear_(std::make_unique<Linear>(n)) {
    SALTUS_EXPECT(largest_step > 0.0 && iteration_tolerance >= 0.0);
    // Small enough not to disturb the error estimate, and not below what rounding allows ([Hairer] IV.8).
    if (iteration_tolerance == 0.0)
        iteration_tolerance_ =
            std::max(10.0 * epsilon / tolerances_.relative, std::min(0.03, std::sqrt(tolerances_.relative)));
}

Radau::Radau(Radau&&) noexcept = default;
Radau& Radau::operator=(Radau&&) noexcept = default;
Radau::~Radau() = default;

StepStatus Radau::start(const Problem& problem, double t, std::span<const double> x, double h0) {
    SALTUS_EXPECT(x.size() == static_cast<std::size_t>(x_.size()) && std::isfinite(t) && h0 >= 0.0);
    t_ = t_old_ = t;
    error_ = h_before_ = 0.0;
    remainder_ = 1.0;
    linear_->keep = false;
    started_ = true;
    const StepStatus status = replace(problem, x);
    x_old_ = x_;
    if (status != StepStatus::accepted) return status;
    h_ = std::min(h0, largest_);
    if (h0 == automatic_step)
        h_ = first_step(problem, t, x_, f_, scale_, estimate_order, largest_, x_new_, f_new_, statistics_);
    return status;
}

StepStatus Radau::replace(const Problem& problem, std::span<const double> x) {
    SALTUS_EXPECT(started_ && x.size() == static_cast<std::size_t>(x_.size()));
    started_ = stepped_ = false;
    linear_->fresh = false;
    std::copy(x.begin(), x.end(), x_.data());
    ++statistics_.evaluations;
    if (!problem.f(t_, x_.data(), f_.data())) return StepStatus::failed;
    if (!x_.allFinite() || !f_.allFinite()) return StepStatus::non_finite;
    error_scale(tolerances_, x_, x_, scale_);
    started_ = true;
    return StepStatus::accepted;
}

StepStatus Radau::renew_jacobian(const Problem& problem) {
    ++statistics_.jacobians;
    linear_->J.setZero();
    linear_->step = 0.0;
    if (!problem.jacobian(t_, x_.data(), linear_->J)) return StepStatus::failed;
    if (!linear_->J.allFinite()) return StepStatus::non_finite;
    linear_->keep = linear_->fresh = true;
    return StepStatus::accepted;
}

// Start values of the iteration: the polynomial of the previous step, extrapolated. At θ = 1 + s (s = c_i h/h_before)
// its difference to x_new is s (x_new − x_old) + θ(1 − θ) r_2 + θ²(1 − θ) r_3 with 1 − θ = −s.
void Radau::guess_stages(double h) {
    if (h_before_ == 0.0) {
        z_.setZero();
        w_.setZero();
        return;
    }
    for (int i = 0; i < 3; ++i) {
        const double beyond = radau_iia::c[i] * h / h_before_, theta = 1.0 + beyond;
        z_.col(i) = beyond * (shape_.col(0) - theta * (shape_.col(1) + theta * shape_.col(2)));
    }
    mix(z_, radau_iia::T_inverse, w_);
}

// Simplified Newton iteration. With the size δ_k of the k-th correction and the convergence factor Θ = δ_k/δ_{k−1}
// (geometric mean of the last two), the remaining error is about Θ/(1 − Θ) δ_k. The iteration stops if that is below
// the tolerance, and gives up if Θ^left times it would not be after the remaining iterations; the step is then
// shortened by the factor that would just suffice.
Radau::Iteration Radau::iterate(const Problem& problem, double h) {
    constexpr double slow_factor = 0.5;       // of h, if the iteration diverges
    constexpr double shortening = 0.8;        // safety of the factor that would just suffice
    constexpr double largest_excess = 20.0;   // … which is computed from at most this excess
    constexpr double remainder_memory = 0.8;  // exponent for the remainder of the previous step
    using namespace radau_iia;
    guess_stages(h);
    double size_before = 0.0, rate_before = 0.0;
    remainder_ = std::pow(std::max(remainder_, epsilon), remainder_memory);
    contraction_ = good_contraction;
    shrink_ = slow_factor;
    for (rounds_ = 1; rounds_ <= max_rounds; ++rounds_) {
        ++statistics_.iterations;
        for (int i = 0; i < 3; ++i) {
            x_new_ = x_ + z_.col(i);
            ++statistics_.evaluations;
            if (!problem.f(t_ + c[i] * h, x_new_.data(), r_.col(i).data())) return Iteration::refused;
        }
        mix(r_, T_inverse, r_);
        r_.col(0) -= gamma / h * w_.col(0);
        r_.col(1) -= alpha / h * w_.col(1) - beta / h * w_.col(2);
        r_.col(2) -= beta / h * w_.col(1) + alpha / h * w_.col(2);
        linear_->solve(r_.col(0));
        linear_->solve(r_.col(1), r_.col(2));
        double size = 0.0;
        for (int i = 0; i < 3; ++i) size += (r_.col(i).array() / scale_.array()).square().sum();
        size = std::sqrt(size / static_cast<double>(std::max<Eigen::Index>(r_.size(), 1)));
        if (!std::isfinite(size)) return Iteration::non_finite;
        if (rounds_ > 1 && rounds_ < max_rounds) {
            const double rate = size / size_before;
            contraction_ = rounds_ == 2 ? rate : std::sqrt(rate * rate_before);
            rate_before = rate;
            if (!(contraction_ < divergence)) return Iteration::slow;
            remainder_ = contraction_ / (1.0 - contraction_);
            // Predicted error after the last round, in units of the iteration tolerance.
            const int left = max_rounds - 1 - rounds_;
            const double excess = remainder_ * size * std::pow(contraction_, left) / iteration_tolerance_;
            if (excess >= 1.0) {
                shrink_ = shortening * std::pow(std::min(excess, largest_excess), -1.0 / (4 + left));
                return Iteration::slow;
            }
        }
        size_before = std::max(size, epsilon);
        w_ += r_;
        mix(w_, T, z_);
        if (remainder_ * size <= iteration_tolerance_) return Iteration::converged;
    }
    return Iteration::slow;
}

// The error estimate of radau_iia.hpp. For stiff components f is large although the solution is accurate; the factor
// (γ/h − J)⁻¹ filters that out. After a start or a rejection the filter is applied a second time, with f at the
// corrected state ([Hairer] IV.8).
double Radau::estimate(const Problem& problem, double h, Attempt attempt) {
    combination_ =
        (radau_iia::error[0] * z_.col(0) + radau_iia::error[1] * z_.col(1) + radau_iia::error[2] * z_.col(2)) / h;
    correction_ = f_ + combination_;
    linear_->solve(correction_);
    double error = scaled_norm(correction_, scale_);
    if (error >= 1.0 && (attempt == Attempt::repeated || h_before_ == 0.0)) {
        x_new_ = x_ + correction_;
        ++statistics_.evaluations;
        if (problem.f(t_, x_new_.data(), correction_.data())) {
            correction_ += combination_;
            linear_->solve(correction_);
            error = scaled_norm(correction_, scale_);
        }
    }
    return error;
}

// h err^(−1/4) with a safety factor that falls with the number of iterations the step needed.
double Radau::proposed_step(double h, double error) const {
    const double caution = std::min(safety, safety * (1 + 2 * max_rounds) / (rounds_ + 2 * max_rounds));
    return h * std::clamp(caution * std::pow(std::max(error, smallest_error), -0.25), smallest_factor, largest_factor);
}

/// Makes the attempted step the current one and chooses the next step length. `wish` is the length before t_limit
/// shortened it.
void Radau::accept(const Stride& stride, double wish, Attempt attempt) {
    const bool repeated = attempt == Attempt::repeated;
    const double h = stride.h;
    h_ = proposed_step(h, error_);
    if (h_before_ > 0.0) {
        // Gustafsson's predictive controller ([Hairer] IV.8): the error is C h⁴, and C is assumed to change by the same
        // factor as from the previous step to this one: h_new = safety h (h/h_before) (err_before/err²)^{1/4}.
        const double trend =
            safety * (h / h_before_) * std::pow(error_before_ / std::max(error_ * error_, smallest_error_square), 0.25);
        h_ = std::min(h_, h * std::clamp(trend, smallest_factor, largest_factor));
    }
    if (repeated) h_ = std::min(h_, h);
    linear_->fresh = false;
    linear_->keep = contraction_ <= good_contraction;
    if (linear_->keep && h_ >= h && h_ <= kept_growth * h) h_ = h;
    if (stride.shortened && !repeated) h_ = std::max(h_, wish);
    h_ = std::min(h_, largest_);
    error_before_ = std::max(error_, smallest_error_before);
    h_before_ = h;

    // The polynomial through x, x + z_1, x + z_2, x + z_3 in the terms of Dense. At θ = c_i it is
    // z_i = θ z_3 + θ(1−θ) r_2 + θ²(1−θ) r_3, hence (z_i/θ − z_3)/(1 − θ) = r_2 + θ r_3 for i = 1, 2.
    constexpr double c1 = radau_iia::c[0], c2 = radau_iia::c[1];
    shape_.col(0) = z_.col(2);
    shape_.col(1) = (z_.col(0) / c1 - z_.col(2)) / (1.0 - c1);
    shape_.col(2) = ((z_.col(1) / c2 - z_.col(2)) / (1.0 - c2) - shape_.col(1)) / (c2 - c1);
    shape_.col(1) -= c1 * shape_.col(2);

    x_old_.swap(x_);
    x_.swap(x_new_);
    f_.swap(f_new_);
    t_old_ = t_;
    t_ = stride.t_new;
    error_scale(tolerances_, x_, x_, scale_);
    stepped_ = true;
    ++statistics_.accepted;
}

// Decides whether the step is accepted; if not, h_ becomes the length to try next.
StepStatus Radau::judge(const Problem& problem, const Stride& stride, Iteration iteration, Attempt attempt) {
    h_ = (iteration == Iteration::slow ? shrink_ : refusal_factor) * stride.h;
    if (iteration == Iteration::refused) return StepStatus::failed;
    if (iteration == Iteration::non_finite) return StepStatus::non_finite;
    if (iteration == Iteration::slow) return StepStatus::underflow;
    const double error = estimate(problem, stride.h, attempt);
    if (!std::isfinite(error)) return StepStatus::non_finite;
    if (error >= 1.0) {
        h_ = h_before_ == 0.0 ? first_error_factor * stride.h : proposed_step(stride.h, error);
        return StepStatus::underflow;
    }
    x_new_ = x_ + z_.col(2);
    ++statistics_.evaluations;
    if (!problem.f(stride.t_new, x_new_.data(), f_new_.data())) return StepStatus::failed;
    if (!f_new_.allFinite()) return StepStatus::non_finite;
    error_ = error;
    return StepStatus::accepted;
}

StepStatus Radau::step(const Problem& problem, double t_limit) {
    SALTUS_EXPECT(started_ && t_limit > t_ && problem.jacobian);
    stepped_ = false;
    const double wish = h_, shortest = shortest_step(t_, std::min(h_, t_limit - t_));
    h_ = std::max(h_, shortest);
    for (Attempt attempt = Attempt::first;;) {
        const Stride stride = stride_towards(t_, h_, t_limit);
        if (!linear_->keep) {
            const StepStatus status = renew_jacobian(problem);
            if (status != StepStatus::accepted) return status;
        }
        if (!linear_->serves(stride.h)) {
            ++statistics_.factorisations;
            linear_->factorise(stride.h);
        }
        const Iteration iteration = iterate(problem, stride.h);
        if (iteration == Iteration::slow && !linear_->fresh) {  // first try the same step with a new Jacobian
            linear_->keep = false;
            continue;
        }
        const StepStatus status = judge(problem, stride, iteration, attempt);
        if (status == StepStatus::accepted) {
            accept(stride, wish, attempt);
            return status;
        }
        const bool error_too_large = iteration == Iteration::converged && status == StepStatus::underflow;
        ++(error_too_large ? statistics_.rejected : statistics_.cut);
        if (h_ < shortest) return status;
        attempt = Attempt::repeated;
    }
}

bool Radau::dense(const Problem&, Dense& out) {
    SALTUS_EXPECT(stepped_);
    const auto column = [&out](int k) {
        const std::span<double> term = out.term(k);
        return Eigen::Map<Vector>(term.data(), static_cast<Eigen::Index>(term.size()));
    };
    out.reset(t_old_, t_, size(), 4);
    column(0) = x_old_;
    column(1) = x_;
    column(2) = shape_.col(1);
    column(3) = shape_.col(2);
    return true;
}

}  // namespace saltus::ode
