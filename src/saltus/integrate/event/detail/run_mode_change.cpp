// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/detail/missing_restitution.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/integrate/mode/detail/stick_slip.hpp"
#include "saltus/integrate/mode/thresholds.hpp"

namespace saltus::integrate {

using trajectory::ElementKind;
using trajectory::EventKind;

namespace {

/// A condition c of a contact has a certain sign if |c| > this · (1 + |c|), which is above its rounding error. Within
/// it the event that was found at its zero decides, or the contact stays as it was. Too large: a contact switches late
/// after an impact that changes its condition.
constexpr double undecided_condition = 1e-10;

}  // namespace

void EventRun::change_mode(const std::vector<Found>& found, Cause cause) {
    open_record(found, cause);
    mode_kept_ = false;
    if (trial_) stiff_ = false;
    trial_.reset();
    enter_next_mode(found, cause);
    mode_began_ = t_;
    end_energy_known_ = false;
    close_record();
    if (!ended_) renew_sides(Sides::tracked);
}

/// The impact, if there is one, then the choice of the next mode.
void EventRun::enter_next_mode(const std::vector<Found>& found, Cause cause) {
    if (!limit_changes_at_one_time() || bounce(found, cause)) return;
    SystemMode& known = known_;
    Candidates& candidates = candidates_;
    if (cause == Cause::jump)
        known = mode_after_jump();
    else
        known = d_.mode();  // in the memory that it has
    if (!find_existing_contacts(known, cause, found)) return;
    possible_contacts(known, candidates, cause);
    const Window window = found.empty() ? Window{t_, t_} : Window{found.front().left, found.front().right};
    apply_events(found, candidates, known);
    candidates.corner = cause == Cause::corner;
    if (cause == Cause::jump) {
        d_.set_mode(known, t_, x_.data());
        split_record_before_impact(candidates);
    }
    const StrikeResult result = d_.compliant() ? StrikeResult::nothing : strike(candidates, known, window);
    if (result == StrikeResult::ended || result == StrikeResult::mode_entered) return;
    const bool struck = result == StrikeResult::struck;
    if (struck && has_conditions_) {  // conditions on velocities may have switched by the impact
        if (!find_existing_contacts(known, cause, {})) return;
        for (std::size_t i = 0; i < known.elements.size(); ++i)
            if (!known.elements[i].exists) candidates.closed[i] = 0;
    }
    if (struck && cause == Cause::event && all_stay_open(candidates)) {
        mode_kept_ = true;
        return;
    }
    if (cause == Cause::corner && !struck) open_at_corner(candidates);
    if (!choose(candidates, known, window)) return;
    record_switches(window);
    if (cause != Cause::start && cause != Cause::rest && !struck) {
        if (cause != Cause::jump) record_changes(known, window);
        if (changes_follow_without_end()) return;
    }
    // If the mode was said not to hold and yet nothing has changed, then the tolerance was below the solver's error.
    const bool held = std::any_of(found.begin(), found.end(), [&](const Found& f) {
        return watcher_.watches()[ix(f.watch)].what == Watch::What::hold;
    });
    if (held && release_.empty() && !struck && (out_.events.empty() || out_.events.back().t != t_)) {
        watcher_.hold_tolerance *= Thresholds::hold_acceleration_growth;
        if (watcher_.hold_tolerance > Thresholds::largest_hold_acceleration)
            fail("contacts and sliders that share a load neither hold nor let go" + at_time() +
                 ": no forces that their laws allow hold them, and no other mode was found; use --method moreau");
    }
}

/// Counts changes at the same time, so that a cycle of modes ends. Nearly dependent equations are the usual reason for
/// a cycle without impacts, so that they count as dependent after some changes. False if there are too many; the run
/// then fails.
bool EventRun::limit_changes_at_one_time() {
    const bool struck = std::exchange(struck_, false);
    if (t_ != last_change_) {
        changes_at_one_time_ = 0;
        last_change_ = t_;
        d_.set_redundancy(std::max(Thresholds::redundancy_decay * d_.redundancy(), Thresholds::least_redundancy));
        watcher_.hold_tolerance =
            std::max(Thresholds::hold_acceleration_decay * watcher_.hold_tolerance, Thresholds::hold_acceleration);
        return true;
    }
    // Counted in units of 1/impacts_per_change.
    constexpr int unit = Thresholds::impacts_per_change, until_coarser = unit * Thresholds::changes_until_coarser;
    const int before = changes_at_one_time_;
    changes_at_one_time_ += struck ? 1 : unit;
    if (changes_at_one_time_ > unit * Thresholds::max_changes_at_one_time) {
        fail("more than " + std::to_string(Thresholds::max_changes_at_one_time) + " changes of mode at one time" +
             at_time());
        return false;
    }
    if (!struck && changes_at_one_time_ / until_coarser > before / until_coarser) coarsen();
    return true;
}

void EventRun::coarsen() {
    if (!coarsened_)
        warn("equations that nearly say the same hold the motion up" + at_time() + "; at times they count as one");
    coarsened_ = true;
    d_.set_redundancy(Thresholds::redundancy_growth * d_.redundancy());
}

/// Finds out which contacts with a condition exist. The sign of the condition tells, and at a zero of the condition the
/// event does. A contact that appears while the bodies penetrate each other has no lawful motion: the run then fails,
/// and the result is false.
bool EventRun::find_existing_contacts(SystemMode& known, Cause cause, const std::vector<Found>& found) {
    if (!has_conditions_) return true;
    d_.evaluate_terms(t_, x_.data());
    for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
        const model::Contact& contact = model_.contacts[i];
        if (contact.condition == model::no_coefficient) continue;
        const double c = d_.coefficients()[ix(contact.condition)];
        const bool before = known.elements[i].exists;
        bool& exists = known.elements[i].exists;
        const bool crossed = std::any_of(found.begin(), found.end(), [&](const Found& f) {
            const Watch& w = watcher_.watches()[ix(f.watch)];
            return w.what == Watch::What::condition && w.element == static_cast<int>(i);
        });
        const bool anew = cause == Cause::jump || (cause == Cause::start && !started_);
        if (anew)
            exists = c > 0.0;
        else if (crossed)
            exists = !before;
        else if (std::abs(c) > undecided_condition * (1.0 + std::abs(c)))
            exists = c > 0.0;
        if (exists == before || anew) continue;
        switched_.emplace_back(static_cast<int>(i), exists);
        const double gap = d_.terms().positions[ix(contact.row)];
        const double scale = d_.position_scale(contact.row, x_.data());
        if (!exists || gap >= -Thresholds::closed_gap_at_event * scale) continue;
        switched_.clear();
        fail("contact '" + contact.name + "' appears" + at_time() + " while it is penetrated: gN = " +
             number_text(gap) + "; change its `if` so that it appears while gN >= 0");
        return false;
    }
    started_ = true;
    return true;
}

/// The contacts and clutches that can be closed at this state: contacts that were closed, and those whose gap is zero
/// and does not open. Also finds out which springs of open contacts would pull.
void EventRun::possible_contacts(SystemMode& known, Candidates& candidates, Cause cause) {
    const bool anew = cause == Cause::start || cause == Cause::jump;
    const double closed_gap = anew ? Thresholds::closed_gap : Thresholds::closed_gap_at_event;
    clear_candidates(d_, candidates);
    d_.evaluate_terms(t_, x_.data());
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        const bool active = known.elements[i].active;
        if (!known.elements[i].exists) continue;
        if (rows.kind == ElementKind::contact) {
            if (d_.compliant() && !active) known.elements[i].pulls = d_.spring_force(static_cast<int>(i)) < 0.0;
            const double gap = d_.terms().positions[ix(rows.normal)];
            const double scale = d_.position_scale(rows.normal, x_.data());
            const double rate = d_.row_velocity(rows.normal);
            if (d_.compliant())
                candidates.closed[i] = gap < -Thresholds::pressed_gap * scale ||
                                       (gap <= Thresholds::touched_gap * scale && (active || rate < 0.0));
            else
                candidates.closed[i] =
                    active || (gap <= closed_gap * scale && rate <= Thresholds::opening_speed) ? 1 : 0;
            if (cause == Cause::start && !d_.compliant() && !active && candidates.closed[i] != 0 &&
                gap > Thresholds::closed_gap_at_event * scale)
                warn("the gap of '" + model_.contacts[ix(rows.index)].name + "' is " + number_text(gap) +
                     " at the start and counts as closed: gaps up to " + number_text(closed_gap * scale) +
                     " do; use a smaller unit of length if it is open");
        } else if (rows.kind == ElementKind::clutch) {
            candidates.closed[i] = d_.row_velocity(rows.normal) <= Thresholds::opening_speed ? 1 : 0;
        }
    }
}

/// What each event says about the next mode.
void EventRun::apply_events(const std::vector<Found>& found, Candidates& candidates, SystemMode& known) {
    for (const Found& f : found) {
        const Watch& w = watcher_.watches()[ix(f.watch)];
        switch (w.what) {
            case Watch::What::gap:
                candidates.closed[ix(w.element)] = known.elements[ix(w.element)].exists && !opens_at_a_tip(w.element);
                known.elements[ix(w.element)].pulls = false;
                break;
            case Watch::What::depth: candidates.closed[ix(w.element)] = 0; break;
            case Watch::What::spring: known.elements[ix(w.element)].pulls ^= true; break;
            case Watch::What::force:
            case Watch::What::reserve: let_go(w, candidates, known); break;
            case Watch::What::slip:
                if (!f.astray && comes_to_rest(d_, w.part)) candidates.friction[ix(w.part)] = FrictionEvent::at_rest;
                break;
            case Watch::What::clutch: candidates.closed[ix(w.element)] = 1; break;
            case Watch::What::reaction: known.elements[ix(w.element)].reaction_sign *= -1.0; break;
            case Watch::What::hold:
                note_other_motion(t_, x_.data());
                apply_release(candidates, known);
                break;
            case Watch::What::condition:  // see find_existing_contacts
            case Watch::What::trigger:    // see pass_triggers
            case Watch::What::jump: break;
        }
    }
}

/// Whether a gap whose zero was found opens there: at the tip of a gap with a kink, such as max(0, 1 − |x|), it can
/// turn round within its rounding error, and the tip is passed. Gaps that close without a corner have velocities above
/// zero by the errors of dense output at most.
bool EventRun::opens_at_a_tip(int contact) const {
    if (d_.compliant()) return false;
    const int row = d_.elements()[ix(contact)].rows.normal;
    const std::span<const double> u(x_.data() + d_.size(), ix(d_.size()));
    const double scale = model::row_scale(model_.layout().rows, d_.terms().W, row, u);
    return d_.row_velocity(row) > Thresholds::astray_speed * scale;
}

/// A contact whose force is zero opens, friction without a reserve slips.
void EventRun::let_go(const Watch& w, Candidates& candidates, SystemMode& known) {
    if (w.what == Watch::What::force) {
        candidates.released[ix(w.element)] = 1;
        return;
    }
    candidates.friction[ix(w.part)] = FrictionEvent::breaks_loose;
    d_.evaluate(t_, x_.data());
    known.parts[ix(w.part)].direction = break_loose(d_, w.part);
}

/// What the release of a group of redundant contacts says about the next mode. If the motion depends on the
/// distribution of the forces, then each contact lets go by its own force.
void EventRun::apply_release(Candidates& candidates, SystemMode& known) {
    // The mode that was chosen before at this time did not let go all that move together.
    if (release_.empty() && t_ == last_release_) {
        release_ = watcher_.release_soon(t_, x_.data());
        d_.evaluate_terms(t_, x_.data());
    }
    last_release_ = t_;
    if (watcher_.motion_depends_on_distribution())
        for (const Watch& w : watcher_.exhausted(t_, x_.data())) let_go(w, candidates, known);
    for (const int element : release_.opening) candidates.released[ix(element)] = 1;
    for (const auto& [part, direction] : release_.slipping) {
        candidates.friction[ix(part)] = FrictionEvent::breaks_loose;
        known.parts[ix(part)].direction = direction;
    }
}

/// The impact of the candidates, if one of them approaches. If it belongs to an accumulation whose rest is negligible,
/// then the mode after the accumulation has been entered.
EventRun::StrikeResult EventRun::strike(Candidates& candidates, const SystemMode& known, Window window) {
    const Strike& strike = change_.strike(t_, x_.data(), candidates, end_energy_known_ ? &end_energy_ : nullptr);
    end_energy_known_ = false;
    out_.statistics.worst_contact_residual = std::max(out_.statistics.worst_contact_residual, strike.residual);
    if (strike.failed) {
        fail("the impact" + at_time() + " has no outcome: " + strike.note);
        return StrikeResult::ended;
    }
    if (!strike.happened) return StrikeResult::nothing;
    record_impact(false, strike);
    record_strike(strike, EventKind::impact, window);
    note_missing_restitution(strike);
    if (ended_) return StrikeResult::ended;
    const double speed = open_separating_contacts(strike.u_minus, candidates);
    decide_clutches(strike.u_minus, candidates);
    resume_slip(candidates);
    return after_strike(strike, speed, known);
}

/// After an impact the velocities of clutches decide which of them can lock, whatever they did before it. A clutch that
/// the impact has stopped can lock. A clutch that the impact has set running is free: a mode that locked it would take
/// its velocity away without an impulse. The velocity counts as zero if it is at most Thresholds::separation_ratio
/// times the fastest clutch before the impact, which is the error of the contact solver.
void EventRun::decide_clutches(const std::vector<double>& u_minus, Candidates& candidates) {
    const auto clutch = [&](std::size_t i) { return d_.elements()[i].rows.kind == ElementKind::clutch; };
    double fastest = 0.0;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        if (!clutch(i)) continue;
        const int row = d_.elements()[i].rows.normal;
        fastest = std::max(fastest, std::abs(d_.terms().chi[ix(row)] +
                                             model::row_dot(model_.layout().rows, d_.terms().W, row, u_minus)));
    }
    const double zero = std::max(Thresholds::opening_speed, Thresholds::separation_ratio * fastest);
    for (std::size_t i = 0; i < d_.elements().size(); ++i)
        if (clutch(i)) candidates.closed[i] = d_.row_velocity(d_.elements()[i].rows.normal) <= zero ? 1 : 0;
}

/// Slip that came to rest at the time of an impact is not at rest if the impact has set it in motion again.
void EventRun::resume_slip(Candidates& candidates) const {
    for (std::size_t k = 0; k < candidates.friction.size(); ++k)
        if (candidates.friction[k] == FrictionEvent::at_rest &&
            d_.slip_speed(static_cast<int>(k)) > Thresholds::rest_speed)
            candidates.friction[k] = FrictionEvent::none;
}

/// What follows an impact: whether it belongs to an accumulation. `speed` is that of open_separating_contacts.
EventRun::StrikeResult EventRun::after_strike(const Strike& strike, double speed, const SystemMode& known) {
    std::optional<Accumulation::Limit> limit = accumulation_after(strike, speed);
    if (limit && !(limit->t < options_.t_end)) end_matters();
    if (!limit || !(limit->t < stretch_end())) return StrikeResult::struck;
    const bool unending = limit->kind == Accumulation::Limit::Kind::unending;
    if (unending && impacts_follow_without_end(*limit)) return StrikeResult::ended;
    if (!limit->slows_down) {
        const StrikeResult result = strike_until_rest(*limit, strike, known);
        if (result != StrikeResult::mode_entered) return result;
    }
    // A copy, because `known` may be the mode in force.
    return pass_accumulation(*limit, SystemMode(known)) ? StrikeResult::mode_entered : StrikeResult::struck;
}

/// Notes the contacts that approached before the impact and have no eN. Their restitution is 0 because nobody said
/// otherwise, which the run mentions at its end.
void EventRun::note_missing_restitution(const Strike& strike) {
    for (const int element : strike.elements) {
        const ElementRows& rows = d_.elements()[ix(element)].rows;
        if (rows.kind != ElementKind::contact) continue;
        const model::Contact& c = model_.contacts[ix(rows.index)];
        if (!lacks_restitution(c)) continue;
        const double approach =
            d_.terms().chi[ix(c.row)] + model::row_dot(model_.layout().rows, d_.terms().W, c.row, strike.u_minus);
        if (approach < -Thresholds::open_approach_speed) struck_without_restitution_[ix(rows.index)] = 1;
    }
}

/// The most frequent change of mode: one contact without friction closes while all others are open, strikes and
/// separates again. The mode stays as it is, and no contact problem has to be solved. False if this is not the case;
/// then nothing has changed.
bool EventRun::bounce(const std::vector<Found>& found, Cause cause) {
    if (cause != Cause::event || found.size() != 1 || d_.compliant() || !d_.parts().empty() || has_conditions_ ||
        !model_.jumps.empty())
        return false;
    const Watch& watch = watcher_.watches()[ix(found.front().watch)];
    if (watch.what != Watch::What::gap) return false;
    d_.evaluate_terms(t_, x_.data());
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        if (rows.kind != ElementKind::contact || d_.mode().elements[i].active) return false;
        if (static_cast<int>(i) == watch.element) continue;
        const double scale = d_.position_scale(rows.normal, x_.data());
        const bool closed = d_.terms().positions[ix(rows.normal)] <= Thresholds::closed_gap_at_event * scale &&
                            d_.row_velocity(rows.normal) <= Thresholds::opening_speed;
        if (closed) return false;
    }
    const model::Energy before = end_energy_known_ ? end_energy_ : d_.energy(t_, x_.data());
    const Strike* const strike = change_.strike_alone(t_, x_.data(), watch.element, before);
    if (strike == nullptr) return false;
    out_.statistics.worst_contact_residual = std::max(out_.statistics.worst_contact_residual, strike->residual);
    record_lone_impact(*strike);
    record_strike(*strike, EventKind::impact, {found.front().left, found.front().right});
    note_missing_restitution(*strike);
    if (ended_) return true;
    mode_kept_ = after_strike(*strike, strike->speed, d_.mode()) == StrikeResult::struck;
    return true;
}

/// Whether all contacts were open before an impact and separate after it, and nothing else can change: the mode stays
/// as it is, and no contact problem has to be solved.
bool EventRun::all_stay_open(const Candidates& candidates) const {
    if (has_conditions_ || !model_.jumps.empty()) return false;
    for (std::size_t i = 0; i < d_.elements().size(); ++i)
        if (d_.elements()[i].rows.kind != ElementKind::contact || d_.mode().elements[i].active ||
            candidates.closed[i] != 0)
            return false;
    return true;
}

/// Opens the contacts that separate after an impact, also those that were closed before it. Returns the largest speed
/// of separation, in m/s, or that of the approach if none separates.
double EventRun::open_separating_contacts(const std::vector<double>& u_minus, Candidates& candidates) {
    d_.evaluate_velocities(t_, x_.data());
    const auto closed_contact = [&](std::size_t i) {
        return d_.elements()[i].rows.kind == ElementKind::contact && candidates.closed[i] != 0;
    };
    double approach = 0.0;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        if (!closed_contact(i)) continue;
        const int row = d_.elements()[i].rows.normal;
        double before = d_.terms().chi[ix(row)];
        before += model::row_dot(model_.layout().rows, d_.terms().W, row, u_minus);
        approach = std::max(approach, std::abs(before));
    }
    double separation = 0.0;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        if (!closed_contact(i)) continue;
        const double after = d_.row_velocity(d_.elements()[i].rows.normal);
        if (!(after > Thresholds::separation_ratio * approach)) continue;
        separation = std::max(separation, after);
        candidates.closed[i] = 0;
    }
    return separation > 0.0 ? separation : approach;
}

/// Motion that is too small to be followed, in the unit of the coordinates.
double EventRun::negligible_motion() const {
    double extent = 1.0;
    for (int k = 0; k < d_.size(); ++k) extent = std::max(extent, 1.0 + std::abs(x_[ix(k)]));
    return std::max(Thresholds::negligible_motion, settings_.atol) * extent;
}

/// Tells the accumulation of the impact. The limit is that of the last contact of the impact: those before it are known
/// to the accumulation by then.
std::optional<Accumulation::Limit> EventRun::accumulation_after(const Strike& strike, double speed) {
    Accumulation::Negligible negligible;
    negligible.motion = negligible_motion();
    negligible.speed = Thresholds::opening_speed;
    negligible.acceleration = largest_acceleration_;
    std::optional<Accumulation::Limit> limit;
    for (const int element : strike.elements) {
        if (d_.elements()[ix(element)].rows.kind != ElementKind::contact) continue;
        if (auto next = accumulation_.impact(t_, element, speed, negligible)) limit = std::move(next);
    }
    return limit;
}

/// Counts changes of mode without an impact. If they are so many that the run would not end then it fails. Impacts are
/// not counted: they may come as fast before their accumulation is passed.
bool EventRun::changes_follow_without_end() {
    if (++quiet_changes_ < Thresholds::max_quiet_changes) return false;
    const double span = t_ - quiet_since_;
    quiet_changes_ = 0;
    quiet_since_ = t_;
    if (!(span < Thresholds::quiet_change_span * (options_.t_end - out_.start.t))) return false;
    fail(std::to_string(Thresholds::max_quiet_changes) + " changes of mode within " + number_text(span) + " s" +
         at_time() + ": contacts, friction or jumps change without end, or far too often for a run to t = " +
         number_text(options_.t_end) +
         "; look for a formula that oscillates ever faster here, choose an earlier end (--t-end), or use --method "
         "moreau");
    return true;
}

/// Counts accumulations without a limit. If many of them follow each other then the run fails: the contacts come to
/// rest and lift off again and again, as on a table that oscillates ever faster.
bool EventRun::impacts_follow_without_end(const Accumulation::Limit& limit) {
    if (t_ - irregular_since_ > Thresholds::slow_advance * (options_.t_end - out_.start.t)) {
        irregular_since_ = t_;
        irregular_limits_ = 0;
    }
    if (++irregular_limits_ <= Thresholds::max_irregular_limits) return false;
    fail("impacts and lift-offs of " + names_of(limit.elements, out_.elements) + " follow each other without end" +
         at_time() +
         ": the motion between them is negligible, and they approach no time by a constant factor; look "
         "for a formula that oscillates ever faster here, or use --method moreau");
    return true;
}

namespace {

/// Whether a mode has no reactions, and no event says that one has just vanished: no acceleration can contradict it.
bool nothing_acts(const SystemMode& mode, const Candidates& candidates) {
    const auto active = [](const ElementMode& e) { return e.active; };
    return std::none_of(mode.elements.begin(), mode.elements.end(), active) &&
           std::find(candidates.released.begin(), candidates.released.end(), 1) == candidates.released.end();
}

}  // namespace

/// Chooses the next mode and puts it in force, by an impulse if no force exists; then puts the state onto its
/// equations. False if there is no next mode; the run has then failed.
bool EventRun::choose(Candidates& candidates, const SystemMode& before, Window window, Project project) {
    const SystemMode* from = &before;
    SystemMode& turned = turned_;
    bool may_turn = !release_.slipping.empty();
    for (int attempt = 0; attempt < Thresholds::max_decision_attempts; ++attempt) {
        const Choice& choice = change_.choose(t_, x_.data(), candidates, *from);
        from = &choice.mode;
        if (choice.solved)
            out_.statistics.worst_contact_residual = std::max(out_.statistics.worst_contact_residual, choice.residual);
        if (choice.impulsive) {
            if (!jam(choice.note, candidates, window)) return false;
            continue;
        }
        if (!choice.solved) {
            fail(choice.note + at_time());
            return false;
        }
        if (choice.solutions > 1)
            warn("Painleve: " + std::to_string(choice.solutions) + " solutions for the contact forces" + at_time() +
                 "; the one that continues the motion is taken");
        d_.set_mode(choice.mode, t_, x_.data());
        if (nothing_acts(choice.mode, candidates)) break;
        if (!d_.evaluate(t_, x_.data())) {
            fail("the equations of motion are singular" + at_time());
            return false;
        }
        turned = choice.mode;
        from = &turned;
        if (contradicted(turned, candidates)) continue;
        if (!may_turn || !turn_released_slip(choice.mode, turned, candidates)) break;
        may_turn = false;
    }
    if (project == Project::no) return true;
    if (!may_project()) return false;
    if (!d_.project(t_, x_.data())) warn("the constraints could not be met to rounding" + at_time());
    ++out_.statistics.projections;
    return true;
}

/// Whether the velocities in the equations of the mode in force are so small that the projection may remove them. A
/// faster motion needs an impulse to stop; the run has then failed.
bool EventRun::may_project() {
    d_.evaluate_velocities(t_, x_.data());
    const std::span<const double> u(x_.data() + d_.size(), ix(d_.size()));
    for (const int row : d_.equation_rows()) {
        const double speed = std::abs(d_.row_velocity(row));
        const double scale = model::row_scale(model_.layout().rows, d_.terms().W, row, u);
        if (!(speed > std::max(Thresholds::projected_speed, settings_.rtol) * scale)) continue;
        std::string name;
        for (std::size_t i = 0; i < d_.elements().size(); ++i) {
            const ElementRows& rows = d_.elements()[i].rows;
            const bool friction = rows.slips > 0 && row >= rows.first_slip && row < rows.first_slip + rows.slips;
            if (rows.normal == row || friction) name = out_.elements[i].name;
        }
        fail("'" + name + "' moves with the velocity " + number_text(speed) + at_time() +
             ", and the mode that follows would stop it without an impulse; use --method moreau");
        return false;
    }
    return true;
}

/// Impact without collision: no contact force exists, so that the contacts jam by an impulse. Friction parts that
/// broke loose are undecided again afterwards. False if no impulse exists either; the run has then failed.
bool EventRun::jam(const std::string& why, Candidates& candidates, Window window) {
    const Strike& strike = change_.jam(t_, x_.data(), candidates);
    if (strike.failed) {
        fail("Painleve: " + why + at_time() + ", and " + strike.note);
        return false;
    }
    record_impact(true, strike);
    record_strike(strike, EventKind::painleve, window);
    out_.events.back().note = "no contact force exists: impact without collision";
    warn("Painleve: no contact force exists" + at_time() + "; the contacts jam by an impulse");
    std::replace(candidates.friction.begin(), candidates.friction.end(), FrictionEvent::breaks_loose,
                 FrictionEvent::none);
    release_after_jam(candidates);
    return true;
}

/// What the impulse of a jam has set in motion is not held afterwards. Contacts and clutches at rest have velocities up
/// to Thresholds::opening_speed, as in possible_contacts.
void EventRun::release_after_jam(Candidates& candidates) {
    d_.evaluate_velocities(t_, x_.data());
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementRows& rows = d_.elements()[i].rows;
        if (rows.kind != ElementKind::contact && rows.kind != ElementKind::clutch) continue;
        if (d_.row_velocity(rows.normal) > Thresholds::opening_speed) candidates.closed[i] = 0;
    }
}

/// Whether the accelerations in the mode contradict an event: a contact that was released is pushed back, or a part
/// that broke loose does not move on. These events are then withdrawn from the candidates. Or they contradict the
/// choice: friction that began to slip accelerates backwards. The contacts then share their load in another way than in
/// the solution that was found, and stick is preferred. If nothing holds, then the part slips the other way: friction
/// that slides is smaller than friction that holds, and the other contacts may move it. `mode` then has that direction.
bool EventRun::contradicted(SystemMode& mode, Candidates& candidates) {
    bool any = false;
    const bool nothing_holds = candidates.hold;  // holding was preferred in the last attempt already
    largest_acceleration_ = std::max(largest_acceleration_, d_.acceleration_scale());
    const double size = Thresholds::decision_scale * largest_acceleration_;
    for (std::size_t i = 0; i < d_.elements().size(); ++i) {
        const ElementLayout& e = d_.elements()[i];
        if (candidates.released[i] != 0 &&
            row_acceleration(e.rows.normal) < -Thresholds::decision_acceleration * size) {
            candidates.released[i] = 0;
            any = true;
        }
        if (!mode.elements[i].active) continue;
        for (const int k : e.part_numbers()) {
            const bool breaks_loose = candidates.friction[ix(k)] == FrictionEvent::breaks_loose;
            const bool begins = mode.parts[ix(k)].slips && change_.was_undecided(k);
            if (!breaks_loose && !begins) continue;
            if (!(slip_acceleration(k, mode) < -Thresholds::decision_acceleration * size)) continue;
            if (begins && nothing_holds && d_.parts()[ix(k)].size > 1) continue;
            if (breaks_loose) {
                candidates.friction[ix(k)] = FrictionEvent::none;
            } else if (!nothing_holds) {
                candidates.hold = true;
            } else {
                candidates.friction[ix(k)] = FrictionEvent::breaks_loose;
                mode.parts[ix(k)].direction[0] *= -1.0;
            }
            any = true;
        }
    }
    return any;
}

/// γ̇ of a row at the state of the last evaluate.
double EventRun::row_acceleration(int row) const {
    return model::row_dot(model_.layout().rows, d_.terms().W, row, d_.acceleration()) + d_.terms().zeta[ix(row)];
}

/// γ̇ of a friction part along its direction of slip in `mode`.
double EventRun::slip_acceleration(int part_number, const SystemMode& mode) const {
    const FrictionPart& part = d_.parts()[ix(part_number)];
    double along = 0.0;
    for (int r = 0; r < part.size; ++r)
        along += row_acceleration(part.row + r) * mode.parts[ix(part_number)].direction[ix(r)];
    return along;
}

/// The friction of a part can help a group of contacts to hold by pressing another contact, although it pushes in the
/// direction of the load. When the group lets go, all forces are used up and nothing accelerates yet. A moment later
/// the part slips along its own force, which no friction does: it must push the other way from the start. Or the part
/// does not slip at all, because only the others let go. True if there are such parts. `turned` is then the mode with
/// the directions of the first kind turned, and the second kind no longer breaks loose. That forces must turn round
/// shows that the group could have let go before. Friction of a contact that opens has no force.
bool EventRun::turn_released_slip(const SystemMode& mode, SystemMode& turned, Candidates& candidates) {
    bool any = false, turns = false;
    turned = mode;
    if (evaluate_a_moment_later()) {
        const double rounding = Thresholds::decision_acceleration * Thresholds::decision_scale * largest_acceleration_;
        for (const int element : release_.opening) any = keeps_touching(element, rounding, turned, candidates) || any;
        for (const auto& [part, direction] : release_.slipping) {
            if (!mode.parts[ix(part)].slips || d_.parts()[ix(part)].size > 1) continue;
            if (!mode.elements[ix(d_.parts()[ix(part)].element)].active) continue;
            const double along = slip_acceleration(part, mode);
            if (along > rounding) continue;
            if (along < -rounding) {
                turned.parts[ix(part)].direction[0] *= -1.0;
                turns = true;
            } else {
                candidates.friction[ix(part)] = FrictionEvent::none;
            }
            any = true;
        }
    }
    if (turns) tell_other_motion(t_);
    d_.evaluate(t_, x_.data());
    return any;
}

/// A contact without a force lets go with its group although it may not move apart, because another contact carries
/// its load. It then remains closed, and its friction slips in the direction of the motion. The state must be that of a
/// moment later; accelerations up to `rounding` are zero. True if the contact is one of these and was released.
bool EventRun::keeps_touching(int element, double rounding, SystemMode& turned, Candidates& candidates) const {
    const ElementLayout& e = d_.elements()[ix(element)];
    if (candidates.released[ix(element)] == 0 || std::abs(row_acceleration(e.rows.normal)) > rounding) return false;
    candidates.released[ix(element)] = 0;
    for (const int k : e.part_numbers()) {
        const FrictionPart& part = d_.parts()[ix(k)];
        SlipDirection direction{};
        double length = 0.0;
        for (int r = 0; r < part.size; ++r) {
            direction[ix(r)] = row_acceleration(part.row + r);
            length = std::hypot(length, direction[ix(r)]);
        }
        if (!(length > rounding)) continue;
        for (int r = 0; r < part.size; ++r) direction[ix(r)] /= length;
        candidates.friction[ix(k)] = FrictionEvent::breaks_loose;
        turned.parts[ix(k)].direction = direction;
    }
    return true;
}

/// Evaluates the dynamics in the mode in force a moment after the present time. There the accelerations show where a
/// motion goes that begins without acceleration.
bool EventRun::evaluate_a_moment_later() {
    constexpr double moment = 1e-6, part_of_mode = 1e-3;  // in s times max(1, |t|); of the time since the last change
    double ahead = moment * std::max(1.0, std::abs(t_));
    if (t_ > mode_began_) ahead = std::min(ahead, part_of_mode * (t_ - mode_began_));
    std::vector<double> x = x_, rates(x_.size());
    if (!d_.derivative(t_, x.data(), rates.data())) return false;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += ahead * rates[i];
    return d_.evaluate(t_ + ahead, x.data());
}

/// Passes the limit of an accumulation of impacts: the contacts come to rest by impulses along the forces of their
/// mode, friction included, and move in that mode over the little time that is left. If something else happens before
/// the limit, such as an impact of another contact, then nothing is passed and the result is false: more impacts
/// follow, until the limit is nearer than that event or the impacts cannot be told from rounding errors. In the second
/// case the contacts are at rest from now on.
bool EventRun::pass_accumulation(const Accumulation::Limit& found, const SystemMode& known) {
    Accumulation::Limit limit = found;
    const std::vector<double> before = x_;
    const double energy_before = total_energy();
    const std::vector<signed char> switches = event_switches(known);
    Candidates candidates = no_candidates(d_);
    for (const int e : limit.elements) candidates.closed[ix(e)] = 1;
    for (std::size_t i = 0; i < d_.elements().size(); ++i)
        if (known.elements[i].active && d_.elements()[i].rows.kind == ElementKind::contact) candidates.closed[i] = 1;
    if (!choose(candidates, known, {t_, t_}, Project::no)) return true;
    SystemMode mode = d_.mode();
    for (const int e : limit.elements) mode.elements[ix(e)].active = true;
    d_.set_mode(mode, t_, x_.data());
    if (!d_.project_along_forces(t_, x_.data()) || !d_.evaluate(t_, x_.data())) {
        fail("the contacts do not hold after the accumulation of impacts" + at_time());
        return true;
    }
    const std::vector<double> at_rest = x_;
    bool moves = short_step(limit.t - t_);
    if (moves) d_.project(limit.t, x_.data());
    if (moves && limit.t > t_ && something_happens(limit.t, switches)) {
        if (!limit.at_resolution) {
            x_ = before;
            d_.set_mode(known, t_, x_.data());
            return false;
        }
        limit.t = t_;
        x_ = at_rest;
        moves = d_.project(t_, x_.data());
    }
    if (!moves) {
        fail("the contacts do not hold after the accumulation of impacts" + at_time());
        return true;
    }
    if (change_record_) {
        change_record_->rest = limit.elements;
        change_record_->limit = limit.t;
    }
    record_accumulation(limit, {before, at_rest, energy_before, limit.t - t_});
    accumulation_.clear();
    last_change_ = t_;
    changes_at_one_time_ = 0;
    // The motion has passed the limit, and cannot be ended before it any more (stop_inside_a_step).
    const Stoppable not_here([] { return false; });
    change_mode({}, Cause::rest);  // also for contacts that are not part of it
    return true;
}

/// The signs of all conditions of contacts and of `when` of jumps, as the mode has them. 0: the contact has none.
std::vector<signed char> EventRun::event_switches(const SystemMode& mode) const {
    std::vector<signed char> signs;
    if (has_conditions_)
        for (std::size_t i = 0; i < model_.contacts.size(); ++i)
            signs.push_back(model_.contacts[i].condition == model::no_coefficient ? 0
                            : mode.elements[i].exists                             ? 1
                                                                                  : -1);
    for (const int side : mode.sides) signs.push_back(static_cast<signed char>(side));
    return signs;
}

/// Whether an open contact is penetrated at the state x_ at t, or a condition of a contact or a `when` has another sign
/// than in `switches`.
bool EventRun::something_happens(double t, const std::vector<signed char>& switches) {
    d_.evaluate_terms(t, x_.data());
    std::size_t k = 0;
    const auto changed = [&](double value) {
        const int sign = switches[k++];
        return std::abs(value) > undecided_condition * (1.0 + std::abs(value)) && value * sign < 0.0;
    };
    for (std::size_t i = 0; i < model_.contacts.size(); ++i) {
        const model::Contact& contact = model_.contacts[i];
        if (has_conditions_ &&
            changed(contact.condition == model::no_coefficient ? 0.0 : d_.coefficients()[ix(contact.condition)]))
            return true;
        const ElementMode& e = d_.mode().elements[i];
        if (e.active || !e.exists) continue;
        const double scale = d_.position_scale(contact.row, x_.data());
        if (d_.terms().positions[ix(contact.row)] < -Thresholds::closed_gap_at_event * scale) return true;
    }
    if (!d_.mode().sides.empty())
        for (const model::Jump& jump : model_.jumps)
            if (changed(d_.coefficients()[ix(jump.when)])) return true;
    return false;
}

/// Integrates the mode in force over the short time h, by the classical Runge-Kutta method of order 4. The work is
/// not integrated: the accumulation counts the change of energy.
bool EventRun::short_step(double h) {
    const auto size = x_.size();
    std::vector<double> k(size), at = x_, sum(size, 0.0);
    constexpr double nodes[] = {0.0, 0.5, 0.5, 1.0}, weights[] = {1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0};
    for (int s = 0; s < 4; ++s) {
        for (std::size_t i = 0; s > 0 && i < size; ++i) at[i] = x_[i] + nodes[s] * h * k[i];
        if (!d_.derivative(t_ + nodes[s] * h, at.data(), k.data())) return false;
        for (std::size_t i = 0; i < size; ++i) sum[i] += weights[s] * k[i];
    }
    for (std::size_t i = 0; i + 1 < size; ++i) x_[i] += h * sum[i];
    return true;
}

/// The integrator finds no step. Perhaps the mode has come to its end: slip in a plane has come to rest, a contact
/// force grows without bound, or the mode has no forces any more. Otherwise the run fails.
void EventRun::leave_mode_without_step(ode::StepStatus status) {
    const std::vector<Found> resting = stalled_slip();
    if (!resting.empty() && t_ - mode_began_ > Thresholds::young_arc * (t_ - out_.start.t)) {
        last_change_ = t_;
        change_mode(resting, Cause::event);
        return;
    }
    const SystemMode before = d_.mode();
    Candidates candidates = no_candidates(d_);
    for (std::size_t i = 0; i < d_.elements().size(); ++i)
        if (before.elements[i].active && d_.elements()[i].rows.kind == ElementKind::contact) candidates.closed[i] = 1;
    const std::size_t events = out_.events.size();
    open_record({}, Cause::event);
    if (jam_by_growing_force(candidates, before)) return close_record();
    const bool contacts = std::find(candidates.closed.begin(), candidates.closed.end(), 1) != candidates.closed.end();
    if (t_ != last_change_ && contacts) {
        last_change_ = t_;
        if (!choose(candidates, before, {t_, t_})) return close_record();
        bool changed = out_.events.size() > events;
        for (std::size_t i = 0; i < before.elements.size(); ++i)
            changed = changed || before.elements[i].active != d_.mode().elements[i].active;
        if (changed) return close_record();
    }
    change_record_.reset();
    if (steps_over_a_switch()) return;
    fail("the step size underflows" + at_time() + " (" + std::string(ode::to_string(status)) + ")" + held_by_a_jump());
}

/// Slip in planes that has come to rest. Its direction turns ever faster there, so that no step follows it.
std::vector<Found> EventRun::stalled_slip() {
    std::vector<Found> resting;
    d_.evaluate_terms(t_, x_.data());
    const std::span<const double> u(x_.data() + d_.size(), ix(d_.size()));
    for (std::size_t k = 0; k < watcher_.watches().size(); ++k) {
        const Watch& w = watcher_.watches()[k];
        if (w.what != Watch::What::slip || d_.parts()[ix(w.part)].size == 1) continue;
        const double scale = model::row_scale(model_.layout().rows, d_.terms().W, d_.parts()[ix(w.part)].row, u);
        if (d_.slip_speed(w.part) <= Thresholds::stalled_slip * scale)
            resting.push_back({t_, t_, t_, static_cast<int>(k)});
    }
    return resting;
}

/// Sliding friction has all but cancelled what holds a contact, and its force grows without bound: the contacts jam by
/// an impulse. True if they do; the next mode has then been entered, or the run has failed.
bool EventRun::jam_by_growing_force(Candidates& candidates, const SystemMode& before) {
    if (t_ == last_change_ || !d_.nearly_singular(t_, x_.data())) return false;
    const Strike& strike = change_.jam(t_, x_.data(), candidates);
    if (strike.failed) return false;
    last_change_ = t_;
    record_impact(true, strike);
    record_strike(strike, EventKind::painleve, {t_, t_});
    out_.events.back().note = "the contact force grows without bound: impact without collision";
    warn("Painleve: the contact force grows without bound" + at_time() + "; the contacts jam by an impulse");
    release_after_jam(candidates);
    choose(candidates, before, {t_, t_});
    return true;
}

}  // namespace saltus::integrate
