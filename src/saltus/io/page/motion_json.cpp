// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string_view>

#include "saltus/io/page/detail/json_text.hpp"
#include "saltus/io/page/motion_view.hpp"
#include "saltus/model/description.hpp"
#include "saltus/model/drawing.hpp"
#include "saltus/model/model.hpp"

namespace saltus::io {

using trajectory::Event;
using trajectory::Trajectory;

namespace {

constexpr std::size_t first_events = 1000, last_events = 20;  // of a long list of events
constexpr std::size_t max_modes = 4000;                       // letters of a mode history; longer ones are left out

// Significant digits. Curves keep the 6 digits of JsonText, more than a screen shows.
constexpr int event_time_digits = 14;
constexpr int time_digits = 12;
constexpr int summary_digits = 12;  // energies, final state
constexpr int energy_digits = 10;   // before and after an event
constexpr int index_digits = 9;     // whole numbers, times of frames
constexpr int impact_digits = 8;    // impulses, jumps, works, constants of a drawing
constexpr int plane_digits = 5;     // grids and mass points
constexpr int error_digits = 3;

const char* kind_name(trajectory::ElementKind kind) {
    switch (kind) {
        case trajectory::ElementKind::contact: return "contact";
        case trajectory::ElementKind::constraint: return "constraint";
        case trajectory::ElementKind::slider: return "slider";
        case trajectory::ElementKind::clutch: return "clutch";
    }
    return "";
}

void strings(JsonText& j, const std::vector<std::string>& list) {
    j.open('[');
    for (const std::string& s : list) j.string(s);
    j.close(']');
}

void curves(JsonText& j, const char* key, const std::vector<Curve>& list) {
    j.key(key).open('[');
    for (const Curve& c : list) j.open('{').key("name").string(c.name).key("values").numbers(c.values).close('}');
    j.close(']');
}

void summary(JsonText& j, const Trajectory& t) {
    j.key("model").string(t.model).key("method").string(t.method).key("options").string(t.options);
    j.key("version").string(t.version).key("stepped").boolean(t.stepped);
    j.key("status").string(trajectory::to_string(t.status)).key("reason").string(t.reason);
    j.key("t_begin").number(t.start.t, time_digits).key("t_end").number(t.end.t, time_digits);
    j.key("coordinates");
    strings(j, t.coordinates);
    j.key("warnings");
    strings(j, t.warnings);
    j.key("balance").open('{');
    j.key("initial").number(t.energy.initial, summary_digits).key("final").number(t.energy.final, summary_digits);
    j.key("work")
        .number(t.energy.work, summary_digits)
        .key("error")
        .number(t.energy.balance_error, error_digits)
        .close('}');
    j.key("violation").open('{').key("gap").number(t.violation.gap, error_digits);
    j.key("constraint").number(t.violation.constraint, error_digits).close('}');
    j.key("steps").number(static_cast<double>(t.statistics.steps), summary_digits);
    j.key("end")
        .open('{')
        .key("q")
        .numbers(t.end.q, summary_digits)
        .key("u")
        .numbers(t.end.u, summary_digits)
        .close('}');
}

void event(JsonText& j, const Trajectory& t, const Event& e) {
    j.open('{').key("t").number(e.t, event_time_digits).key("kind").string(trajectory::to_string(e.kind));
    j.key("contacts").open('[');
    for (const int k : e.elements) j.string(t.elements[static_cast<std::size_t>(k)].name);
    j.close(']');
    double jump = 0.0;
    for (std::size_t i = 0; i < std::min(e.u_minus.size(), e.u_plus.size()); ++i)
        jump = std::max(jump, std::abs(e.u_plus[i] - e.u_minus[i]));
    j.key("jump").number(jump, impact_digits);
    if (!e.impulses.empty()) {
        j.key("work")
            .number(e.work, impact_digits)
            .key("energy")
            .open('[')
            .number(e.energy_before, energy_digits)
            .number(e.energy_after, energy_digits);
        j.close(']').key("impulses").open('[');
        for (const trajectory::Reaction& r : e.impulses) {
            if (r.N == 0.0 && std::all_of(r.T.begin(), r.T.end(), [](double x) { return x == 0.0; })) continue;
            j.open('{').key("name").string(t.elements[static_cast<std::size_t>(r.element)].name);
            j.key("N").number(r.N, impact_digits).key("T").numbers(r.T, impact_digits).close('}');
        }
        j.close(']');
        if (e.audit.created > 0.0) j.key("created").number(e.audit.created);
    }
    if (e.impacts > 0) j.key("impacts").number(e.impacts);
    if (!e.note.empty()) j.key("note").string(e.note);
    j.close('}');
}

/// The number of all events, by kind too, and the energy that they created. Of a long list only the first ones and the
/// last ones are written.
void events(JsonText& j, const Trajectory& t) {
    const std::size_t n = t.events.size();
    std::map<std::string, double> kinds;
    double created = 0.0;
    for (const Event& e : t.events) {
        kinds[std::string(trajectory::to_string(e.kind))] += 1.0;
        created += std::max(0.0, e.audit.created);
    }
    j.key("event_count").number(static_cast<double>(n), summary_digits).key("event_kinds").open('{');
    for (const auto& [kind, count] : kinds) j.key(kind).number(count, summary_digits);
    j.close('}').key("energy_created").number(created, energy_digits).key("events").open('[');
    for (std::size_t k = 0; k < n; ++k)
        if (k < first_events || k + last_events >= n) event(j, t, t.events[k]);
    j.close(']');
}

void forces(JsonText& j, const MotionView& v) {
    j.key("forces").open('[');
    for (const ForceCurves& f : v.forces) {
        j.open('{').key("name").string(f.name).key("kind").string(kind_name(f.kind));
        if (f.modes.size() <= max_modes) j.key("modes").string(f.modes);
        j.key("N").numbers(f.N.values).key("T").open('[');
        for (const Curve& c : f.T) j.numbers(c.values);
        j.close(']').close('}');
    }
    j.close(']');
}

/// The numbers of a drawing, each different one once. A number that never changes is written as such instead of as a
/// list. Returns for each number of the drawing its index in the written list.
std::vector<int> drawing_values(JsonText& j, const std::vector<Curve>& numbers) {
    std::map<std::string_view, int> known;  // by the bytes of the numbers: NaN is not less, equal or greater
    std::vector<int> index;
    j.key("values").open('[');
    for (const Curve& c : numbers) {
        const std::string_view bytes(reinterpret_cast<const char*>(c.values.data()), c.values.size() * sizeof(double));
        const auto [at, is_new] = known.emplace(bytes, static_cast<int>(known.size()));
        index.push_back(at->second);
        if (!is_new) continue;
        const bool moves = std::any_of(c.values.begin(), c.values.end(), [&](double x) { return x != c.values[0]; });
        if (moves)
            j.numbers(c.values);
        else
            j.number(c.values.empty() ? 0.0 : c.values[0], impact_digits);
    }
    j.close(']');
    return index;
}

/// The drawing: its numbers over time, and shapes and marks that refer to them by index.
void drawing(JsonText& j, const MotionView& v, const model::Drawing& d) {
    static const char* const kinds[] = {"segment", "spring", "circle", "polygon", "trace"};
    static const char* const styles[] = {"body", "ground", "line"};
    j.key("drawing").open('{').key("dimension").number(d.dimension);
    if (d.view) j.key("view").numbers(*d.view);
    const std::vector<int> index = drawing_values(j, v.drawing);
    const auto indices = [&](const char* key, const std::vector<int>& list) {
        j.key(key).open('[');
        for (const int k : list) j.number(index[static_cast<std::size_t>(k)], index_digits);
        j.close(']');
    };
    j.key("shapes").open('[');
    for (const model::Shape& s : d.shapes) {
        j.open('{').key("kind").string(kinds[static_cast<int>(s.kind)]);
        j.key("style").string(styles[static_cast<int>(s.style)]);
        indices("values", s.values);
        j.close('}');
    }
    j.close(']').key("contacts").open('[');
    for (const model::ContactMark& m : d.contacts) {
        j.open('{').key("name").string(m.contact);
        indices("at", m.at);
        indices("normal", m.normal);
        indices("tangent", m.tangent);
        j.close('}');
    }
    j.close(']');
    if (d.points > 0) {
        j.key("frames").numbers(v.frames, index_digits).key("points").open('[');
        for (const std::vector<double>& frame : v.points) j.numbers(frame, plane_digits);
        j.close(']').key("lines").open('[');
        for (const auto& line : d.lines)
            j.open('[').number(line[0], index_digits).number(line[1], index_digits).close(']');
        j.close(']').key("planes").open('[');
        for (const model::PlaneMark& p : d.planes) {
            j.open('{').key("name").string(p.name).key("normal").numbers(p.normal);
            j.key("offset").number(index[static_cast<std::size_t>(p.offset)], index_digits).close('}');
        }
        j.close(']');
    }
    j.close('}');
}

}  // namespace

std::string units_json(const model::Description& description) {
    std::vector<std::string> names;
    for (const model::Coordinate& c : description.q) names.push_back(c.name);
    const Units units = units_of(description, names);
    if (units.time.empty()) return {};
    JsonText j;
    j.open('{').key("time").string(units.time).key("length").string(units.length);
    j.key("force").string(units.force).key("energy").string(units.energy).key("q").open('{');
    for (std::size_t k = 0; k < names.size(); ++k) j.key(names[k]).string(units.q[k]);
    j.close('}').close('}');
    return std::move(j).text();
}

std::string motion_json(const MotionView& v, const model::Model* m) {
    const Trajectory& t = *v.trajectory;
    JsonText j;
    j.open('{');
    summary(j, t);
    if (!v.units.time.empty()) {
        j.key("units").open('{').key("time").string(v.units.time).key("length").string(v.units.length);
        j.key("force").string(v.units.force).key("energy").string(v.units.energy).key("q");
        strings(j, v.units.q);
        j.close('}');
    }
    j.key("t").numbers(v.t, time_digits).key("breaks").open('[');
    for (const std::size_t k : v.breaks) j.number(static_cast<double>(k), index_digits);
    j.close(']').key("arcs").numbers(v.arcs, time_digits).key("decimated").boolean(v.decimated);
    curves(j, "q", v.q);
    curves(j, "u", v.u);
    curves(j, "gaps", v.gaps);
    curves(j, "outputs", v.outputs);
    forces(j, v);
    curves(j, "energy", v.energy);
    curves(j, "work", t.stepped ? std::vector<Curve>{} : v.work);
    j.key("planes").open('[');
    for (const EnergyPlane& p : v.planes) {
        j.open('{').key("coordinate").number(p.coordinate).key("q").numbers(p.q).key("u").numbers(p.u);
        j.key("least").boolean(p.least);
        j.key("nq").number(p.nq).key("nu").number(p.nu).key("values").numbers(p.values, plane_digits).close('}');
    }
    j.close(']');
    events(j, t);
    if (m != nullptr && m->drawing != nullptr) drawing(j, v, *m->drawing);
    j.close('}');
    return std::move(j).text();
}

}  // namespace saltus::io
