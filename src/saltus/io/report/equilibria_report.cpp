// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/equilibria_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using namespace saltus::stability;
using json::Json;
using json::number;
using trajectory::ElementKind;
using trajectory::Reaction;

namespace {

constexpr double zero_position = 1e-14;             // |x| < this is shown as 0
constexpr Eigen::Index max_shown_coordinates = 12;  // of a position in the text
constexpr std::size_t max_separations = 4;          // of the text

std::string shown(double x) {
    if (std::isinf(x)) return x < 0.0 ? "-inf" : "inf";
    return fmt::format("{:.10g}", std::abs(x) < zero_position ? 0.0 : x + 0.0);
}

std::vector<std::string> closed_names(const Equilibria& e, const std::vector<char>& closed) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < closed.size(); ++i)
        if (closed[i] != 0) names.push_back(e.contacts[i]);
    return names;
}

Json by_coordinate(const Equilibria& e, const Vector& q) {
    return json::by_name(e.coordinates, {q.data(), ix(q.size())});
}

Json forces_json(const EquilibriaReport& r, const std::vector<Reaction>& forces) {
    Json j = Json::object();
    for (const Reaction& f : forces)
        j[r.elements[static_cast<std::size_t>(f.element)].name] = {{"N", number(f.N)}, {"T", json::numbers(f.T)}};
    return j;
}

/// The names of elements.
std::vector<std::string> names(const EquilibriaReport& r, const std::vector<int>& elements) {
    std::vector<std::string> list;
    for (const int k : elements) list.push_back(r.elements[static_cast<std::size_t>(k)].name);
    return list;
}

/// Why a set ends at a limit: "left slips, right closes".
std::string reason(const EquilibriaReport& r, const SetLimit& l) {
    std::vector<std::string> parts;
    for (const std::string& name : names(r, l.slips)) parts.push_back(name + " slips");
    for (const std::string& name : names(r, l.opens)) parts.push_back(name + " lifts off");
    for (const int i : l.closes) parts.push_back(r.equilibria.contacts[static_cast<std::size_t>(i)] + " closes");
    if (l.jams) parts.push_back("the forces grow without bound");
    std::string text;
    for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
    return text;
}

/// The local stability of a set. A point always has a verdict; other sets have one if no friction can act.
Json stability_json(const Equilibria& e, const EquilibriumSet& s) {
    if (!s.stability) {
        if (s.shape != SetShape::point) return nullptr;
        return {{"eigenvalues", Json::array()}, {"verdict", to_string(LocalVerdict::undecided)}};
    }
    const LocalStability& l = *s.stability;
    Json eigenvalues = Json::array(), modes = Json::array();
    for (const std::complex<double>& x : l.eigenvalues) eigenvalues.push_back({number(x.real()), number(x.imag())});
    for (Eigen::Index i = 0; i < l.stiffness.size(); ++i)
        modes.push_back({{"stiffness", number(l.stiffness(i))}, {"direction", by_coordinate(e, l.modes.col(i))}});
    return {{"eigenvalues", std::move(eigenvalues)},
            {"verdict", to_string(l.verdict)},
            {"morse_index", l.morse_index < 0 ? Json(nullptr) : Json(l.morse_index)},
            {"modes", std::move(modes)}};
}

/// The region of the proof by coordinate; null ends are unbounded. Null if nothing was examined.
Json region_json(const Equilibria& e) {
    const Completeness& c = e.completeness;
    if (c.region.empty()) return nullptr;
    Json region = Json::object();
    for (std::size_t i = 0; i < e.coordinates.size(); ++i)
        region[e.coordinates[i]] = {number(c.region[i].first), number(c.region[i].second)};
    return region;
}

/// {element: [least, greatest]}: the normal forces over all forces that hold a point.
Json ranges_json(const EquilibriaReport& r, const EquilibriumPoint& p) {
    Json ranges = Json::object();
    for (const EquilibriumPoint::Range& x : p.ranges)
        ranges[r.elements[static_cast<std::size_t>(x.element)].name] = {number(x.least), number(x.greatest)};
    return ranges;
}

Json set_json(const EquilibriaReport& r, std::size_t k) {
    const Equilibria& e = r.equilibria;
    const EquilibriumSet& s = e.sets[k];
    Json extent = Json::object(), around = Json::array(), boundary = Json::array(), limits = Json::array(),
         touches = Json::array();
    for (std::size_t i = 0; i < e.coordinates.size(); ++i) {
        const auto c = static_cast<Eigen::Index>(i);
        extent[e.coordinates[i]] = {number(s.lower(c)), number(s.upper(c))};
        if (s.around[i] != 0) around.push_back(e.coordinates[i]);
    }
    for (const Vector& q : s.boundary) boundary.push_back(by_coordinate(e, q));
    for (const SetLimit& l : s.limits) {
        Json closes = Json::array();
        for (const int i : l.closes) closes.push_back(e.contacts[static_cast<std::size_t>(i)]);
        limits.push_back({{"q", by_coordinate(e, l.q)},
                          {"slips", names(r, l.slips)},
                          {"lifts_off", names(r, l.opens)},
                          {"closes", std::move(closes)},
                          {"forces_unbounded", l.jams}});
    }
    for (const int other : s.touches) touches.push_back(Equilibria::label(static_cast<std::size_t>(other)));
    Json along = Json::array();
    if (k < r.along.size())
        for (const EquilibriumPoint& p : r.along[k])
            along.push_back({{"q", by_coordinate(e, p.q)},
                             {"forces", forces_json(r, p.forces)},
                             {"normal_ranges", ranges_json(r, p)}});
    return {{"label", Equilibria::label(k)},
            {"contacts_closed", closed_names(e, s.closed)},
            {"extent", std::move(extent)},
            {"contains_frictionless", s.contains_frictionless},
            {"exact", s.exact},
            {"dimension", s.dimension},
            {"shape", to_string(s.shape)},
            {"tolerance", s.exact ? Json(nullptr) : number(s.tolerance)},
            {"isolated", s.isolated},
            {"touches", std::move(touches)},
            {"around", std::move(around)},
            {"representative", by_coordinate(e, s.representative)},
            {"forces", forces_json(r, s.forces)},
            {"margin", number(s.margin)},
            {"frictionless", s.contains_frictionless ? by_coordinate(e, s.frictionless) : Json(nullptr)},
            {"potential", {number(s.potential_least), number(s.potential_greatest)}},
            {"stability", stability_json(e, s)},
            {"boundary", std::move(boundary)},
            {"limits", std::move(limits)},
            {"along", std::move(along)}};
}

Json point_json(const EquilibriaReport& r) {
    const EquilibriumPoint& p = *r.point;
    const Equilibria& e = r.equilibria;
    Json control = Json::object(), directions = Json::array();
    for (const auto& [name, force] : p.control) control[name] = number(force);
    for (const Separation& s : p.separations) {
        Json signs = Json::object();
        for (std::size_t k = 0; k < s.sign.size(); ++k)
            if (p.statics.elements[k].two_signed())
                signs[r.elements[static_cast<std::size_t>(p.statics.elements[k].element)].name] = s.sign[k];
        directions.push_back(
            {{"direction", by_coordinate(e, s.v)}, {"power", number(s.power)}, {"reaction_signs", std::move(signs)}});
    }
    Json set = nullptr, turns = Json::object();
    if (p.is_equilibrium)
        if (const auto m = member(e, {p.q.data(), ix(p.q.size())})) {
            set = Equilibria::label(static_cast<std::size_t>(m->set));
            for (std::size_t i = 0; i < m->turns.size(); ++i)
                if (e.periods[i] > 0.0) turns[e.coordinates[i]] = m->turns[i];
        }
    return {{"is_equilibrium", p.decided ? Json(p.is_equilibrium) : Json(nullptr)},
            {"forces", forces_json(r, p.forces)},
            {"q", by_coordinate(e, p.q)},
            {"completed", r.completed},
            {"contacts_closed", closed_names(e, p.closed)},
            {"margin", number(p.margin)},
            {"normal_ranges", ranges_json(r, p)},
            {"control", std::move(control)},
            {"hyperstatic", p.hyperstatic},
            {"self_stress", p.self_stress},
            {"defects", {{"balance", number(p.defects.balance)}, {"law", number(p.defects.law)}}},
            {"separating", std::move(directions)},
            {"set", std::move(set)},
            {"turns", std::move(turns)},
            {"reason", p.why.empty() ? Json(nullptr) : Json(p.why)}};
}

/// A line for each element with its forces.
std::string force_text(const EquilibriaReport& r, const std::vector<Reaction>& forces, const std::string& indent) {
    std::string text;
    for (const Reaction& f : forces) {
        const trajectory::Element& e = r.elements[static_cast<std::size_t>(f.element)];
        text += fmt::format("{}{:<18}", indent, e.name);
        if (e.kind != ElementKind::slider) text += " N " + shown(f.N);
        for (std::size_t i = 0; i < f.T.size(); ++i) text += (i == 0 ? " T " : ", ") + shown(f.T[i]);
        text += "\n";
    }
    return text;
}

std::string set_text(const EquilibriaReport& r, std::size_t k) {
    const Equilibria& e = r.equilibria;
    const EquilibriumSet& s = e.sets[k];
    const std::vector<std::string> closed = closed_names(e, s.closed);
    std::string text = fmt::format("  {:<4} {}{}, {}", Equilibria::label(k), to_string(s.shape),
                                   s.dimension > 1 ? fmt::format(" of dimension {}", s.dimension) : "",
                                   closed.empty() ? "no contact closed" : "closed: " + listing(closed, "and", "", 6));
    text += s.exact ? ", exact" : fmt::format(", to {:.0e}", s.tolerance);
    if (s.contains_frictionless) text += ", contains the frictionless equilibrium";
    text += "\n";
    for (std::size_t i = 0; i < e.coordinates.size(); ++i) {
        const auto c = static_cast<Eigen::Index>(i);
        text +=
            fmt::format("       {:<10} {}{}\n", e.coordinates[i],
                        s.lower(c) == s.upper(c) ? shown(s.lower(c)) : shown(s.lower(c)) + " .. " + shown(s.upper(c)),
                        s.around[i] != 0 ? "  (full circle)" : "");
    }
    if (s.stability) {
        text += fmt::format("       {}", to_string(s.stability->verdict));
        if (s.stability->morse_index >= 0) text += fmt::format(", Morse index {}", s.stability->morse_index);
        text += "\n";
    }
    if (!s.touches.empty()) {
        std::vector<std::string> list;
        for (const int other : s.touches) list.push_back(Equilibria::label(static_cast<std::size_t>(other)));
        text += "       touches " + listing(list) + "\n";
    }
    if (s.shape == SetShape::curve || s.shape == SetShape::interval)
        for (const SetLimit& l : s.limits)
            if (!reason(r, l).empty()) {
                text += "       ends where " + reason(r, l);
                for (Eigen::Index i = 0; i < l.q.size(); ++i)
                    if (s.lower(i) != s.upper(i)) text += fmt::format(", {} = {}", e.coordinates[ix(i)], shown(l.q(i)));
                text += "\n";
            }
    return text;
}

/// Whether sets may be missing, in one line.
std::string completeness_text(const Equilibria& e) {
    const Completeness& c = e.completeness;
    std::vector<std::string> bounds;
    for (std::size_t i = 0; i < c.region.size(); ++i)
        if (std::isfinite(c.region[i].first) || std::isfinite(c.region[i].second))
            bounds.push_back(e.coordinates[i] + " in " + shown(c.region[i].first) + " .. " + shown(c.region[i].second));
    const std::string where = bounds.empty() ? "" : " with " + listing(bounds);
    if (c.complete)
        return "  complete: it is proved that there are no other equilibria" + where +
               (c.resolution > 0.0 ? fmt::format(", to {:.1g} of 1 + |q|", c.resolution) : "") + "\n";
    if (c.region.empty()) return "  not proved to be complete: " + c.why + "\n";
    return fmt::format("  not proved to be complete{}: {} (undecided volume {:.3g})\n", where, c.why,
                       c.undecided_volume);
}

std::string point_text(const EquilibriaReport& r) {
    const EquilibriumPoint& p = *r.point;
    std::string text = "  point";
    for (Eigen::Index i = 0; i < p.q.size() && i < max_shown_coordinates; ++i)
        text += fmt::format("{} {} = {}", i == 0 ? "" : ",", r.equilibria.coordinates[ix(i)], shown(p.q(i)));
    if (p.q.size() > max_shown_coordinates) text += fmt::format(" and {} more", p.q.size() - max_shown_coordinates);
    text += "\n";
    if (!r.completed.empty()) text += "       chosen by the program: " + listing(r.completed) + "\n";
    if (p.is_equilibrium) {
        text += fmt::format("       an equilibrium, margin {:.3g}{}{}; forces that hold it\n", p.margin + 0.0,
                            p.hyperstatic > 0 ? fmt::format(", {} times hyperstatic", p.hyperstatic) : "",
                            p.self_stress ? ", self-stress possible without load" : "");
        text += force_text(r, p.forces, "         ");
        for (const auto& [name, force] : p.control)
            text += fmt::format("         control of {:<7} {}\n", name, shown(force));
        return text;
    }
    text += fmt::format("       {}: {}\n", p.decided ? "no equilibrium" : "undecided", p.why);
    for (std::size_t k = 0; k < std::min(max_separations, p.separations.size()); ++k) {
        text += "         direction";
        for (Eigen::Index i = 0; i < p.q.size() && i < max_shown_coordinates; ++i)
            text += fmt::format(" {} {}", r.equilibria.coordinates[ix(i)], shown(p.separations[k].v(i)));
        text += fmt::format(", power at least {:.6g}\n", p.separations[k].power);
    }
    return text;
}

}  // namespace

std::string equilibria_text(const EquilibriaReport& r) {
    const Equilibria& e = r.equilibria;
    std::string text = e.model + "\n";
    if (e.status == SearchStatus::searched || !e.sets.empty())
        text += fmt::format("  {} found\n", counted(e.sets.size(), "equilibrium set"));
    for (std::size_t k = 0; k < e.sets.size(); ++k) text += set_text(r, k);
    std::vector<std::string> periodic;
    for (std::size_t i = 0; i < e.periods.size(); ++i)
        if (e.periods[i] > 0.0) periodic.push_back(e.coordinates[i] + " by " + shown(e.periods[i]));
    if (!periodic.empty() && !e.sets.empty())
        text += "  each set stands for its copies, shifted in " + listing(periodic) + "\n";
    if (e.status == SearchStatus::searched || !e.sets.empty()) text += completeness_text(e);
    if (r.point) text += point_text(r);
    for (const std::string& w : e.warnings) text += "  warning " + w + "\n";
    for (const std::string& w : r.warnings) text += "  warning " + w + "\n";
    if (r.written) text += "  certificate " + written_text(*r.written) + "\n";
    return text;
}

std::string equilibria_json(const EquilibriaReport& r, Timing timing) {
    const Equilibria& e = r.equilibria;
    Json sets = Json::array(), periods = Json::object();
    for (std::size_t k = 0; k < e.sets.size(); ++k) sets.push_back(set_json(r, k));
    for (std::size_t i = 0; i < e.periods.size(); ++i)
        if (e.periods[i] > 0.0) periods[e.coordinates[i]] = e.periods[i];
    std::vector<std::string> warnings = e.warnings;
    warnings.insert(warnings.end(), r.warnings.begin(), r.warnings.end());
    Json j{{"model", e.model},
           {"status", to_string(e.status)},
           {"time", e.time},
           {"complete", e.completeness.complete},
           {"region", region_json(e)},
           {"undecided_volume", number(e.completeness.undecided_volume)},
           {"resolution", number(e.completeness.resolution)},
           {"incomplete_because", e.completeness.why.empty() ? Json(nullptr) : Json(e.completeness.why)},
           {"sets", std::move(sets)},
           {"periods", std::move(periods)}};
    if (r.point) j["point"] = point_json(r);
    j["warnings"] = std::move(warnings);
    if (r.written) j["certificate"] = json::written_certificate(*r.written);
    j["statistics"] = {{"combinations", e.combinations},
                       {"starts", e.starts},
                       {"programs", e.programs},
                       {"boxes", e.completeness.boxes}};
    if (timing == Timing::included) j["statistics"]["seconds"] = number(r.seconds);
    return json::document(j);
}

std::string sets_csv(const EquilibriaReport& r) {
    const Equilibria& e = r.equilibria;
    Csv csv;
    csv.cell("set").cell("closed").cell("shape").cell("dimension").cell("exact").cell("contains_frictionless");
    for (const std::string& c : e.coordinates) csv.cell(c + " least").cell(c + " greatest");
    csv.cell("potential least").cell("potential greatest").end_line();
    for (std::size_t k = 0; k < e.sets.size(); ++k) {
        const EquilibriumSet& s = e.sets[k];
        std::string closed;
        for (const std::string& name : closed_names(e, s.closed)) closed += (closed.empty() ? "" : " + ") + name;
        csv.cell(Equilibria::label(k)).cell(closed).cell(std::string(to_string(s.shape)));
        csv.cell(std::to_string(s.dimension)).cell(s.exact ? "1" : "0").cell(s.contains_frictionless ? "1" : "0");
        for (Eigen::Index i = 0; i < s.lower.size(); ++i) csv.cell(s.lower(i)).cell(s.upper(i));
        csv.cell(s.potential_least).cell(s.potential_greatest).end_line();
    }
    return std::move(csv).text();
}

std::string boundary_csv(const EquilibriaReport& r) {
    const Equilibria& e = r.equilibria;
    Csv csv;
    csv.cell("set").cell("what");
    for (const std::string& c : e.coordinates) csv.cell(c);
    csv.end_line();
    const auto line = [&](std::size_t k, const char* what, const Vector& q) {
        csv.cell(Equilibria::label(k)).cell(what);
        for (Eigen::Index i = 0; i < q.size(); ++i) csv.cell(q(i));
        csv.end_line();
    };
    for (std::size_t k = 0; k < e.sets.size(); ++k) {
        for (const Vector& q : e.sets[k].boundary) line(k, "boundary", q);
        for (const Vector& q : e.sets[k].samples) line(k, "inside", q);
    }
    return std::move(csv).text();
}

}  // namespace saltus::io
