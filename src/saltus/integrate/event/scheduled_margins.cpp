// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/integrate/event/detail/scheduled_state.hpp"
#include "saltus/model/mechanics.hpp"

// What the laws require of a scheduled motion. Each requirement is a quantity that must not be negative. Its least
// value on a stage is a smooth function of the motion, so that its zero along a branch of motions can be located to
// rounding.

namespace saltus::integrate {

namespace {

using trajectory::ElementKind;
using What = LawMargin::What;

/// A quantity that is watched on a stage, and whether it is zero at an end because of the event there.
struct Required {
    Watch watch;
    bool zero_at_start = false, zero_at_end = false;
    bool turns = false;  ///< slip that has just passed through zero
};

bool is_found(const ScheduledEvent* event, int element, int part) {
    if (event == nullptr) return false;
    const std::vector<Watch>& found = event->changes.front().found;
    return std::any_of(found.begin(), found.end(), [&](const Watch& w) {
        return w.what != Watch::What::trigger && w.element == element && (part < 0 || w.part == part || w.part < 0);
    });
}

/// Whether a contact has an impulse at an event.
bool strikes(const ScheduledEvent* event, int element) {
    if (event == nullptr) return false;
    for (const RecordedChange& change : event->changes)
        for (const RecordedImpact& impact : change.impacts)
            if (std::find(impact.owner.begin(), impact.owner.end(), element) != impact.owner.end()) return true;
    return false;
}

/// The quantities of a mode that its laws require to be positive.
std::vector<Required> required_of(const Dynamics& d, const SystemMode& mode, const ScheduledEvent* event,
                                  const ScheduledEvent* next) {
    std::vector<Required> list;
    const SystemMode* const before = event != nullptr ? &event->mode_before() : nullptr;
    for (std::size_t i = 0; i < mode.elements.size(); ++i) {
        const int element = static_cast<int>(i);
        const ElementKind kind = d.elements()[i].rows.kind;
        const bool active = mode.elements[i].active, exists = mode.elements[i].exists;
        const bool was_active = before != nullptr && before->elements[i].active;
        const auto add = [&](Watch::What what, int part, bool zero_at_start) {
            list.push_back({{what, element, part}, zero_at_start, is_found(next, element, part), false});
        };
        if (kind == ElementKind::contact && exists && !active)
            add(Watch::What::gap, -1, was_active || strikes(event, element) || is_found(event, element, -1));
        if (active && (kind == ElementKind::contact || kind == ElementKind::clutch)) add(Watch::What::force, -1, false);
        if (kind == ElementKind::clutch && !active) add(Watch::What::clutch, -1, was_active);
        if (!active) continue;
        for (const int p : d.elements()[i].part_numbers()) {
            if (d.parts()[ix(p)].frictionless() && d.model().layout().coefficients_constant) continue;
            const bool slips = mode.parts[ix(p)].slips;
            const bool stuck = was_active && !before->parts[ix(p)].slips;
            if (slips) {
                add(Watch::What::slip, p, stuck || is_found(event, element, p));
                list.back().turns = !stuck && is_found(event, element, p) && d.parts()[ix(p)].size == 1;
            } else {
                add(Watch::What::reserve, p, false);
            }
        }
    }
    return list;
}

What what_of(Watch::What what) {
    switch (what) {
        case Watch::What::gap: return What::gap;
        case Watch::What::force: return What::force;
        case Watch::What::slip: return What::slip;
        case Watch::What::clutch: return What::clutch;
        default: return What::reserve;
    }
}

/// The acceleration of a part along its direction of slip at the state x of a stage at t.
double slip_rate(Dynamics& d, const ScheduledStage& stage, int number, double t, const double* x) {
    d.evaluate(t, x);
    const int row = d.parts()[ix(number)].row;
    const double rate =
        model::row_dot(d.model().layout().rows, d.terms().W, row, d.acceleration()) + d.terms().zeta[ix(row)];
    return stage.mode->parts[ix(number)].direction[0] >= 0.0 ? rate : -rate;
}

/// The derivative of f at t, where f is known at t + h, too: differences of two widths, without their common error.
template <class Function>
double rate_of(const Function& f, double t, double h) {
    const auto difference = [&](double width) { return (f(t + width) - f(t - width)) / (2.0 * width); };
    return (4.0 * difference(0.5 * h) - difference(h)) / 3.0;
}

/// The least value of f between `left` and `right`, near `middle`, where f is lower than at both: by golden sections.
/// The value is accurate to rounding, the time to its root.
template <class Function>
std::pair<double, double> minimum(const Function& f, double left, double middle, double right) {
    constexpr double golden = 0.3819660112501051;  // (3 − √5)/2
    constexpr int most = 80;                       // sections
    double value = f(middle);
    for (int k = 0; k < most && right - left > 1e-9 * (std::abs(left) + std::abs(right)); ++k) {
        const bool upper = right - middle > middle - left;
        const double next = upper ? middle + golden * (right - middle) : middle - golden * (middle - left);
        const double there = f(next);
        if (there < value) {
            (upper ? left : right) = middle;
            middle = next, value = there;
        } else {
            (upper ? right : left) = next;
        }
    }
    return {middle, value};
}

}  // namespace

std::string LawMargin::text(const std::vector<trajectory::Element>& elements) const {
    const std::string name = element >= 0 ? "'" + elements[ix(element)].name + "'" : "",
                      at = " at t = " + number_text(t);
    switch (what) {
        case What::gap: return "the gap of " + name + " is " + number_text(value) + at;
        case What::force: return name + " pulls with " + number_text(-value) + at;
        case What::slip: return "friction of " + name + " acts along its slip" + at;
        case What::turn: return "friction of " + name + " could hold" + at + ", where it begins to slip";
        case What::arrival:
        case What::opening: return "what ends the phase of " + name + at + " has come to zero before";
        case What::reserve: return "friction of " + name + " holds beyond its bound, by " + number_text(-value) + at;
        case What::clutch: return name + " runs backwards" + at;
        case What::impulse: return name + " does not approach in the impact" + at;
        case What::friction: return "the friction of " + name + " in the impact" + at + " is not that of its law";
        case What::apart: return name + " approaches after the impact" + at;
        case What::duration: return "two events change their order" + at;
    }
    return {};
}

std::vector<LawMargin> ScheduledRun::margins(const ScheduledStage& stage, const ScheduledEvent* event,
                                             const ScheduledEvent* next) {
    constexpr int samples = 6;  // of a part of a step
    Dynamics& d = state_->tools.dynamics;
    std::vector<LawMargin> list;
    // Impacts.
    for (const RecordedChange& change : stage.changes)
        for (const RecordedImpact& impact : change.impacts) {
            double largest = 0.0, speed = 0.0;
            for (const double v : impact.Lambda) largest = std::max(largest, std::abs(v));
            d.evaluate_terms(change.t, change.before.data());
            std::vector<double> xi;
            for (std::size_t k = 0; k < impact.rows.size(); ++k) {
                const int row = impact.rows[k];
                const std::span<const double> plus(impact.u_plus.data(), ix(d.size()));
                const double before = d.row_velocity(row);
                const double after =
                    model::row_dot(d.model().layout().rows, d.terms().W, row, plus) + d.terms().chi[ix(row)];
                xi.push_back(after + impact.e[k] * before);
                speed = std::max({speed, std::abs(before), std::abs(after)});
            }
            for (std::size_t b = 0; b + 1 < impact.start.size(); ++b) {
                const solvers::LawKind kind = impact.laws[b].kind;
                if (kind == solvers::LawKind::bilateral || kind == solvers::LawKind::scaled_slider) continue;
                const auto first = ix(impact.start[b]);
                const int owner = impact.owner[b];
                const bool presses = impact.decided.empty() ? impact.Lambda[first] > 0.0
                                                            : impact.decided[first] != RowDecision::separates;
                list.push_back({presses ? What::impulse : What::apart, owner, change.t,
                                presses ? impact.Lambda[first] : xi[first], presses ? largest : speed});
                if (!presses || impact.decided.empty()) continue;
                for (std::size_t k = first + 1; k < ix(impact.start[b + 1]); ++k) {
                    const RowDecision does = impact.decided[k];
                    if (does == RowDecision::slips_up || does == RowDecision::slips_down)
                        list.push_back(
                            {What::friction, owner, change.t, does == RowDecision::slips_up ? xi[k] : -xi[k], speed});
                    if (does != RowDecision::holds) continue;
                    for (const int p : d.elements()[ix(owner)].part_numbers())
                        if (d.parts()[ix(p)].row == impact.rows[k] && d.parts()[ix(p)].size == 1)
                            list.push_back({What::friction, owner, change.t,
                                            d.parts()[ix(p)].mu * impact.Lambda[first] - std::abs(impact.Lambda[k]),
                                            largest});
                }
            }
        }
    // The arc.
    list.push_back({What::duration, -1, stage.t, stage.t_end - stage.t, std::abs(stage.t_end - stage.t)});
    if (stage.arcs.empty()) return list;
    const std::vector<Required> required = required_of(d, stage.mode, event, next);
    std::vector<double> times, x(ix(d.state_size()));
    std::vector<const ode::Dense*> steps;
    for (const RecordedArc& arc : stage.arcs)
        for (const ode::Dense& step : arc.steps)
            for (const ode::StepPart part : ode::StepParts(step, arc.t_end))
                for (int k = times.empty() ? 0 : 1; k <= samples; ++k) {
                    times.push_back(k == samples ? part.to : part.from + (part.to - part.from) * k / samples);
                    steps.push_back(&step);
                }
    d.set_mode(stage.mode, stage.t, stage.start.data());
    const auto value_at = [&](const Watch& w, const ode::Dense& step, double t) {
        step.evaluate(t, x.data());
        if (!d.evaluate(t, x.data())) return std::numeric_limits<double>::quiet_NaN();
        return watched_value(d, w);
    };
    std::vector<std::vector<double>> values(required.size());
    for (std::size_t k = 0; k < times.size(); ++k) {
        steps[k]->evaluate(times[k], x.data());
        const bool known = d.evaluate(times[k], x.data());
        for (std::size_t w = 0; w < required.size(); ++w)
            values[w].push_back(known ? watched_value(d, required[w].watch) : std::numeric_limits<double>::quiet_NaN());
    }
    for (std::size_t w = 0; w < required.size(); ++w) {
        const Required& r = required[w];
        const std::vector<double>& v = values[w];
        double largest = 0.0;
        for (const double value : v) largest = std::max(largest, std::abs(value));
        const auto take = [&](double t, double value, What what) {
            list.push_back({what, r.watch.element, t, value, largest});
        };
        if (!r.zero_at_start)
            take(times.front(), v.front(), what_of(r.watch.what));
        else if (r.turns)
            // Slip that has passed through zero must grow in its new direction, or else friction could hold.
            list.push_back({What::turn, r.watch.element, times.front(),
                            slip_rate(d, stage, r.watch.part, stage.t, stage.start.data()), d.acceleration_scale()});
        if (!r.zero_at_end && v.size() > 1) take(times.back(), v.back(), what_of(r.watch.what));
        // A quantity whose zero ends the stage must fall there. Otherwise it was negative before: this is its second
        // zero, and both meet where the rate is zero.
        if (r.zero_at_end && r.watch.what == Watch::What::slip && d.parts()[ix(r.watch.part)].size == 1) {
            list.push_back({What::arrival, r.watch.element, stage.t_end,
                            -slip_rate(d, stage, r.watch.part, stage.t_end, stage.end.data()), d.acceleration_scale()});
        } else if (r.zero_at_end && times.size() > 1 &&
                   (r.watch.what == Watch::What::force || r.watch.what == Watch::What::reserve)) {
            constexpr double small = 1e-2;  // relative to the distance of two samples
            const ode::Dense& step = *steps.back();
            const double h = small * (times.back() - times[times.size() - 2]);
            const auto f = [&](double t) { return value_at(r.watch, step, t); };
            list.push_back({r.watch.what == Watch::What::force ? What::opening : What::arrival, r.watch.element,
                            stage.t_end, -rate_of(f, stage.t_end, h), largest / (stage.t_end - stage.t)});
        }
        for (std::size_t k = 1; k + 1 < v.size(); ++k) {
            if (!(v[k] <= v[k - 1] && v[k] < v[k + 1])) continue;
            const auto f = [&](double t) { return value_at(r.watch, t <= times[k] ? *steps[k] : *steps[k + 1], t); };
            const auto [t, value] = minimum(f, times[k - 1], times[k], times[k + 1]);
            take(t, value, what_of(r.watch.what));
        }
    }
    return list;
}

}  // namespace saltus::integrate
