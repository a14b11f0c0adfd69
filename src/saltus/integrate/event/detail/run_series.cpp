// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/detail/negative_friction.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/ode/polynomial.hpp"

// A smooth arc as Taylor series. Each step goes as follows:
//   1. The motion is expanded at its present state (ModeSeries::expand). If the first terms of the series show that an
//      event follows soon, then a series of low order is tried first (find_near_event).
//   2. The step is as long as the last terms and the tolerance allow, and is shortened until the series is shown to
//      satisfy the equations of motion everywhere on it (ModeSeries::proved_length).
//   3. The switching functions of the expressions are searched for their first zero. The step ends there, and the next
//      one takes the other branch.
//   4. The watched quantities are searched for their first zero, which is an event.

namespace saltus::integrate {

/// Integrates the arc by Taylor series. Empty if they do not serve, or no longer: the state is then valid, and another
/// method continues the arc.
std::optional<ArcEnd> EventRun::integrate_series() {
    if (!settings_.series || stiff_ || series_off_ || !begin_series()) {
        ++arcs_without_series_;
        return {};
    }
    Advance advance;
    advance.checked_at = t_;
    for (int steps = 1;; ++steps) {
        if (asked_to_stop()) return ArcEnd::finished;
        switch (series_step(advance)) {
            case SeriesStep::accepted:
                if (steps < steps_between_resume_points || nudge_ > 0.0 || series_limit_ < ode::no_limit) break;
                if (steps_follow_without_end(steps)) return ArcEnd::finished;
                resume_point_due_ = true;
                return ArcEnd::same_mode;
            case SeriesStep::event: return ArcEnd::events;
            case SeriesStep::corner: return stays_in_a_corner() ? ArcEnd::finished : ArcEnd::corner;
            case SeriesStep::finished: return ArcEnd::finished;
            case SeriesStep::redundant: return ArcEnd::same_mode;
            case SeriesStep::no_step: return ArcEnd::no_step;
            case SeriesStep::impossible: ++arcs_without_series_; return {};
        }
    }
}

bool EventRun::begin_series() {
    series_begun_ = (mode_kept_ && series_begun_) || prepare_series();
    if (!series_begun_) return false;
    // A linear system has spare orders, which do not lengthen its steps: for two of them, a fifteenth more work, the
    // error of a step falls to about a fiftieth. Loose tolerances do not need that.
    constexpr int spare_orders = 2;
    constexpr double loose = 1e-6;
    const int spare = tolerances_.relative < loose ? spare_orders : 0;
    mode_order_ = series_.linear() ? std::min(linear_order_ + spare, Thresholds::max_series_order) : series_order_;
    series_.clear_sides();
    just_crossed_.assign(ix(series_.switch_count()), 0);
    switches_at_one_time_ = 0;
    nudge_ = 0.0;
    series_limit_ = ode::no_limit;
    stiff_series_steps_ = 0;
    longest_series_step_ = 0.0;
    return true;
}

/// Prepares the series of the mode in force. False if it has none.
bool EventRun::prepare_series() {
    if (!d_.friction_keeps_shape()) return false;
    watched_.assign(ix(model_.layout().positions()), 0);
    for (const Watch& w : watcher_.watches()) {
        if (w.what == Watch::What::reaction && d_.redundant()) return false;
        if (w.what == Watch::What::gap || w.what == Watch::What::depth)
            watched_[ix(d_.elements()[ix(w.element)].rows.normal)] = 1;
    }
    for (std::size_t k = 0; k < d_.parts().size(); ++k) {
        const FrictionPart& part = d_.parts()[k];
        const bool sticks = d_.mode().elements[ix(part.element)].active && !d_.mode().parts[k].slips;
        if (sticks && part.shape == FrictionPart::Shape::patch && !part.frictionless()) return false;
    }
    return series_.begin_mode(watched_);
}

/// Rounding errors of the long step can be larger than those of the quantity itself, and make a zero uncertain, or its
/// time. A shorter step near the zero then decides.
template <class Z>
EventRun::Zero EventRun::judge(const Z& zero, double h) const {
    const double sharp = Thresholds::sharp_event * std::max(1.0, std::abs(t_));
    if (zero.touch)
        return zero.tau > std::max(sharp, Thresholds::nearest_touch * h) ? Zero::blurred : Zero::unavoidable;
    return zero.rounded && zero.tau > sharp && zero.tau_right - zero.tau > sharp ? Zero::blurred : Zero::sharp;
}

/// Goes on to a time shortly before a zero, and keeps the next step short.
template <class Z>
bool EventRun::approach(const Z& zero, Advance& advance) {
    const double away = zero.touch ? Thresholds::touch_approach * zero.tau
                                   : std::min(Thresholds::event_approach * (zero.tau_right - zero.tau), 0.5 * zero.tau);
    const double h = zero.tau - away;
    series_limit_ = 4.0 * away;
    if (!accept_series_step(h, t_ + h)) return false;
    advance.step(h, options_.t_end - out_.start.t);
    return !stays_in_a_jump(t_, advance);
}

/// Searches for the first zero on the step up to `reach`, by `first(reach, touches)`. A zero that is blurred by
/// rounding errors of the long step is searched again on a shorter one; `reach` is then shortened.
template <class First>
auto EventRun::search(double& reach, First first) {
    const double sharp = Thresholds::sharp_event * std::max(1.0, std::abs(t_));
    auto zero = first(reach, Watcher::Touches::report);
    while (zero && judge(*zero, reach) != Zero::sharp && zero->tau > sharp &&
           zero->tau < Thresholds::early_zero * reach) {
        reach = 2.0 * zero->tau;
        zero = first(reach, Watcher::Touches::report);
    }
    if (zero && judge(*zero, reach) == Zero::unavoidable) zero = first(reach, Watcher::Touches::ignore);
    return zero;
}

/// The first event on the step up to `reach`, which may be shortened; found_ has all events at its time. If the step is
/// searched several times, then only the last search tells which quantities have left zero: a gap that left zero behind
/// the end of the shorter step must not count as closed at its start.
std::optional<Found> EventRun::first_event(double& reach) {
    watcher_.remember_zeros();
    return search(reach, [&](double to, Watcher::Touches touches) {
        watcher_.restore_zeros();
        found_ = watcher_.search(series_, to, touches);
        return found_.empty() ? std::nullopt : std::optional<Found>(found_.front());
    });
}

/// Expands the motion. If a switching function is exactly zero at the start, then its first coefficient that is not
/// zero decides the branch.
bool EventRun::expand_series() {
    sides_chosen_ = false;
    near_reach_ = 0.0;
    if (can_have_low_order()) {
        // Three orders are enough for a first guess of the next event; if it is known how the terms of the series fall,
        // then this tells how many more are needed.
        constexpr int first_guess = 3;
        const int order = series_.decay().known() ? first_guess : Thresholds::least_series_order;
        if (!series_.expand(t_, x_.data(), order)) return false;
        return reach_near_event() || series_.extend(mode_order_);
    }
    for (int attempt = 0; attempt <= series_.switch_count(); ++attempt) {
        if (!series_.expand(t_, x_.data(), mode_order_)) return false;
        bool decided = true;
        for (int i = 0; i < series_.switch_count() && decided; ++i) {
            if (series_.side(i) != 0) continue;
            const ModeSeries::Coefficients c = series_.switch_function(i);
            const auto first = std::find_if(c.begin(), c.end(), [](double value) { return value != 0.0; });
            if (first == c.end()) continue;
            series_.set_side(i, *first > 0.0 ? 1 : -1);
            just_crossed_[ix(i)] = 1;
            sides_chosen_ = true;
            decided = false;
        }
        if (decided) return true;
    }
    return true;
}

/// Whether a series of low order is worth trying: only if the mode needs at least many_orders orders, because otherwise
/// little work would be saved.
bool EventRun::can_have_low_order() const {
    constexpr int many_orders = 12;
    return mode_order_ >= many_orders && !series_.redundant() && series_.switch_count() == 0 &&
           !(series_limit_ < ode::no_limit) && nudge_ == 0.0;
}

/// If the first terms of the series announce an event: extends it until its error is negligible up to a time behind
/// that event (near_tolerances). False if that would need nearly all orders of the mode, or if there is no such event.
/// An arc that an event soon ends needs few orders, and the work of an expansion grows like the square of its order.
bool EventRun::reach_near_event() {
    // The time behind the estimate that is searched, relative to the estimate.
    constexpr double beyond = 1.1;
    // Shorter arcs, in s times max(1, |t|), are searched on the long step: a low order saves little there. The value
    // was found by trial. Stacks of blocks on springs with dampers, in which changes of mode accumulate, depend on such
    // details of the steps: at some tolerances their energy rises slightly in these changes, with any value here.
    constexpr double shortest = 1e-9;
    // Of the orders of the mode. With more of them a failed attempt costs too much.
    constexpr double worthwhile = 0.75;
    // The bounds of ModeSeries::step_error are about this multiple of the first term that is left out.
    constexpr double pessimism = 10.0;
    // Larger errors, in tolerances, do not show how the terms fall: on a step that is too long the bounds grow far
    // beyond.
    constexpr double far_off = 1e3;
    const double remaining = stretch_end() - t_, target = near_tolerances_.relative / pessimism;
    const int most = static_cast<int>(worthwhile * mode_order_);
    for (int least_order = 0;;) {
        if (series_.exact()) return false;
        // The time of the next event is known if it is given.
        const double reach = settings_.scheduled ? remaining : beyond * watcher_.estimate(series_);
        if (reach >= remaining && reach < infinity && !ends_at_sample()) end_matters();
        if ((!(reach < remaining) && !settings_.scheduled) || !(reach < settings_.max_step) ||
            !(reach > shortest * std::max(1.0, std::abs(t_))))
            return false;
        SeriesDecay& decay = series_.decay();
        if (!decay.known()) learn_from_step(series_.step_length(tolerances_, series_.order()), series_.order());
        if (!decay.known()) return false;  // the motion is a polynomial, and long steps cost nothing
        least_order = std::max(least_order, decay.order_of(target, reach, most + 1) - 1);
        if (least_order > most) return false;
        if (least_order > series_.order()) {
            if (!series_.extend(least_order)) return false;
            continue;
        }
        const ModeSeries::StepError error = series_.step_error(reach, near_tolerances_);
        const int order = series_.order();
        if (error.bound && error.quotient > 0.0 && error.quotient < far_off)
            decay.learn(reach, order + 1, target * error.quotient);
        if (error.quotient <= 1.0) {
            near_reach_ = reach;
            near_proved_ = error.bound;
            return true;
        }
        least_order = order + 1;
    }
}

/// Notes how the terms of the series fall: on a step of this length, for which the last of them were compared with the
/// tolerance, the term of order last − 2 was the largest and as large as the tolerance (ModeSeries::step_length).
void EventRun::learn_from_step(double h, int last) {
    if (h < infinity) series_.decay().learn(h, last - 2, tolerances_.relative);
}

/// Searches for events on the step near_reach_ of a series of low order. If there are any: sets the state to that of
/// the events. They are as certain as those of a longer step. False also if a longer step could show other events at
/// the same time.
bool EventRun::find_near_event() {
    if (!near_proved_ && !series_.proved(near_reach_, tolerances_)) return false;
    double reach = near_reach_;
    const std::optional<Found> first = first_event(reach);
    const bool certain = first && judge(*first, reach) == Zero::sharp &&
                         watcher_.others_are_positive(series_, found_, first->tau, reach);
    if (certain)
        stop_at_series_event(reach);
    else
        watcher_.restore_zeros();
    return certain;
}

EventRun::SeriesStep EventRun::series_step(Advance& advance) {
    if (!expand_series()) {
        if (settings_.scheduled || series_.release().empty() || t_ == arc_began_) return SeriesStep::impossible;
        stop_at_release();
        return SeriesStep::event;
    }
    if (sides_chosen_ && stop_at_corner(Thresholds::switch_nudge * std::max(1.0, std::abs(t_))))
        return SeriesStep::corner;
    if (series_.degenerating()) {
        d_.set_mode(d_.mode(), t_, x_.data());
        if (d_.redundant()) return SeriesStep::redundant;
    }
    if (near_reach_ > 0.0 && !settings_.scheduled && series_.friction_ends(near_reach_, negligible_friction)) {
        near_reach_ = 0.0;
        if (!series_.extend(mode_order_)) return SeriesStep::impossible;
    }
    if (near_reach_ > 0.0) {
        if (settings_.scheduled) {
            if (series_.proved(near_reach_, tolerances_)) {
                accept_series_step(near_reach_, stretch_end());
                return SeriesStep::finished;
            }
        } else if (find_near_event()) {
            return SeriesStep::event;
        }
        if (!series_.extend(mode_order_)) return SeriesStep::impossible;
    }
    const double wish = series_.step_length(tolerances_, series_.linear() ? linear_order_ : mode_order_),
                 remaining = stretch_end() - t_;
    learn_from_step(wish, series_.linear() ? linear_order_ : mode_order_);
    const double free = std::min({wish, settings_.max_step, std::exchange(series_limit_, ode::no_limit)});
    const double longest = finite_step(std::min(remaining, free));
    if (remaining <= free && !ends_at_sample()) end_matters();
    double h = series_.proved_length(longest, tolerances_);
    const bool singular = !(wish > Thresholds::series_giving_up * longest_series_step_) ||
                          !(h > Thresholds::series_giving_up * longest) || !(t_ + h > t_);
    if (singular && d_.nearly_singular(t_, x_.data())) {
        step_status_ = ode::StepStatus::underflow;
        return SeriesStep::no_step;
    }
    if (singular || (h > 0.5 * wish && becomes_stiff(wish))) return SeriesStep::impossible;
    if (series_.redundant()) {
        h = watcher_.admissible_until(series_, h);
        if (!(t_ + h > t_)) return SeriesStep::impossible;
    }
    // The step ends where friction begins to supply energy; the run fails there (friction_is_admissible).
    if (const std::optional<double> end = series_.friction_ends(h, negligible_friction)) {
        if (t_ + *end > t_)
            h = *end;
        else if (!friction_is_admissible(t_, x_.data(), FrictionLimit::strict))
            return SeriesStep::finished;
    }
    std::optional<SwitchCrossing> crossing;
    if (series_.switch_count() > 0) crossing = nearest_switch(h);
    const double before_switch = crossing ? crossing->tau : h;
    if (t_ + before_switch > t_) {
        // A quantity that has its zero where an expression switches crosses it a little later. A zero at the end of the
        // run counts, although rounding errors may put it behind the end.
        const double scale = std::max(1.0, std::abs(t_));
        const double limit = crossing         ? std::min(h, before_switch + Thresholds::beyond_switch * scale)
                             : h == remaining ? h + Thresholds::simultaneous_time * scale
                                              : before_switch;
        double reach = limit;
        std::optional<Found> first = first_event(reach);
        if (first && crossing && passes_a_tip(*crossing)) {
            watcher_.restore_zeros();
            reach = before_switch;
            first = first_event(reach);
        }
        if (first && judge(*first, reach) == Zero::blurred)
            return approach(*first, advance) ? SeriesStep::accepted : SeriesStep::finished;
        if (first) {
            stop_at_series_event(reach);
            return SeriesStep::event;
        }
        if (reach < limit) crossing.reset();
        if (crossing && judge(*crossing, h) == Zero::blurred)
            return approach(*crossing, advance) ? SeriesStep::accepted : SeriesStep::finished;
        if (crossing && stop_at_corner(behind(*crossing))) return SeriesStep::corner;
        h = std::min(reach, before_switch);
        longest_series_step_ = std::max(longest_series_step_, h);
        if (!accept_series_step(h, h == remaining ? stretch_end() : t_ + h)) return SeriesStep::finished;
        std::fill(just_crossed_.begin(), just_crossed_.end(), 0);
        nudge_ = 0.0;
        switches_at_one_time_ = 0;
        advance.step(h, options_.t_end - out_.start.t);
        if (stays_in_a_jump(t_, advance) || t_ >= stretch_end()) return SeriesStep::finished;
    } else if (crossing && stop_at_corner(behind(*crossing))) {
        return SeriesStep::corner;
    }
    if (crossing && !cross(*crossing)) {
        const std::string held = held_by_a_jump();
        if (held.empty()) return SeriesStep::impossible;
        fail("the motion hardly advances" + at_time() + held);
        return SeriesStep::finished;
    }
    return SeriesStep::accepted;
}

/// The first zero of a switching function on the step, before which all expressions keep their branches.
std::optional<EventRun::SwitchCrossing> EventRun::first_switch(double h, Watcher::Touches touches) const {
    std::optional<SwitchCrossing> first;
    double c[ode::max_degree + 1];
    for (int i = 0; i < series_.switch_count(); ++i) {
        if (series_.side(i) == 0) continue;  // the compared quantities are equal, and no branch depends on the side
        const ModeSeries::Coefficients function = series_.switch_function(i);
        double power = series_.side(i);
        for (std::size_t k = 0; k < function.size(); ++k, power *= h) c[k] = function[k] * power;
        if (just_crossed_[ix(i)] != 0 && c[0] < 0.0) c[0] = 0.0;  // rounding
        const std::span<double> polynomial(c, function.size());
        if (touches == Watcher::Touches::report) {
            const auto found = ode::first_possible_crossing(polynomial, 0.0);
            if (found && (!first || h * found->at.theta < first->tau))
                first = {i, h * found->at.theta, h * found->at.after, found->rounded, found->touch};
        } else if (const auto found = ode::first_crossing(polynomial, 0.0)) {
            if (!first || h * found->theta < first->tau) first = {i, h * found->theta, h * found->after, false, false};
        }
    }
    return first;
}

/// The first zero of a switching function on the step h, which may be shortened. Rounding errors of a long step can
/// hide the sign of a function that starts at zero: a narrow bump (1 − z²)² in a formula has coefficients far larger
/// than itself there. So an early zero is searched again on a shorter step, which may show others before it.
std::optional<EventRun::SwitchCrossing> EventRun::nearest_switch(double& h) {
    const double sharp = Thresholds::sharp_event * std::max(1.0, std::abs(t_));
    const auto first = [&](double reach, Watcher::Touches touches) { return first_switch(reach, touches); };
    std::optional<SwitchCrossing> crossing = search(h, first);
    while (crossing && crossing->tau > sharp && crossing->tau < Thresholds::early_zero * h) {
        h = 2.0 * crossing->tau;
        crossing = search(h, first);
    }
    return crossing;
}

/// Whether all events that were found are gaps that close only beyond a switch, on the branch that ends there: the gap
/// turns round at the switch, as at the tip of an obstacle, or it is surely positive there and the next step finds its
/// zero on the other branch.
bool EventRun::passes_a_tip(const SwitchCrossing& crossing) {
    constexpr double rounding = 16.0 * std::numeric_limits<double>::epsilon();  // of a gap, relative to its scale
    for (const Found& event : found_)
        if (!(event.tau > crossing.tau) || watcher_.watches()[ix(event.watch)].what != Watch::What::gap) return false;
    state_inside_.resize(x_.size());
    const double* const x = state_inside_.data();
    series_.motion(crossing.tau, state_inside_.data());
    d_.evaluate_terms(t_ + crossing.tau, x);
    const auto row_of = [&](const Found& event) {
        return d_.elements()[ix(watcher_.watches()[ix(event.watch)].element)].rows.normal;
    };
    const auto is_positive = [&](const Found& event) {
        const int row = row_of(event);
        return d_.terms().positions[ix(row)] > rounding * d_.position_scale(row, x);
    };
    if (std::all_of(found_.begin(), found_.end(), is_positive)) return true;
    series_.motion(behind(crossing), state_inside_.data());
    d_.evaluate_terms(t_ + behind(crossing), x);
    return std::all_of(found_.begin(), found_.end(),
                       [&](const Found& event) { return d_.row_velocity(row_of(event)) > 0.0; });
}

/// A time behind a switch at which evaluations take the new branch, in s since the start of the step. A switching
/// function that leaves zero slowly would need long, but then the branches hardly differ.
double EventRun::behind(const SwitchCrossing& crossing) const {
    const double scale = std::max(1.0, std::abs(t_));
    return crossing.tau + std::max(Thresholds::switch_nudge * scale,
                                   std::min(crossing.tau_right - crossing.tau, Thresholds::beyond_switch * scale));
}

/// Takes the other branch of an expression. False if branches change again and again at one time: the motion keeps to
/// a jump.
bool EventRun::cross(const SwitchCrossing& crossing) {
    const int i = crossing.number;
    series_.set_side(i, -series_.side(i));
    just_crossed_[ix(i)] = 1;
    nudge_ = std::max(nudge_, behind(crossing) - crossing.tau);
    for (int other = 0; other < series_.switch_count(); ++other)
        if (other != i && series_.side(other) != 0) series_.set_side(other, series_.side(other));
    return ++switches_at_one_time_ <= Thresholds::max_switches_at_one_time * series_.switch_count();
}

/// Whether the motion has turned out to be stiff: fast decays of negligible size limit the steps.
bool EventRun::becomes_stiff(double wish) {
    const ModeSeries::FastMotion fast = series_.fast_motion(tolerances_);
    const bool looks_stiff = fast.rate * wish > 1.0 && fast.amplitude < Thresholds::stiff_amplitude;
    stiff_series_steps_ = looks_stiff ? stiff_series_steps_ + 1 : 0;
    const double work_left = (options_.t_end - t_) / wish * d_.size();
    const bool lasts = stiff_series_steps_ > Thresholds::max_stiff_series_steps;
    if (lasts && !(work_left > Thresholds::cheap_series_work)) end_matters();
    series_off_ = lasts && work_left > Thresholds::cheap_series_work;
    return series_off_;
}

/// Sets the state to that of the events in found_, as stop_at_event does.
void EventRun::stop_at_series_event(double h) {
    ++series_steps_;
    double tau = 0.0;
    for (const Found& event : found_) {
        const Watch::What what = watcher_.watches()[ix(event.watch)].what;
        const bool at_zero = what == Watch::What::gap || what == Watch::What::depth || what == Watch::What::clutch ||
                             what == Watch::What::trigger;
        tau = std::max(tau, at_zero ? event.tau : event.tau_right);
    }
    const double remaining = stretch_end() - t_;
    tau = std::min({std::max(tau, nudge_), h, remaining});
    note_other_motions_on_series(tau);
    measure_series(tau);
    series_.state(tau, x_.data());
    largest_acceleration_ = std::max(largest_acceleration_, series_.acceleration_scale());
    next_step_ = ode::automatic_step;
    t_ = tau == remaining ? stretch_end() : t_ + tau;
    end_energy_ = measure_balance();
    end_energy_known_ = true;
    if (series_.t() < t_) keep_series(t_);
}

/// A group of redundant contacts comes loose at the present state.
void EventRun::stop_at_release() {
    found_.clear();
    for (std::size_t k = 0; k < watcher_.watches().size(); ++k)
        if (watcher_.watches()[k].what == Watch::What::hold) found_.push_back({t_, t_, t_, static_cast<int>(k)});
    release_ = series_.release();
}

/// Takes the end of a step as the state, without the drift of the constraints. False if the constraints cannot be met.
bool EventRun::accept_series_step(double h, double t) {
    note_other_motions_on_series(h);
    const double measured_at = measure_series(h);
    series_.state(h, x_.data());
    t_ = t;
    ++series_steps_;
    largest_acceleration_ = std::max(largest_acceleration_, series_.acceleration_scale());
    if (!d_.equation_rows().empty()) {
        if (!d_.project(t_, x_.data())) {
            fail("the constraints cannot be met any more" + at_time());
            return false;
        }
        ++out_.statistics.projections;
    }
    if (series_.slips_in_a_plane()) {
        d_.evaluate_terms(t_, x_.data());
        d_.turn_slip(d_.followed_mode());
    }
    next_step_ = ode::automatic_step;
    measure_balance();
    keep_series(t_);
    if (!friction_is_admissible(measured_at, state_inside_.data()) || !friction_is_admissible(t_, x_.data()))
        return false;
    // Series find every zero of a force, so that the first step of an arc shows whether the mode is valid. A force may
    // jump at the end of the step: a time inside the step is examined.
    return series_.t() != arc_began_ || reactions_are_admissible(measured_at, state_inside_.data());
}

namespace {

/// A bound of the kinetic energy of the velocities u. From |M_ij| <= √(M_ii M_jj) follows ½ uᵀMu <= ½ (Σ √M_ii |u_i|)².
/// If M changes with the positions, then it is only an estimate.
double kinetic_bound(const model::Layout& layout, std::span<const double> M, const double* u) {
    double sum = 0.0;
    for (int i = 0; i < layout.coordinates; ++i)  // the diagonal ends its row
        sum += std::sqrt(M[ix(layout.mass.start[ix(i) + 1] - 1)]) * std::abs(u[i]);
    return 0.5 * sum * sum;
}

}  // namespace

/// Measures gaps and constraints, and now and then the energy balance, at a point of the last expansion that the method
/// did not choose, within h after its start. Returns its time. Its positions and velocities are in state_inside_.
double EventRun::measure_series(double h) {
    state_inside_.resize(x_.size());
    const double tau = accuracy_.fraction() * h, t = series_.t() + tau;
    const bool balance = accuracy_.balance_due();
    if (balance)
        series_.state(tau, state_inside_.data());  // with the work
    else
        series_.motion(tau, state_inside_.data());
    const double* const x = state_inside_.data();
    const std::size_t n = ix(d_.size());
    accuracy_.see_motion(t, {x, n}, {x + n, n}, measured_positions(t, x));
    if (balance) {
        accuracy_.see_balance(t, d_.energy(t, x), x[2 * n] + work_.value());
        return t;
    }
    // The error of the balance is relative to the largest energy. A body may rest at both ends of a step.
    if (!(kinetic_bound(model_.layout(), d_.terms().M, x + n) <= accuracy_.largest_energy()))
        accuracy_.see_scale(d_.energy(t, x));
    return t;
}

/// Measures the energy balance at the present state, which ends a step, and returns the energy. There the work is known
/// already; inside a step it has to be integrated once more (measure_series).
model::Energy EventRun::measure_balance() {
    const model::Energy energy = d_.energy(t_, x_.data());
    accuracy_.see_balance(t_, energy, x_[ix(2 * d_.size())] + work_.value());
    return energy;
}

/// Keeps the step from the last expansion to the present state, as keep does.
void EventRun::keep_series(double until) {
    if (out_.arcs.empty()) return;
    out_.arcs.back().t_end = until;
    const bool needed = settings_.keep_arcs || settings_.record || !impulses_.empty();
    if (!needed && !start_is_due(until)) return hand_over_if_large(until);
    series_.dense(until, dense_);
    dense_.set_end(x_);
    keep(dense_, until);
    keep_reactions(until);
}

/// Keeps the reactions of the step that was just kept, if the arc is recorded. Parts for a sink have none.
void EventRun::keep_reactions(double until) {
    if (sink_ || !settings_.record || change_record_ || recording_.pieces.empty() || d_.equation_rows().empty()) return;
    auto* const arc = std::get_if<RecordedArc>(&recording_.pieces.back());
    if (arc != nullptr) series_.dense_reactions(until, arc->reactions.emplace_back());
}

}  // namespace saltus::integrate
