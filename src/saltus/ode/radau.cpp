// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/radau.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <complex>

#include "saltus/base/error.hpp"
#include "saltus/ode/detail/radau_iia.hpp"
#include "saltus/ode/detail/step_control.hpp"

// The stages z_i = x_i − x of a step h solve Z = h A F(Z), that is A⁻¹Z/h = F(Z). With Z = T W (over the stages)
// Newton's method with a Jacobian J that is kept reads
//     (γ/h − J) δw_1 = r_1,   ((α + iβ)/h − J)(δw_2 + i δw_3) = r_2 + i r_3,   R = T⁻¹F(Z) − T⁻¹A⁻¹T W/h,
// one real and one complex system of size n instead of a real one of size 3n.

namespace saltus::ode {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int most_rounds = 7;
constexpr double safety = 0.9;
constexpr double most_shrink = 1.0 / 5.0, most_growth = 8.0;
constexpr double refusal_shrink = 0.25;
constexpr double good_contraction = 1e-3;  // up to here the Jacobian need not be renewed
constexpr double same_step = 1e-4;         // relative difference of steps for which the factorisations serve

// out = Z M^T: the stages, one a column, mixed by M.
void mix(const Matrix& stages, const double (&M)[3][3], Matrix& out) {
    for (Eigen::Index k = 0; k < stages.rows(); ++k) {
        const double a = stages(k, 0), b = stages(k, 1), c = stages(k, 2);
        for (int i = 0; i < 3; ++i) out(k, i) = M[i][0] * a + M[i][1] * b + M[i][2] * c;
    }
}

}  // namespace

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
    bool serves(double h) const { return std::abs(h - step) <= same_step * h; }

    // The real system, in place.
    template <class Column>
    void solve(Column&& b) {
        if (b.size() == 0) return;
        image = b;
        b.noalias() = real.solve(image);
    }
    // The complex one: b + i c.
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
    bool keep = false;   // J serves the next step
    bool fresh = false;  // J was taken at t, x
    double step = 0.0;   // of the factorisations; 0: none of this J
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
    // Tight enough not to disturb the error estimate, not so tight that rounding prevents it.
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
    if (h0 == automatic_step) h_ = first_step(problem, t, x_, f_, scale_, 4, largest_, x_new_, f_new_, statistics_);
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

// The polynomial of the step before, continued.
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

Radau::Iteration Radau::iterate(const Problem& problem, double h) {
    using namespace radau_iia;
    guess_stages(h);
    double size_before = 0.0, rate_before = 0.0;
    remainder_ = std::pow(std::max(remainder_, epsilon), 0.8);
    contraction_ = good_contraction;
    shrink_ = 0.5;
    for (rounds_ = 1; rounds_ <= most_rounds; ++rounds_) {
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
        if (rounds_ > 1 && rounds_ < most_rounds) {
            const double rate = size / size_before;
            contraction_ = rounds_ == 2 ? rate : std::sqrt(rate * rate_before);
            rate_before = rate;
            if (!(contraction_ < 0.99)) return Iteration::slow;
            remainder_ = contraction_ / (1.0 - contraction_);
            // What would be left at the last round, if it goes on like this.
            const int left = most_rounds - 1 - rounds_;
            const double end = remainder_ * size * std::pow(contraction_, left) / iteration_tolerance_;
            if (end >= 1.0) {
                shrink_ = 0.8 * std::pow(std::min(end, 20.0), -1.0 / (4 + left));
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

// For stiff components f is large and wrong at once; the factor (γ/h − J)⁻¹ takes that back. After a start or a
// rejection a second application takes back more ([Hairer] IV.8).
double Radau::estimate(const Problem& problem, double h, bool again) {
    combination_ =
        (radau_iia::error[0] * z_.col(0) + radau_iia::error[1] * z_.col(1) + radau_iia::error[2] * z_.col(2)) / h;
    correction_ = f_ + combination_;
    linear_->solve(correction_);
    double error = scaled_norm(correction_, scale_);
    if (error >= 1.0 && (again || h_before_ == 0.0)) {
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

double Radau::proposed_step(double h, double error) const {
    // The more rounds the iteration needed, the more cautious.
    const double caution = std::min(safety, safety * (1 + 2 * most_rounds) / (rounds_ + 2 * most_rounds));
    return h * std::clamp(caution * std::pow(std::max(error, 1e-10), -0.25), most_shrink, most_growth);
}

void Radau::accept(const Stride& stride, double wish, bool again) {
    const double h = stride.h;
    h_ = proposed_step(h, error_);
    if (h_before_ > 0.0) {
        // Gustafsson: how the error constant has changed from the step before is how it goes on ([Hairer] IV.8).
        const double trend =
            safety * (h / h_before_) * std::pow(error_before_ / std::max(error_ * error_, 1e-20), 0.25);
        h_ = std::min(h_, h * std::clamp(trend, most_shrink, most_growth));
    }
    if (again) h_ = std::min(h_, h);
    linear_->fresh = false;
    linear_->keep = contraction_ <= good_contraction;
    if (linear_->keep && h_ >= h && h_ <= 1.2 * h) h_ = h;
    if (stride.shortened && !again) h_ = std::max(h_, wish);
    h_ = std::min(h_, largest_);
    error_before_ = std::max(error_, 0.01);
    h_before_ = h;

    // The polynomial through x, x + z_1, x + z_2, x + z_3 in the terms of Dense: with θ = c_i,
    //     (z_i/θ − z_3)/(1 − θ) = r_2 + θ r_3.
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

// Whether the step passes all tests; where it does not, h_ is what to try next.
StepStatus Radau::judge(const Problem& problem, const Stride& stride, Iteration iteration, bool again) {
    h_ = (iteration == Iteration::slow ? shrink_ : refusal_shrink) * stride.h;
    if (iteration == Iteration::refused) return StepStatus::failed;
    if (iteration == Iteration::non_finite) return StepStatus::non_finite;
    if (iteration == Iteration::slow) return StepStatus::underflow;
    const double error = estimate(problem, stride.h, again);
    if (!std::isfinite(error)) return StepStatus::non_finite;
    if (error >= 1.0) {
        h_ = h_before_ == 0.0 ? 0.1 * stride.h : proposed_step(stride.h, error);
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
    for (bool again = false;;) {
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
        if (iteration == Iteration::slow && !linear_->fresh) {  // an old Jacobian is the first suspect
            linear_->keep = false;
            continue;
        }
        const StepStatus status = judge(problem, stride, iteration, again);
        if (status == StepStatus::accepted) {
            accept(stride, wish, again);
            return status;
        }
        ++(iteration == Iteration::converged && status == StepStatus::underflow ? statistics_.rejected
                                                                                : statistics_.cut);
        if (h_ < shortest) return status;
        again = true;
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
