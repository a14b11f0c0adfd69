// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/grazing.hpp"

#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/sensitivity/saltation/detail/directions.hpp"

namespace saltus::sensitivity {

namespace {

using trajectory::ElementKind;

constexpr double nothing = 1e-14;
/// Gaps and rates that small at the ends of a step are those of a contact that is closed, or has just been.
constexpr double noise = 1e-9;

struct Gap {
    double value = 0.0, rate = 0.0;
};

}  // namespace

NearMiss near_miss(Tangent& x, const integrate::RecordedArc& arc) {
    integrate::Dynamics& d = x.dynamics;
    if (d.compliant() || x.model().contacts.empty()) return {};
    std::vector<int> open;
    for (std::size_t i = 0; i < arc.mode.elements.size(); ++i)
        if (d.elements()[i].rows.kind == ElementKind::contact && !arc.mode.elements[i].active)
            open.push_back(static_cast<int>(i));
    if (open.empty()) return {};
    std::vector<double> state(ix(d.state_size()));
    const model::Pattern& W = x.model().layout().rows;
    const auto look = [&](const ode::Dense& step, double t) {
        step.evaluate(t, state.data());
        d.evaluate_terms(t, state.data());
    };
    const auto gap = [&](int element) {
        const int row = d.elements()[ix(element)].rows.normal;
        return Gap{d.terms().positions[ix(row)], d.row_velocity(row)};
    };
    std::vector<Gap> before(open.size()), after(open.size());
    for (const ode::Dense& step : arc.steps) {
        const double from = step.t_old(), to = std::min(step.t_new(), arc.t_end);
        if (&step == &arc.steps.front()) {
            look(step, from);
            for (std::size_t k = 0; k < open.size(); ++k) before[k] = gap(open[k]);
        }
        look(step, to);
        for (std::size_t k = 0; k < open.size(); ++k) after[k] = gap(open[k]);
        const std::span<const double> u(state.data() + d.size(), ix(d.size()));
        for (std::size_t k = 0; k < open.size(); ++k) {
            const int row = d.elements()[ix(open[k])].rows.normal;
            const double scale = d.position_scale(row, state.data());
            const double speed = model::row_scale(W, d.terms().W, row, u);
            const Gap &a = before[k], &b = after[k];
            const bool turns =
                a.rate < -noise * speed && b.rate > noise * speed && a.value > noise * scale && b.value > noise * scale;
            // The larger rate over the whole step would not close it.
            if (!turns || std::min(a.value, b.value) > (to - from) * std::max(-a.rate, b.rate)) continue;
            double left = from, right = to;
            Gap middle;
            for (int tries = 0; tries < 60 && left < right; ++tries) {
                const double t = 0.5 * (left + right);
                if (!(left < t && t < right)) break;
                look(step, t);
                middle = gap(open[k]);
                (middle.rate < 0.0 ? left : right) = t;
            }
            if (middle.value <= nothing * scale)
                return {left, "grazing: the gap of '" +
                                  x.model().contacts[ix(d.elements()[ix(open[k])].rows.index)].name +
                                  "' comes down to " + number_text(middle.value) + " and opens again"};
        }
        before.swap(after);
    }
    return {};
}

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
