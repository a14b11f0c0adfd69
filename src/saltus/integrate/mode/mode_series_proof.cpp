// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/factorial.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/mode/detail/series_arithmetic.hpp"
#include "saltus/integrate/mode/mode_series.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

// How long a step of ModeSeries may be: by the size of the last terms, and by bounds of the residuals on the step, or
// on a complex disk for systems whose terms have no such bounds.

namespace saltus::integrate {

double ModeSeries::step_length(const ode::Tolerances& tolerances, int last) const {
    const double consistent = redundant_ ? consistent_length() : infinity;
    if (exact_) return consistent;
    // The largest coefficient of each of the orders last, last − 1 and last − 2, in units of the tolerance.
    const int orders = std::min(3, last);
    const int n = d_.size();
    const double absolute = tolerances.absolute, relative = tolerances.relative;
    double worst[3] = {0.0, 0.0, 0.0}, sum[3] = {0.0, 0.0, 0.0};
    const auto add_square = [&](const double* c) {
        // Relative to the size that the component has on a step as long as the last one.
        const double unit = 1.0 / (absolute + relative * std::max(std::abs(c[0]), std::abs(c[1]) * last_step_));
        for (int j = 0; j < orders; ++j) sum[j] += (c[last - j] * unit) * (c[last - j] * unit);
    };
    const auto limit = [&](const double* c, int first, double allowed) {
        for (int j = first; j < orders; ++j) worst[j] = std::max(worst[j], std::abs(c[last - j]) / allowed);
    };
    for (int i = 0; i < n; ++i) {
        add_square(equations_->q[ix(i)]);
        add_square(equations_->u[ix(i)]);
    }
    for (int j = 0; j < orders; ++j) worst[j] = std::sqrt(sum[j] / (2 * n));
    if (works_) limit(work_.data(), 0, absolute + relative * energy_scale_);
    for (const double* const g : equations_->positions)
        if (g != nullptr) limit(g, 0, absolute + relative * (1.0 + std::abs(g[0])));
    for (int s = 0; s < equations_->switch_count(); ++s) {
        const double* const c = equations_->switch_function(s);
        limit(c, 0, absolute + relative * (std::abs(c[0]) + std::abs(c[1])));
    }
    for (std::size_t c = 0; c < equations_->coefficients.size(); ++c)
        if (equations_->coefficients[c] != nullptr && equations_->coefficient_constant[c] == 0)
            limit(equations_->coefficients[c], 0,
                  absolute + relative * (1.0 + std::abs(equations_->coefficients[c][0])));
    for (const int row : p_->moving_rows)
        limit(series(gamma_, row), 0, absolute + relative * (1.0 + std::abs(series(gamma_, row)[0])));
    const int unknown = std::max(0, last - known_orders_ + 1);  // orders of the reactions that were not computed
    for (const int row : p_->force_rows) limit(series(lambda_, row), unknown, absolute + relative * force_scale_);
    double shortest = infinity;  // logarithm of the step
    for (int j = 0; j < orders; ++j)
        if (worst[j] > 0.0) shortest = std::min(shortest, -std::log(worst[j]) / (last - j));
    return std::min(consistent, std::exp(shortest));
}

ModeSeries::FastMotion ModeSeries::fast_motion(const ode::Tolerances& tolerances) const {
    double sum[3] = {0.0, 0.0, 0.0};  // squares of orders N − 2, N − 1 and N in units of the tolerance
    for (int i = 0; i < d_.size(); ++i) {
        const double* const u = equations_->u[ix(i)];
        const double allowed = tolerances.absolute + tolerances.relative * std::abs(u[0]);
        for (int k = 0; k < 3; ++k) sum[k] += (u[order_ - 2 + k] / allowed) * (u[order_ - 2 + k] / allowed);
    }
    if (!(sum[0] > 0.0 && sum[1] > 0.0 && sum[2] > 0.0)) return {0.0, infinity};
    const double rate = order_ * std::sqrt(sum[2] / sum[1]), before = (order_ - 1) * std::sqrt(sum[1] / sum[0]);
    // Of A λ^k/k! both are λ. In front of a singularity at the distance ρ, where u_k ≈ C/ρ^k, their ratio is
    // N/(N − 1).
    if (!(std::abs(rate / before - 1.0) < 0.3 / order_)) return {0.0, infinity};
    return {rate, std::exp(0.5 * std::log(sum[2]) + log_factorial(order_) - order_ * std::log(rate))};
}

/// Whether the slip velocity keeps its direction on a step of length h: its component across the first direction is
/// negligible. The friction force is then that of a constant direction.
bool ModeSeries::slips_straight(std::size_t number, double h) const {
    const double *const x = vector(number, 0), *const y = vector(number, 1);
    const double length = std::hypot(x[0], y[0]);
    double across = 0.0, size = 0.0, power = 1.0;
    for (int k = 0; k < known_orders_; ++k, power *= h) {
        across += std::abs(x[k] * y[0] - y[k] * x[0]) / length * power;
        size += std::hypot(x[k], y[k]) * power;
    }
    return across <= Thresholds::straight_slip * size;
}

/// Bounds the friction force of a part that slips in a plane, on the disk |τ| <= R, in lambda_size_. The direction
/// w/|w| of w_i = a_i γ_i is analytic as long as w·w has no zero. If |w_i(τ) − w_i(0)| <= ρ_i on the disk, then
///     |w·w − w(0)·w(0)| <= D = Σ ρ_i (2 |w_i(0)| + ρ_i),
/// and for D < |w(0)|² the components of the direction are at most (|w_i(0)| + ρ_i)/√(|w(0)|² − D). Slip along a
/// straight line has a constant direction up to its end.
void ModeSeries::bound_slip_force(std::size_t number, double h, double R, const model::SeriesEquations::Radii& radii) {
    const SlipPart& slip = p_->slips[number];
    const model::Pattern& W = d_.model().layout().rows;
    const FrictionPart& part = d_.parts()[ix(slip.part)];
    const bool ellipse = part.shape == FrictionPart::Shape::ellipse;
    double start[2], radius[2], axis[2], length = 0.0, change = 0.0;
    for (int i = 0; i < 2; ++i) {
        const int row = part.row + i;
        const double gamma = std::abs(series(gamma_, row)[0]);
        double gamma_radius = radii.chi[ix(row)];
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
            const std::size_t j = ix(W.column[ix(e)]);
            gamma_radius += std::abs(equations_->W[ix(e)][0]) * u_radius_[j] +
                            radii.W[ix(e)] * (std::abs(equations_->u[j][0]) + u_radius_[j]);
        }
        const double a = std::abs(slip.mu[i][0]), a_radius = size_on_disk(slip.mu[i], 1, known_orders_ - 1, R);
        axis[i] = a + a_radius;
        start[i] = ellipse ? a * gamma : gamma;
        radius[i] = ellipse ? a * gamma_radius + a_radius * (gamma + gamma_radius) : gamma_radius;
        length += start[i] * start[i];
        change += radius[i] * (2.0 * start[i] + radius[i]);
    }
    const bool straight = slips_straight(number, h);
    double load = slip.equation >= 0 ? lambda_size_[ix(p_->rows[ix(slip.equation)])]
                                     : size_on_disk(series(load_, load_of(slip.element)), 0, known_orders_ - 1, R);
    if (slip.radius != nullptr) load *= size_on_disk(slip.radius, 0, known_orders_ - 1, R);
    for (int i = 0; i < 2; ++i) {
        const double force = straight          ? axis[i] * load * start[i] / std::sqrt(length)
                             : change < length ? axis[i] * load * (start[i] + radius[i]) / std::sqrt(length - change)
                                               : infinity;
        lambda_size_[ix(part.row + i)] = std::max(lambda_size_[ix(part.row + i)], force);
    }
}

/// The bounds of residual_quotient by Cauchy's estimate on the disk |τ| <= R. A residual force r during a step h
/// changes the velocity by about h r/M_ii; this may be proof_slack times the tolerance of the velocity. Cauchy's
/// estimate is so pessimistic: with R = 4h and order 16 it is 1e-10 of the size on the disk where the last term of the
/// series is 1e-12 of it.
double ModeSeries::disk_quotient(double h, double R, const ode::Tolerances& tolerances) {
    constexpr double slack = proof_slack;
    const model::Layout& layout = d_.model().layout();
    const model::Pattern &W = layout.rows, &M = layout.mass;
    const int n = d_.size(), N = known_orders_;
    for (int i = 0; i < n; ++i) {
        // Two sums side by side.
        const double *const q = equations_->q[ix(i)], *const u = equations_->u[ix(i)];
        const Pair radius{R, R};
        Pair sums{0.0, 0.0};
        for (int k = order_; k >= 1; --k) sums = sums * radius + Pair{std::abs(q[k]), std::abs(u[k])};
        q_radius_[ix(i)] = R * sums[0];
        u_radius_[ix(i)] = R * sums[1];
        a_size_[ix(i)] = size_on_disk(series(a_, i), 0, N - 1, R);
    }
    const model::SeriesEquations::Radii& radii = equations_->bounds(R, q_radius_, u_radius_);
    for (const int row : p_->force_rows) lambda_size_[ix(row)] = size_on_disk(series(lambda_, row), 0, N - 1, R);
    for (std::size_t s = 0; s < p_->slips.size(); ++s)
        if (d_.parts()[ix(p_->slips[s].part)].size > 1) bound_slip_force(s, h, R, radii);
    const double ratio = h / R, tail = std::exp(N * std::log(ratio)) / (1.0 - ratio);

    std::fill(free_.begin(), free_.end(), 0.0);  // bounds of the residual forces
    for (int i = 0; i < n; ++i) {
        free_[ix(i)] += std::abs(equations_->h[ix(i)][0]) + radii.h[ix(i)];
        for (int e = M.start[ix(i)]; e < M.start[ix(i) + 1]; ++e) {
            const int j = M.column[ix(e)];
            const double size = std::abs(equations_->M[ix(e)][0]) + radii.M[ix(e)];
            free_[ix(i)] += size * a_size_[ix(j)];
            if (i != j) free_[ix(j)] += size * a_size_[ix(i)];
        }
    }
    double worst = 0.0;
    const auto raise = [&](double quotient) {
        if (!(quotient <= worst)) worst = std::isnan(quotient) ? infinity : quotient;
    };
    const auto velocity_tolerance = [&](int i) {
        return tolerances.absolute + tolerances.relative * std::abs(equations_->u[ix(i)][0]);
    };
    for (const int row : p_->force_rows) {
        const bool holds = std::find(p_->rows.begin(), p_->rows.end(), row) != p_->rows.end();
        double residual = std::abs(equations_->zeta[ix(row)][0]) + radii.zeta[ix(row)], allowed = 0.0;
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
            const int j = W.column[ix(e)];
            const double size = std::abs(equations_->W[ix(e)][0]) + radii.W[ix(e)];
            free_[ix(j)] += size * lambda_size_[ix(row)];
            residual += size * a_size_[ix(j)];
            allowed += std::abs(equations_->W[ix(e)][0]) * velocity_tolerance(j);
        }
        if (holds && residual > 0.0) raise(residual * tail * h / (slack * allowed));
    }
    for (int i = 0; i < n; ++i) {
        const double mass = std::abs(mass_values_[ix(M.start[ix(i) + 1] - 1)]);  // the diagonal ends its row
        if (!(free_[ix(i)] <= 0.0)) raise(free_[ix(i)] * tail * h / (slack * mass * velocity_tolerance(i)));
    }
    // Positions: the error of the series of a gap, relative to its length scale.
    for (std::size_t r = 0; r < equations_->positions.size(); ++r) {
        if (equations_->positions[r] == nullptr) continue;
        const double size = tolerances.absolute + tolerances.relative * (1.0 + std::abs(equations_->positions[r][0]));
        raise(radii.positions[r] * tail * ratio / (slack * size));
    }
    // Velocities γ = w·u + χ of rows that move. If w is constant, then w·u is a polynomial and has no error.
    for (const int row : p_->moving_rows) {
        double size = radii.chi[ix(row)];
        for (int e = W.start[ix(row)]; e < W.start[ix(row) + 1]; ++e) {
            const int j = W.column[ix(e)];
            if (equations_->W_constant[ix(e)] == 0)
                size += (std::abs(equations_->W[ix(e)][0]) + radii.W[ix(e)]) *
                        (std::abs(equations_->u[ix(j)][0]) + u_radius_[ix(j)]);
        }
        const double allowed = tolerances.absolute + tolerances.relative * (1.0 + std::abs(series(gamma_, row)[0]));
        raise(size * tail * ratio / (slack * allowed));
    }
    for (std::size_t c = 0; c < equations_->coefficients.size(); ++c) {
        if (equations_->coefficients[c] == nullptr) continue;
        const double allowed =
            tolerances.absolute + tolerances.relative * (1.0 + std::abs(equations_->coefficients[c][0]));
        raise(radii.coefficients[c] * tail * ratio / (slack * allowed));
    }
    for (int s = 0; s < equations_->switch_count(); ++s) {
        const double size = size_on_disk(equations_->switch_function(s), 0, order_, h);
        if (radii.switches[ix(s)] > 0.0)
            raise(radii.switches[ix(s)] * tail * ratio / (slack * tolerances.relative * size));
    }
    return worst;
}

double ModeSeries::proved_length(double h, const ode::Tolerances& tolerances) {
    // The coefficients of a linear system show everything: see SeriesEquations::transparent.
    if (exact_ || linear() || !std::isfinite(h)) return h;
    constexpr int max_attempts = 40;
    // Of the disk R/h. The bound hardly depends on it near the best ratio, so that coarse changes are enough.
    constexpr double ratio_change = 1.5, least_ratio = 1.2;
    // Attempts that fail cost as much as those that succeed. The bound grows like h^(N+1) at a fixed ratio R/h, so that
    // a bound below its limit tells how much longer the next step can be, if the motion hardly changes: at most by
    // `growth`. A little more than the bound says is tried, because the motion may become easier to bound.
    constexpr double growth = 1.2, expected_change = 1.05;
    constexpr double safety = 0.9, largest_cut = 0.3, cut_at_singularity = 0.5;
    h = std::min(h, provable_);
    for (int attempt = 0; attempt < max_attempts; ++attempt) {
        const bool bounded = bound_residuals(h);
        double best =
            bounded ? residual_quotient(h, tolerances) / proof_slack : disk_quotient(h, disk_ratio_ * h, tolerances);
        if (best > 1.0 && !bounded) {
            const double other = std::max(disk_ratio_ * (grow_disk_ ? ratio_change : 1.0 / ratio_change), least_ratio);
            const double quotient = disk_quotient(h, other * h, tolerances);
            if (quotient < best)
                best = quotient, disk_ratio_ = other;
            else
                grow_disk_ = !grow_disk_;
        }
        if (best <= 1.0) {
            const double next =
                h * std::clamp(expected_change * std::exp(-std::log(best) / (known_orders_ + 1)), 1.0, growth);
            provable_ = attempt > 0 ? next : std::max(provable_, next);
            return h;
        }
        // A step that reaches a singularity needs a larger cut.
        h *= std::isfinite(best)
                 ? std::clamp(safety * std::exp(-std::log(best) / (known_orders_ + 1)), largest_cut, safety)
                 : cut_at_singularity;
    }
    return 0.0;
}

bool ModeSeries::proved(double h, const ode::Tolerances& tolerances) {
    if (exact_ || linear()) return true;
    if (bound_residuals(h)) return residual_quotient(h, tolerances) <= proof_slack;
    // The terms of order N fall below rounding errors on the step, so that a singularity is about 10^(15/N) steps away.
    // The disk R = 10^(11/N) h stays clear of it and makes the factor (h/R)^N of Cauchy's estimate 1e-11, which is
    // below `slack` times the usual tolerances. The second disk serves loose tolerances and near singularities.
    constexpr double digits[] = {11.0, 8.0};
    for (const double d : digits)
        if (disk_quotient(h, h * std::pow(10.0, d / known_orders_), tolerances) <= 1.0) return true;
    return false;
}

}  // namespace saltus::integrate
