// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/simulate_report.hpp"
#include "saltus/io/results/detail/trajectory_stream.hpp"
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

/// The reactions of the given elements at an event, 0 for those that did not take part.
void reaction_cells(const Trajectory& t, const std::vector<std::size_t>& elements,
                    const std::vector<Reaction>& reactions, Csv& csv) {
    for (const std::size_t k : elements) {
        const Element& e = t.elements[k];
        Reaction sum{static_cast<int>(k), 0.0, std::vector<double>(static_cast<std::size_t>(e.tangential))};
        for (const Reaction& r : reactions) {
            if (r.element != sum.element) continue;
            sum.N += r.N;
            for (std::size_t i = 0; i < std::min(r.T.size(), sum.T.size()); ++i) sum.T[i] += r.T[i];
        }
        if (has_normal(e)) csv.cell(sum.N);
        csv.cells(sum.T, sum.T.size());
    }
}

/// The state of a motion by time-stepping (detail/trajectory_stream.hpp).
State stepped_state(const Trajectory& t, double at) {
    for (const Arc& arc : t.arcs) {
        const auto step = std::lower_bound(arc.steps.begin(), arc.steps.end(), at,
                                           [](const ode::Dense& d, double s) { return d.t_new() < s; });
        if (step == arc.steps.end()) continue;
        if (belongs_to_step_before(at, step->t_old(), step->t_new()) && step->t_old() >= t.start.t)
            return t.left(step->t_old());
        break;
    }
    return t.left(at);
}

StateSource source_of(const Trajectory& t) {
    return {t.events.size(), [&t](std::uint64_t k) { return t.events[static_cast<std::size_t>(k)]; }, !t.arcs.empty(),
            [&t](double at) { return t.stepped ? stepped_state(t, at) : t.right(at); }};
}

/// Calls `line(t, side, q, u)` for equidistant times and for both sides of each event, in order of time. `t` has both
/// ends of the motion.
template <class Line>
void for_each_state(const Trajectory& t, const StateSource& source, int samples, Line line) {
    using integrate::Side;
    // The next event that has no lines yet. Time-stepping has no lines of events.
    std::uint64_t next = t.stepped ? source.events : 0;
    Event event;
    if (next < source.events) event = source.event(next);
    std::vector<Event> events;  // at one time
    double last = t.start.t - 1.0;
    for (int k = 0; k < samples; ++k) {
        const bool inside = k > 0 && k + 1 < samples;
        if (inside && !source.has_arcs) continue;
        const double at = t.sample_time(k, samples - 1);
        while (next < source.events && event.t <= at) {
            last = event.t;
            for (events.clear(); next < source.events && event.t == last;) {
                events.push_back(std::exchange(event, {}));
                if (++next < source.events) event = source.event(next);
            }
            integrate::for_each_state_of(events, t.start.t, line);
        }
        if (at == last) continue;  // the lines of an event have this time already
        const State s = k == 0 ? t.start : (inside ? source.state(at) : t.end);
        line(at, Side::after, s.q, s.u);
        last = at;
    }
}

std::vector<std::size_t> all_elements(const Trajectory& t) {
    std::vector<std::size_t> all(t.elements.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

}  // namespace

void LateEventColumns::add(const Event& e) {
    for (const Reaction& r : e.rate_jumps) rate_jumps.insert(r.element);
    positions = positions || !e.q_plus.empty();
}

std::string events_csv_head(const Trajectory& t, const LateEventColumns& late) {
    Csv csv;
    csv.cells({"t", "kind", "contacts", "work", "energy_before", "energy_after", "impacts", "note"});
    for (const char* const suffix : {"", "'-", "'+"})
        for (const std::string& x : t.coordinates) csv.cell(x + suffix);
    reaction_columns(t, all_elements(t), "Lambda", csv);
    reaction_columns(t, {late.rate_jumps.begin(), late.rate_jumps.end()}, "rate jump lambda", csv);
    if (late.positions)
        for (const std::string& x : t.coordinates) csv.cell(x + "+");
    csv.end_line();
    return std::move(csv).text();
}

std::string events_csv_cells(const Trajectory& t, const Event& e) {
    const std::size_t n = t.coordinates.size();
    Csv csv;
    csv.cell(e.t).cell(std::string(to_string(e.kind))).cell(names_of(t, e));
    csv.cell(e.work).cell(e.energy_before).cell(e.energy_after).cell(e.impacts).cell(e.note);
    csv.cells(e.q, n).cells(e.u_minus, n).cells(e.u_plus, n);
    reaction_cells(t, all_elements(t), e.impulses, csv);
    return std::move(csv).text();
}

std::string events_csv_late_cells(const Trajectory& t, const LateEventColumns& late, const Event& e) {
    Csv csv;
    reaction_cells(t, {late.rate_jumps.begin(), late.rate_jumps.end()}, e.rate_jumps, csv);
    if (late.positions) csv.cells(e.q_plus.empty() ? e.q : e.q_plus, t.coordinates.size());
    std::string cells = std::move(csv).text();
    return (cells.empty() ? "" : ",") + cells + "\n";
}

std::string events_csv(const Trajectory& t) {
    LateEventColumns late;
    for (const Event& e : t.events) late.add(e);
    std::string text = events_csv_head(t, late);
    for (const Event& e : t.events) text += events_csv_cells(t, e) + events_csv_late_cells(t, late, e);
    return text;
}

std::string balance_csv_head() {
    Csv csv;
    csv.cells(
        {"t", "V", "damping", "friction", "springs", "impact_friction", "impact_restitution", "applied", "driven"});
    csv.end_line();
    return std::move(csv).text();
}

std::string balance_csv_lines(const trajectory::LyapunovBalance& b) {
    Csv csv;
    for (std::size_t k = 0; k < b.size(); ++k) {
        for (const std::vector<double>* const column :
             {&b.t, &b.V, &b.damping, &b.friction, &b.springs, &b.impact_friction, &b.impact_restitution, &b.applied,
              &b.driven})
            csv.cell((*column)[k]);
        csv.end_line();
    }
    return std::move(csv).text();
}

std::string balance_csv(const trajectory::LyapunovBalance& b) { return balance_csv_head() + balance_csv_lines(b); }

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
    for_each_state(t, source_of(t), samples,
                   [&](double at, integrate::Side side, const std::vector<double>& q, const std::vector<double>& u) {
                       outputs.evaluate(at, side, q, u, values);
                       curves.t.push_back(at);
                       for (std::size_t k = 0; k < values.size(); ++k) curves.values[k].push_back(values[k]);
                   });
    return curves;
}

void states_csv(const Trajectory& t, const StateSource& source, int samples, const TakeText& take,
                const OutputCurves* outputs) {
    SALTUS_EXPECT(samples >= 2);
    const std::size_t n = t.coordinates.size();
    Csv csv;
    csv.cell(std::string("t"));
    for (const std::string& x : t.coordinates) csv.cell(x);
    for (const std::string& x : t.coordinates) csv.cell(x + "'");
    for (std::size_t k = 0; outputs != nullptr && k < outputs->names.size(); ++k) csv.cell(outputs->names[k]);
    csv.end_line();
    take(csv.take());
    std::size_t row = 0;
    for_each_state(t, source, samples,
                   [&](double at, integrate::Side, const std::vector<double>& q, const std::vector<double>& u) {
                       csv.cell(at).cells(q, n).cells(u, n);
                       for (std::size_t k = 0; outputs != nullptr && k < outputs->values.size(); ++k)
                           csv.cell_if_finite(outputs->values[k][row]);
                       csv.end_line();
                       take(csv.take());
                       ++row;
                   });
}

std::string states_csv(const Trajectory& t, int samples, const OutputCurves* outputs) {
    std::string text;
    states_csv(
        t, source_of(t), samples, [&](std::string_view piece) { text += piece; }, outputs);
    return text;
}

}  // namespace saltus::io
