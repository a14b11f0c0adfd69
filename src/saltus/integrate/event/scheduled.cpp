// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/scheduled.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/detail/scheduled_state.hpp"
#include "saltus/model/mechanics.hpp"

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;

/// A normal impulse counts as zero if it is at most this part of the largest impulse of the impact, and γ⁺ + e γ⁻ if
/// it is at most this part of the largest velocity of a row before the impact. The same limits as in `sensitivity`.
constexpr double negligible_part = 1e-9;
/// Three impacts explain the limit of an accumulation if their formula differs from it by at most this part of the time
/// that is left, or by this part of the time itself (rounding).
constexpr double limit_agreement = 1e-3, limit_rounding = 1e-14;
/// Impacts of one contact repeat after at most this many in an accumulation.
constexpr std::size_t longest_cycle = 4;

/// Whether friction in a plane begins or ceases to slip. Its direction has no smooth continuation there.
bool turns_in_a_plane(const Dynamics& d, const RecordedChange& change) {
    for (std::size_t k = 0; k < d.parts().size(); ++k) {
        if (d.parts()[k].size == 1) continue;
        const auto e = ix(d.parts()[k].element);
        const bool was = change.mode_before->elements[e].active && change.mode_before->parts[k].slips;
        const bool is = change.mode_after->elements[e].active && change.mode_after->parts[k].slips;
        const bool stays = change.mode_before->elements[e].active == change.mode_after->elements[e].active;
        if (was != is && stays) return true;
    }
    return false;
}

/// Why a change cannot happen at another time; empty if it can.
std::string refusal_of(const Dynamics& d, const RecordedChange& change) {
    if (change.corner) return "a formula has a corner";
    if (change.failed) return "the motion fails";
    for (const RecordedImpact& impact : change.impacts) {
        if (impact.jam) return "contacts jam by an impulse";
        if (impact.repaired) return "an impact was repaired";
    }
    for (const Watch& w : change.found) {
        using What = Watch::What;
        if (w.what == What::hold) return "contacts share a load, and their forces are not unique";
        if (w.what == What::depth || w.what == What::spring || w.what == What::jump)
            return "a condition of an event has no continuation";
        if ((w.what == What::slip || w.what == What::reserve) && d.parts()[ix(w.part)].size > 1)
            return "friction in a plane begins or ceases to slip";
    }
    if (turns_in_a_plane(d, change)) return "friction in a plane begins or ceases to slip";
    return {};
}

/// The contact modes of a recorded impact. None if its equations are not linear for given modes: laws other than
/// Newton's, and friction that slips in a plane.
void decide(Dynamics& d, double t, const double* q, RecordedImpact& impact) {
    impact.decided = {};
    if (impact.law != impact::ImpactLaw::newton) return;
    const auto n = ix(d.size()), m = impact.rows.size();
    std::vector<double> x(q, q + n);
    x.insert(x.end(), impact.u_minus.begin(), impact.u_minus.end());
    x.push_back(0.0);
    d.evaluate_terms(t, x.data());
    const model::Layout& layout = d.model().layout();
    std::vector<double> before(m), xi(m);
    double speed = std::numeric_limits<double>::min(), largest = speed;
    for (std::size_t k = 0; k < m; ++k) {
        const int row = impact.rows[k];
        before[k] = d.row_velocity(row);
        const double after =
            model::row_dot(layout.rows, d.terms().W, row, {impact.u_plus.data(), n}) + d.terms().chi[ix(row)];
        xi[k] = after + impact.e[k] * before[k];
        speed = std::max(speed, std::abs(before[k]));
        largest = std::max(largest, std::abs(impact.Lambda[k]));
    }
    ShortVector<RowDecision, 4> decided;
    for (std::size_t b = 0; b + 1 < impact.start.size(); ++b) {
        const ElementLayout& element = d.elements()[ix(impact.owner[b])];
        const auto first = ix(impact.start[b]), end = ix(impact.start[b + 1]);
        const solvers::LawKind kind = impact.laws[b].kind;
        const bool slider = kind == solvers::LawKind::scaled_slider, bilateral = kind == solvers::LawKind::bilateral;
        const bool presses = slider || bilateral || impact.Lambda[first] > negligible_part * largest;
        for (std::size_t k = first; k < end; ++k) {
            if (!slider && k == first) {
                decided.push_back(!presses                                               ? RowDecision::separates
                                  : !bilateral && (impact.e[k] > 0.0 || before[k] < 0.0) ? RowDecision::restitutes
                                                                                         : RowDecision::holds);
                continue;
            }
            const FrictionPart* part = nullptr;
            for (const int p : element.part_numbers())
                if (impact.rows[k] >= d.parts()[ix(p)].row &&
                    impact.rows[k] < d.parts()[ix(p)].row + d.parts()[ix(p)].size)
                    part = &d.parts()[ix(p)];
            double slip = 0.0;
            if (part != nullptr)
                for (int r = 0; r < part->size; ++r)
                    slip = std::hypot(slip, xi[k - ix(impact.rows[k] - part->row) + ix(r)]);
            if (!presses || part == nullptr || part->frictionless())
                decided.push_back(RowDecision::separates);
            else if (slip <= negligible_part * speed)
                decided.push_back(RowDecision::holds);
            else if (part->size > 1)
                return;
            else
                decided.push_back(xi[k] > 0.0 ? RowDecision::slips_up : RowDecision::slips_down);
        }
    }
    impact.decided = decided;
}

/// Contacts that close in the impacts of a change, although only another one was found at its zero: their gaps are zero
/// at the same time, and are conditions, too.
void add_closing_gaps(const Dynamics& d, RecordedChange& change) {
    if (change.found.empty() || change.jump >= 0) return;
    for (const RecordedImpact& impact : change.impacts)
        for (std::size_t b = 0; b + 1 < impact.start.size(); ++b) {
            const int element = impact.owner[b];
            if (d.elements()[ix(element)].rows.kind != ElementKind::contact ||
                change.mode_before->elements[ix(element)].active || !(impact.Lambda[ix(impact.start[b])] > 0.0))
                continue;
            if (std::none_of(change.found.begin(), change.found.end(),
                             [&](const Watch& w) { return w.element == element && w.what != Watch::What::trigger; }))
                change.found.push_back({Watch::What::gap, element});
        }
}

/// Finds the three impacts of one of the contacts whose formula gives the limit.
bool find_limit(const EventOrder& order, const std::vector<int>& contacts, double limit, ScheduledEvent& event) {
    for (const int contact : contacts) {
        std::vector<std::size_t> own;
        for (std::size_t k = 0; k < order.events.size(); ++k)
            for (const RecordedChange& change : order.events[k].changes)
                for (const RecordedImpact& impact : change.impacts)
                    if (std::find(impact.owner.begin(), impact.owner.end(), contact) != impact.owner.end() &&
                        (own.empty() || own.back() != k))
                        own.push_back(k);
        for (std::size_t p = 1; p <= longest_cycle && 2 * p < own.size(); ++p) {
            event.a = own[own.size() - 1], event.b = own[own.size() - 1 - p], event.c = own[own.size() - 1 - 2 * p];
            const double a = order.times[event.a], b = order.times[event.b], c = order.times[event.c];
            const double S = a - b, shrink = (b - c) - S, t = a + S * S / shrink;
            if (shrink > 0.0 &&
                std::abs(t - limit) <= limit_agreement * (t - a) + limit_rounding * std::max(1.0, std::abs(t)))
                return true;
        }
    }
    return false;
}

}  // namespace

EventOrder order_of(const model::Mechanics& model, const RecordedMotion& recorded) {
    EventOrder out;
    const auto refuse = [&](std::string why) {
        out.refusal = std::move(why);
        return out;
    };
    if (recorded.motion.status != trajectory::Status::completed) return refuse("the motion ends early");
    if (model.sampled) return refuse("the control samples the motion");
    if (recorded.recording.compliant) return refuse("contacts are springs");
    std::shared_ptr<Dynamics> d = recorded.dynamics;
    if (d == nullptr)
        d = std::make_shared<Dynamics>(model, false, 1.0);
    else
        d->reset();
    const RecordedChange* limit = nullptr;  // the change that ended an accumulation, if its limit is still to come
    bool arc_passed = false, begun = false;
    for (const RecordedPiece& piece : recorded.recording.pieces) {
        if (const auto* const arc = std::get_if<RecordedArc>(&piece)) {
            if (!begun) out.first = arc->mode;
            begun = true;
            arc_passed = arc->t_end > arc->t_begin;
            continue;
        }
        RecordedChange change = std::get<RecordedChange>(piece);
        if (!begun) {
            if (!change.impacts.empty() || !change.found.empty() || change.jump >= 0)
                return refuse("an event falls on the start");
            continue;
        }
        if (std::string why = refusal_of(*d, change); !why.empty()) return refuse(std::move(why));
        d->set_mode(change.mode_before, change.t, change.before.data());
        for (RecordedImpact& impact : change.impacts) decide(*d, change.t, change.before.data(), impact);
        add_closing_gaps(*d, change);
        const bool joins = !arc_passed && !out.events.empty();
        if (!joins) {
            ScheduledEvent event;
            if (change.found.empty()) {
                if (limit == nullptr || !find_limit(out, limit->rest, limit->limit, event))
                    return refuse("an event has no condition of its own");
                event.limit = true;
            }
            out.events.push_back(std::move(event));
            out.times.push_back(change.t);
        }
        limit = nullptr;
        out.events.back().changes.push_back(std::move(change));
        const RecordedChange& last = out.events.back().changes.back();
        if (!last.rest.empty() && last.limit > last.t) limit = &last;
        arc_passed = false;
    }
    if (!arc_passed) return refuse("an event falls on the end");
    return out;
}

std::vector<ScheduledStage> stages_of(RecordedMotion& recorded, const EventOrder& order) {
    std::vector<ScheduledStage> stages(order.events.size() + 1);
    for (std::size_t k = 0; k < stages.size(); ++k) {
        ScheduledStage& stage = stages[k];
        const bool last = k + 1 == stages.size();
        stage.t = k == 0 ? recorded.motion.start.t : order.times[k - 1];
        stage.t_end = last ? recorded.motion.end.t : order.times[k];
        stage.mode = order.first;
        if (k > 0) {
            stage.changes = order.events[k - 1].changes;
            stage.mode = stage.changes.back().mode_after;
            stage.start = stage.changes.back().after;
        }
        if (!last) {
            stage.end = order.events[k].changes.front().before;
            continue;
        }
        stage.end = std::span(recorded.motion.end.q);
        for (const double u : recorded.motion.end.u) stage.end.push_back(u);
        stage.end.push_back(0.0);
    }
    std::size_t k = 0;
    for (RecordedPiece& piece : recorded.recording.pieces) {
        auto* const arc = std::get_if<RecordedArc>(&piece);
        if (arc == nullptr || !(arc->t_end > arc->t_begin) || arc->steps.empty()) continue;
        while (k + 1 < stages.size() && arc->t_begin >= stages[k].t_end) ++k;
        if (stages[k].start.empty())  // the first term of a step is its start, in both forms
            stages[k].start.assign(arc->steps.front().coefficients().data(),
                                   arc->steps.front().coefficients().data() + arc->steps.front().size());
        stages[k].arcs.push_back(std::move(*arc));
    }
    return stages;
}

ScheduledRun::ScheduledRun(const model::Mechanics& model, const EventDriven& method)
    : state_(std::make_unique<State>(model, method)) {}
ScheduledRun::~ScheduledRun() = default;
ScheduledRun::ScheduledRun(ScheduledRun&&) noexcept = default;
ScheduledRun& ScheduledRun::operator=(ScheduledRun&&) noexcept = default;

void ScheduledRun::begin(double from, double to) {
    State& s = *state_;
    s.tools.reset();
    // The end of the run lies behind all stages, so that no stage ends it (EventRun::ends_at_sample).
    s.options.t_end = to + (to - from) + std::numeric_limits<double>::min();
    s.run.reset();
    s.run.emplace(s.model, s.settings, s.options, s.tools);
    s.run->forgo_resume_points();
    s.begun = false;
    failure_.clear();
}

bool ScheduledRun::stage(const ScheduledEvent* event, const SystemMode& mode, double t, std::span<const double> x,
                         double end, ScheduledStage& out) {
    State& s = *state_;
    SALTUS_EXPECT(s.run.has_value());
    if (!std::exchange(s.begun, true)) s.run->begin_schedule(t, x);
    out.t = t;
    out.t_end = end;
    out.changes.clear();
    out.mode = event != nullptr ? event->changes.back().mode_after : RecordedMode(mode);
    const bool entered = event != nullptr ? s.run->apply(*event, t, x, out.changes) : s.run->enter(mode, t, x);
    if (entered) out.start = s.run->state();
    if (entered && end < t) {
        Dynamics& d = s.tools.dynamics;
        out.arcs.clear();
        out.end = out.start;
        std::vector<double> rate(out.start.size());
        if (d.derivative(t, out.start.data(), rate.data())) {
            for (std::size_t i = 0; i + 1 < rate.size(); ++i) out.end[i] += (end - t) * rate[i];
            return true;
        }
        failure_ = "the equations of motion are singular";
        return false;
    }
    if (!entered || !s.run->follow(end, out.arcs)) {
        failure_ = s.run->reason();
        return false;
    }
    out.end = s.run->state();
    return true;
}

ScheduledEvent ScheduledRun::grazing(int contact, const SystemMode& mode, double t, std::span<const double> x,
                                     double speed) {
    constexpr double slow = 1e-4;  // small enough for the limit, and far above rounding
    ScheduledEvent event;
    if (!state_->run) begin(t, t + 1.0);
    RecordedChange change;
    if (!state_->run->graze(contact, mode, t, x, slow * speed, change)) return event;
    for (RecordedImpact& impact : change.impacts) decide(state_->tools.dynamics, t, change.before.data(), impact);
    if (std::all_of(change.impacts.begin(), change.impacts.end(),
                    [](const RecordedImpact& impact) { return !impact.decided.empty(); }))
        event.changes.push_back(std::move(change));
    return event;
}

double ScheduledRun::condition(const Watch& w, const SystemMode& mode, double t, std::span<const double> x) {
    Dynamics& d = state_->tools.dynamics;
    std::vector<double> state(x.begin(), x.begin() + 2 * static_cast<std::ptrdiff_t>(d.size()));
    state.push_back(0.0);
    d.set_mode(mode, t, state.data());
    d.evaluate(t, state.data());
    return watched_value(d, w);
}

}  // namespace saltus::integrate
