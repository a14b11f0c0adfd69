// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/integrate/detail/resume_archive.hpp"
#include "saltus/integrate/event/detail/run.hpp"
#include "saltus/model/mechanics.hpp"

// Points from which a run can be repeated to the bit. Two runs of one model with different ends make the same steps as
// long as the end influences no decision. A run that continues an earlier one therefore starts from a point before the
// first such decision, and repeats the steps that the end of the earlier run has changed.
//
// What a run has learned is of two kinds. Sums, counters and the mode are stored in the resume point. First guesses,
// scales and factors of earlier steps, which are many and belong to the tools, are forgotten at each resume point, in
// every run.

namespace saltus::integrate {

namespace {

enum class Kind : int { start_of_motion = 0, arc = 1 };

// Arcs between two resume points. Larger: a continued motion repeats more arcs. Smaller: forgetting costs time; it
// costs about as much as one arc.
constexpr long arcs_between_resume_points = 64;

/// Lets an arc begin at a later time. Returns the number of steps that were left out. The first step that stays may
/// begin before the arc.
template <class AnyArc>
std::size_t begin_arc_at(AnyArc& arc, double begin) {
    if (!(arc.t_begin < begin)) return 0;
    arc.t_begin = begin;
    const auto after = std::upper_bound(arc.steps.begin(), arc.steps.end(), begin,
                                        [](double t, const ode::Dense& step) { return t < step.t_old(); });
    if (after == arc.steps.begin()) return 0;
    const auto left_out = static_cast<std::size_t>(after - arc.steps.begin()) - 1;
    arc.steps.erase(arc.steps.begin(), std::prev(after));
    return left_out;
}

bool finite(const std::vector<double>& v) {
    return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
}

}  // namespace

/// The layout of a resume point at the start of an arc.
template <class Archive>
void EventRun::remember(Archive& archive) {
    SystemMode mode = d_.mode();
    double redundancy = d_.redundancy();
    archive(out_.start.t, t_, x_, next_step_, stiff_, failed_trials_, blurred_steps_, series_off_, arcs_begun_);
    for (ElementMode& e : mode.elements) archive(e.active, e.reaction_sign, e.pulls, e.exists);
    for (FrictionMode& p : mode.parts) archive(p.slips, p.direction);
    if (!mode.sides.empty()) {
        rises_surely_.resize(mode.sides.size());
        archive(mode.sides, sides_known_, rises_surely_);
    }
    archive(redundancy, watcher_.hold_tolerance, mode_began_, last_change_, changes_at_one_time_, coarsened_,
            ambiguity_told_, struck_without_restitution_, largest_acceleration_);
    accumulation_.remember(archive);
    accuracy_.remember(archive);
    work_.remember(archive);
    if (sampled_ != nullptr) {
        archive(sample_, impulses_);
        next_sample_ = sampled_->time(sample_);
    }
    if constexpr (!Archive::writes) {
        archive.expect_end();
        if (!std::isfinite(t_) || !finite(x_) || !(out_.start.t <= t_) || !(t_ <= earlier_->end)) archive.fail();
        if (sampled_ != nullptr && !(next_sample_ > t_)) archive.fail();
        d_.set_redundancy(redundancy);
        d_.set_mode(mode, t_, x_.data());
    }
}

/// The first resume point: the start of the motion, at which nothing has been learned.
void EventRun::remember_start() {
    if (end_mattered_) return;
    ResumeWriter archive(resume_.numbers);
    archive(Kind::start_of_motion, out_.start.t, out_.start.q, out_.start.u);
}

/// Forgets what the tools have learned from earlier steps.
void EventRun::forget_history() {
    const SystemMode mode = d_.mode();
    const double redundancy = d_.redundancy(), hold_tolerance = watcher_.hold_tolerance;
    const long evaluations = d_.evaluations;
    const bool unresolved = watcher_.unresolved;
    d_.reset();
    watcher_.reset();
    series_.reset();
    mode_kept_ = false;
    d_.evaluations = evaluations;
    watcher_.unresolved = unresolved;
    watcher_.hold_tolerance = hold_tolerance;
    d_.set_redundancy(redundancy);
    d_.set_mode(mode, t_, x_.data());
    if (!implicit_) return;
    forgotten_steps_.accepted += implicit_->statistics().accepted;
    forgotten_steps_.rejected += implicit_->statistics().rejected;
    forgotten_steps_.cut += implicit_->statistics().cut;
    implicit_.reset();
    sparse_.reset();
    if (stiff_) become_implicit();
}

/// Called after each arc. Makes a resume point after every arcs_between_resume_points arcs, and after an arc that was
/// very long.
void EventRun::make_resume_point() {
    const bool after_long_arc = std::exchange(resume_point_due_, false);
    if ((++arcs_begun_ % arcs_between_resume_points != 0 && !after_long_arc) || trial_) return;
    forget_history();
    if (end_mattered_) return;
    ResumeWriter archive(resume_.numbers);
    archive(Kind::arc);
    remember(archive);
}

/// Takes the state of the earlier run at its resume point.
void EventRun::resume() {
    resume_ = earlier_->from;
    ResumeReader archive(resume_.numbers);
    Kind kind = Kind::start_of_motion;
    archive(kind);
    trajectory::State begin{0.0, model_.q0, model_.u0};
    if (kind == Kind::start_of_motion) {
        archive(begin.t, begin.q, begin.u);
        archive.expect_end();
        if (!std::isfinite(begin.t) || !finite(begin.q) || !finite(begin.u) || !(begin.t <= earlier_->end))
            archive.fail();
        return start_at(begin);
    }
    if (kind != Kind::arc) archive.fail();
    accuracy_.start(begin.q, {});
    out_.start = begin;
    remember(archive);
    started_ = true;
    if (stiff_) become_implicit();
    // A change at the same time joins an event that was recorded before.
    for (const trajectory::Event& event : earlier_->events)
        if (event.t == t_) out_.events.push_back(event);
    struck_ = !out_.events.empty() && out_.events.back().kind == trajectory::EventKind::impact;
}

/// The state at the start of a continued motion, from the step that contains it.
void EventRun::note_continued_start(const ode::Dense& step, double until) {
    if (!start_is_due(until)) return;
    std::vector<double> x(x_.size());
    step.evaluate(earlier_->end, x.data());
    const auto n = static_cast<std::ptrdiff_t>(d_.size());
    const model::Energy energy = d_.energy(earlier_->end, x.data());
    continued_ = {{earlier_->end, {x.begin(), x.begin() + n}, {x.begin() + n, x.begin() + 2 * n}},
                  energy.kinetic + energy.potential,
                  x[ix(2 * d_.size())] + work_.value()};
}

/// Leaves out what belongs to the earlier motion.
void EventRun::leave_out_earlier_motion() {
    if (!continued_) {  // the run has ended before it came to new parts
        const double energy = out_.energy.final;
        continued_ = {out_.end, energy, out_.energy.work};
    }
    out_.start = continued_->state;
    out_.energy.initial = continued_->energy;
    out_.energy.work -= continued_->work;
    leave_out_earlier_parts();
}

/// Leaves out arcs, events and the recording of the earlier motion, once.
void EventRun::leave_out_earlier_parts() {
    if (std::exchange(earlier_left_out_, true)) return;
    const double begin = continued_->state.t;
    const auto first =
        std::find_if(out_.arcs.begin(), out_.arcs.end(), [&](const trajectory::Arc& arc) { return arc.t_end > begin; });
    out_.arcs.erase(out_.arcs.begin(), first);
    if (!out_.arcs.empty()) begin_arc_at(out_.arcs.front(), begin);
    const auto new_events = std::find_if(out_.events.begin(), out_.events.end(),
                                         [&](const trajectory::Event& event) { return event.t > begin; });
    const auto old_events = static_cast<std::size_t>(new_events - out_.events.begin());
    out_.events.erase(out_.events.begin(), new_events);
    leave_out_earlier_recording(old_events);
}

/// The same for the recording; `events` is the number of events that were left out.
void EventRun::leave_out_earlier_recording(std::size_t events) {
    const double begin = continued_->state.t;
    const auto is_new = [&](const RecordedPiece& piece) {
        const auto* const arc = std::get_if<RecordedArc>(&piece);
        return arc != nullptr ? arc->t_end > begin : std::get<RecordedChange>(piece).t > begin;
    };
    recording_.pieces.erase(recording_.pieces.begin(),
                            std::find_if(recording_.pieces.begin(), recording_.pieces.end(), is_new));
    for (RecordedPiece& piece : recording_.pieces) {
        if (auto* const change = std::get_if<RecordedChange>(&piece)) {
            change->events_from -= events;
            change->events_to -= events;
        } else if (auto& arc = std::get<RecordedArc>(piece); arc.t_begin < begin) {
            const std::size_t left_out = begin_arc_at(arc, begin);
            arc.reactions.erase(arc.reactions.begin(), arc.reactions.begin() + static_cast<std::ptrdiff_t>(std::min(
                                                                                   left_out, arc.reactions.size())));
        }
    }
}

}  // namespace saltus::integrate
