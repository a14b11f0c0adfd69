// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/outputs.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"

namespace saltus::integrate {

using model::ElementQuantity;

namespace {

constexpr int samples_per_part = 8;  // of a part of a step, in the search for extrema
constexpr int golden_sections = 45;  // shrink the bracket of an extremum by 0.618^45 = 4e-10

}  // namespace

OutputCourse::OutputCourse(const model::Model& model, const trajectory::Trajectory& motion)
    : outputs_(*model.outputs), motion_(motion) {
    std::vector<int> impulse_elements;
    for (const ElementQuantity& q : outputs_.quantities) {
        if (q.what != ElementQuantity::What::gap) forces_ = true;
        if (q.what == ElementQuantity::What::impulse) impulse_elements.push_back(q.element);
    }
    if (!outputs_.quantities.empty()) course_ = std::make_unique<Course>(model, motion);
    quantities_.resize(outputs_.quantities.size());
    x_.resize(2 * motion.coordinates.size());
    if (!impulse_elements.empty()) impulses_ = std::make_unique<ImpulseCourse>(model, motion, impulse_elements);
}

std::size_t OutputCourse::size() const { return outputs_.list.size(); }

void OutputCourse::enter(std::size_t arc) {
    if (arc == entered_ || arc >= motion_.arcs.size()) return;
    course_->enter(arc);
    entered_ = arc;
}

void OutputCourse::evaluate(double t, Side side, std::span<const double> q, std::span<const double> u,
                            std::span<double> out) {
    using What = ElementQuantity::What;
    const model::Outputs& outputs = outputs_;
    if (!quantities_.empty()) {
        std::vector<double> running;
        if (impulses_) running = impulses_->at(t, side);
        const std::size_t arc = arc_at(motion_, t, side);
        if (forces_) enter(arc);
        std::copy(q.begin(), q.end(), x_.begin());
        std::copy(u.begin(), u.end(), x_.begin() + static_cast<std::ptrdiff_t>(q.size()));
        course_->evaluate(t, x_.data());
        const bool reactions = arc != no_arc && course_->has_reactions();
        std::size_t impulse = 0;
        for (std::size_t k = 0; k < quantities_.size(); ++k) {
            const ElementQuantity& quantity = outputs.quantities[k];
            const auto e = static_cast<std::size_t>(quantity.element);
            switch (quantity.what) {
                case What::gap: quantities_[k] = course_->gaps()[e]; break;
                case What::force: quantities_[k] = reactions ? course_->reactions()[e].N : nan; break;
                case What::friction:
                    quantities_[k] =
                        reactions ? course_->reactions()[e].T[static_cast<std::size_t>(quantity.component) - 1] : nan;
                    break;
                case What::impulse: quantities_[k] = running[impulse++]; break;
            }
        }
    }
    outputs.evaluate(t, q, u, quantities_, out);
}

namespace {

/// The best sample of one output, and the bracket in which it is refined.
struct Extreme {
    double value = nan, t = 0.0, from = 0.0, to = 0.0;
    std::size_t arc = no_arc, step = 0;
};

}  // namespace

std::vector<trajectory::OutputSummary> OutputCourse::summary() {
    const std::size_t n = motion_.coordinates.size(), count = size();
    std::vector<double> values(count);
    std::vector<Extreme> lowest(count), highest(count);
    const auto take = [&](double t, double from, double to, std::size_t arc, std::size_t step) {
        for (std::size_t k = 0; k < count; ++k) {
            if (!std::isfinite(values[k])) continue;
            if (!(lowest[k].value <= values[k])) lowest[k] = {values[k], t, from, to, arc, step};
            if (!(highest[k].value >= values[k])) highest[k] = {values[k], t, from, to, arc, step};
        }
    };
    const auto take_state = [&](double t, Side side, std::span<const double> q, std::span<const double> u) {
        evaluate(t, side, q, u, values);
        take(t, t, t, no_arc, 0);
    };
    take_state(motion_.start.t, Side::after, motion_.start.q, motion_.start.u);
    for (const trajectory::Event& e : motion_.events) {
        if (e.q.size() != n || e.u_minus.size() != n || e.u_plus.size() != n) continue;
        take_state(e.t, Side::before, e.q, e.u_minus);
        take_state(e.t, Side::after, e.q, e.u_plus);
    }
    std::vector<double> x;
    const auto on_step = [&](std::size_t arc, std::size_t step, double t) {
        const trajectory::Arc& a = motion_.arcs[arc];
        x.resize(static_cast<std::size_t>(a.steps[step].size()));
        a.steps[step].evaluate(t, x.data());
        evaluate(t, t > a.t_begin ? Side::before : Side::after, {x.data(), n}, {x.data() + n, n}, values);
    };
    for (std::size_t a = 0; a < motion_.arcs.size(); ++a)
        for (std::size_t s = 0; s < motion_.arcs[a].steps.size(); ++s)
            for (const ode::StepPart part : ode::StepParts(motion_.arcs[a].steps[s], motion_.arcs[a].t_end)) {
                const double h = (part.to - part.from) / samples_per_part;
                for (int k = 1; k <= samples_per_part; ++k) {
                    const double t = k == samples_per_part ? part.to : part.from + k * h;
                    on_step(a, s, t);
                    take(t, t - h, k == samples_per_part ? t : t + h, a, s);
                }
            }
    const auto refine = [&](Extreme& e, std::size_t output, double sign) {
        if (e.arc == no_arc || !(e.to > e.from)) return;
        constexpr double ratio = 0.6180339887498949;
        double a = std::max(e.from, motion_.arcs[e.arc].t_begin), b = std::min(e.to, motion_.arcs[e.arc].t_end);
        const auto at = [&](double t) {
            on_step(e.arc, e.step, t);
            return sign * values[output];
        };
        double c = b - ratio * (b - a), d = a + ratio * (b - a), fc = at(c), fd = at(d);
        for (int k = 0; k < golden_sections; ++k) {
            if (fc >= fd) {
                b = d, d = c, fd = fc, c = b - ratio * (b - a), fc = at(c);
            } else {
                a = c, c = d, fc = fd, d = a + ratio * (b - a), fd = at(d);
            }
        }
        const double best = std::max(fc, fd);
        if (best > sign * e.value) {
            e.value = sign * best;
            e.t = fc >= fd ? c : d;
        }
    };
    std::vector<trajectory::OutputSummary> list(count);
    evaluate(motion_.end.t, Side::after, motion_.end.q, motion_.end.u, values);
    take(motion_.end.t, motion_.end.t, motion_.end.t, no_arc, 0);
    const std::vector<double> final = values;
    for (std::size_t k = 0; k < count; ++k) {
        refine(lowest[k], k, -1.0);
        refine(highest[k], k, 1.0);
        const model::Output& o = outputs_.list[k];
        list[k] = {o.name, o.unit, final[k], lowest[k].value, highest[k].value, lowest[k].t, highest[k].t};
    }
    return list;
}

namespace {

/// Shares of the motion over which mean forces are taken and compared.
constexpr double rate_share = 0.25;
/// The mean over fewer impacts than this is no mean.
constexpr std::ptrdiff_t least_impacts = 5;
/// Two mean forces agree if they differ by at most this part of the larger one.
constexpr double settled_rate = 0.02;
/// An error has died out if it is at most this part of its largest value since the impact.
constexpr double closed_error = 0.05;

/// The mean forces of contacts that were struck. A stretch begins and ends where the contact is closed, or just after
/// an impact: otherwise the mean would depend on where between two impacts it ends.
std::vector<trajectory::ImpulseRate> impulse_rates(const model::Model& model, const trajectory::Trajectory& motion) {
    std::vector<trajectory::ImpulseRate> list;
    if (motion.stepped || motion.arcs.empty() || motion.arcs.back().steps.empty()) return list;
    std::vector<int> struck;
    std::vector<std::vector<double>> times;  // of the impacts of each of them
    for (int c = 0; c < static_cast<int>(model.contacts.size()); ++c) {
        std::vector<double> t;
        for (const trajectory::Event& e : motion.events)
            for (const trajectory::Reaction& r : e.impulses)
                if (r.element == c && r.N > 0.0) t.push_back(e.t);
        if (t.empty()) continue;
        struck.push_back(c);
        times.push_back(std::move(t));
    }
    if (struck.empty()) return list;
    ImpulseCourse course(model, motion, struck);
    const double length = rate_share * (motion.end.t - motion.start.t);
    for (std::size_t k = 0; k < struck.size(); ++k) {
        const auto snap = [&](double t) -> std::optional<double> {
            const std::size_t arc = arc_at(motion, t, Side::before);
            const auto c = static_cast<std::size_t>(struck[k]);
            const std::vector<trajectory::Mode>& modes = motion.arcs[arc].modes;
            if (c < modes.size() && modes[c] != trajectory::Mode::open) return t;
            const auto at = std::upper_bound(times[k].begin(), times[k].end(), t);
            return at == times[k].begin() ? std::nullopt : std::optional(*std::prev(at));
        };
        const std::optional<double> to = snap(motion.end.t), from = to ? snap(*to - length) : std::nullopt,
                                    before = from ? snap(*from - length) : std::nullopt;
        if (!before || !(*before < *from) || !(*from < *to)) continue;
        const auto impacts = [&](double begin, double end) {
            return std::upper_bound(times[k].begin(), times[k].end(), end) -
                   std::upper_bound(times[k].begin(), times[k].end(), begin);
        };
        const bool held = *to == motion.end.t;  // the contact is closed at the end
        if (!held && std::min(impacts(*before, *from), impacts(*from, *to)) < least_impacts) continue;
        const auto impulse = [&](double t) { return course.at(t, Side::after)[k]; };
        trajectory::ImpulseRate rate;
        rate.element = struck[k];
        rate.from = *from;
        rate.to = *to;
        rate.mean = (impulse(*to) - impulse(*from)) / (*to - *from);
        rate.earlier = (impulse(*from) - impulse(*before)) / (*from - *before);
        rate.settled =
            std::abs(rate.mean - rate.earlier) <= settled_rate * std::max(std::abs(rate.mean), std::abs(rate.earlier));
        list.push_back(rate);
    }
    return list;
}

/// Follows the outputs that are tracking errors from impact to impact.
std::vector<trajectory::Tracking> tracking(const model::Model& model, const trajectory::Trajectory& motion,
                                           OutputCourse& outputs) {
    std::vector<trajectory::Tracking> list;
    const model::Outputs& described = *model.outputs;
    if (described.tracked.empty()) return list;
    const std::size_t n = motion.coordinates.size();
    std::vector<double> borders{motion.start.t};
    for (const trajectory::Event& e : motion.events)
        if ((e.kind == trajectory::EventKind::impact || e.kind == trajectory::EventKind::accumulation) &&
            e.t > borders.back())
            borders.push_back(e.t);
    if (motion.end.t > borders.back()) borders.push_back(motion.end.t);
    std::vector<double> values(outputs.size()), x;
    for (const model::Outputs::Tracked& tracked : described.tracked) {
        const std::size_t index = tracked.output;
        const auto error = [&](double t, const double* state) {
            outputs.evaluate(t, Side::after, {state, n}, {state + n, n}, values);
            return std::abs(values[index]);
        };
        trajectory::Tracking follow;
        follow.coordinate = tracked.coordinate;
        std::size_t stretch = 0;
        for (std::size_t k = 0; k + 1 < borders.size(); ++k) follow.stretches.push_back({borders[k], borders[k + 1]});
        // Positions are continuous, so the error at an impact belongs to the stretches on both sides.
        for (const trajectory::Arc& arc : motion.arcs)
            for (const ode::Dense& step : arc.steps)
                for (const ode::StepPart part : ode::StepParts(step, arc.t_end)) {
                    x.resize(static_cast<std::size_t>(step.size()));
                    for (int k = 0; k <= samples_per_part; ++k) {
                        const double t =
                            k == samples_per_part ? part.to : part.from + (part.to - part.from) * k / samples_per_part;
                        step.evaluate(t, x.data());
                        while (stretch + 1 < follow.stretches.size() && t > follow.stretches[stretch].to) ++stretch;
                        trajectory::TrackingStretch& s = follow.stretches[stretch];
                        const double e = error(t, x.data());
                        if (e > s.largest) s.largest = e;
                        s.left = e;
                    }
                }
        for (trajectory::TrackingStretch& s : follow.stretches) {
            s.closes = s.left <= closed_error * s.largest;
            follow.largest = std::max(follow.largest, s.largest);
        }
        outputs.evaluate(motion.end.t, Side::after, motion.end.q, motion.end.u, values);
        follow.final = std::abs(values[index]);
        list.push_back(std::move(follow));
    }
    return list;
}

}  // namespace

trajectory::MotionSummary summarise(const model::Model& model, const trajectory::Trajectory& motion) {
    trajectory::MotionSummary summary;
    summary.impulse_rates = impulse_rates(model, motion);
    if (!model::has_outputs(model)) return summary;
    OutputCourse outputs(model, motion);
    summary.outputs = outputs.summary();
    if (!motion.arcs.empty()) summary.tracking = tracking(model, motion, outputs);
    return summary;
}

}  // namespace saltus::integrate
