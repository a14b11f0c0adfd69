// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/detail/rate_jumps.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"

namespace saltus::integrate {

namespace {

/// Accelerations are continuous at a lift-off if they differ by at most acceleration_jump · (largest contribution to an
/// acceleration) + event_time_error · (1 + |t|) · (rates of the accelerations). The second part counts if all forces
/// vanish at the event: the event is located with this error of the time, in s.
constexpr double acceleration_jump = 1e-6, event_time_error = 1e-9;

}  // namespace

RateJumps::RateJumps(const model::Mechanics& model) : d_(model, false, 1.0), linearised_(d_, {}) {}

/// Evaluates u̇, ü and λ̇ in a mode: derivatives of u̇(t, q, u) and λ(t, q, u) along (1, u, u̇). False if they are not
/// known or not unique.
bool RateJumps::rates(double t, const double* x, const SystemMode& mode) {
    d_.set_mode(mode, t, x);
    if (d_.redundant() || !linearised_.prepare(t, x)) return false;
    const int n = d_.size();
    acceleration_.assign(d_.acceleration().begin(), d_.acceleration().end());
    direction_.setZero(1, linearised_.columns());
    direction_(0, 0) = 1.0;
    for (int i = 0; i < n; ++i) {
        direction_(0, 1 + i) = x[n + i];
        direction_(0, 1 + n + i) = acceleration_[ix(i)];
    }
    linearised_.along(direction_, jerk_);
    linearised_.reactions_along(direction_, reactions_);
    return reactions_.allFinite();
}

// At a lift-off q, u, u̇ and λ are continuous, and λ_p = 0. Both modes give the rates of their reactions there, by exact
// differentiation. For a frictionless model their difference is the solution of
//     (G; A⁺) M⁻¹ (G; A⁺)ᵀ (ν̇⁺ − ν̇⁻; λ̇⁺ − λ̇⁻) = +(G; A⁺) M⁻¹ e_p λ̇_p⁻:
// the other reactions take over what the contact p would have carried. [Alscher] (23) has a minus sign on the right,
// which is a misprint: subtract (G; A⁺) u̇ of the two modes and differentiate once.
std::vector<trajectory::Reaction> RateJumps::at(double t, const double* x, const SystemMode& before,
                                                const SystemMode& after) {
    if (!linearised_.available() || !rates(t, x, before)) return {};
    const Matrix rate_before = reactions_, jerk_before = jerk_;
    const std::vector<double> acceleration_before = acceleration_;
    if (!rates(t, x, after)) return {};
    for (std::size_t i = 0; i < acceleration_.size(); ++i) {
        const auto column = static_cast<Eigen::Index>(i);
        const double rate = std::abs(jerk_before(0, column)) + std::abs(jerk_(0, column));
        const double allowed =
            acceleration_jump * d_.acceleration_scale() + event_time_error * (1.0 + std::abs(t)) * rate;
        if (!(std::abs(acceleration_[i] - acceleration_before[i]) <= allowed)) return {};
    }
    const Matrix jump = reactions_ - rate_before;
    std::vector<trajectory::Reaction> list;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        if (!before.elements[i].active) continue;
        const ElementRows& rows = d_.elements()[i].rows;
        trajectory::Reaction r;
        r.element = static_cast<int>(i);
        if (rows.normal >= 0) r.N = jump(0, rows.normal);
        for (int k = 0; k < rows.slips; ++k) r.T.push_back(jump(0, rows.first_slip + k));
        list.push_back(std::move(r));
    }
    return list;
}

}  // namespace saltus::integrate
