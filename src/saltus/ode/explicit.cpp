// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/explicit.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/ode/detail/step_control.hpp"
#include "saltus/ode/dop853.hpp"

namespace saltus::ode {

namespace {

// h_new = 0.9 h err^−(1/8 − β/5) err_before^β: the second factor damps the step length where it would swing between
// accepted and rejected ([Hairer] IV.2).
constexpr double safety = 0.9, beta = 0.04, exponent = 1.0 / 8.0 - 0.2 * beta;
constexpr double most_shrink = 1.0 / 3.0, most_growth = 6.0;
constexpr double refusal_shrink = 0.25;
constexpr double stability_edge = 6.1;  // the method's region reaches that far along the negative axis

/// Σ w_j k_j = (Σ w_j) k_0 + Σ w_j (k_j − k_0): the weights reach 500 and cancel, and rounding of the k_j by themselves
/// would be as much larger; what f has in common at all stages costs none this way. Calls put(i, second sum) for all
/// components, a few at a time; every list of terms begins with stage 0.
template <class Put>
void for_each_sum(const Matrix& difference, std::span<const dop853::Term> terms, Put put) {
    const Eigen::Index n = difference.rows();
    const double* const d = difference.data();
    constexpr Eigen::Index few = 4;
    Eigen::Index i = 0;
    for (; i + few <= n; i += few) {
        double sum[few] = {};
        for (const dop853::Term& term : terms.subspan(1))
            for (Eigen::Index k = 0; k < few; ++k) sum[k] += term.weight * d[term.stage * n + i + k];
        for (Eigen::Index k = 0; k < few; ++k) put(i + k, sum[k]);
    }
    for (; i < n; ++i) {
        double sum = 0.0;
        for (const dop853::Term& term : terms.subspan(1)) sum += term.weight * d[term.stage * n + i];
        put(i, sum);
    }
}

/// The sum over all stages, of weights that add up to 0.
void combine(const Matrix& difference, std::span<const dop853::Term> terms, Vector& sum) {
    double* const to = sum.data();
    for_each_sum(difference, terms, [&](Eigen::Index i, double value) { to[i] = value; });
}

/// x + h Σ a_j k_j with Σ a_j = c
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
    stiff_steps_ = good_steps_ = 0;
    error_ = 0.0;
    error_before_ = 1e-4;
    if (!evaluate(problem, t, x_, 0)) return StepStatus::failed;
    if (!x_.allFinite() || !k_.col(0).allFinite()) return StepStatus::non_finite;
    h_ = std::min(h0, largest_);
    if (h0 == automatic_step) {
        error_scale(tolerances_, x_, x_, scale_);
        sum_ = k_.col(0);
        h_ = first_step(problem, t, x_, sum_, scale_, 8, largest_, x_new_, stage_, statistics_);
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

bool Explicit::stages(const Problem& problem, double h) {
    for (int i = 1; i < dop853::stages; ++i) {
        advance(x_, h, dop853::c[i], k_, difference_, dop853::a[i], stage_);
        if (!evaluate(problem, t_ + dop853::c[i] * h, stage_, i)) return false;
    }
    advance(x_, h, 1.0, k_, difference_, dop853::b, x_new_);
    return true;
}

// The two estimates together, h e_5² / √(e_5² + 0.01 e_3²): of order 8 as the method is, and still large where the
// estimate of order 5 happens to vanish ([Hairer] II.10).
double Explicit::estimate(double h) {
    error_scale(tolerances_, x_, x_new_, scale_);
    combine(difference_, dop853::error5, sum_);
    const double fifth = scaled_norm(sum_, scale_);
    combine(difference_, dop853::error3, sum_);
    const double third = scaled_norm(sum_, scale_);
    const double both = std::hypot(fifth, 0.1 * third);
    return both == 0.0 ? 0.0 : h * fifth * (fifth / both);
}

// The last stage and the end of the step are two states at the same time, and so near each other that the ratio of the
// differences of f and x there is about the largest eigenvalue ([Hairer] IV.2).
void Explicit::watch_stiffness(double h) {
    const double df = (k_.col(dop853::stages) - k_.col(dop853::stages - 1)).squaredNorm();
    const double dx = (x_new_ - stage_).squaredNorm();
    if (dx > 0.0 && h * std::sqrt(df / dx) > stability_edge) {
        good_steps_ = 0;
        if (++stiff_steps_ == 15) stiff_ = true;
    } else if (++good_steps_ == 6) {
        stiff_steps_ = 0;
    }
}

StepStatus Explicit::step(const Problem& problem, double t_limit) {
    SALTUS_EXPECT(started_ && t_limit > t_);
    if (stepped_) k_.col(0) = k_.col(dop853::stages);
    stepped_ = extended_ = false;
    const double wish = h_;
    const double shortest = shortest_step(t_, std::min(h_, t_limit - t_));
    bool again = false, last = h_ <= shortest;  // the shortest step was tried
    for (h_ = std::max(h_, shortest);; again = true) {
        const Stride stride = stride_towards(t_, h_, t_limit);
        StepStatus outcome = StepStatus::failed;
        if (stages(problem, stride.h)) {
            const double error = estimate(stride.h);
            if (!std::isfinite(error)) {
                outcome = StepStatus::non_finite;
            } else if (error > 1.0) {
                outcome = StepStatus::underflow;
                h_ = stride.h * std::max(most_shrink, safety * std::pow(error, -1.0 / 8.0));
            } else if (evaluate(problem, stride.t_new, x_new_, dop853::stages)) {
                outcome = k_.col(dop853::stages).allFinite() ? StepStatus::accepted : StepStatus::non_finite;
                error_ = error;
            }
        }
        if (outcome == StepStatus::accepted) {
            watch_stiffness(stride.h);
            double growth = most_growth;
            if (error_ > 0.0) growth = safety * std::pow(error_, -exponent) * std::pow(error_before_, beta);
            growth = std::clamp(growth, most_shrink, again ? 1.0 : most_growth);
            error_before_ = std::max(error_, 1e-4);
            h_ = stride.h * growth;
            // A step that t_limit made short says little about long ones.
            if (stride.shortened && !again) h_ = std::max(h_, wish);
            h_ = std::min(h_, largest_);
            x_old_.swap(x_);
            x_.swap(x_new_);
            t_old_ = t_;
            t_ = stride.t_new;
            stepped_ = true;
            ++statistics_.accepted;
            return StepStatus::accepted;
        }
        if (outcome == StepStatus::underflow) {
            ++statistics_.rejected;
        } else {
            ++statistics_.cut;
            h_ = refusal_shrink * stride.h;
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
    out.reset(t_old_, t_, size(), Dense::most_terms);
    column(0) = x_old_;
    column(1) = x_;
    // ẋ = f at both ends fixes the terms 2 and 3.
    column(2) = h * k_.col(0) - (x_ - x_old_);
    column(3) = 2.0 * (x_ - x_old_) - h * (k_.col(0) + k_.col(dop853::stages));
    for (int k = 0; k < 4; ++k) {
        combine(difference_, dop853::dense[k], sum_);
        column(4 + k) = h * sum_;
    }
    return true;
}

}  // namespace saltus::ode
