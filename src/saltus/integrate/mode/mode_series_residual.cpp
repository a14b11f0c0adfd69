// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/expr/series/series_sizes.hpp"
#include "saltus/integrate/mode/mode_series.hpp"
#include "saltus/model/mechanics.hpp"

// How far the truncated series of ModeSeries can be from satisfying the equations of the mode, everywhere on a step
// 0 <= τ <= h. q and u are polynomials of degree N; u̇ and λ are polynomials of degree N − 1. The terms M, h, W, ζ … are
// formulas of q and u: each is its series up to the order N plus a remainder (SeriesEquations::remainders). In
//     r = M u̇ − h − Σ w_r λ_r
// the orders 0 … N − 1 vanish, because these equations determine the coefficients. What is left are the higher orders
// of the products (expr::product_tail), the order N of h, and the remainders. The same holds for the equations of the
// rows.

namespace saltus::integrate {

using expr::least_size;
using expr::product_tail;
using expr::term_sizes;
using expr::term_sums;

namespace {

/// A quantity on the step: a polynomial of degree <= N − 1, and a bound of its difference from the quantity itself.
struct Approximation {
    const double* c;
    double error;
};

}  // namespace

/// Errors of products of approximations, where the product is truncated to the order N − 1. All bounds hold on
/// 0 <= τ <= h.
class ModeSeries::ProductErrors {
public:
    ProductErrors(const double* power, int N) : power_(power), last_(N - 1) {}

    /// An upper bound of |c(τ)|.
    double total(const double* c) { return std::abs(c[0]) + term_sizes(c, last_, power_, size_); }
    /// A lower bound of |c(τ)|.
    double least(const double* c) { return least_size(c, last_, power_, term_sizes(c, last_, power_, size_)); }
    /// An upper bound of the terms of a(τ) b(τ) beyond the order N − 1, which the truncation drops.
    double tail(const double* a, const double* b) {
        term_sizes(a, last_, power_, size_);
        term_sums(b, last_, power_, sum_);
        return product_tail(size_, last_, sum_, last_, last_);
    }
    /// An upper bound of |x y − truncated a b| for quantities x, y with |x − a| <= e_a, |y − b| <= e_b:
    ///     x y − a b = a (y − b) + b (x − a) + (x − a)(y − b), and the truncation adds the tail of a b.
    double product(const Approximation& a, const Approximation& b) {
        const double dropped = tail(a.c, b.c);
        if (a.error == 0.0 && b.error == 0.0) return dropped;
        return dropped + total(a.c) * b.error + total(b.c) * a.error + a.error * b.error;
    }

private:
    const double* power_;
    int last_;
    double size_[stride], sum_[stride];
};

/// The error of the series of a coefficient of the model, of which the orders up to N − 1 are used: its term of order
/// N, and its remainder.
double ModeSeries::coefficient_error(model::Coefficient c) const {
    if (c == model::no_coefficient || equations_->coefficient_constant[ix(c)] != 0) return 0.0;
    return std::abs(equations_->coefficients[ix(c)][known_orders_]) * power_[ix(known_orders_)] +
           left_->coefficients[ix(c)];
}

/// The remainder of the series of a row's velocity γ = w·u + χ beyond the order N: that of χ, the tails of the products
/// w_i u_i, and the remainders of w_i times the bounds of |u_i|.
double ModeSeries::velocity_error(int row) const {
    const model::Pattern& W = d_.model().layout().rows;
    const int N = known_orders_;
    double error = left_->chi[ix(row)], size[stride], sum[stride];
    for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
        if (equations_->W_constant[ix(e)] != 0) continue;
        term_sums(equations_->u[ix(W.column[ix(e)])], N, power_.data(), sum);
        term_sizes(equations_->W[ix(e)], N, power_.data(), size);
        error += product_tail(size, N, sum, N, N) + left_->W[ix(e)] * sum[0];
    }
    return error;
}

/// The error of the series of a load that the state determines: the force of a slider, or of a spring and a damper.
double ModeSeries::load_error(const KnownLoad& known, ProductErrors& products) const {
    const ElementRows& rows = d_.elements()[ix(known.element)].rows;
    if (known.row < 0) return coefficient_error(d_.model().sliders[ix(rows.index)].normal_force);
    const model::Contact& contact = d_.model().contacts[ix(rows.index)];
    const int N = known_orders_;
    const auto last_term = [&](const double* c) { return std::abs(c[N]) * power_[ix(N)]; };
    const auto part = [&](model::Coefficient c, const double* factor, double error) {
        if (c == model::no_coefficient) return 0.0;
        return products.product({equations_->coefficients[ix(c)], coefficient_error(c)},
                                {factor, last_term(factor) + error});
    };
    const double* const gamma = series(gamma_, rows.normal);
    return d_.stiffness() *
               part(contact.penalty_k, equations_->positions[ix(rows.normal)], left_->positions[ix(rows.normal)]) +
           part(contact.penalty_d, gamma, velocity_error(rows.normal));
}

/// The error of ∇σ of a slipping part. σ(γ_T) is the support function of the friction set for the load 1, and the
/// friction force is −∇σ times the load. With one row ∇σ = ±μ, so the error is that of μ. With two rows
///     ellipse with the semi-axes a_i:  w_i = a_i γ_i,          disk:  w_i = γ_i, a_i = μ,
///     ∇σ_i = a_i d_i,  d_i = w_i/ν,  ν = |w|.
/// The series of ν and d_i, as slip_gradients computes them, satisfy
///     ν² = w_0² + w_1² up to tails D,  so that  |ν − |w|| <= e_ν = D/min ν + the errors of w;
///     d_i ν = w_i up to a tail t_i,     so that  the error of d_i is (error of w_i + t_i + |d_i| e_ν)/(min ν − e_ν).
void ModeSeries::gradient_errors(std::size_t number, double h, ProductErrors& products, double* error) {
    const SlipPart& slip = p_->slips[number];
    const FrictionPart& part = d_.parts()[ix(slip.part)];
    const model::Friction& friction = *friction_of(d_.model(), d_.elements()[ix(slip.element)].rows);
    const int N = known_orders_;
    const double radius_error =
        slip.radius == nullptr ? 0.0 : coefficient_error(friction.radius[part.size == 1 ? 0 : 1]);
    const auto with_radius = [&](const double* c, double own) {
        return slip.radius == nullptr ? own : products.product({c, own}, {slip.radius, radius_error});
    };
    if (part.size == 1) {
        error[0] = slip.constant ? 0.0 : with_radius(slip.mu[0], coefficient_error(part.axes[0]));
        return;
    }
    // A direction that is constant up to rounding has no error, also if the velocity vanishes at the end of the step.
    const bool straight = slips_straight(number, h);
    double w_error[2], axis_error[2], dropped = products.tail(vector(number, 2), vector(number, 2));
    for (int i = 0; i < 2; ++i) {
        const double* const gamma = series(gamma_, part.row + i);
        const double own = std::abs(gamma[N]) * power_[ix(N)] + velocity_error(part.row + i);
        axis_error[i] = coefficient_error(part.axes[ix(i)]);
        w_error[i] = part.shape == FrictionPart::Shape::ellipse
                         ? products.product({slip.mu[i], axis_error[i]}, {gamma, own})
                         : own;
        dropped += products.tail(vector(number, i), vector(number, i));
    }
    const double norm = products.least(vector(number, 2));
    const double norm_error = norm > 0.0 ? dropped / norm + w_error[0] + w_error[1] : infinity;
    for (int i = 0; i < 2; ++i) {
        const double* const unit = vector(number, 3 + i);
        const double direction =
            products.tail(unit, vector(number, 2)) + w_error[i] + products.total(unit) * norm_error;
        const double unit_error = straight ? 0.0 : norm > norm_error ? direction / (norm - norm_error) : infinity;
        const double plain = products.product({slip.mu[i], axis_error[i]}, {unit, unit_error});
        error[i] = with_radius(slip.radius == nullptr ? gradient(number, i) : scaled(number, i), plain);
    }
}

/// How far each reaction can be from the force that its law gives, in lambda_error_: friction is −∇σ times the load, a
/// spring has the load itself. Reactions of equations have no law of their own.
void ModeSeries::find_law_errors(double h) {
    ProductErrors products(power_.data(), known_orders_);
    for (const int row : p_->force_rows) lambda_error_[ix(row)] = 0.0;
    for (const KnownLoad& known : p_->loads)
        if (known.row >= 0) lambda_error_[ix(known.row)] = load_error(known, products);
    for (std::size_t s = 0; s < p_->slips.size(); ++s) {
        const SlipPart& slip = p_->slips[s];
        if (slip.constant && slip.equation >= 0) continue;
        const FrictionPart& part = d_.parts()[ix(slip.part)];
        double error[2];
        gradient_errors(s, h, products, error);
        Approximation load{nullptr, 0.0};
        if (slip.equation >= 0) {
            load.c = series(lambda_, p_->rows[ix(slip.equation)]);
        } else {
            const int l = load_of(slip.element);
            load = {series(load_, l), load_error(p_->loads[ix(l)], products)};
        }
        for (int r = 0; r < part.size; ++r)
            lambda_error_[ix(part.row + r)] = products.product({gradient(s, r), error[r]}, load);
    }
}

/// Bounds everything that the series leaves out on a step of length h: the residuals of the equations in
/// force_residual_ and row_residual_, the errors of row velocities in velocity_error_, the remainders of all other
/// series in *left_. False if the system has no remainders.
bool ModeSeries::bound_residuals(double h) {
    double next = 1.0;
    for (int k = 0; k <= order_; ++k, next *= h) power_[ix(k)] = next;
    left_ = equations_->remainders(h);
    if (left_ == nullptr) return false;
    const model::SeriesEquations::Radii& left = *left_;
    const int n = d_.size(), N = known_orders_;
    double size[stride];
    const double* const power = power_.data();
    for (int i = 0; i < n; ++i) {
        term_sums(series(a_, i), N - 1, power, series(a_sum_, i));
        force_residual_[ix(i)] = std::abs(equations_->h[ix(i)][N]) * power[N] + left.h[ix(i)];
    }
    for (const MassEntry& m : p_->mass) {
        term_sizes(m.c, N, power, size);
        const auto product = [&](int i) {
            return product_tail(size, N, series(a_sum_, i), N - 1, N - 1) + left.M[ix(m.number)] * series(a_sum_, i)[0];
        };
        force_residual_[ix(m.i)] += product(m.j);
        if (m.i != m.j) force_residual_[ix(m.j)] += product(m.i);
    }
    find_law_errors(h);
    for (std::size_t k = 0; k < p_->forces.size(); ++k) {
        const int row = p_->forces[k].row;
        const bool holds = k < p_->rows.size();  // the rows of the equations come first
        const double error = lambda_error_[ix(row)];
        term_sums(series(lambda_, row), N - 1, power, lambda_sum_.data());
        double residual = std::abs(p_->forces[k].zeta[N]) * power[N] + left.zeta[ix(row)];
        for (const Entry& e : p_->forces[k].entries) {
            double& force = force_residual_[ix(e.column)];
            if (e.constant) {
                force += std::abs(e.w[0]) * error;
                continue;
            }
            const double rest = left.W[ix(e.number)], *const a_sum = series(a_sum_, e.column);
            const double total = std::abs(e.w[0]) + term_sizes(e.w, N, power, size);
            force += product_tail(size, N, lambda_sum_.data(), N - 1, N - 1) + rest * lambda_sum_[0] +
                     (total + rest) * error;
            if (holds) residual += product_tail(size, N, a_sum, N - 1, N - 1) + rest * a_sum[0];
        }
        if (holds) row_residual_[k] = residual;
    }
    velocity_error_.clear();
    for (const int row : p_->moving_rows) velocity_error_.push_back(velocity_error(row));
    return true;
}

namespace {

/// The largest of some quotients. NaN counts as infinite.
struct Largest {
    double value = 0.0;
    void take(double quotient) {
        if (!(quotient <= value)) value = std::isnan(quotient) ? infinity : quotient;
    }
};

}  // namespace

/// The largest of the bounds of bound_residuals for a step of length h, each divided by what the tolerances allow. At
/// most 1 means that the step satisfies all equations within the tolerances.
double ModeSeries::residual_quotient(double h, const ode::Tolerances& tolerances) const {
    const model::Pattern& M = d_.model().layout().mass;
    Largest worst;
    const auto velocity_tolerance = [&](int i) {
        return tolerances.absolute + tolerances.relative * std::abs(equations_->u[ix(i)][0]);
    };
    // A residual force r during a step h changes the velocity by about h r/M_ii. A residual r of the equation of a row,
    // an acceleration, changes its velocity w·u by about h r; w·u may change by Σ |w_i| tolerance of u_i.
    for (int i = 0; i < d_.size(); ++i) {
        const double mass = std::abs(mass_values_[ix(M.start[ix(i) + 1] - 1)]);  // the diagonal ends its row
        worst.take(force_residual_[ix(i)] * h / (mass * velocity_tolerance(i)));
    }
    for (std::size_t k = 0; k < p_->rows.size(); ++k) {
        double allowed = 0.0;
        for (const Entry& e : p_->forces[k].entries) allowed += std::abs(e.w[0]) * velocity_tolerance(e.column);
        if (row_residual_[k] > 0.0) worst.take(row_residual_[k] * h / allowed);
    }
    // Gaps, velocities of rows, coefficients and switching functions, relative to their scales.
    const auto judge = [&](double error, double start) {
        worst.take(error / (tolerances.absolute + tolerances.relative * (1.0 + std::abs(start))));
    };
    for (std::size_t r = 0; r < equations_->positions.size(); ++r)
        if (equations_->positions[r] != nullptr) judge(left_->positions[r], equations_->positions[r][0]);
    for (std::size_t k = 0; k < p_->moving_rows.size(); ++k)
        judge(velocity_error_[k], series(gamma_, p_->moving_rows[k])[0]);
    for (std::size_t c = 0; c < equations_->coefficients.size(); ++c)
        if (equations_->coefficients[c] != nullptr && equations_->coefficient_constant[c] == 0)
            judge(coefficient_error(static_cast<model::Coefficient>(c)), equations_->coefficients[c][0]);
    for (int s = 0; s < equations_->switch_count(); ++s) {
        if (!(left_->switches[ix(s)] > 0.0)) continue;
        const double* const c = equations_->switch_function(s);
        double scale = 0.0;
        for (int k = 0; k <= order_; ++k) scale += std::abs(c[k]) * power_[ix(k)];
        worst.take(left_->switches[ix(s)] / (tolerances.relative * scale));
    }
    return worst.value;
}

ModeSeries::StepError ModeSeries::step_error(double h, const ode::Tolerances& tolerances) {
    if (!bound_residuals(h)) {
        // Without bounds the last terms of the series are the estimate. On a step of the length step_length the largest
        // of the last three terms, that of order N − 2, is as large as the tolerance. It grows like h^(N−2).
        return {std::pow(h / step_length(tolerances, order_), order_ - 2), false};
    }
    Largest worst;
    worst.take(residual_quotient(h, tolerances));
    // Reactions are as accurate as the equations that determine them, also on a step that is so short that velocities
    // hardly change.
    const double force = tolerances.absolute + tolerances.relative * force_scale_;
    const double acceleration = tolerances.absolute + tolerances.relative * acceleration_scale_;
    if (!p_->force_rows.empty())
        for (int i = 0; i < d_.size(); ++i) worst.take(force_residual_[ix(i)] / force);
    for (std::size_t k = 0; k < p_->rows.size(); ++k) worst.take(row_residual_[k] / acceleration);
    // q has the degree N, so that q̇ lacks the term u_N τ^N. Integrated over the step, this is u_N h^(N+1)/(N + 1). The
    // last term of the work is compared with the tolerance of an energy.
    const double last = power_[ix(order_)];
    for (int i = 0; i < d_.size(); ++i) {
        const double *const q = equations_->q[ix(i)], *const u = equations_->u[ix(i)];
        const double allowed =
            tolerances.absolute + tolerances.relative * std::max(std::abs(q[0]), std::abs(q[1]) * last_step_);
        worst.take(std::abs(u[order_]) * last * h / ((order_ + 1) * allowed));
    }
    if (works_)
        worst.take(std::abs(work_[ix(order_)]) * last / (tolerances.absolute + tolerances.relative * energy_scale_));
    return {worst.value, true};
}

}  // namespace saltus::integrate
