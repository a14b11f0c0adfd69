// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/base/index.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"

// Corners. Formulas of gaps, constraints and slip velocities may contain abs, max, min and if. Where such an expression
// switches, the gradient w of a row jumps, and so does the velocity γ = w·u + χ of the row although u does not:
//     γ⁻ = w⁻·u + χ⁻ = 0,   γ⁺ = w⁺·u + χ⁺ ≠ 0   in a row that the mode holds.
// The mode ends there. A closed contact with γ⁺ < 0 strikes, one with γ⁺ > 0 has lost the obstacle. A constraint takes
// an impulse. Sticking friction slips with the velocity γ⁺, and slip that runs backwards now is reversed.

namespace saltus::integrate {

using trajectory::ElementKind;

/// The velocity of a row has jumped if it is larger than this part of its scale: larger than the drift of a step, which
/// is below the tolerance of the run.
double EventRun::corner_speed() const { return std::max(Thresholds::corner_speed, settings_.rtol); }

/// The largest velocity at this state that the mode forbids, in units of the smallest one that is a corner. Above 1 the
/// velocity of a row has jumped.
double EventRun::forbidden_velocity(double t, const double* x) {
    d_.evaluate_terms(t, x);
    const std::span<const double> u(x + d_.size(), ix(d_.size()));
    double largest = 0.0;
    const auto see = [&](int row, double velocity) {
        const double scale = model::row_scale(model_.layout().rows, d_.terms().W, row, u);
        if (std::isfinite(scale)) largest = std::max(largest, velocity / (corner_speed() * scale));
    };
    for (const int row : d_.equation_rows()) see(row, std::abs(d_.row_velocity(row)));
    for (std::size_t k = 0; k < d_.parts().size(); ++k) {
        const FrictionPart& part = d_.parts()[k];
        if (d_.mode().parts[k].slips && d_.mode().elements[ix(part.element)].active && !part.frictionless())
            see(part.row, -d_.slip_along(static_cast<int>(k)));
    }
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        if (rows.kind == ElementKind::clutch && !d_.mode().elements[i].active)
            see(rows.normal, -d_.row_velocity(rows.normal));
    }
    return largest;
}

/// On a Taylor series: if the velocity of a row has jumped until the time tau after the start of the step, which lies
/// behind a switch, then takes the state there.
bool EventRun::stop_at_corner(double tau) {
    if (!(t_ + tau < stretch_end())) return false;
    state_inside_.resize(x_.size());
    series_.motion(tau, state_inside_.data());
    if (!(forbidden_velocity(t_ + tau, state_inside_.data()) > 1.0)) return false;
    measure_series(tau);
    series_.state(tau, x_.data());
    t_ += tau;
    next_step_ = ode::automatic_step;
    if (series_.t() < t_) keep_series(t_);
    return true;
}

/// On a step of another method: the first time at which the velocity of a row has jumped, found by bisection; infinite
/// if there is none. A velocity that only drifts, or slip that comes to rest, does not jump between the two
/// neighbouring times at which the bisection ends.
double EventRun::corner_on_step(double step_end) {
    constexpr double none = std::numeric_limits<double>::infinity();
    constexpr double jump = 0.5;  // part of the smallest corner
    std::vector<double>& x = state_inside_;
    x.resize(x_.size());
    const auto forbidden = [&](double t) {
        dense_.evaluate(t, x.data());
        return forbidden_velocity(t, x.data());
    };
    double left = t_, right = step_end;
    if (!(forbidden(right) > 1.0)) return none;
    for (double middle = 0.5 * (left + right); middle > left && middle < right; middle = 0.5 * (left + right))
        (forbidden(middle) > 1.0 ? right : left) = middle;
    return forbidden(right) - forbidden(left) > jump ? right : none;
}

/// Sets the state to that behind a corner, on the last step. The compared quantity may be exactly zero at the corner,
/// where abs has the slope 0; a little later it is not.
void EventRun::stop_at_sampled_corner(double corner, double step_end, double next_step) {
    const double t = std::min(step_end, corner + Thresholds::switch_nudge * std::max(1.0, std::abs(corner)));
    measure_dense(t);
    dense_.evaluate(t, x_.data());
    t_ = t;
    next_step_ = std::min(next_step, stretch_end() - t_);
    keep(dense_, t_);
}

/// Counts corners. If they follow each other without end then the run fails.
bool EventRun::stays_in_a_corner() {
    if (t_ - corners_since_ > Thresholds::slow_advance * (options_.t_end - out_.start.t)) {
        corners_since_ = t_;
        corners_ = 0;
    }
    if (++corners_ <= Thresholds::max_corners) return false;
    fail("the motion stays in a corner of a formula" + at_time() +
         ": write the corner of a gap as two contacts, one for each side");
    return true;
}

/// Passes a jump of an expression that a method without Taylor series cannot step over, because its stages lie on both
/// sides: the state advances along its rate by a few neighbouring numbers of time, if a compared quantity changes its
/// sign there. False if none does, or if such jumps follow each other without end: the motion then keeps to the jump.
bool EventRun::steps_over_a_switch() {
    if (!enclosure_ || !enclosure_->available() || out_.arcs.empty()) return false;
    if (t_ - over_switches_since_ > Thresholds::slow_advance * (options_.t_end - out_.start.t)) {
        over_switches_since_ = t_;
        over_switches_ = 0;
    }
    if (++over_switches_ > Thresholds::max_switches_at_one_time * enclosure_->switch_count()) return false;
    std::vector<double> rate(x_.size()), before(x_.size()), beyond(x_.size());
    if (!d_.derivative(t_, x_.data(), rate.data())) return false;
    // The compared quantity may change so slowly that its rounding errors blur the time of the jump, and the last step
    // may have ended among them.
    double to = t_;
    bool passed = false;
    for (const double blur : {1.0, 8.0, 64.0}) {
        const double length = blur * Thresholds::step_over_switch * std::max(1.0, std::abs(t_));
        to = t_ + length;
        if (!(to < stretch_end())) return false;
        for (std::size_t i = 0; i < x_.size(); ++i) {
            before[i] = x_[i] - length * rate[i];
            beyond[i] = x_[i] + length * rate[i];
        }
        passed = enclosure_->switches_between(t_ - length, before.data(), to, beyond.data());
        if (passed) break;
    }
    if (!passed) return false;
    constexpr int ends = 2;  // terms of a straight line
    dense_.reset(t_, to, d_.state_size(), ends);
    std::copy(x_.begin(), x_.end(), dense_.term(0).begin());
    std::copy(beyond.begin(), beyond.end(), dense_.term(1).begin());
    t_ = to;
    x_ = beyond;
    next_step_ = ode::automatic_step;
    keep(dense_, t_);
    return true;
}

/// Closed contacts whose velocity has jumped to a positive value have lost their obstacle.
void EventRun::open_at_corner(Candidates& candidates) {
    d_.evaluate_terms(t_, x_.data());
    const std::span<const double> u(x_.data() + d_.size(), ix(d_.size()));
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        if (rows.kind != ElementKind::contact || candidates.closed[i] == 0 || d_.compliant()) continue;
        const double scale = model::row_scale(model_.layout().rows, d_.terms().W, rows.normal, u);
        if (d_.row_velocity(rows.normal) > corner_speed() * scale) candidates.closed[i] = 0;
    }
}

}  // namespace saltus::integrate
