// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "saltus/base/error.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"

namespace saltus::io {

using namespace saltus::trajectory;

namespace {

std::string names_of(const Trajectory& t, const Event& e) {
    std::string text;
    for (const int k : e.elements) text += (text.empty() ? "" : ";") + t.elements[static_cast<std::size_t>(k)].name;
    return text;
}

bool has_normal(const Element& e) { return e.kind != ElementKind::slider; }

using Reactions = std::vector<Reaction> Event::*;

/// Columns of one kind of reactions for the given elements.
void reaction_columns(const Trajectory& t, const std::vector<std::size_t>& elements, const std::string& symbol,
                      Csv& csv) {
    for (const std::size_t number : elements) {
        const Element& e = t.elements[number];
        if (has_normal(e)) csv.cell(symbol + "N " + e.name);
        for (int k = 0; k < e.tangential; ++k)
            csv.cell(symbol + "T" + (e.tangential > 1 ? std::to_string(k + 1) : "") + " " + e.name);
    }
}

/// The elements whose rates of reactions jump at some event.
std::vector<std::size_t> elements_with_rate_jumps(const Trajectory& t) {
    std::vector<std::size_t> list;
    for (const Event& e : t.events)
        for (const Reaction& r : e.rate_jumps) list.push_back(static_cast<std::size_t>(r.element));
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
}

/// The reactions of the given elements at an event, 0 for those that did not take part.
void reaction_cells(const Trajectory& t, const std::vector<std::size_t>& elements, const Event& event,
                    Reactions reactions, Csv& csv) {
    for (const std::size_t k : elements) {
        const Element& e = t.elements[k];
        Reaction sum{static_cast<int>(k), 0.0, std::vector<double>(static_cast<std::size_t>(e.tangential))};
        for (const Reaction& r : event.*reactions) {
            if (r.element != sum.element) continue;
            sum.N += r.N;
            for (std::size_t i = 0; i < std::min(r.T.size(), sum.T.size()); ++i) sum.T[i] += r.T[i];
        }
        if (has_normal(e)) csv.cell(sum.N);
        csv.cells(sum.T, sum.T.size());
    }
}

/// The state of a motion by time-stepping, which is a pair (q, u) at the ends of the steps. The velocity between two
/// ends is that of the later one. A time that rounding has moved past the end of a step belongs to that end.
State stepped_state(const Trajectory& t, double at) {
    constexpr double rounding_of_time = 1e-9;  // relative to the length of the step
    for (const Arc& arc : t.arcs) {
        const auto step = std::lower_bound(arc.steps.begin(), arc.steps.end(), at,
                                           [](const ode::Dense& d, double s) { return d.t_new() < s; });
        if (step == arc.steps.end()) continue;
        const bool at_end_before = at - step->t_old() <= rounding_of_time * (step->t_new() - step->t_old());
        if (at_end_before && step->t_old() >= t.start.t) return t.left(step->t_old());
        break;
    }
    return t.left(at);
}

/// Calls `line(t, side, q, u)` for equidistant times and for both sides of each event, in order of time.
template <class Line>
void for_each_state(const Trajectory& t, int samples, Line line) {
    using integrate::Side;
    std::size_t next = t.stepped ? t.events.size() : 0;  // the first event that has no lines yet
    double last = t.start.t - 1.0;
    for (int k = 0; k < samples; ++k) {
        const bool inside = k > 0 && k + 1 < samples;
        if (inside && t.arcs.empty()) continue;
        const double at = t.sample_time(k, samples - 1);
        for (; next < t.events.size() && t.events[next].t <= at; ++next) {
            const Event& e = t.events[next];
            line(e.t, Side::before, e.q, e.u_minus);
            line(e.t, Side::after, e.q, e.u_plus);
            last = e.t;
        }
        if (at == last) continue;  // the lines of an event have this time already
        const State s = k == 0 ? t.start : (inside ? (t.stepped ? stepped_state(t, at) : t.right(at)) : t.end);
        line(at, Side::after, s.q, s.u);
        last = at;
    }
}

}  // namespace

std::string events_csv(const Trajectory& t) {
    const std::size_t n = t.coordinates.size();
    Csv csv;
    csv.cells({"t", "kind", "contacts", "work", "energy_before", "energy_after", "impacts", "note"});
    for (const char* const suffix : {"", "'-", "'+"})
        for (const std::string& x : t.coordinates) csv.cell(x + suffix);
    std::vector<std::size_t> all(t.elements.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const std::vector<std::size_t> kinked = elements_with_rate_jumps(t);
    reaction_columns(t, all, "Lambda", csv);
    reaction_columns(t, kinked, "rate jump lambda", csv);
    csv.end_line();
    for (const Event& e : t.events) {
        csv.cell(e.t).cell(std::string(to_string(e.kind))).cell(names_of(t, e));
        csv.cell(e.work).cell(e.energy_before).cell(e.energy_after).cell(e.impacts).cell(e.note);
        csv.cells(e.q, n).cells(e.u_minus, n).cells(e.u_plus, n);
        reaction_cells(t, all, e, &Event::impulses, csv);
        reaction_cells(t, kinked, e, &Event::rate_jumps, csv);
        csv.end_line();
    }
    return std::move(csv).text();
}

std::string balance_csv(const trajectory::LyapunovBalance& b) {
    Csv csv;
    csv.cells(
        {"t", "V", "damping", "friction", "springs", "impact_friction", "impact_restitution", "applied", "driven"});
    csv.end_line();
    for (std::size_t k = 0; k < b.size(); ++k) {
        for (const std::vector<double>* const column :
             {&b.t, &b.V, &b.damping, &b.friction, &b.springs, &b.impact_friction, &b.impact_restitution, &b.applied,
              &b.driven})
            csv.cell((*column)[k]);
        csv.end_line();
    }
    return std::move(csv).text();
}

OutputCurves output_curves(const Trajectory& t, int samples, integrate::OutputCourse& outputs,
                           const model::Model& model) {
    SALTUS_EXPECT(samples >= 2);
    OutputCurves curves;
    for (const model::Output& o : model.outputs->list) {
        curves.names.push_back(o.name);
        curves.units.push_back(o.unit);
    }
    curves.values.resize(outputs.size());
    std::vector<double> values(outputs.size());
    for_each_state(t, samples,
                   [&](double at, integrate::Side side, const std::vector<double>& q, const std::vector<double>& u) {
                       outputs.evaluate(at, side, q, u, values);
                       curves.t.push_back(at);
                       for (std::size_t k = 0; k < values.size(); ++k) curves.values[k].push_back(values[k]);
                   });
    return curves;
}

std::string states_csv(const Trajectory& t, int samples, const OutputCurves* outputs) {
    SALTUS_EXPECT(samples >= 2);
    const std::size_t n = t.coordinates.size();
    Csv csv;
    csv.cell(std::string("t"));
    for (const std::string& x : t.coordinates) csv.cell(x);
    for (const std::string& x : t.coordinates) csv.cell(x + "'");
    for (std::size_t k = 0; outputs != nullptr && k < outputs->names.size(); ++k) csv.cell(outputs->names[k]);
    csv.end_line();
    std::size_t row = 0;
    for_each_state(t, samples,
                   [&](double at, integrate::Side, const std::vector<double>& q, const std::vector<double>& u) {
                       csv.cell(at).cells(q, n).cells(u, n);
                       for (std::size_t k = 0; outputs != nullptr && k < outputs->values.size(); ++k)
                           csv.cell_if_finite(outputs->values[k][row]);
                       csv.end_line();
                       ++row;
                   });
    return std::move(csv).text();
}

}  // namespace saltus::io
