// SPDX-License-Identifier: Apache-2.0
//
// The works of a step on V = T + U, by parts. With the mean velocity u_m = ½(u + u⁺) and M(u⁺ − u) = Δt h + WΛ,
//     T⁺ − T = ½u⁺·M u⁺ − ½u·M u = u_m·M(u⁺ − u) = Δt u_m·h + u_m·WΛ,   u_m·WΛ = (½(γ + γ⁺) − χ)·Λ,
// because Wᵀu = γ − χ. The potential part of h changes U by −Δt u_m·(−∂U/∂q(q_m)) up to the error of the scheme. That
// error is zero if θ = ½, M is constant and U is linear, and of second order in Δt on smooth pieces.
#include <algorithm>

#include "saltus/integrate/moreau/moreau_step.hpp"

#include "saltus/base/index.hpp"

namespace saltus::integrate::moreau {

/// The impulses' part, (½(γ + γ⁺) − χ)·Λ, split as [Leine] (70) to (75) do for an event:
/// - friction takes out −½(γ_T + γ_T⁺)·Λ_T; in a step with an impact that of contacts counts as impact friction. By
/// Newton's
///   law impact friction is only −ξ_T·Λ_T/(1 + e_T) with ξ_T = γ_T⁺ + e_T γ_T⁻; the rest belongs to restitution;
/// - normal impulses of contacts and clutches do work where they end an approach: restitution;
/// - constraints do no work but by the error of the scheme, which is left out;
/// - −χ·Λ is the work that moving obstacles bring in.
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

/// The forces' part. Forces are taken at u and act through u_m, so their work is Δt f(u)·u_m. The system gives powers
/// P(v) = f(v)·v only. For f(v) = a + B v with symmetric B, the odd part of P is a·v and the even part is the quadratic
/// form Q(v) = v·B v. So f(u)·u_m = a·u_m + u·B u_m with the polarisation u·B u_m = ½(Q(u) + Q(u_m) − Q(u_m − u)).
void Stepper::split_forces(const Point& from, double t_m, Point& to) {
    probe_.resize(n_);
    const auto powers = [&](double a, double b) {  // of the velocity a u_m + b u
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
