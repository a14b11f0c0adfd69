// SPDX-License-Identifier: Apache-2.0
//
// What a step does to V = T + U, by parts. With u_m = ½(u + u⁺) the step M(u⁺ − u) = h Δt + WΛ changes T by
//     ½u⁺ᵀM u⁺ − ½uᵀM u = u_m·h Δt + ½(γ + γ⁺ − 2χ)·Λ,
// and U by −u_m·∂U/∂q(q_m) Δt up to the error of the scheme: none where θ = ½, M is constant and U linear, of second
// order on smooth pieces.
#include <algorithm>

#include "saltus/integrate/moreau/moreau_step.hpp"

#include "saltus/base/index.hpp"

namespace saltus::integrate::moreau {

/// Friction takes out −½(γ + γ⁺)·Λ_T. In a step with an impact under Newton's law that of contacts is split as at an
/// event, −ξ·Λ_T/(1 + e_T) and the rest, which belongs to restitution. Normal impulses of contacts and clutches do work
/// where they end an approach. Those of constraints do none but by the error of the scheme.
void Stepper::split_impulses(const Point& from, bool newton, Point& to) {
    const std::span<const int> rows = rows_.row_numbers();
    StepWorks& w = to.works;
    const auto mean_of = [&](std::size_t k) {
        return 0.5 * ((newton ? gamma_[k] : gamma_of(rows[k], from.u)) + gamma_plus_[k]);
    };
    const auto is = [](const auto& elements, int row) {
        return std::any_of(elements.begin(), elements.end(), [row](const auto& e) {
            return row >= e.friction.first_row && row < e.friction.first_row + e.friction.dimension;
        });
    };
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const int row = rows[k];
        const double Lambda = to.Lambda[ix(row)];
        if (Lambda == 0.0) continue;
        w.driven -= terms_.chi[ix(row)] * Lambda;
        if (row < layout_.constraints) continue;
        const double taken = -mean_of(k) * Lambda;
        const bool clutch = std::any_of(model_.clutches.begin(), model_.clutches.end(),
                                        [row](const model::Clutch& c) { return c.row == row; });
        if (row < layout_.positions() || clutch)
            w.impact_restitution += taken;
        else if (to.any_struck && !is(model_.sliders, row))
            w.impact_friction += taken;
        else
            w.friction += taken;
    }
    if (!to.any_struck || !newton) return;
    for_each_closed(to, [&](std::size_t i, std::size_t k) {
        const model::Contact& c = model_.contacts[i];
        if (c.friction.dimension == 0) return;
        const double e = coefficient(coefficients_, c.e_t);
        for (std::size_t j = k + 1; j <= k + ix(c.friction.dimension); ++j) {
            const double Lambda = to.Lambda[ix(rows[j])], xi = gamma_plus_[j] + e * gamma_[j];
            const double rest = xi * Lambda / (1.0 + e) - mean_of(j) * Lambda;
            w.impact_friction -= rest;
            w.impact_restitution += rest;
        }
    });
}

/// The forces are those at u, and act through u_m: f(u)·u_m. The system tells powers P(v) = f(v)·v alone; where f is
/// affine in v, with a symmetric matrix, that is the odd part of P at u_m and what the even part, a quadratic form,
/// says of the pair (u, u_m) by polarisation.
void Stepper::split_forces(const Point& from, double t_m, Point& to) {
    probe_.resize(n_);
    const auto powers = [&](double a, double b) {  // at a u_m + b u
        for (std::size_t i = 0; i < n_; ++i) probe_[i] = a * 0.5 * (from.u[i] + to.u[i]) + b * from.u[i];
        return energy_at(t_m, q_, probe_);
    };
    const model::Energy m = powers(1.0, 0.0), m_back = powers(-1.0, 0.0), u = powers(0.0, 1.0),
                        u_back = powers(0.0, -1.0), d = powers(1.0, -1.0), d_back = powers(-1.0, 1.0);
    const auto through = [&](double model::Energy::*P) {
        const double odd = 0.5 * (m.*P - m_back.*P);
        const auto even = [P](const model::Energy& a, const model::Energy& b) { return 0.5 * (a.*P + b.*P); };
        return odd + 0.5 * (even(m, m_back) + even(u, u_back) - even(d, d_back));
    };
    to.works.damping = to.h * through(&model::Energy::damping);
    to.works.applied = to.h * through(&model::Energy::applied);
}

}  // namespace saltus::integrate::moreau
