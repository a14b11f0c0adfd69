// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/explicit.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/ode/detail/step_control.hpp"
#include "saltus/ode/dop853.hpp"

namespace saltus::ode {

namespace {

// Step length after an accepted step, with the error err in units of the tolerance:
//     h_new = safety h err^−(1/8 − β/5) err_before^β.
// 1/8 is the order of the estimate. The factor with β damps oscillations between accepted and rejected steps (PI
// control, [Hairer] IV.2).
constexpr double safety = 0.9, beta = 0.04, exponent = 1.0 / 8.0 - 0.2 * beta;
constexpr double smallest_factor = 1.0 / 3.0, largest_factor = 6.0;  // limits of h_new/h
constexpr double refusal_factor = 0.25;                              // h_new/h if f cannot be evaluated
constexpr double smallest_error_before = 1e-4;  // err_before is not taken smaller: a lucky step should not count
constexpr int estimate_order = 8;

// Stiffness detection: h |λ| beyond the stability region in stiff_step_limit steps, not interrupted by good_step_limit
// consecutive good steps.
constexpr double stability_edge = 6.1;  // extent of the stability region along the negative real axis
constexpr int stiff_step_limit = 15, good_step_limit = 6;
// A step with h |λ| beyond unstable_step is not accepted at once, even if its error is small: it multiplies rounding
// errors, above all in the dense output, by powers of h |λ|. It is shortened to near_edge, which still counts as stiff.
constexpr double unstable_step = 2.0 * stability_edge, near_edge = 1.2 * stability_edge;

/// Computes Σ_{j>0} w_j (k_j − k_0) for each component i and calls put(i, sum). With it
///     Σ w_j k_j = (Σ w_j) k_0 + Σ w_j (k_j − k_0).
/// The weights reach 500 and cancel, so the direct sum would magnify the rounding of the k_j by as much. In this form
/// the common part of f causes no rounding. Every list of terms begins with stage 0. Four components are computed
/// together.
template <class Put>
void for_each_sum(const Matrix& difference, std::span<const dop853::Term> terms, Put put) {
    const Eigen::Index n = difference.rows();
    const double* const d = difference.data();
    constexpr Eigen::Index group = 4;
    Eigen::Index i = 0;
    for (; i + group <= n; i += group) {
        double sum[group] = {};
        for (const dop853::Term& term : terms.subspan(1))
            for (Eigen::Index k = 0; k < group; ++k) sum[k] += term.weight * d[term.stage * n + i + k];
        for (Eigen::Index k = 0; k < group; ++k) put(i + k, sum[k]);
    }
    for (; i < n; ++i) {
        double sum = 0.0;
        for (const dop853::Term& term : terms.subspan(1)) sum += term.weight * d[term.stage * n + i];
        put(i, sum);
    }
}

/// Σ w_j k_j for weights that add up to 0.
void combine(const Matrix& difference, std::span<const dop853::Term> terms, Vector& sum) {
    double* const to = sum.data();
    for_each_sum(difference, terms, [&](Eigen::Index i, double value) { to[i] = value; });
}

/// result = x + h Σ a_j k_j, where Σ a_j = c.
void advance(const Vector& x, double h, double c, const Matrix& k, const Matrix& difference,
             std::span<const dop853::Term> terms, Vector& result) {
    const double *const from = x.data(), *const first = k.data();
    double* const to = result.data();
    for_each_sum(difference, terms,
                 [&](Eigen::Index i, double value) { to[i] = from[i] + h * (c * first[i] + value); });
}

}  // namespace

Explicit::Explicit(int n, Tolerances tolerances, double largest_step)
    : tolerances_(checked(std::move(tolerances), n)),
      largest_(largest_step),
      x_(n),
      x_old_(n),
      x_new_(n),
      stage_(n),
      scale_(n),
      sum_(n),
      k_(n, dop853::all_stages),
      difference_(Matrix::Zero(n, dop853::all_stages)) {
    SALTUS_EXPECT(largest_step > 0.0);
}

std::span<const double> Explicit::dx() const {
    SALTUS_EXPECT(started_);
    return {k_.col(stepped_ ? dop853::stages : 0).data(), static_cast<std::size_t>(k_.rows())};
}

/// Evaluates f into column `stage` of k_, and its difference to stage 0.
bool Explicit::evaluate(const Problem& problem, double t, const Vector& x, int stage) {
    ++statistics_.evaluations;
    const Eigen::Index n = x_.size();
    double* const f = k_.data() + stage * n;
    const bool made = problem.f(t, x.data(), f);
    double* const difference = difference_.data() + stage * n;
    for (Eigen::Index i = 0; i < n && stage > 0; ++i) difference[i] = f[i] - k_.data()[i];
    return made;
}

StepStatus Explicit::start(const Problem& problem, double t, std::span<const double> x, double h0) {
    SALTUS_EXPECT(x.size() == static_cast<std::size_t>(x_.size()) && std::isfinite(t) && h0 >= 0.0);
    std::copy(x.begin(), x.end(), x_.data());
    x_old_ = x_;
    t_ = t_old_ = t;
    started_ = stepped_ = stiff_ = false;
    stiff_steps_ = good_steps_ = steps_near_edge_ = 0;
    error_ = 0.0;
    error_before_ = smallest_error_before;
    if (!evaluate(problem, t, x_, 0)) return StepStatus::failed;
    if (!x_.allFinite() || !k_.col(0).allFinite()) return StepStatus::non_finite;
    h_ = std::min(h0, largest_);
    if (h0 == automatic_step) {
        error_scale(tolerances_, x_, x_, scale_);
        sum_ = k_.col(0);
        h_ = first_step(problem, t, x_, sum_, scale_, estimate_order, largest_, x_new_, stage_, statistics_);
    }
    started_ = true;
    return StepStatus::accepted;
}

StepStatus Explicit::replace(const Problem& problem, std::span<const double> x) {
    SALTUS_EXPECT(started_ && x.size() == static_cast<std::size_t>(x_.size()));
    started_ = stepped_ = false;
    std::copy(x.begin(), x.end(), x_.data());
    if (!evaluate(problem, t_, x_, 0)) return StepStatus::failed;
    if (!x_.allFinite() || !k_.col(0).allFinite()) return StepStatus::non_finite;
    started_ = true;
    return StepStatus::accepted;
}

/// The stages 1 … 11 and x_new; false if f cannot be evaluated.
bool Explicit::stages(const Problem& problem, double h) {
    for (int i = 1; i < dop853::stages; ++i) {
        advance(x_, h, dop853::c[i], k_, difference_, dop853::a[i], stage_);
        if (!evaluate(problem, t_ + dop853::c[i] * h, stage_, i)) return false;
    }
    advance(x_, h, 1.0, k_, difference_, dop853::b, x_new_);
    return true;
}

// The error estimate h e_5² / √(e_5² + 0.01 e_3²) combines the estimates of orders 5 and 3. It is of order 8 like the
// method, because e_5 = O(h⁵) and e_3 = O(h³), and it is not deceived if e_3 alone is small ([Hairer] II.10).
double Explicit::estimate(double h) {
    error_scale(tolerances_, x_, x_new_, scale_);
    combine(difference_, dop853::error5, sum_);
    const double fifth = scaled_norm(sum_, scale_);
    combine(difference_, dop853::error3, sum_);
    const double third = scaled_norm(sum_, scale_);
    const double both = std::hypot(fifth, 0.1 * third);
    return both == 0.0 ? 0.0 : h * fifth * (fifth / both);
}

// The last stage and the end of the step are two states at the same time, close to each other. The ratio of the
// differences of f and of x there estimates the dominant eigenvalue λ of the Jacobian ([Hairer] IV.2). Returns h |λ|.
double Explicit::stiffness(double h) const {
    const double df = (k_.col(dop853::stages) - k_.col(dop853::stages - 1)).squaredNorm();
    const double dx = (x_new_ - stage_).squaredNorm();
    return dx > 0.0 ? h * std::sqrt(df / dx) : 0.0;
}

void Explicit::watch_stiffness(double h) {
    const double h_lambda = stiffness(h);
    steps_near_edge_ = h_lambda > 0.5 * stability_edge ? steps_near_edge_ + 1 : 0;
    if (h_lambda > stability_edge) {
        good_steps_ = 0;
        if (++stiff_steps_ == stiff_step_limit) stiff_ = true;
    } else if (++good_steps_ == good_step_limit) {
        stiff_steps_ = 0;
    }
}

/// One attempt: stages, error estimate, and f at the end. If the error is too large, h_ becomes the length to try next.
/// A step is shortened for its stiffness only once, because that is an estimate.
StepStatus Explicit::try_step(const Problem& problem, const Stride& stride, Attempt attempt) {
    if (!stages(problem, stride.h)) return StepStatus::failed;
    const double error = estimate(stride.h);
    if (!std::isfinite(error)) return StepStatus::non_finite;
    if (error > 1.0) {
        h_ = stride.h * std::max(smallest_factor, safety * std::pow(error, -1.0 / estimate_order));
        return StepStatus::underflow;
    }
    if (!evaluate(problem, stride.t_new, x_new_, dop853::stages)) return StepStatus::failed;
    error_ = error;
    if (!k_.col(dop853::stages).allFinite()) return StepStatus::non_finite;
    if (const double h_lambda = stiffness(stride.h); attempt == Attempt::first && h_lambda > unstable_step) {
        h_ = stride.h * near_edge / h_lambda;
        return StepStatus::underflow;
    }
    return StepStatus::accepted;
}

/// Makes the attempted step the current one and chooses the next step length. `wish` is the length before t_limit
/// shortened it.
void Explicit::accept(const Stride& stride, double wish, Attempt attempt) {
    const bool repeated = attempt == Attempt::repeated;
    watch_stiffness(stride.h);
    double growth = largest_factor;
    if (error_ > 0.0) growth = safety * std::pow(error_, -exponent) * std::pow(error_before_, beta);
    growth = std::clamp(growth, smallest_factor, repeated ? 1.0 : largest_factor);
    error_before_ = std::max(error_, smallest_error_before);
    h_ = stride.h * growth;
    // A step that t_limit shortened gives little information about long steps.
    if (stride.shortened && !repeated) h_ = std::max(h_, wish);
    h_ = std::min(h_, largest_);
    x_old_.swap(x_);
    x_.swap(x_new_);
    t_old_ = t_;
    t_ = stride.t_new;
    stepped_ = true;
    ++statistics_.accepted;
}

StepStatus Explicit::step(const Problem& problem, double t_limit) {
    SALTUS_EXPECT(started_ && t_limit > t_);
    if (stepped_) k_.col(0) = k_.col(dop853::stages);
    stepped_ = extended_ = false;
    const double wish = h_;
    const double shortest = shortest_step(t_, std::min(h_, t_limit - t_));
    Attempt attempt = Attempt::first;
    bool last = h_ <= shortest;  // no shorter step will be tried
    for (h_ = std::max(h_, shortest);; attempt = Attempt::repeated) {
        const Stride stride = stride_towards(t_, h_, t_limit);
        const StepStatus outcome = try_step(problem, stride, attempt);
        if (outcome == StepStatus::accepted) {
            accept(stride, wish, attempt);
            return outcome;
        }
        if (outcome == StepStatus::underflow) {
            ++statistics_.rejected;
        } else {
            ++statistics_.cut;
            h_ = refusal_factor * stride.h;
        }
        if (h_ >= shortest) continue;
        if (last) return outcome;
        last = true;
        h_ = shortest;
    }
}

bool Explicit::dense(const Problem& problem, Dense& out) {
    SALTUS_EXPECT(stepped_);
    const double h = t_ - t_old_;
    if (!extended_) {
        for (int i = dop853::stages + 1; i < dop853::all_stages; ++i) {
            advance(x_old_, h, dop853::c[i], k_, difference_, dop853::a[i], stage_);
            if (!evaluate(problem, t_old_ + dop853::c[i] * h, stage_, i)) return false;
        }
        if (!k_.rightCols(dop853::all_stages - dop853::stages - 1).allFinite()) return false;
        extended_ = true;
    }
    const auto column = [&out](int k) {
        const std::span<double> term = out.term(k);
        return Eigen::Map<Vector>(term.data(), static_cast<Eigen::Index>(term.size()));
    };
    out.reset(t_old_, t_, size(), Dense::max_terms);
    column(0) = x_old_;
    column(1) = x_;
    // The derivative of the polynomial is x_new − x_old + r_2 at θ = 0 and x_new − x_old − r_2 − r_3 at θ = 1. Both
    // must equal h f, which gives r_2 and r_3.
    column(2) = h * k_.col(0) - (x_ - x_old_);
    column(3) = 2.0 * (x_ - x_old_) - h * (k_.col(0) + k_.col(dop853::stages));
    for (int k = 0; k < 4; ++k) {
        combine(difference_, dop853::dense[k], sum_);
        column(4 + k) = h * sum_;
    }
    constexpr double largest_weight = 0.0084;  // of the last term: θ⁴(1−θ)³ at θ = 4/7
    dense_error_ = largest_weight * h * scaled_norm(sum_, scale_);
    return true;
}

void Explicit::undo(double part) {
    SALTUS_EXPECT(stepped_ && part > 0.0 && part < 1.0);
    h_ = part * (t_ - t_old_);
    x_.swap(x_old_);
    t_ = t_old_;
    stepped_ = extended_ = false;
    --statistics_.accepted;
    ++statistics_.rejected;
}

}  // namespace saltus::ode
