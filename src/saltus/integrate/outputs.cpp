// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/outputs.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/integrate/extremes.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"

namespace saltus::integrate {

using model::ElementQuantity;

namespace {

constexpr int samples_per_part = 8;  // of a part of a step, of errors that are tracked

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
    if (!motion.arcs.empty() && motion.arcs.back().t_begin < motion.end.t)
        for (auto e = motion.events.rbegin(); e != motion.events.rend() && e->t == motion.end.t; ++e)
            changed_at_end_ = changed_at_end_ || changes_state(*e);
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
        const bool at_changed_end = side == Side::after && t == motion_.end.t && changed_at_end_;
        const bool on_arc = arc != no_arc && side != Side::between && !at_changed_end;
        if (forces_ && on_arc) enter(arc);
        std::copy(q.begin(), q.end(), x_.begin());
        std::copy(u.begin(), u.end(), x_.begin() + static_cast<std::ptrdiff_t>(q.size()));
        course_->evaluate(t, x_.data(), forces_ && on_arc ? Course::Forces::yes : Course::Forces::no);
        const std::vector<trajectory::Reaction>* forces = nullptr;
        if (on_arc && course_->has_reactions()) forces = &course_->reactions();
        // No arc follows a change at the end, but the motion has the forces in the mode after it.
        if (at_changed_end && motion_.forces.size() == motion_.elements.size()) forces = &motion_.forces;
        std::size_t impulse = 0;
        for (std::size_t k = 0; k < quantities_.size(); ++k) {
            const ElementQuantity& quantity = outputs.quantities[k];
            const auto e = static_cast<std::size_t>(quantity.element);
            switch (quantity.what) {
                case What::gap: quantities_[k] = course_->gaps()[e]; break;
                case What::force: quantities_[k] = forces != nullptr ? (*forces)[e].N : nan; break;
                case What::friction:
                    quantities_[k] =
                        forces != nullptr ? (*forces)[e].T[static_cast<std::size_t>(quantity.component) - 1] : nan;
                    break;
                case What::impulse: quantities_[k] = running[impulse++]; break;
            }
        }
    }
    outputs.evaluate(t, q, u, quantities_, out);
}

std::vector<trajectory::OutputSummary> OutputCourse::summary() {
    const std::vector<ExtremeValues> extremes =
        extreme_values(motion_, size(),
                       [&](double t, Side side, std::span<const double> q, std::span<const double> u,
                           std::span<double> out) { evaluate(t, side, q, u, out); });
    std::vector<trajectory::OutputSummary> list;
    for (std::size_t k = 0; k < size(); ++k) {
        const model::Output& o = outputs_.list[k];
        const ExtremeValues& e = extremes[k];
        list.push_back({o.name, o.unit, e.final, e.lowest, e.highest, e.lowest_at, e.highest_at});
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
