// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/grazing.hpp"

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/sensitivity/saltation/detail/directions.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::ElementKind;

/// A gap grazes if its minimum is at most this · (scale of the positions).
constexpr double grazing_gap_ratio = 1e-14;
/// Gaps and rates at the ends of a step below this · (their scale) belong to a contact that is closed, or has just
/// lifted off: |g| ≤ this · (scale of the positions), |ġ| ≤ this · (scale of the velocities).
constexpr double noise_ratio = 1e-9;
/// Bisections of a step; more do not change a double.
constexpr int max_bisections = 60;

struct Gap {
    double value = 0.0, rate = 0.0;
};

/// Evaluates gaps along a motion.
class OpenGaps {
public:
    explicit OpenGaps(integrate::Dynamics& dynamics) : d_(dynamics), state_(ix(d_.state_size())) {}

    void look(const ode::Dense& step, double t) {
        step.evaluate(t, state_.data());
        d_.evaluate_terms(t, state_.data());
    }
    /// The gap of an element at the last look.
    Gap gap(int element) const {
        const int row = row_of(element);
        return {d_.terms().positions[ix(row)], d_.row_velocity(row)};
    }
    int row_of(int element) const { return d_.elements()[ix(element)].rows.normal; }
    const std::vector<double>& state() const { return state_; }

private:
    integrate::Dynamics& d_;
    std::vector<double> state_;
};

/// The minimum of a gap in a step of which the rate is negative at `from` and positive at `to`, by bisection of the
/// rate. Returns its time (from below) and the gap at the last look.
std::pair<double, Gap> minimum_of(OpenGaps& gaps, int element, const ode::Dense& step, double from, double to) {
    double left = from, right = to;
    Gap middle;
    for (int tries = 0; tries < max_bisections && left < right; ++tries) {
        const double t = 0.5 * (left + right);
        if (!(left < t && t < right)) break;
        gaps.look(step, t);
        middle = gaps.gap(element);
        (middle.rate < 0.0 ? left : right) = t;
    }
    return {left, middle};
}

}  // namespace

NearMiss near_miss(Tangent& x, const integrate::RecordedArc& arc) {
    integrate::Dynamics& d = x.dynamics;
    if (d.compliant() || x.model().contacts.empty()) return {};
    std::vector<int> open;
    for (std::size_t i = 0; i < arc.mode.elements.size(); ++i)
        if (d.elements()[i].rows.kind == ElementKind::contact && !arc.mode.elements[i].active)
            open.push_back(static_cast<int>(i));
    if (open.empty()) return {};
    OpenGaps gaps(d);
    const model::Pattern& W = x.model().layout().rows;
    std::vector<Gap> before(open.size()), after(open.size());
    for (std::size_t number = 0; number < arc.steps.size(); ++number) {
        const ode::Dense& step = arc.steps[number];
        if (number == 0) {
            gaps.look(step, step.t_old());
            for (std::size_t k = 0; k < open.size(); ++k) before[k] = gaps.gap(open[k]);
        }
        for (const auto [from, to] : ode::StepParts(step, arc.t_end)) {
            gaps.look(step, to);
            for (std::size_t k = 0; k < open.size(); ++k) after[k] = gaps.gap(open[k]);
            const std::span<const double> u(gaps.state().data() + d.size(), ix(d.size()));
            for (std::size_t k = 0; k < open.size(); ++k) {
                const int row = gaps.row_of(open[k]);
                const double scale = d.position_scale(row, gaps.state().data());
                const double speed = model::row_scale(W, d.terms().W, row, u);
                const Gap &a = before[k], &b = after[k];
                const bool turns = a.rate < -noise_ratio * speed && b.rate > noise_ratio * speed &&
                                   a.value > noise_ratio * scale && b.value > noise_ratio * scale;
                // A gap that does not close even with the larger rate over the whole step needs no bisection.
                if (!turns || std::min(a.value, b.value) > (to - from) * std::max(-a.rate, b.rate)) continue;
                const auto [t, minimum] = minimum_of(gaps, open[k], step, from, to);
                if (minimum.value <= grazing_gap_ratio * scale)
                    return {t, "grazing: the gap of '" +
                                   x.model().contacts[ix(d.elements()[ix(open[k])].rows.index)].name +
                                   "' comes down to " + number_text(minimum.value) + " and opens again"};
            }
            before.swap(after);
        }
    }
    return {};
}

// With a gap g > 0 and the rate ġ < 0 at the end, the impact would come g/|ġ| after the end. It is imminent if the time
// g/|ġ| before the end could not be distinguished from the end. Its δt is that of the condition g = 0 (saltation.cpp):
// δt = −∂g/ġ.
Matrix imminent(Tangent& x, const integrate::RecordedArc& arc, const trajectory::Trajectory& motion) {
    integrate::Dynamics& d = x.dynamics;
    Matrix out(0, x.columns());
    if (d.compliant() || arc.steps.empty()) return out;
    std::vector<double> state(ix(d.state_size()));
    arc.steps.back().evaluate(arc.t_end, state.data());
    d.evaluate_terms(arc.t_end, state.data());
    Matrix position;
    for (std::size_t i = 0; i < d.elements().size(); ++i) {
        const integrate::ElementLayout& e = d.elements()[i];
        if (e.rows.kind != ElementKind::contact || arc.mode.elements[i].active) continue;
        const double gap = d.terms().positions[ix(e.rows.normal)], rate = d.row_velocity(e.rows.normal);
        if (!(rate < 0.0) || !falls_on_end(arc.t_end + gap / rate, motion)) continue;
        if (position.size() == 0)
            x.linearised.gather(model::Function::position, arc.t_end, state.data(), {}, {}, position);
        out.conservativeResize(out.rows() + 1, Eigen::NoChange);
        out.bottomRows(1) = -position.row(e.rows.normal) / rate;
    }
    return out;
}

}  // namespace saltus::sensitivity
