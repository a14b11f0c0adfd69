// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/detail/event_driven.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "saltus/base/index.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::integrate {

namespace {

/// Tolerances of one step. They are tighter than those of the run, because the errors of many steps add up.
ode::Tolerances step_tolerances(const RunSettings& s) {
    ode::Tolerances t;
    t.relative = std::max(Thresholds::step_tolerance_ratio * s.rtol, Thresholds::least_step_tolerance);
    t.absolute = Thresholds::step_tolerance_ratio * s.atol;
    return t;
}

/// Tolerances of the last terms of a Taylor series. The remainder is smaller than the last term, and steps are few.
ode::Tolerances series_tolerances(const RunSettings& s) {
    ode::Tolerances t;
    t.relative = std::max(Thresholds::series_tolerance_ratio * s.rtol, Thresholds::least_step_tolerance);
    t.absolute = Thresholds::series_tolerance_ratio * s.atol;
    return t;
}

/// Tolerances of the last terms of a series of low order, which ends at an event (EventRun::reach_near_event): `part`
/// of those of other steps, but not below `rounding`, relative. The last three terms are below it
/// (ModeSeries::step_length), so that the terms that are left out are smaller by another factor of ten or more. A
/// smaller part needs more orders.
ode::Tolerances near_tolerances(const ode::Tolerances& tolerances) {
    constexpr double part = 0.1, rounding = 1e-15;
    ode::Tolerances t;
    t.relative = std::max(part * tolerances.relative, rounding);
    t.absolute = part * tolerances.absolute;
    return t;
}

/// The order of a Taylor series for a tolerance ε. −½ ln ε + 1 minimises the work per unit of time, if the work of a
/// step grows with the square of the order and the step is a fixed part of the radius of convergence [Jorba]. Here a
/// step has other costs besides, which do not depend on the order, so that higher orders with fewer steps are faster.
int series_order(double relative) {
    constexpr double orders_for_fixed_costs = 7.0;  // measured on the shipped models
    return std::clamp(static_cast<int>(std::ceil(1.0 + orders_for_fixed_costs - 0.5 * std::log(relative))),
                      Thresholds::least_series_order, Thresholds::max_series_order);
}

/// The same for a linear system. Its series has no products: each order costs the same, so that higher orders with
/// fewer steps are faster. The terms of an oscillation are (ωh)^k/k!. The order is the least one at which a step may
/// cover the angle ωh = `span`, a little more than half a period, at every tolerance.
int linear_series_order(double relative) {
    constexpr double span = 3.5;
    int order = 0;
    for (double term = 1.0; term > relative && order < Thresholds::max_series_order; term *= span / order) ++order;
    return std::clamp(order, series_order(relative), Thresholds::max_series_order);
}

/// An empty motion in the memory of one that is no longer needed. Its events become spare.
trajectory::Trajectory emptied(trajectory::Trajectory& old, std::vector<trajectory::Event>& spare) {
    if (spare.size() < old.events.size()) spare.swap(old.events);
    trajectory::Trajectory out;
    out.events = std::move(old.events);
    out.events.clear();
    out.model = std::move(old.model);
    out.coordinates = std::move(old.coordinates);
    out.elements = std::move(old.elements);
    out.start = std::move(old.start);
    out.end = std::move(old.end);
    out.forces = std::move(old.forces);
    out.forces.clear();
    return out;
}

// A run with at least this number of coordinates asks at every step whether it is interrupted; smaller models ask less
// often. 64 implicit steps of 264 coordinates take six seconds.
constexpr int coordinates_asking_every_step = 64;

// If fewer steps of the present length remain, then the end of the run shapes the next step: the rest is halved if it
// is shorter than two steps (ode::stride_towards). Larger than 2, for rounding.
constexpr double steps_that_end_shapes = 2.1;

}  // namespace

EventRun::EventRun(const model::Mechanics& model, const RunSettings& settings, const Options& options, RunTools& tools,
                   const Continued* earlier, const MotionSink& sink)
    : model_(model),
      settings_(settings),
      options_(options),
      d_(tools.dynamics),
      change_(tools.change),
      watcher_(tools.watcher),
      accumulation_(tools.accumulation),
      accuracy_(model, event_accuracy(settings.rtol, settings.atol), !settings.compliant),
      linearised_(d_, {}),
      series_(tools.series),
      tolerances_(series_tolerances(settings)),
      series_order_(series_order(tolerances_.relative)),
      linear_order_(linear_series_order(tolerances_.relative)),
      near_tolerances_(near_tolerances(tolerances_)),
      just_crossed_(tools.memory.just_crossed),
      sampled_(model.sampled.get()),
      x_(tools.memory.x),
      found_(tools.memory.found),
      known_(tools.memory.known),
      candidates_(tools.memory.candidates),
      turned_(tools.memory.turned),
      state_inside_(tools.memory.state_inside),
      watched_(tools.memory.watched),
      earlier_(earlier),
      sink_(sink),
      spare_events_(tools.spare_events),
      out_(emptied(tools.motion, tools.spare_events)) {
    struck_without_restitution_.assign(model.contacts.size(), 0);
    has_conditions_ = std::any_of(model.contacts.begin(), model.contacts.end(),
                                  [](const model::Contact& c) { return c.condition != model::no_coefficient; });
    if (sampled_ != nullptr &&
        std::any_of(sampled_->quantities.begin(), sampled_->quantities.end(),
                    [](const model::ElementQuantity& q) { return q.what == model::ElementQuantity::What::impulse; }))
        impulses_.assign(sampled_->quantities.size(), 0.0);
    x_.assign(ix(d_.state_size()), 0.0);
    found_.clear();
    accumulation_.clear();
    out_.model = model.name;
    out_.coordinates = model.coordinates;
    out_.elements = tools.elements;
    out_.warnings = model.warnings;
    change_.repair_energy = options.energy == EnergyRule::repair;
    recording_.compliant = settings.compliant;
    recording_.stiffness = settings.stiffness;
}

RecordedMotion EventRun::run() {
    execute();
    return {std::move(out_), std::move(recording_), {}};
}

void EventRun::execute() {
    try {
        const Stoppable here(options_.interrupted);
        follow_to_end();
    } catch (const Stopped&) {
        stop_inside_a_step();
    }
    finish();
}

void EventRun::follow_to_end() {
    if (settings_.implicit) {
        if (linearised_.available())
            become_implicit();
        else
            warn("the system gives no derivatives: explicit integration");
    }
    if (earlier_ != nullptr)
        resume();
    else
        start_at(options_.start ? *options_.start : trajectory::State{0.0, model_.q0, model_.u0});
    bool finished = false;
    while (!ended_ && !finished && t_ < options_.t_end) {
        const ArcEnd end = arc();
        if (!ended_ && !friction_is_admissible(t_, x_.data())) break;
        note_before_changes();
        switch (end) {
            case ArcEnd::events:
                if (!pass_triggers()) change_mode(found_, Cause::event);
                break;
            case ArcEnd::corner: change_mode({}, Cause::corner); break;
            case ArcEnd::violated: change_mode(found_, Cause::violation); break;
            case ArcEnd::same_mode: break;
            case ArcEnd::no_step: leave_mode_without_step(step_status_); break;
            case ArcEnd::finished: finished = !sample_is_due(); break;
        }
        if (!ended_ && !finished && sample_is_due()) take_sample();
        if (!ended_ && !finished && event_count() > static_cast<std::size_t>(settings_.max_events))
            fail("more than " + std::to_string(settings_.max_events) + " events");
        if (!ended_ && !finished) make_resume_point();
    }
}

/// Remembers the motion before its changes at the present time: impacts, jumps, samples, changes of mode.
void EventRun::note_before_changes() {
    if (before_.t == t_) return;
    before_.t = t_;
    before_.x = x_;
    before_.work = work_;
    before_.jumps = out_.energy.jumps;
    before_.events = event_count();
    before_.arcs = out_.arcs.size();
    before_.pieces = recording_.pieces.size();
}

/// Ends an interrupted run in the middle of a step or of the changes at one time, which a contact problem of a large
/// model can hold up. A step changes the state when it is complete, so that t_ and x_ are the end of the last one.
///
/// Changes at one time belong together: the motion can be continued, and the run that continues it leaves out all
/// events at its end or before. If some of them are missing then the motion ends just before this time, without them.
void EventRun::stop_inside_a_step() {
    ended_ = true;
    change_record_.reset();
    if (t_ == before_.t) {
        mode_is_known_ = false;
        x_ = before_.x;
        work_ = before_.work;
        out_.energy.jumps = before_.jumps;
        SALTUS_EXPECT(before_.events >= events_handed_over_);
        const auto cut = [](auto& list, std::size_t size) {
            if (size < list.size()) list.erase(list.begin() + static_cast<std::ptrdiff_t>(size), list.end());
        };
        cut(out_.events, before_.events - events_handed_over_);
        cut(out_.arcs, before_.arcs);
        cut(recording_.pieces, before_.pieces);
        end_just_before(t_);
    }
    out_.status = trajectory::Status::interrupted;
    out_.reason = "interrupted" + at_time();
}

/// Cuts the last step off before its end.
void EventRun::end_just_before(double t) {
    if (out_.arcs.empty()) return;
    trajectory::Arc& arc = out_.arcs.back();
    const double end = std::nextafter(t, -std::numeric_limits<double>::infinity());
    if (arc.t_end != t || !(arc.t_begin < end)) return;
    t_ = arc.t_end = end;
    auto* const recorded = recording_.pieces.empty() ? nullptr : std::get_if<RecordedArc>(&recording_.pieces.back());
    if (recorded != nullptr && recorded->t_end == t) recorded->t_end = end;
    const std::vector<ode::Dense>& steps = arc.steps.empty() && recorded != nullptr ? recorded->steps : arc.steps;
    if (!steps.empty()) steps.back().evaluate(t_, x_.data(), 2 * d_.size());
}

/// Takes the initial state and enters the first mode.
void EventRun::start_at(const trajectory::State& state) {
    t_ = state.t;
    std::copy(state.q.begin(), state.q.end(), x_.begin());
    std::copy(state.u.begin(), state.u.end(), x_.begin() + d_.size());
    out_.start = state;
    const model::Energy energy = d_.energy(t_, x_.data());
    out_.energy.initial = energy.kinetic + energy.potential;
    accuracy_.start(state.q, energy);
    remember_start();
    note_before_changes();
    change_mode({}, Cause::start);
    if (sampled_ == nullptr || ended_) return;
    sample_ = sampled_->first_after(t_) - 1;
    take_sample();
    out_.start.q.assign(x_.begin(), x_.begin() + d_.size());  // with the held forces of the first sample
}

/// The forces of a redundant mode, which move it, violate a law. If slipping friction follows the reactions then the
/// motion is not unique. Otherwise the equations are dependent only because their rows are at a small angle, which grew
/// when the motion did not advance (coarsen).
void EventRun::fail_without_distribution() {
    const std::string names = names_of(d_.ambiguity().elements, out_.elements);
    if (friction_follows_reactions())
        fail("the motion is not unique" + at_time() + ": " + names +
             " share a load, and the motion depends on how; the forces of least norm, which move it here, violate a "
             "law of friction or pull");
    else
        fail("the equations of " + names + " nearly say the same" + at_time() + " and count as one up to an angle of " +
             number_text(d_.redundancy()) +
             " rad; the forces found in this way violate a law of friction. Another rtol "
             "can avoid this state");
}

/// A smooth arc in the mode in force, up to its first event. If it ends by events, then found_ holds them, and t_ and
/// x_ are the time and state of the change.
ArcEnd EventRun::arc() {
    begin_arc();
    if (settings_.scheduled)
        watcher_.begin_without_watches();
    else if (mode_kept_)
        watcher_.begin_again(t_, x_.data());
    else
        watcher_.begin(t_, x_.data());
    if (!watcher_.violated().empty()) {
        found_ = watcher_.violated();
        return ArcEnd::violated;
    }
    if (watcher_.inadmissible_distribution()) {
        fail_without_distribution();
        return ArcEnd::finished;
    }
    if (!settings_.scheduled && stays_at_rest()) {
        rest_until_end();
        return ArcEnd::finished;
    }
    const int n = d_.size();
    const auto f = [this](double t, const double* x, double* dx) { return d_.derivative(t, x, dx); };
    const auto jacobian = [this, n](double t, const double* x, Matrix& J) {
        if (!linearised_.evaluate(t, x)) return false;
        J.block(0, n, n, n).setIdentity();
        J.block(n, 0, n, 2 * n) = linearised_.acceleration().middleCols(1, 2 * n);
        return true;
    };
    const ode::Problem problem{f, jacobian};
    if (const std::optional<ArcEnd> end = integrate_series()) return *end;
    if (!implicit_arc_ && slip_in_a_plane_begins() && can_be_implicit()) {
        become_implicit();
        warn("the motion is stiff: implicit integration from t = " + number_text(t_));
        if (t_ > arc_began_) return ArcEnd::same_mode;
        implicit_arc_ = true;
        if (settings_.record) std::get<RecordedArc>(recording_.pieces.back()).implicit = true;
    }
    if (implicit_arc_) return integrate(*implicit_, problem);
    if (!explicit_) explicit_.emplace(d_.state_size(), step_tolerances(settings_), settings_.max_step);
    return integrate(*explicit_, problem);
}

/// Moves work from the state into the precise sum. On a moving obstacle the work grows without bound while the energy
/// does not: additions to a large number would lose the digits that the energy balance needs. What stays in the state
/// is of the size of the energy, so that the tolerances of a step keep their meaning.
void EventRun::store_work() {
    constexpr double energies_in_state = 10.0;  // work is moved if |work in the state| > this · largest energy
    double& work = x_[ix(2 * d_.size())];
    if (!(std::abs(work) > energies_in_state * accuracy_.largest_energy())) return;
    const double kept = std::copysign(accuracy_.largest_energy(), work);
    work_.add(work - kept);
    work = kept;
}

void EventRun::begin_arc() {
    arc_began_ = t_;
    end_energy_known_ = false;  // also where the arc before ended without a change of mode
    store_work();
    note_ambiguity();
    release_ = {};
    implicit_arc_ = stiff_ && (!sparse_ || sparse_->serves_mode());
    if (stiff_ && !implicit_arc_) {
        const std::string text = "some modes have too many equations for implicit steps: explicit steps there";
        if (std::find(out_.warnings.begin(), out_.warnings.end(), text) == out_.warnings.end()) warn(text);
    }
    longest_series_step_ = 0.0;
    if (settings_.keep_arcs || out_.arcs.empty()) {
        trajectory::Arc& arc = out_.arcs.emplace_back();
        arc.t_begin = arc.t_end = t_;
        arc.modes.reserve(d_.elements().size());
        for (std::size_t i = 0; i < d_.elements().size(); ++i) arc.modes.push_back(mode_of(i));
    }
    if (settings_.record) recording_.pieces.emplace_back(RecordedArc{t_, t_, recorded_mode(), implicit_arc_, {}});
}

template <class Stepper>
ArcEnd EventRun::integrate(Stepper& stepper, const ode::Problem& problem) {
    Advance advance;
    advance.checked_at = t_;
    advance.longest_step = longest_series_step_;  // if the arc began as Taylor series
    method_steps_ = 0;
    step_limit_ = ode::no_limit;
    jacobian_speeds_.clear();
    step_status_ = stepper.start(problem, t_, x_, next_step_);
    while (ode::usable(step_status_)) {
        if (asked_to_stop()) return ArcEnd::finished;
        if (options_.t_end - t_ < steps_that_end_shapes * stepper.next_step()) end_matters();
        step_status_ = stepper.step(problem, std::min(stretch_end(), step_limit_));
        if (!ode::usable(step_status_)) break;
        if (outgrows_jacobian(stepper, problem)) continue;
        if (!stepper.dense(problem, dense_)) {
            step_status_ = ode::StepStatus::failed;
            break;
        }
        if (blurred(stepper) || jumps_over_a_change(stepper, problem)) continue;
        const double corner = corner_on_step(stepper.t());
        found_ = watcher_.search(dense_, enclosure_->available() ? &*enclosure_ : nullptr);
        if (!found_.empty() && found_.front().right < corner) {
            stop_at_event(stepper.t(), stepper.next_step());
            return ArcEnd::events;
        }
        if (corner <= stepper.t()) {
            stop_at_sampled_corner(corner, stepper.t(), stepper.next_step());
            return stays_in_a_corner() ? ArcEnd::finished : ArcEnd::corner;
        }
        if (stop_at_change_of_shape(stepper.t(), stepper.next_step())) return ArcEnd::events;
        advance.step(stepper.t() - t_, options_.t_end - out_.start.t);
        if (advance.tiny_steps > Thresholds::max_tiny_steps) {
            step_status_ = ode::StepStatus::underflow;
            break;
        }
        if (stays_in_a_jump(stepper.t(), advance)) return ArcEnd::finished;
        if (!accept_step(stepper.t(), stepper.x())) return ArcEnd::finished;
        if (t_ >= stretch_end()) return ArcEnd::finished;
        if (became_redundant(stepper.next_step(), advance)) return ArcEnd::same_mode;
        ++method_steps_;
        if (changes_method(stepper)) return ArcEnd::same_mode;
        if (method_steps_ >= steps_between_resume_points && !trial_) {
            if (steps_follow_without_end(method_steps_)) return ArcEnd::finished;
            next_step_ = stepper.next_step();
            resume_point_due_ = true;
            return ArcEnd::same_mode;
        }
        step_status_ = stepper.replace(problem, x_);
    }
    return ArcEnd::no_step;
}

/// Whether rounding errors spoil the motion within a step. The step has then been taken back, to be tried with a
/// shorter length. At most Thresholds::max_blurred_steps times: an error that remains then is not due to the length.
/// Small models are not examined: stiff forces of small models are noticed otherwise.
bool EventRun::blurred(ode::Explicit& stepper) {
    if (d_.size() <= Thresholds::max_dense_coordinates || stepper.dense_error() <= Thresholds::max_dense_error ||
        blurred_steps_ >= Thresholds::max_blurred_steps) {
        blurred_steps_ = 0;
        return false;
    }
    ++blurred_steps_;
    stepper.undo(Thresholds::blurred_step_part);
    return true;
}

/// Whether a formula changes on the step in a way that its method cannot have seen (StepEnclosure::resolved_part). The
/// step has then been taken back, to be tried with a shorter length: at most that of the part in which the change was
/// found. At most Thresholds::max_shortened_steps times in a row.
template <class Stepper>
bool EventRun::jumps_over_a_change(Stepper& stepper, const ode::Problem& problem) {
    if (!enclosure_) enclosure_.emplace(model_);
    if (!enclosure_->available()) return false;
    enclosure_->begin(dense_);
    const double part = shortened_steps_ < Thresholds::max_shortened_steps ? enclosure_->resolved_part() : 1.0;
    const double h = part * (stepper.t() - t_);
    if (part >= 1.0 || !(t_ + h > t_)) {
        shortened_steps_ = 0;
        step_limit_ = ode::no_limit;
        return false;
    }
    ++shortened_steps_;
    step_limit_ = t_ + h;
    step_status_ = stepper.start(problem, t_, x_, h);
    return true;
}

/// The speeds of all friction parts that slip in a plane.
void EventRun::turning_speeds(double t, const double* x, std::vector<double>& speeds) {
    speeds.clear();
    for (std::size_t k = 0; k < d_.parts().size(); ++k) {
        const FrictionPart& part = d_.parts()[k];
        if (part.size == 1 || !d_.mode().parts[k].slips || !d_.mode().elements[ix(part.element)].active) continue;
        d_.evaluate_terms(t, x);  // only once: it knows the state of the last call
        speeds.push_back(d_.slip_speed(static_cast<int>(k)));
    }
}

/// Whether some friction that slips in a plane is at rest still. Its force opposes a change of the direction of slip
/// with the stiffness μ N/v at the speed v, so that explicit steps would have to be shorter than v/(μ N). Before they
/// turn out to be unstable, their errors change the direction at random: slip that has just begun seems to come to
/// rest, and a part of the derivatives is lost.
bool EventRun::slip_in_a_plane_begins() {
    turning_speeds(t_, x_.data(), start_speeds_);
    return std::any_of(start_speeds_.begin(), start_speeds_.end(),
                       [](double speed) { return speed <= Thresholds::direction_speed; });
}

/// Whether an implicit step makes slip in a plane much faster than it was when the Jacobian was computed. The step has
/// then been taken back: it is tried again with a new Jacobian, and shorter if the speed grows too much on the step
/// itself.
///
/// Friction with the bound μ N opposes a change of the direction of slip at the speed v with the stiffness μ N/v. The
/// Jacobian of a smaller speed is too stiff by the ratio of the speeds. Newton's iteration then changes the direction
/// by negligible amounts, which look as if it had converged, and the estimate of the error is reduced in the same way.
bool EventRun::outgrows_jacobian(ode::Radau& stepper, const ode::Problem& problem) {
    turning_speeds(stepper.t(), stepper.x().data(), end_speeds_);
    if (end_speeds_.empty()) return false;
    turning_speeds(t_, x_.data(), start_speeds_);
    if (jacobian_speeds_.size() != start_speeds_.size()) jacobian_speeds_ = start_speeds_;
    const auto growth = [&](const std::vector<double>& from) {
        double largest = 0.0;
        for (std::size_t k = 0; k < from.size(); ++k)
            largest = std::max(largest, end_speeds_[k] / std::max(from[k], Thresholds::direction_speed));
        return largest;
    };
    if (growth(jacobian_speeds_) <= Thresholds::max_speed_growth) return false;
    const bool on_this_step = growth(start_speeds_) > Thresholds::max_speed_growth;
    double h = stepper.t() - t_;
    if (on_this_step) {
        // Half of the length at which a speed that grows linearly would have grown as much as is allowed.
        const double part = 0.5 * Thresholds::max_speed_growth / growth(start_speeds_);
        h *= std::max(part, Thresholds::least_step_part);
    }
    const bool new_jacobian = jacobian_speeds_ != start_speeds_;
    if (!new_jacobian && !(on_this_step && t_ + h > t_)) return false;  // no other step helps
    jacobian_speeds_ = start_speeds_;
    step_status_ = stepper.start(problem, t_, x_, h);
    return true;
}

bool EventRun::asked_to_stop() {
    // Steps of a large model are slow: each of them asks.
    const bool large = d_.size() >= coordinates_asking_every_step;
    if (++steps_since_start_ % Thresholds::steps_between_calls != 0 && !large) return false;
    if (options_.interrupted && options_.interrupted()) {
        out_.status = trajectory::Status::interrupted;
        out_.reason = "interrupted" + at_time();
        return true;
    }
    if (options_.progress) options_.progress(t_);
    return false;
}

/// Sets the state to that of the events in found_, on the last step. A gap is taken at its zero. A force or velocity is
/// taken at the right end of the window of its zero, where it has the sign that it has after the event.
void EventRun::stop_at_event(double step_end, double next_step) {
    double t = t_;
    for (const Found& event : found_) {
        const Watch::What what = watcher_.watches()[ix(event.watch)].what;
        const bool at_zero = what == Watch::What::gap || what == Watch::What::depth || what == Watch::What::trigger;
        t = std::max(t, at_zero ? event.t : event.right);
    }
    t = std::min(t, step_end);
    measure_dense(t);
    dense_.evaluate(t, x_.data());
    next_step_ = std::min(next_step, stretch_end() - t);
    if (next_step_ < next_step) end_matters();
    t_ = t;
    keep(dense_, t_);
}

/// If a coefficient of orthotropic friction becomes zero or leaves zero on the last step: takes the state at that time,
/// to the right of the change. The mode is then chosen again, with other rows of friction.
bool EventRun::stop_at_change_of_shape(double step_end, double next_step) {
    if (d_.friction_keeps_shape()) return false;
    std::vector<double> x(x_.size());
    const auto changed_at = [&](double t) {
        dense_.evaluate(t, x.data());
        d_.evaluate_terms(t, x.data());
        return d_.friction_changes_shape();
    };
    if (!changed_at(step_end)) return false;
    double left = t_, right = step_end;
    for (double middle = 0.5 * (left + right); middle > left && middle < right; middle = 0.5 * (left + right))
        (changed_at(middle) ? right : left) = middle;
    t_ = right;
    dense_.evaluate(t_, x_.data());
    next_step_ = std::min(next_step, stretch_end() - t_);
    if (next_step_ < next_step) end_matters();
    keep(dense_, t_);
    return true;
}

void Advance::step(double length, double duration) {
    longest_step = std::max(longest_step, length);
    tiny_steps = length < Thresholds::tiny_step * longest_step ? tiny_steps + 1 : 0;
    slow_steps = length < Thresholds::slow_step * duration ? slow_steps + 1 : 0;
    ++steps;
}

/// Every Thresholds::steps_between_checks steps: whether the motion hardly advances because an expression of the model
/// jumps, or because of orthotropic friction with very different coefficients. The run then fails.
bool EventRun::stays_in_a_jump(double step_end, Advance& advance) {
    if (advance.steps < Thresholds::steps_between_checks) return false;
    const double advanced = step_end - advance.checked_at;
    const bool slowly = advanced < Thresholds::slow_advance * (options_.t_end - out_.start.t);
    std::string held = held_by_a_jump();
    if (held.empty()) held = held_by_uneven_friction();
    if (!held.empty() && !slowly) end_matters();
    if (!held.empty() && slowly) {
        fail("the motion hardly advances" + at_time() + held);
        return true;
    }
    advance.steps = 0;
    advance.checked_at = step_end;
    return false;
}

/// Takes the end of a step as the state, without the drift of the constraints. The polynomial of the step then ends
/// where the next one begins. False if the constraints cannot be met.
bool EventRun::accept_step(double t, std::span<const double> x) {
    t_ = t;
    std::copy(x.begin(), x.end(), x_.begin());
    if (!d_.project(t_, x_.data())) {
        fail("the constraints cannot be met any more" + at_time());
        return false;
    }
    ++out_.statistics.projections;
    d_.turn_slip(d_.followed_mode());
    std::copy(x_.begin(), x_.end(), dense_.term(1).begin());
    keep(dense_, t_);
    measure_dense(t_);
    largest_acceleration_ = std::max(largest_acceleration_, d_.acceleration_scale());
    if (has_few_rows()) note_other_motion(t_, x_.data());
    return friction_is_admissible(t_, x_.data()) && reactions_are_admissible(t_, x_.data());
}

/// Whether all reactions lie in the sets of their laws. If not, then the mode is not valid although no event has ended
/// it, and the run fails.
bool EventRun::reactions_are_admissible(double t, const double* x) {
    if (settings_.scheduled) return true;
    const Watcher::Inadmissible worst = watcher_.worst_reaction(t, x);
    if (!(worst.excess > Thresholds::inadmissible_force)) return true;
    fail("the reaction of " + out_.elements[ix(worst.element)].name + " lies outside the set of its law by " +
         number_text(worst.excess) + " of the largest force" + at_time() + ": the mode is not valid");
    return false;
}

/// Whether equations of the mode have become dependent. Nearly dependent equations cause fast motions of
/// negligible amplitude: if these keep the steps short, then the equations count as dependent.
bool EventRun::became_redundant(double next_step, Advance& advance) {
    const bool crawls = advance.slow_steps >= Thresholds::max_slow_steps && d_.equation_rows().size() > 1 &&
                        d_.redundancy() < Thresholds::max_redundancy;
    // Compared with a run that is long enough, all steps are slow.
    if (!crawls && advance.steps >= Thresholds::max_slow_steps && d_.equation_rows().size() > 1 &&
        d_.redundancy() < Thresholds::max_redundancy)
        end_matters();
    if (crawls) {
        coarsen();
        advance.slow_steps = 0;
    }
    if (!d_.degenerating() && !crawls) return false;
    d_.set_mode(d_.mode(), t_, x_.data());
    next_step_ = next_step;
    return d_.redundant();
}

/// Whether implicit steps take over: the motion is stiff, or it has taken many explicit steps and is large. In a large
/// system rounding errors, amplified by stiff forces, keep explicit steps short before they become unstable, so that
/// stiffness does not show. Implicit steps are tried there.
bool EventRun::changes_method(const ode::Explicit& stepper) {
    if (stiff_) return false;  // the mode has no implicit steps
    const double remaining = options_.t_end - t_;
    const double patience = std::ldexp(Thresholds::steps_before_trial, failed_trials_);
    const bool large = !stepper.stiff() && d_.size() > Thresholds::max_dense_coordinates && method_steps_ >= patience;
    const bool near_edge = !stepper.stiff() && stepper.steps_near_edge() >= patience;
    const bool tries = (large || near_edge) && remaining > Thresholds::steps_worth_a_trial * stepper.next_step();
    if (large && !tries) end_matters();
    if ((!stepper.stiff() && !tries) || !can_be_implicit()) return false;
    become_implicit();
    next_step_ = stepper.next_step();
    if (tries)
        trial_ = {t_, next_step_};
    else
        warn("the motion is stiff: implicit integration from t = " + number_text(t_));
    return true;
}

/// Whether implicit steps that were tried end, because they are too short for their cost.
bool EventRun::changes_method(const ode::Radau&) {
    if (!trial_ || method_steps_ < Thresholds::trial_steps) return false;
    const Trial trial = *trial_;
    trial_.reset();
    if (t_ - trial.began >= Thresholds::implicit_gain * method_steps_ * trial.explicit_step) {
        warn("the motion is stiff: implicit integration from t = " + number_text(trial.began));
        return false;
    }
    stiff_ = false;
    ++failed_trials_;
    next_step_ = trial.explicit_step;
    return true;
}

/// Whether the linear systems of implicit steps can be solved in the mode in force.
bool EventRun::can_be_implicit() {
    if (!linearised_.available()) return false;
    if (d_.size() <= Thresholds::max_dense_coordinates) return true;
    if (!sparse_) sparse_.emplace(d_, linearised_);
    return sparse_->serves_mode();
}

void EventRun::become_implicit() {
    stiff_ = true;
    if (implicit_) return;
    ode::Tolerances tolerances = step_tolerances(settings_);
    ode::Radau::Choices choices;
    choices.largest_step = settings_.max_step;
    choices.stages = ode::stages_for(tolerances.relative);
    choices.integrals = 1;  // the work
    if (d_.size() > Thresholds::max_dense_coordinates) {
        if (!sparse_) sparse_.emplace(d_, linearised_);
        choices.systems = &*sparse_;
    }
    implicit_.emplace(d_.state_size(), std::move(tolerances), choices);
}

/// A sentence that explains why the motion does not advance, if an expression of the model jumps here; otherwise empty.
/// An expression jumps if a quantity s that it compares is negligible relative to the terms that make it up,
/// Σ|∂s/∂x_i|·|x_i|. Velocities count as large as the accelerations could have made them since the start.
std::string EventRun::held_by_a_jump() {
    if (linearised_.switches() == 0) return {};
    std::vector<double> values(ix(linearised_.switches()));
    Matrix derivatives;
    linearised_.switches(t_, x_.data(), values);
    linearised_.switch_derivatives(t_, x_.data(), derivatives);
    const int n = d_.size();
    Vector size(1 + 2 * n);
    size(0) = std::abs(t_);
    for (int i = 0; i < n; ++i) {
        size(1 + i) = std::abs(x_[ix(i)]);
        size(1 + n + i) = largest_acceleration_ * (t_ - out_.start.t) + std::abs(x_[ix(n + i)]);
    }
    for (Eigen::Index k = 0; k < derivatives.rows(); ++k)
        if (std::abs(values[ix(k)]) <=
            Thresholds::jump_zero * derivatives.row(k).head(1 + 2 * n).cwiseAbs().dot(size.transpose()))
            return "; an expression jumps here and the motion cannot leave it: " + std::string(instead_of_jumps);
    return {};
}

/// A sentence that explains why the motion does not advance, if orthotropic friction slips whose coefficients are very
/// different; otherwise empty. Across its strong axis such slip comes to rest within (μ₂/μ₁) of the usual time.
std::string EventRun::held_by_uneven_friction() const {
    constexpr double very_different = 1e-2;  // smaller coefficient < this · larger one
    for (std::size_t k = 0; k < d_.parts().size(); ++k) {
        const FrictionPart& part = d_.parts()[k];
        const bool slips = d_.mode().elements[ix(part.element)].active && d_.mode().parts[k].slips;
        const double larger = std::max(part.mu, part.mu_second), smaller = std::min(part.mu, part.mu_second);
        if (slips && part.shape == FrictionPart::Shape::ellipse && smaller < very_different * larger)
            return "; the coefficients of friction of " + out_.elements[ix(part.element)].name +
                   " are so different that no step follows its slip: use Moreau's scheme, or set the smaller one to 0";
    }
    return {};
}

namespace {

RunSettings settings_of(const EventDriven& m, Record record) {
    return {m.rtol, m.atol, m.implicit,          m.series,     m.max_step,           m.keep_arcs,
            false,  1.0,    m.contact_tolerance, m.max_events, record == Record::yes};
}

RunSettings settings_of(const Penalty& m, Record record) {
    return {m.rtol,
            m.atol,
            m.implicit,
            m.series,
            m.max_step,
            m.keep_arcs,
            true,
            m.stiffness,
            Thresholds::penalty_contact_tolerance,
            Thresholds::penalty_max_events,
            record == Record::yes};
}

ResumableMotion run(const model::Mechanics& model, const RunSettings& settings, const Options& options, RunTools& tools,
                    const Continued* earlier, const MotionSink& sink) {
    EventRun run(model, settings, options, tools, earlier, sink);
    ResumableMotion out{run.run(), {}};
    out.motion.motion.method = settings.compliant ? "penalty" : "event";
    out.resume = run.take_resume_point();
    return out;
}

ResumableMotion run(const model::Mechanics& model, const RunSettings& settings, const Options& options,
                    const Continued* earlier, const MotionSink& sink) {
    RunTools tools(model, settings.compliant, settings.stiffness, settings.contact_tolerance);
    return run(model, settings, options, tools, earlier, sink);
}

/// A motion from its start. With a recording, the run's equations of motion are kept for derivatives.
RecordedMotion run(const model::Mechanics& model, const RunSettings& settings, const Options& options) {
    RunTools tools(model, settings.compliant, settings.stiffness, settings.contact_tolerance);
    RecordedMotion out = run(model, settings, options, tools, nullptr, {}).motion;
    if (settings.record) out.dynamics = tools.shared_dynamics;
    return out;
}

}  // namespace

RecordedMotion run_event_driven(const model::Mechanics& model, const EventDriven& m, const Options& options,
                                Record record) {
    return run(model, settings_of(m, record), options);
}

void run_event_driven(const model::Mechanics& model, const EventDriven& m, const Options& options, RunTools& tools,
                      trajectory::Trajectory& motion) {
    EventRun run(model, settings_of(m, Record::no), options, tools);
    run.forgo_resume_points();
    run.execute();
    motion = run.take_motion();
    motion.method = "event";
}

RecordedMotion run_penalty(const model::Mechanics& model, const Penalty& m, const Options& options, Record record) {
    return run(model, settings_of(m, record), options);
}

ResumableMotion run_resumable(const model::Mechanics& model, const EventDriven& m, const Options& options,
                              Record record, const Continued* earlier, const MotionSink& sink) {
    return run(model, settings_of(m, record), options, earlier, sink);
}

ResumableMotion run_resumable(const model::Mechanics& model, const Penalty& m, const Options& options, Record record,
                              const Continued* earlier, const MotionSink& sink) {
    return run(model, settings_of(m, record), options, earlier, sink);
}

}  // namespace saltus::integrate
