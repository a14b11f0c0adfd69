// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/radau.hpp"

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/ode/detail/step_control.hpp"
#include "saltus/ode/radau_iia.hpp"

// The stages z_i = x_i − x of a step h satisfy Z = h A F(Z), that is A⁻¹Z/h = F(Z) ([Hairer] IV.8). T⁻¹A⁻¹T is block
// diagonal with the real eigenvalue γ and complex pairs α ± iβ. With Z = T W (over the stages) a simplified Newton
// iteration with a fixed Jacobian J is, for one pair,
//     (γ/h − J) δw_1 = r_1,   ((α + iβ)/h − J)(δw_2 + i δw_3) = r_2 + i r_3,   R = T⁻¹F(Z) − T⁻¹A⁻¹T W/h:
// one real and (s − 1)/2 complex systems of size n instead of a real system of size s n.

namespace saltus::ode {

namespace {

constexpr int max_stages = 7;   // the largest s; also the size of small arrays
constexpr double safety = 0.9;  // the proposed step is this times the one that the error estimate allows
constexpr double smallest_factor = 1.0 / 5.0, largest_factor = 8.0;  // limits of h_new/h
constexpr double refusal_factor = 0.25;                              // h_new/h if f cannot be evaluated
constexpr double first_error_factor = 0.1;  // h_new/h if the very first step has too large an error
constexpr double smallest_error = 1e-10;    // errors below this, in units of the tolerance, count as this
constexpr double smallest_error_square = 1e-20;
constexpr double smallest_error_before = 0.01;  // the previous error is not taken smaller in the prediction
/// Up to this convergence factor the Jacobian is kept, and a proposed growth up to `growth` is not worth new factors.
/// The second pair holds for linear systems of the caller, which are large: there factors cost as much as several
/// iterations ([Hairer] IV.8).
struct Economy {
    double contraction, growth;
};
constexpr Economy small_system{1e-3, 1.2}, large_system{3e-2, 1.3};
constexpr double divergence = 0.99;  // convergence factors from here on count as divergence
constexpr double same_step = 1e-4;   // steps that differ by this share use the same factors

/// The coefficients of a method with any number of stages; matrices are row-major.
struct Tableau {
    int stages, pairs, max_rounds;
    const double *c, *alpha, *beta, *T, *T_inverse, *error;
    double gamma;
    Matrix terms;  // terms 2, 3, … of Dense from the stages: r = terms · z

    double order_of_estimate() const { return stages + 1.0; }  // the error estimate is O(h^(s+1))
};

/// The weight of term k >= 2 of Dense at θ: θ(1−θ), θ²(1−θ), θ²(1−θ)², …
double bubble(double theta, int k) {
    double product = theta;
    for (int j = 2; j <= k; ++j) product *= j % 2 == 0 ? 1.0 - theta : theta;
    return product;
}

// Newton iterations of a step: the more stages, the longer the steps, and the slower the iteration ([Hairer] IV.8).
template <int s>
Tableau tableau(const radau_iia::Coefficients<s>& k) {
    constexpr int max_rounds = 7 + 5 * (s - 3) / 2;
    Tableau out{s, (s - 1) / 2, max_rounds, k.c, k.alpha, k.beta, k.T[0], k.T_inverse[0], k.error, k.gamma, {}};
    // The polynomial through x, x + z_1, …, x + z_s. At θ = c_i < 1 it is z_i = c_i z_s + Σ_k bubble(c_i, k) r_k.
    Matrix bubbles(s - 1, s - 1), stages = Matrix::Zero(s - 1, s);
    for (int i = 0; i < s - 1; ++i) {
        for (int j = 0; j < s - 1; ++j) bubbles(i, j) = bubble(k.c[i], j + 2);
        stages(i, i) = 1.0;
        stages(i, s - 1) = -k.c[i];
    }
    out.terms = solve_columns(bubbles, stages);
    return out;
}

Tableau tableau(int stages) {
    SALTUS_EXPECT(stages == 3 || stages == 5 || stages == 7);
    if (stages == 3) return tableau(radau_iia::three);
    return stages == 5 ? tableau(radau_iia::five) : tableau(radau_iia::seven);
}

// out = Z Mᵀ: each row of Z (the stages of one component) is multiplied by M. `out` may be Z.
void mix(const Matrix& stages, const double* M, Matrix& out) {
    const Eigen::Index n = stages.rows(), s = stages.cols();
    for (Eigen::Index k = 0; k < n; ++k) {
        double row[max_stages];
        for (Eigen::Index j = 0; j < s; ++j) row[j] = stages(k, j);
        for (Eigen::Index i = 0; i < s; ++i) {
            double sum = 0.0;
            for (Eigen::Index j = 0; j < s; ++j) sum += M[i * s + j] * row[j];
            out(k, i) = sum;
        }
    }
}

std::span<double> column(Matrix& M, int k) { return {M.col(k).data(), static_cast<std::size_t>(M.rows())}; }

/// Whether the corrections of an iteration have come down to rounding errors. `size` is the last correction in units of
/// the tolerance, `rate` its ratio to the one before, `best_rate` the smallest ratio before that. Components near zero
/// are known less accurately than their absolute tolerance, if they follow from large ones. Corrections of a linear
/// iteration fall by nearly equal ratios; rounding errors do not fall. Either the correction is so small that it does
/// not matter in any case, or it has stopped falling after a fast decrease.
bool stalled(double size, double rate, double best_rate) {
    constexpr double no_decrease = 0.3, fast_decrease = 0.1;  // ratios of successive corrections
    constexpr double negligible = 0.03, small = 0.3;          // in units of the tolerance
    return rate > no_decrease && (size <= negligible || (size <= small && best_rate <= fast_decrease));
}

/// The linear systems with dense matrices.
class DenseSystems final : public StageSystems {
public:
    DenseSystems(int n, int pairs) : J_(n, n), shifted_(n, n), real_(n), image_(n), image_pair_(n), pair_(n) {
        for (int k = 0; k < pairs; ++k) pairs_.emplace_back(n);
        shifted_pair_.resize(n, n);
    }

    RightSideJacobian jacobian;

    StepStatus linearise(double t, const double* x) override {
        J_.setZero();
        if (!jacobian(t, x, J_)) return StepStatus::failed;
        return J_.allFinite() ? StepStatus::accepted : StepStatus::non_finite;
    }
    bool factorise(double real, std::span<const std::complex<double>> pairs) override {
        if (J_.rows() == 0) return true;
        shifted_ = -J_;
        shifted_.diagonal().array() += real;
        real_.compute(shifted_);
        for (std::size_t k = 0; k < pairs_.size(); ++k) {
            shifted_pair_ = -J_.cast<std::complex<double>>();
            shifted_pair_.diagonal().array() += pairs[k];
            pairs_[k].compute(shifted_pair_);
        }
        return true;
    }
    void solve(std::span<double> r) override {
        if (r.empty()) return;
        Eigen::Map<Vector> b(r.data(), image_.size());
        image_ = b;
        b.noalias() = real_.solve(image_);
    }
    void solve_pair(std::size_t pair, std::span<double> re, std::span<double> im) override {
        if (re.empty()) return;
        Eigen::Map<Vector> b(re.data(), image_.size()), c(im.data(), image_.size());
        image_pair_.real() = b;
        image_pair_.imag() = c;
        pair_.noalias() = pairs_[pair].solve(image_pair_);
        b = pair_.real();
        c = pair_.imag();
    }

private:
    Matrix J_, shifted_;
    Eigen::MatrixXcd shifted_pair_;
    Eigen::PartialPivLU<Matrix> real_;
    std::vector<Eigen::PartialPivLU<Eigen::MatrixXcd>> pairs_;
    Vector image_;
    Eigen::VectorXcd image_pair_, pair_;
};

}  // namespace

/// The coefficients, and the linear systems with what is known about them.
struct Radau::Linear {
    Linear(int n, const Choices& choices)
        : method(tableau(choices.stages)),
          systems(choices.systems),
          economy(systems != nullptr ? large_system : small_system) {
        if (systems != nullptr) return;
        dense = std::make_unique<DenseSystems>(n, method.pairs);
        systems = dense.get();
    }

    /// True if the factors can be used for the step h.
    bool serves(double h) const { return std::abs(h - step) <= same_step * h; }

    Tableau method;
    std::unique_ptr<DenseSystems> dense;  // null if the caller solves the systems
    StageSystems* systems;
    Economy economy;
    bool keep = false;   // J may be used for the next step
    bool fresh = false;  // J was evaluated at the current t, x
    double step = 0.0;   // step length of the factors; 0: J has not been factorised
};

int stages_for(double relative) {
    // Work per unit of time is lowest with three stages for coarse tolerances, with seven for the tightest.
    constexpr double five_below = 1e-6, seven_below = 1e-9;
    return relative < seven_below ? 7 : relative < five_below ? 5 : 3;
}

Radau::Radau(int n, Tolerances tolerances, const Choices& choices)
    : tolerances_(checked(std::move(tolerances), n)),
      largest_(choices.largest_step),
      integrals_(choices.integrals),
      iteration_tolerance_(choices.iteration_tolerance),
      x_(n),
      x_old_(n),
      x_new_(n),
      f_(n),
      f_new_(n),
      scale_(n),
      correction_(n),
      combination_(n),
      z_(n, choices.stages),
      w_(n, choices.stages),
      r_(n, choices.stages),
      change_(n, choices.stages),
      shape_(n, choices.stages),
      linear_(std::make_unique<Linear>(n, choices)) {
    SALTUS_EXPECT(largest_ > 0.0 && iteration_tolerance_ >= 0.0 && integrals_ >= 0 && integrals_ <= n);
    // Small enough not to disturb the error estimate, and not below what rounding allows ([Hairer] IV.8).
    if (iteration_tolerance_ == 0.0)
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
        h_ = first_step(problem, t, x_, f_, scale_, linear_->method.stages + 1, largest_, x_new_, f_new_, statistics_);
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
    linear_->step = 0.0;
    if (linear_->dense) linear_->dense->jacobian = problem.jacobian;
    const StepStatus status = linear_->systems->linearise(t_, x_.data());
    linear_->keep = linear_->fresh = status == StepStatus::accepted;
    return status;
}

bool Radau::factorise(double h) {
    const Tableau& m = linear_->method;
    std::array<std::complex<double>, max_stages / 2> shifts;
    for (int k = 0; k < m.pairs; ++k) shifts[ix(k)] = std::complex<double>(m.alpha[k], m.beta[k]) / h;
    ++statistics_.factorisations;
    linear_->step = h;
    return linear_->systems->factorise(m.gamma / h, {shifts.data(), ix(m.pairs)});
}

// Start values of the iteration: the polynomial of the previous step, extrapolated. At θ = 1 + s (s = c_i h/h_before)
// its difference to x_new is s (x_new − x_old) + Σ bubble(θ, k) r_k.
void Radau::guess_stages(double h) {
    if (h_before_ == 0.0) {
        z_.setZero();
        w_.setZero();
        return;
    }
    const Tableau& m = linear_->method;
    for (int i = 0; i < m.stages; ++i) {
        const double beyond = m.c[i] * h / h_before_;
        z_.col(i) = beyond * shape_.col(0);
        for (int k = 2; k <= m.stages; ++k) z_.col(i) += bubble(1.0 + beyond, k) * shape_.col(k - 1);
    }
    mix(z_, m.T_inverse, w_);
}

/// One Newton correction of the stages, in r_. False if f refuses a stage.
bool Radau::correct_stages(double h, const Problem& problem) {
    const Tableau& m = linear_->method;
    for (int i = 0; i < m.stages; ++i) {
        x_new_ = x_ + z_.col(i);
        ++statistics_.evaluations;
        if (!problem.f(t_ + m.c[i] * h, x_new_.data(), r_.col(i).data())) return false;
    }
    mix(r_, m.T_inverse, r_);
    r_.col(0) -= m.gamma / h * w_.col(0);
    linear_->systems->solve(column(r_, 0));
    for (int k = 0; k < m.pairs; ++k) {
        const int re = 2 * k + 1, im = re + 1;
        r_.col(re) -= m.alpha[k] / h * w_.col(re) - m.beta[k] / h * w_.col(im);
        r_.col(im) -= m.beta[k] / h * w_.col(re) + m.alpha[k] / h * w_.col(im);
        linear_->systems->solve_pair(ix(k), column(r_, re), column(r_, im));
    }
    return true;
}

/// The size of the last correction of some components in units of the tolerance: root mean square over the stages and
/// all components.
double Radau::correction_size(Eigen::Index first, Eigen::Index count) const {
    double sum = 0.0;
    for (Eigen::Index i = 0; i < change_.cols(); ++i)
        sum += (change_.col(i).segment(first, count).array() / scale_.segment(first, count).array()).square().sum();
    return std::sqrt(sum / static_cast<double>(std::max<Eigen::Index>(change_.size(), 1)));
}

/// Completes an iteration that has converged in all components but the integrals. In each round the integrals follow
/// from the stages of the round before, so that they lag behind by one round: one more evaluation makes up for it, if
/// their last correction was not negligible. Their corrections say nothing about the convergence of the others. In the
/// second round they are often as large as in the first, which would look like divergence.
Radau::Iteration Radau::finish_integrals(const Problem& problem, double h) {
    if (integrals_ == 0 || correction_size(x_.size() - integrals_, integrals_) <= iteration_tolerance_)
        return Iteration::converged;
    ++statistics_.iterations;
    if (!correct_stages(h, problem)) return Iteration::refused;
    if (!r_.allFinite()) return Iteration::non_finite;
    w_ += r_;
    mix(w_, linear_->method.T, z_);
    return Iteration::converged;
}

// Simplified Newton iteration. With the size δ_k of the k-th correction and the convergence factor Θ = δ_k/δ_{k−1}
// (geometric mean of the last two), the remaining error is about Θ/(1 − Θ) δ_k. The iteration stops if that is below
// the tolerance, and gives up if Θ^left times it would not be after the remaining iterations; the step is then
// shortened by the factor that would just suffice.
Radau::Iteration Radau::iterate(const Problem& problem, double h) {
    constexpr double slow_factor = 0.5;        // of h, if the iteration diverges …
    constexpr double first_slow_factor = 0.1;  // … in the first step, whose length is only a guess
    constexpr double shortening = 0.8;         // safety of the factor that would just suffice
    constexpr double largest_excess = 20.0;    // … which is computed from at most this excess
    constexpr double remainder_memory = 0.8;   // exponent for the remainder of the previous step
    const Tableau& m = linear_->method;
    guess_stages(h);
    double size_before = 0.0, rate_before = 0.0, best_rate = 1.0;
    remainder_ = std::pow(std::max(remainder_, epsilon), remainder_memory);
    contraction_ = linear_->economy.contraction;
    shrink_ = h_before_ == 0.0 ? first_slow_factor : slow_factor;
    for (rounds_ = 1; rounds_ <= m.max_rounds; ++rounds_) {
        ++statistics_.iterations;
        if (!correct_stages(h, problem)) return Iteration::refused;
        // The correction is measured at the stages, as T δW. Entries of T⁻¹ are large, so that δW itself magnifies
        // rounding errors.
        mix(r_, m.T, change_);
        const double size = correction_size(0, x_.size() - integrals_);
        if (!change_.allFinite()) return Iteration::non_finite;
        if (rounds_ > 1 && rounds_ < m.max_rounds) {
            const double rate = size / size_before;
            if (stalled(size, rate, best_rate)) {
                contraction_ = best_rate;
                remainder_ = 1.0;
                return finish_integrals(problem, h);
            }
            best_rate = std::min(best_rate, rate);
            contraction_ = rounds_ == 2 ? rate : std::sqrt(rate * rate_before);
            rate_before = rate;
            if (!(contraction_ < divergence)) return Iteration::slow;
            remainder_ = contraction_ / (1.0 - contraction_);
            // Predicted error after the last round, in units of the iteration tolerance.
            const int left = m.max_rounds - 1 - rounds_;
            const double excess = remainder_ * size * std::pow(contraction_, left) / iteration_tolerance_;
            if (excess >= 1.0) {
                if (h_before_ > 0.0)
                    shrink_ = shortening * std::pow(std::min(excess, largest_excess), -1.0 / (4 + left));
                return Iteration::slow;
            }
        }
        size_before = std::max(size, epsilon);
        w_ += r_;
        mix(w_, m.T, z_);
        if (remainder_ * size <= iteration_tolerance_) return finish_integrals(problem, h);
    }
    return Iteration::slow;
}

// The error estimate of radau_iia.hpp. For stiff components f is large although the solution is accurate; the factor
// (γ/h − J)⁻¹ filters that out. After a start or a rejection the filter is applied a second time, with f at the
// corrected state ([Hairer] IV.8).
double Radau::estimate(const Problem& problem, double h, Attempt attempt) {
    const Tableau& m = linear_->method;
    const std::span<double> correction(correction_.data(), static_cast<std::size_t>(correction_.size()));
    combination_.setZero();
    for (int i = 0; i < m.stages; ++i) combination_ += m.error[i] / h * z_.col(i);
    correction_ = f_ + combination_;
    linear_->systems->solve(correction);
    double error = scaled_norm(correction_, scale_);
    if (error >= 1.0 && (attempt == Attempt::repeated || h_before_ == 0.0)) {
        x_new_ = x_ + correction_;
        ++statistics_.evaluations;
        if (problem.f(t_, x_new_.data(), correction_.data())) {
            correction_ += combination_;
            linear_->systems->solve(correction);
            error = scaled_norm(correction_, scale_);
        }
    }
    return error;
}

// h err^(−1/(s+1)) with a safety factor that falls with the number of iterations the step needed.
double Radau::proposed_step(double h, double error) const {
    const Tableau& m = linear_->method;
    const double caution = std::min(safety, safety * (1 + 2 * m.max_rounds) / (rounds_ + 2 * m.max_rounds));
    const double power = -1.0 / m.order_of_estimate();
    return h * std::clamp(caution * std::pow(std::max(error, smallest_error), power), smallest_factor, largest_factor);
}

/// Makes the attempted step the current one and chooses the next step length. `wish` is the length before t_limit
/// shortened it.
void Radau::accept(const Stride& stride, double wish, Attempt attempt) {
    const bool repeated = attempt == Attempt::repeated;
    const double h = stride.h;
    h_ = proposed_step(h, error_);
    if (h_before_ > 0.0) {
        // Gustafsson's predictive controller ([Hairer] IV.8): the error is C h^(s+1), and C is assumed to change by the
        // same factor as from the previous step to this one: h_new = safety h (h/h_before) (err_before/err²)^{1/(s+1)}.
        const double ratio = error_before_ / std::max(error_ * error_, smallest_error_square);
        const double trend = safety * (h / h_before_) * std::pow(ratio, 1.0 / linear_->method.order_of_estimate());
        h_ = std::min(h_, h * std::clamp(trend, smallest_factor, largest_factor));
    }
    if (repeated) h_ = std::min(h_, h);
    linear_->fresh = false;
    linear_->keep = contraction_ <= linear_->economy.contraction;
    if (linear_->keep && h_ >= h && h_ <= linear_->economy.growth * h) h_ = h;
    if (stride.shortened && !repeated) h_ = std::max(h_, wish);
    h_ = std::min(h_, largest_);
    error_before_ = std::max(error_, smallest_error_before);
    h_before_ = h;

    // The polynomial of the step in the terms of Dense.
    const Tableau& m = linear_->method;
    shape_.col(0) = z_.col(m.stages - 1);
    for (int k = 1; k < m.stages; ++k) {
        shape_.col(k).setZero();
        for (int i = 0; i < m.stages; ++i) shape_.col(k) += m.terms(k - 1, i) * z_.col(i);
    }

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
    x_new_ = x_ + z_.col(linear_->method.stages - 1);
    ++statistics_.evaluations;
    if (!problem.f(stride.t_new, x_new_.data(), f_new_.data())) return StepStatus::failed;
    if (!f_new_.allFinite()) return StepStatus::non_finite;
    error_ = error;
    return StepStatus::accepted;
}

StepStatus Radau::step(const Problem& problem, double t_limit) {
    SALTUS_EXPECT(started_ && t_limit > t_ && (problem.jacobian || !linear_->dense));
    stepped_ = false;
    const double wish = h_, shortest = shortest_step(t_, std::min(h_, t_limit - t_));
    h_ = std::max(h_, shortest);
    for (Attempt attempt = Attempt::first;;) {
        const Stride stride = stride_towards(t_, h_, t_limit);
        if (!linear_->keep) {
            const StepStatus status = renew_jacobian(problem);
            if (status != StepStatus::accepted) return status;
        }
        const bool factorised = linear_->serves(stride.h) || factorise(stride.h);
        if (!factorised) linear_->step = 0.0;
        const Iteration iteration = factorised ? iterate(problem, stride.h) : Iteration::non_finite;
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
    const int stages = linear_->method.stages;
    out.reset(t_old_, t_, size(), stages + 1);
    column(0) = x_old_;
    column(1) = x_;
    for (int k = 1; k < stages; ++k) column(k + 1) = shape_.col(k);
    return true;
}

}  // namespace saltus::ode
