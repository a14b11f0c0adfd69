// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/detail/mean_friction.hpp"
#include "saltus/integrate/detail/missing_restitution.hpp"
#include "saltus/integrate/detail/negative_friction.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/mode/detail/law_conversion.hpp"
#include "saltus/integrate/mode/thresholds.hpp"

namespace saltus::integrate {

using trajectory::ElementKind;
using trajectory::EventKind;
using trajectory::Mode;

void EventRun::fail(std::string reason) {
    out_.status = trajectory::Status::failed;
    out_.reason = std::move(reason);
    ended_ = true;
}

void EventRun::warn(const std::string& text) {
    if (out_.warnings.size() < Thresholds::max_warnings) out_.warnings.push_back(text);
}

std::string EventRun::at_time() const { return " at t = " + number_text(t_); }

double EventRun::total_energy() {
    const model::Energy e = d_.energy(t_, x_.data());
    accuracy_.see_scale(e);
    return e.kinetic + e.potential;
}

void EventRun::record_strike(const Strike& strike, EventKind kind, Window window) {
    struck_ = true;
    trajectory::Event& event = next_event(kind, window);
    event.elements = strike.elements;
    event.q.assign(x_.begin(), x_.begin() + d_.size());
    event.u_minus = strike.u_minus;
    event.u_plus = strike.u_plus;
    event.impulses = strike.impulses;
    if (!impulses_.empty()) add_impulses(strike.impulses);
    event.work = strike.work;
    event.audit = strike.audit;
    event.energy_before = strike.before.kinetic + strike.before.potential;
    // T⁺ − T⁻ is the work on the system. For the impact of one contact it is accurate to rounding; the next measurement
    // of the energy balance compares it with the model.
    const bool alone = strike.speed > 0.0;
    event.energy_after = alone ? event.energy_before + strike.work_on_system : total_energy();
    accuracy_.see_scale(strike.before);
    work_.add(strike.work_on_system);
    if (!strike.note.empty()) {
        event.note = strike.note;
        warn(strike.note + at_time());
    }
    if (!strike.creation_reason.empty()) judge_creation(strike.creation_reason);
}

namespace {

/// Empties an event that is no longer needed. Its memory is kept.
void empty(trajectory::Event& event) {
    event.elements.clear();
    event.q.clear();
    event.u_minus.clear();
    event.u_plus.clear();
    event.q_plus.clear();
    event.impulses.clear();
    event.rate_jumps.clear();
    event.work = event.energy_before = event.energy_after = 0.0;
    event.impacts = 0;
    event.note.clear();
    event.audit.tangential = event.audit.obstacle_work = event.audit.created = event.audit.prevented = 0.0;
    event.audit.element = -1;
    event.audit.law.clear();
}

}  // namespace

/// Adds an event at the present time to the trajectory.
trajectory::Event& EventRun::next_event(EventKind kind, Window window) {
    constexpr std::size_t usual_events = 16;  // room that saves copies of the first events
    if (out_.events.empty()) out_.events.reserve(usual_events);
    const bool reuse = !spare_events_.empty();
    trajectory::Event& event =
        reuse ? out_.events.emplace_back(std::move(spare_events_.back())) : out_.events.emplace_back();
    if (reuse) {
        spare_events_.pop_back();
        empty(event);
    }
    event.kind = kind;
    event.t = t_;
    event.t_left = window.left;
    event.t_right = window.right;
    return event;
}

/// An impact creates energy: a warning, or the end of the run.
void EventRun::judge_creation(const std::string& why) {
    const std::string text = creation_text(out_.events.back(), why);
    if (options_.energy != EnergyRule::stop) return warn(text);
    out_.status = trajectory::Status::energy_created;
    out_.reason = text;
    ended_ = true;
}

/// Records what differs between the mode before and the mode in force.
void EventRun::record_changes(const SystemMode& before, Window window) {
    const SystemMode& after = d_.mode();
    for (std::size_t i = 0; i < before.elements.size(); ++i) {
        const bool was_active = before.elements[i].active, is_active = after.elements[i].active;
        const int element = static_cast<int>(i);
        if (!was_active && is_active) record_change(EventKind::contact, element, window);
        if (was_active && !is_active) record_change(EventKind::lift_off, element, window);
        if (!was_active || !is_active) continue;
        for (const int k : d_.elements()[i].part_numbers()) {
            const FrictionMode &was = before.parts[ix(k)], &is = after.parts[ix(k)];
            const FrictionPart& part = d_.parts()[ix(k)];
            if (part.frictionless()) continue;
            if (was.slips && !is.slips) record_change(EventKind::stick, element, window);
            if (!was.slips && is.slips) record_change(EventKind::slip, element, window);
            double along = 0.0;
            for (int r = 0; r < part.size; ++r) along += is.direction[ix(r)] * was.direction[ix(r)];
            if (was.slips && is.slips && along < 0.0) record_change(EventKind::reversal, element, window);
        }
    }
    if (options_.rate_jumps && !d_.compliant()) record_rate_jumps(before);
}

/// Adds the jumps of the rates of reactions to the lift-off at the present time, if there is one.
void EventRun::record_rate_jumps(const SystemMode& before) {
    for (auto e = out_.events.rbegin(); e != out_.events.rend() && e->t == t_; ++e)
        if (e->kind == EventKind::lift_off) {
            if (!rate_jumps_) rate_jumps_.emplace(model_);
            e->rate_jumps = rate_jumps_->at(t_, x_.data(), before, d_.mode());
            return;
        }
}

/// Records the contacts whose conditions switched.
void EventRun::record_switches(Window window) {
    for (const auto& [element, exists] : switched_) {
        record_change(EventKind::switched, element, window);
        std::string& note = out_.events.back().note;
        if (out_.events.back().kind == EventKind::switched)
            note += (note.empty() ? "" : "; ") + ("'" + out_.elements[ix(element)].name + "' ") +
                    (exists ? "exists from here on" : "no longer exists");
    }
    switched_.clear();
}

/// One event for all elements of the same kind of change at the same time.
void EventRun::record_change(EventKind kind, int element, Window window) {
    for (auto e = out_.events.rbegin(); e != out_.events.rend() && e->t == t_; ++e)
        if (e->kind == kind) {
            if (std::find(e->elements.begin(), e->elements.end(), element) == e->elements.end())
                e->elements.push_back(element);
            return;
        }
    trajectory::Event& event = next_event(kind, window);
    event.elements = {element};
    const auto n = static_cast<std::ptrdiff_t>(d_.size());
    event.q.assign(x_.begin(), x_.begin() + n);
    event.u_minus.assign(x_.begin() + n, x_.begin() + 2 * n);
    event.u_plus = event.u_minus;
    event.energy_before = event.energy_after = total_energy();
}

/// Records an accumulation that has been passed: x_ is the state at its limit, which becomes the time of the run.
void EventRun::record_accumulation(const Accumulation::Limit& limit, const PassedAccumulation& passed) {
    if (passed.remaining > 0.0) {
        dense_.reset(t_, limit.t, d_.state_size(), 2);
        std::copy(passed.before.begin(), passed.before.end(), dense_.term(0).begin());
        std::copy(x_.begin(), x_.end(), dense_.term(1).begin());
        if (settings_.keep_arcs) out_.arcs.push_back({t_, limit.t, {}, {}});
        keep(dense_, limit.t);
    }
    t_ = limit.t;
    const auto n = static_cast<std::ptrdiff_t>(d_.size());
    trajectory::Event& event = next_event(EventKind::accumulation, {t_ - passed.remaining, t_});
    event.elements = limit.elements;
    event.q.assign(x_.begin(), x_.begin() + n);
    event.u_minus.assign(passed.before.begin() + n, passed.before.begin() + 2 * n);
    event.u_plus.assign(x_.begin() + n, x_.begin() + 2 * n);
    event.energy_before = passed.energy_before;
    event.energy_after = total_energy();
    event.impacts = limit.impacts;
    if (limit.kind == Accumulation::Limit::Kind::estimated)
        event.note = "the impacts do not shrink by a constant factor: the limit is uncertain by about " +
                     number_text(passed.remaining) + " s, in which they move by " + number_text(limit.motion);
    if (limit.kind == Accumulation::Limit::Kind::unending) {
        event.note = "no limit: the impacts do not shrink, but their motion is below the resolution of the run";
        note_left_out(limit);
    }
    work_.add(event.energy_after - event.energy_before);
    if (!change_record_) return;
    // The recorded change ends at rest; the motion from there to the limit is a recorded arc.
    const std::vector<double> end = x_;
    const SystemMode mode = d_.mode();
    x_ = passed.at_rest;
    close_record();
    x_ = end;
    if (passed.remaining > 0.0) {
        std::copy(passed.at_rest.begin(), passed.at_rest.end(), dense_.term(0).begin());
        recording_.pieces.emplace_back(RecordedArc{t_ - passed.remaining, t_, mode, false, {dense_}});
    }
}

namespace {

/// The last arc of a mode is joined to the arc before if it is at most this part of both. Implicit steps often take
/// over shortly before slip in a plane comes to rest, since the direction of slip turns ever faster there. Derivatives
/// follow a path of their own on the last part of an arc (end_in_rest of the sensitivity module), which must not be
/// measured by the few steps of the implicit method: there the direction of slip consists of rounding errors.
/// Too small: derivatives of times of rest are wrong. Too large: long stiff motions count as explicit ones.
constexpr double joined_arc_ratio = 1e-2;

void join_short_last_arc(std::vector<RecordedPiece>& pieces) {
    if (pieces.size() < 2) return;
    auto* const last = std::get_if<RecordedArc>(&pieces.back());
    auto* const before = std::get_if<RecordedArc>(&pieces[pieces.size() - 2]);
    if (last == nullptr || before == nullptr || before->steps.empty() || last->t_begin != before->t_end) return;
    if (last->t_end - last->t_begin > joined_arc_ratio * (last->t_end - before->t_begin)) return;
    before->t_end = last->t_end;
    std::move(last->steps.begin(), last->steps.end(), std::back_inserter(before->steps));
    pieces.pop_back();
}

}  // namespace

void EventRun::open_record(const std::vector<Found>& found, Cause cause) {
    if (!settings_.record) return;
    join_short_last_arc(recording_.pieces);
    constexpr std::size_t usual_pieces = 64;  // room that saves copies of the first pieces
    if (recording_.pieces.empty()) recording_.pieces.reserve(usual_pieces);
    RecordedChange& record = change_record_.emplace();
    record.t = t_;
    record.first = cause == Cause::start || cause == Cause::rest;
    record.corner = cause == Cause::corner;
    record.mode_before = recorded_mode();
    record.before = x_;
    record.events_from = event_count();
    for (const Found& f : found) record.found.push_back(watcher_.watches()[ix(f.watch)]);
    record.unavoidable = cause == Cause::violation;
}

/// The present mode for a record. It shares the value of the last record if the mode is the same.
const RecordedMode& EventRun::recorded_mode() {
    if (recorded_mode_ != d_.mode()) recorded_mode_ = d_.mode();
    return recorded_mode_;
}

void EventRun::record_impact(bool jam, const Strike& strike) {
    if (!change_record_) return;
    RecordedImpact impact;
    impact.jam = jam;
    impact.repaired = strike.audit.prevented > 0.0;
    const ActiveRows& rows = change_.rows();
    impact.rows = rows.row_numbers();
    impact.start.reserve(ix(rows.blocks()) + 1);
    for (int b = 0; b < rows.blocks(); ++b) impact.start.push_back(rows.first_row(b));
    impact.start.push_back(rows.rows());
    impact.owner = change_.owner();
    impact.laws = rows.problem.laws;
    impact.u_minus = strike.u_minus;
    impact.u_plus = strike.u_plus;
    if (!jam) {
        const impact::Outcome& outcome = change_.outcome();
        impact.law = outcome.law;
        impact.e = change_.collision().e;
        impact.Lambda = outcome.Lambda;
        impact.compression = outcome.compression;
        impact.held = outcome.held;
    }
    change_record_->impacts.push_back(std::move(impact));
}

/// Records an impact of one frictionless contact (strike_alone): one block of one row under Newton's law.
void EventRun::record_lone_impact(const Strike& strike) {
    if (!change_record_) return;
    const int element = strike.elements.front();
    RecordedImpact& impact = change_record_->impacts.emplace_back();
    impact.rows = {d_.elements()[ix(element)].rows.normal};
    impact.start = {0, 1};
    impact.owner = {element};
    impact.laws = {plain_law(solvers::LawKind::unilateral)};
    impact.e = {strike.restitution};
    impact.Lambda = {strike.impulses.front().N};
    impact.u_minus = strike.u_minus;
    impact.u_plus = strike.u_plus;
}

void EventRun::close_record() {
    if (!change_record_) return;
    change_record_->mode_after = recorded_mode();
    change_record_->after = x_;
    change_record_->events_to = event_count();
    change_record_->failed = ended_;
    change_record_->one_of_several = ambiguity_told_;
    recording_.pieces.emplace_back(std::move(*change_record_));
    change_record_.reset();
}

/// If enough has collected: gives a part of the motion to the sink. The present arc reaches to `until`.
void EventRun::hand_over_if_large(double until) {
    if (!sink_ || change_record_) return;
    if (kept_bytes_ + out_.events.size() * bytes_of_event(d_.size()) < motion_part_bytes) return;
    const bool in_recorded_arc =
        !recording_.pieces.empty() && std::holds_alternative<RecordedArc>(recording_.pieces.back());
    if (!settings_.record || in_recorded_arc) hand_over(until, PartEnd::in_arc);
}

/// Gives everything to the sink that is final: the events before a time (further elements may join later ones), all
/// steps, and the recording. Within an arc, the arc and its record go on without their steps. What belongs to the
/// earlier motion that is continued is forgotten instead.
void EventRun::hand_over(double before, PartEnd end) {
    const bool is_repeated = earlier_ != nullptr && !continued_;
    if (!sink_ || (is_repeated && end != PartEnd::in_arc)) return;
    if (earlier_ != nullptr && !is_repeated) leave_out_earlier_parts();
    MotionPart part;
    part.start = earlier_ != nullptr && !is_repeated ? continued_->state : out_.start;
    part.first_event = events_handed_over_;
    part.continues_arc = !is_repeated && std::exchange(handed_over_, true);
    const auto later = std::find_if(out_.events.begin(), out_.events.end(),
                                    [&](const trajectory::Event& event) { return !(event.t < before); });
    part.events.assign(std::make_move_iterator(out_.events.begin()), std::make_move_iterator(later));
    out_.events.erase(out_.events.begin(), later);
    if (!is_repeated) events_handed_over_ += part.events.size();
    if (settings_.keep_arcs) part.arcs = std::exchange(out_.arcs, {});
    part.recording.compliant = recording_.compliant;
    part.recording.stiffness = recording_.stiffness;
    part.recording.pieces = std::exchange(recording_.pieces, {});
    if (end == PartEnd::in_arc) {
        if (!part.arcs.empty()) {
            const trajectory::Arc& arc = part.arcs.back();
            out_.arcs.push_back({arc.t_begin, arc.t_end, {}, arc.modes});
        }
        if (settings_.record) {
            const auto& arc = std::get<RecordedArc>(part.recording.pieces.back());
            recording_.pieces.emplace_back(RecordedArc{arc.t_begin, arc.t_end, arc.mode, arc.implicit, {}});
        }
    }
    kept_bytes_ = 0;
    if (!is_repeated) sink_(std::move(part));
}

/// Keeps a step of the last arc up to a time. The recording of a change has its own arc over an accumulation.
void EventRun::keep(const ode::Dense& step, double until) {
    note_continued_start(step, until);
    if (!impulses_.empty()) add_forces(step, until);
    if (out_.arcs.empty()) return;
    out_.arcs.back().t_end = until;
    if (settings_.keep_arcs) {
        out_.arcs.back().steps.push_back(step);
        kept_bytes_ += bytes_of(step);
    }
    if (settings_.record && !change_record_) {
        auto* const arc = std::get_if<RecordedArc>(&recording_.pieces.back());
        if (arc == nullptr) return;
        arc->t_end = until;
        arc->steps.push_back(step);
        kept_bytes_ += bytes_of(step);
    }
    hand_over_if_large(until);
}

/// Constraints and gaps at a state, to be measured. A contact that does not exist cannot be penetrated: its gap is 0.
std::span<const double> EventRun::measured_positions(double t, const double* x) {
    const std::span<const double> positions = d_.positions(t, x);
    if (!has_conditions_) return positions;
    measured_positions_.assign(positions.begin(), positions.end());
    for (std::size_t i = 0; i < model_.contacts.size(); ++i)
        if (!d_.mode().elements[i].exists) measured_positions_[ix(model_.contacts[i].row)] = 0.0;
    return measured_positions_;
}

/// Measures violations and the energy balance at a state of the motion.
void EventRun::measure(double t, const double* x) {
    const std::size_t n = ix(d_.size());
    accuracy_.see(t, {x, n}, {x + n, n}, d_.energy(t, x), x[2 * n] + work_.value(), measured_positions(t, x));
}

/// Measures at a point of the last step that the method did not choose, before the time `until`.
void EventRun::measure_dense(double until) {
    state_inside_.resize(x_.size());
    const double t = dense_.t_old() + accuracy_.fraction() * (until - dense_.t_old());
    dense_.evaluate(t, state_inside_.data());
    measure(t, state_inside_.data());
}

/// The mode of an element as the trajectory names it.
Mode EventRun::mode_of(std::size_t element) const {
    const ElementLayout& e = d_.elements()[element];
    if (!d_.mode().elements[element].active) return Mode::open;
    if (e.parts > 0) return any_part_slips(e, d_.mode()) ? Mode::slip : Mode::stick;
    return d_.compliant() && e.rows.kind == ElementKind::contact ? Mode::pressed : Mode::closed;
}

/// Whether slipping friction grows with a reaction of the mode's equations: the friction of closed contacts and of
/// constraints, but not that of springs and sliders. Otherwise the forces F act along the rows A of the equations. Then
/// K n = A M⁻¹Aᵀn = 0 gives nᵀA M⁻¹Aᵀn = 0, so that Aᵀn = 0: however the redundant reactions are distributed, the
/// accelerations are the same.
bool EventRun::friction_follows_reactions() const {
    for (int k = 0; k < static_cast<int>(d_.equation_rows().size()); ++k) {
        const int owner = d_.equation_owner(k);
        if (owner < 0) continue;
        for (const int p : d_.elements()[ix(owner)].part_numbers())
            if (d_.mode().parts[ix(p)].slips && !d_.parts()[ix(p)].frictionless()) return true;
    }
    return false;
}

/// Warns, once, if the motion of the mode in force is not unique: redundant contacts slip, and their friction depends
/// on how they share the load.
void EventRun::note_ambiguity() {
    if (ambiguity_told_ || !d_.redundant() || !friction_follows_reactions()) return;
    if (!d_.evaluate(t_, x_.data())) return;
    const Dynamics::Ambiguity open = d_.ambiguity();
    if (!open.motion) return;
    ambiguity_told_ = true;
    warn("the motion is not unique" + at_time() + ": " + names_of(open.elements, out_.elements) +
         " slip and can share their load in several ways; the normal forces of least norm are taken");
}

/// Warns, once, if contacts that share a load hold at a state although they could also let go.
void EventRun::note_other_motion(double t, const double* x) {
    if (!ambiguity_told_ && d_.redundant() && watcher_.can_also_let_go(t, x)) tell_other_motion(t);
}

/// Whether the run looks for other admissible motions at every step. With more than max_rows equations that would take
/// too long.
bool EventRun::has_few_rows() const {
    constexpr std::size_t max_rows = 40;
    return d_.equation_rows().size() <= max_rows;
}

/// Looks for other motions at some times of the last expansion, within h after its start. A load that varies can make
/// another motion possible for a while, and the ends of the step need not show it.
void EventRun::note_other_motions_on_series(double h) {
    if (ambiguity_told_ || !d_.redundant() || !has_few_rows()) return;
    state_inside_.resize(x_.size());
    for (const double part : {0.25, 0.5, 0.75, 1.0}) {
        series_.motion(part * h, state_inside_.data());
        note_other_motion(series_.t() + part * h, state_inside_.data());
    }
}

/// Friction and normal forces can press against each other, and then holding and slipping are both motions that the
/// laws allow.
void EventRun::tell_other_motion(double t) {
    if (ambiguity_told_) return;
    ambiguity_told_ = true;
    warn("the motion is not unique at t = " + number_text(t) +
         ": contacts and sliders that share a load hold as long as any forces that their laws allow can hold them, and "
         "could have let go before");
}

/// Notes impacts that are left out although they do not end. Their way is below the resolution of the run, but their
/// speed may be above what the tolerances explain.
void EventRun::note_left_out(const Accumulation::Limit& limit) {
    if (left_out_ && left_out_->speed > left_out_->explained) return;
    d_.evaluate_terms(t_, x_.data());
    double explained = infinity;
    for (const int e : limit.elements)
        explained = std::min(explained, accuracy_.allowed_speed(d_.elements()[ix(e)].rows.normal, d_.terms().W));
    if (left_out_ && limit.speed <= explained) return;
    left_out_ = LeftOut{t_, names_of(limit.elements, out_.elements), limit.motion, limit.speed, explained};
}

/// A motion without some of its impacts is complete only if the tolerances explain the velocities that are missing.
void EventRun::judge_left_out() {
    if (!left_out_) return;
    const std::string impacts = "the impacts of " + left_out_->names + " do not end; they move by " +
                                number_text(left_out_->motion) + " with velocities up to " +
                                number_text(left_out_->speed);
    if (left_out_->speed <= left_out_->explained)
        return warn("from t = " + number_text(left_out_->since) + " on " + impacts +
                    ", which the tolerances explain, and are left out");
    const std::string text = "inaccurate since t = " + number_text(left_out_->since) + ": " + impacts +
                             ", below the resolution of the run, and are left out from there";
    constexpr const char* remedy = "use a smaller unit of length, in which they are larger, or --method moreau";
    if (out_.status != trajectory::Status::completed) return warn(text);
    out_.status = trajectory::Status::inaccurate;
    out_.reason = text + "; " + remedy;
    out_.inaccuracy = {left_out_->since, "the velocity of " + left_out_->names, left_out_->speed, left_out_->explained,
                       remedy};
}

/// Whether no friction coefficient or normal force of a slider is negative at a state; otherwise the run has failed.
bool EventRun::friction_is_admissible(double t, const double* x, FrictionLimit limit) {
    if (model_.layout().coefficients_constant) return true;
    d_.evaluate_terms(t, x);
    double forces = 0.0;
    if (limit == FrictionLimit::rounded)
        for (const double h : d_.terms().h) forces = std::max(forces, std::abs(h));
    const std::string why = negative_friction(model_, d_.coefficients(), forces,
                                              [&](std::size_t i) { return d_.mode().elements[i].active; });
    if (why.empty()) return true;
    fail(why + " at t = " + number_text(t));
    return false;
}

namespace {

/// Whether the time for what is still of interest after an interrupt is over.
std::function<bool()> patience() {
    using Clock = std::chrono::steady_clock;
    constexpr auto after_an_interrupt = std::chrono::milliseconds(300);
    return [end = Clock::now() + after_an_interrupt] { return Clock::now() > end; };
}

}  // namespace

/// The forces at the end. None if an interrupt has ended the run before its mode was known, or if the contact problem
/// takes long after an interrupt.
void EventRun::note_final_forces() {
    if (!mode_is_known_ || !d_.evaluate(t_, x_.data())) return;
    const Dynamics::Ambiguity open = d_.ambiguity();
    out_.forces_unique = open.elements.empty();
    if (!open.elements.empty()) warn(ambiguous_forces_text(open.elements, out_.elements));
    if (d_.redundant()) {
        try {
            const Stoppable here(out_.status == trajectory::Status::interrupted ? patience() : std::function<bool()>());
            note_other_motion(t_, x_.data());
            d_.evaluate(t_, x_.data());
            watcher_.settle_reactions();  // as Course does, so that both have the same forces
        } catch (const Stopped&) {
            return;
        }
    }
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        trajectory::Reaction r;
        r.element = static_cast<int>(i);
        if (e.rows.normal >= 0) r.N = d_.reactions()[ix(e.rows.normal)] + 0.0;  // −0 becomes 0
        for (int k = 0; k < e.rows.slips; ++k) r.T.push_back(d_.reactions()[ix(e.rows.first_slip + k)]);
        out_.forces.push_back(std::move(r));
    }
    add_mean_friction(model_, d_.coefficients(), out_.forces);
}

/// The end of the trajectory: state, forces, energy balance, statistics.
void EventRun::finish() {
    const int n = d_.size();
    out_.end = {t_, {x_.begin(), x_.begin() + n}, {x_.begin() + n, x_.begin() + 2 * n}};
    note_final_forces();
    const model::Energy energy = d_.energy(t_, x_.data());
    out_.energy.final = energy.kinetic + energy.potential;
    const std::span<const double> x = x_;
    accuracy_.see(t_, x.first(ix(n)), x.subspan(ix(n), ix(n)), energy, x_[ix(2 * n)] + work_.value(),
                  measured_positions(t_, x_.data()));
    work_.add(x_[ix(2 * n)]);
    out_.energy.work = work_.value();
    d_.evaluate_terms(t_, x_.data());
    accuracy_.judge(d_.terms().W, out_);
    judge_left_out();
    if (const std::string text = missing_restitution_text(model_, struck_without_restitution_); !text.empty())
        warn(text);
    out_.events_certain = arcs_without_series_ == 0;
    out_.statistics.steps = series_steps_;
    const auto count_steps = [&](const auto& stepper) {
        if (!stepper) return;
        out_.statistics.steps += stepper->statistics().accepted;
        out_.statistics.rejected += stepper->statistics().rejected + stepper->statistics().cut;
    };
    count_steps(explicit_);
    count_steps(implicit_);
    out_.statistics.steps += forgotten_steps_.accepted;
    out_.statistics.rejected += forgotten_steps_.rejected + forgotten_steps_.cut;
    out_.statistics.evaluations = d_.evaluations;
    out_.statistics.contact_solves = change_.solves;
    if (watcher_.unresolved) warn("some event functions could not be resolved on a step; events may be missing");
    if (earlier_ != nullptr) leave_out_earlier_motion();
    hand_over(std::numeric_limits<double>::infinity(), PartEnd::end_of_motion);
}

}  // namespace saltus::integrate
