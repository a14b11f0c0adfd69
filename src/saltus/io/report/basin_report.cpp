// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/basin_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/ensemble/label_shape.hpp"
#include "saltus/ensemble/statistics.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/report/ensemble/ensemble_report.hpp"

namespace saltus::io {

using json::Json;
using json::number;
using stability::Admission;
using stability::Basin;
using stability::BasinLabel;
using stability::Fate;
using stability::RestSet;

namespace {

constexpr std::size_t max_boundary_points = 24;  // of the text
constexpr std::size_t max_coordinates = 8;       // of an extent in the text
constexpr double point_extent = 1e-9;  // high − low ≤ this·(1 + |low|): the extent is shown as one number
constexpr double shown_zero = 1e-12;   // a single number with |x| < this is rounding residue of 0

/// Times of rest, capture or repetition of the motions with one label.
struct Times {
    std::size_t count = 0;
    double mean = 0.0, median = 0.0, largest = 0.0;
};

/// For each label. The motions are read from beginning to end several times, and not kept.
std::vector<Times> times(const Basin& b) {
    std::vector<ensemble::Moments> moments(b.labels.size());
    const auto scan = [&](const std::function<void(std::size_t, double)>& take) {
        ensemble::Labels::Reader label(b.label);
        b.record.scan(0, b.base, [&](std::size_t k, const stability::BasinMotion& m) {
            const auto l = static_cast<std::size_t>(label.at(k));
            if (b.labels[l].set >= 0 || b.labels[l].orbit >= 0) take(l, m.t);
        });
    };
    scan([&](std::size_t label, double t) { moments[label].add(t); });
    std::vector<std::size_t> middle;
    for (const ensemble::Moments& m : moments) middle.push_back(m.count() > 0 ? m.count() / 2 : ensemble::no_place);
    const std::vector<double> median = ensemble::select(middle, scan);
    std::vector<Times> list;
    for (std::size_t k = 0; k < moments.size(); ++k)
        list.push_back({moments[k].count(), moments[k].mean(), median[k], moments[k].highest()});
    return list;
}

/// "x = 1, y in [0, 2], z any" (a set that has no bounds in z)
std::string extent_text(const BasinReport& r, const std::vector<double>& low, const std::vector<double>& high) {
    std::string text;
    for (std::size_t i = 0; i < r.coordinates.size() && i < max_coordinates; ++i) {
        text += (i > 0 ? ", " : "") + r.coordinates[i];
        if (!std::isfinite(low[i]) && !std::isfinite(high[i])) {
            text += " any";
            continue;
        }
        const double middle = 0.5 * (low[i] + high[i]);
        if (high[i] - low[i] <= point_extent * (1.0 + std::abs(low[i])))
            text += fmt::format(" = {:.6g}", std::abs(middle) < shown_zero ? 0.0 : middle);
        else
            text += fmt::format(" in [{:.6g}, {:.6g}]", low[i], high[i]);
    }
    return text;
}

std::string axes_text(const BasinReport& r) {
    std::string text;
    for (const ensemble::Axis& a : r.options.starts.axes) {
        if (!text.empty()) text += r.sampled() ? ", " : " x ";
        if (a.normal) {
            text += a.name + " normal, mean " + number_text(a.normal->mean) + ", deviation " +
                    number_text(a.normal->deviation);
            continue;
        }
        text += a.name + " = " + number_text(a.from);
        if (a.n > 1 || r.sampled()) text += " to " + number_text(a.to);
        if (a.n > 1 && !r.sampled()) text += " (" + std::to_string(a.n) + ")";
    }
    return text;
}

/// A table: how many starts have each label, with the 95 % confidence interval of the share.
std::string labels_text(const BasinReport& r) {
    const Basin& b = r.basin;
    std::size_t width = 9;
    for (const BasinLabel& l : b.labels) width = std::max(width, l.text.size());
    std::string text = fmt::format("    {:>3} {:<{}} {:>9} {:>8}  {:<19} {:>10} {:>10}\n", "", "label", width,
                                   "motions", "share", "95 % of the share", "median t", "largest t");
    const std::vector<Times> when = times(b);
    for (std::size_t k = 0; k < b.labels.size(); ++k) {
        const BasinLabel& l = b.labels[k];
        if (l.count == 0 && k > 0 && l.set < 0 && l.orbit < 0) continue;
        const ensemble::Interval w = ensemble::wilson(l.count, b.base);
        text += fmt::format("    {:>3} {:<{}} {:>9} {:>8.4f}  {:.4f} to {:.4f}   ", k, l.text, width, l.count,
                            static_cast<double>(l.count) / static_cast<double>(b.base), w.low, w.high);
        if (when[k].count > 0) text += fmt::format(" {:>10.5g} {:>10.5g}", when[k].median, when[k].largest);
        while (text.back() == ' ') text.pop_back();
        text += "\n";
    }
    return text;
}

Json axes_json(const BasinReport& r) {
    Json names = Json::array(), from = Json::array(), to = Json::array(), n = Json::array();
    for (const ensemble::Axis& a : r.options.starts.axes) {
        names.push_back(a.name);
        from.push_back(a.normal ? Json(nullptr) : Json(a.from));
        to.push_back(a.normal ? Json(nullptr) : Json(a.to));
        n.push_back(a.n);
    }
    Json j{{"coordinates", names}, {"from", from}, {"to", to}};
    for (const ensemble::Axis& a : r.options.starts.axes) {
        if (a.normal) j["normal"][a.name] = {{"mean", a.normal->mean}, {"deviation", a.normal->deviation}};
        if (!a.listed.empty() || a.logarithmic) j["values"][a.name] = a.values();
    }
    for (std::size_t k = 0; k < r.options.components.size(); ++k)
        if (r.options.components[k] < 0) j["parameters"].push_back(r.options.starts.axes[k].name);
    if (r.sampled()) {
        j["samples"] = r.options.starts.samples;
        j["seed"] = r.options.starts.seed;
    } else {
        j["n"] = n;
    }
    return j;
}

Json extent_json(const BasinReport& r, const std::vector<double>& low, const std::vector<double>& high) {
    Json j = Json::object();
    for (std::size_t i = 0; i < r.coordinates.size() && i < low.size(); ++i)
        j[r.coordinates[i]] = {number(low[i]), number(high[i])};
    return j;
}

/// The level ρ; null if there is no level set.
Json level_json(const BasinReport& r) { return r.options.level ? json::level(r.options.level->rho) : Json(nullptr); }

/// An object with a count for each label.
Json label_object(const BasinReport& r, const std::vector<std::size_t>& counts) {
    Json j = Json::object();
    for (std::size_t k = 0; k < r.basin.labels.size(); ++k) j[std::to_string(k)] = counts[k];
    return j;
}

/// Adds the labels with their counts, shares and times.
void add_labels(const BasinReport& r, Json& j) {
    const Basin& b = r.basin;
    Json labels = Json::object(), shares = Json::object(), fractions = Json::object(), reach = Json::object();
    std::vector<std::size_t> counts;
    const std::vector<Times> when = times(b);
    for (std::size_t k = 0; k < b.labels.size(); ++k) {
        const std::string key = std::to_string(k);
        const BasinLabel& l = b.labels[k];
        labels[key] = l.text;
        counts.push_back(l.count);
        const ensemble::Interval w = ensemble::wilson(l.count, b.base);
        const double share = static_cast<double>(l.count) / static_cast<double>(b.base);
        shares[key] = {{"share", share}, {"low", w.low}, {"high", w.high}};
        fractions[key] = {{"value", share}, {"low", w.low}, {"high", w.high}};
        if (when[k].count > 0)
            reach[key] = {{"mean", when[k].mean}, {"median", when[k].median}, {"max", when[k].largest}};
    }
    j["labels"] = labels;
    j["counts"] = label_object(r, counts);
    j["shares"] = shares;
    j["fraction"] = fractions;
    j["time_to_reach"] = reach;
}

Json sets_json(const BasinReport& r) {
    Json sets = Json::array();
    for (const RestSet& s : r.basin.sets)
        sets.push_back({{"name", s.name},
                        {"known", s.known},
                        {"contacts_closed", s.closed},
                        {"extent", s.known ? extent_json(r, s.lower, s.upper) : extent_json(r, s.low, s.high)},
                        {"reached", extent_json(r, s.low, s.high)},
                        {"potential", number(s.potential)},
                        {"motions", s.motions}});
    return sets;
}

/// For each label the name of its set and how many periods the copy of the set is away.
Json set_of_label_json(const BasinReport& r) {
    const Basin& b = r.basin;
    Json set_of = Json::object();
    for (std::size_t k = 0; k < b.labels.size(); ++k) {
        if (b.labels[k].set < 0) continue;
        Json turns = Json::object();
        for (std::size_t i = 0; i < b.periods.size(); ++i)
            if (b.periods[i] > 0.0 && !b.labels[k].turn.empty()) turns[r.coordinates[i]] = b.labels[k].turn[i];
        set_of[std::to_string(k)] = {{"set", b.sets[static_cast<std::size_t>(b.labels[k].set)].name}, {"turns", turns}};
    }
    return set_of;
}

/// The orbits, and for each label that is one the name of its orbit.
void add_orbits(const BasinReport& r, Json& j) {
    const Basin& b = r.basin;
    if (!r.options.repeats) return;
    Json orbits = Json::array(), of_label = Json::object();
    for (const stability::BasinOrbit& o : b.orbits) {
        Json one{{"name", o.name},
                 {"period", number(o.period)},
                 {"multiple", o.returns},
                 {"largest_multiplier", number(o.largest)},
                 {"energy", number(o.energy)},
                 {"motions", o.motions}};
        if (!o.points.empty()) one["points"] = o.points;
        orbits.push_back(std::move(one));
    }
    for (std::size_t k = 0; k < b.labels.size(); ++k)
        if (b.labels[k].orbit >= 0)
            of_label[std::to_string(k)] = b.orbits[static_cast<std::size_t>(b.labels[k].orbit)].name;
    j["orbits"] = std::move(orbits);
    j["orbit_of_label"] = std::move(of_label);
}

Json level_set_json(const BasinReport& r) {
    const Basin& b = r.basin;
    return {{"rho", level_json(r)},
            {"grade", r.options.level ? Json(r.options.level->proved ? "proved" : "numerical") : Json(nullptr)},
            {"label", r.options.level ? Json(b.captor) : Json(nullptr)},
            {"inside", b.inside},
            {"violations", b.violations},
            {"undecided", b.inside_undecided}};
}

/// What the labels depend on: the errors of the motions.
std::string check_text(const BasinReport& r) {
    const Basin& b = r.basin;
    const auto* moreau = std::get_if<integrate::Moreau>(&r.options.method);
    std::string text = "  accuracy    labels are those of ";
    if (moreau == nullptr)
        text += fmt::format("rtol = {:.3g}", std::get<integrate::EventDriven>(r.options.method).rtol);
    else
        text += moreau->adaptive ? fmt::format("steps with tolerance = {:.3g}", moreau->tolerance)
                                 : fmt::format("the step length h = {:.3g}", moreau->h);
    if (!b.check) return text + "; none was checked\n";
    text += fmt::format("; with {}, {} of {} get another one", b.check->finer, b.check->changed,
                        counted(b.check->motions, "examined start"));
    return text + (b.check->beside > 0 ? "; they start beside another label\n" : "\n");
}

Json check_json(const Basin& b) {
    if (!b.check) return nullptr;
    return {{"finer", b.check->finer},
            {"setting", b.check->setting},
            {"motions", b.check->motions},
            {"beside_another_label", b.check->beside},
            {"changed", b.check->changed}};
}

/// How the basins of a grid are mixed.
void add_shape(const BasinReport& r, Json& j) {
    if (r.sampled() || !r.basin.complete) return;
    const ensemble::LabelShape s = ensemble::label_shape({r.options.starts.axes}, r.basin.label);
    if (s.boxes > 0)
        j["entropy"] = {{"value", s.entropy},
                        {"boundary", s.mixed_entropy},
                        {"box", s.box},
                        {"boxes", s.boxes},
                        {"boundary_boxes", s.mixed_boxes}};
    if (s.has_exponent)
        j["boundary_dimension"] = {{"value", s.boundary_dimension()},
                                   {"deviation", s.exponent_deviation},
                                   {"uncertainty_exponent", s.exponent},
                                   {"distances", s.distances},
                                   {"fractions", s.fractions}};
}

/// The refined grid.
Json refined_json(const BasinReport& r) {
    const Basin& b = r.basin;
    std::vector<std::size_t> counts(b.labels.size(), 0);
    for (const int l : b.refined) ++counts[static_cast<std::size_t>(l)];
    Json n = Json::array();
    for (const ensemble::Axis& a : r.options.starts.axes) n.push_back(a.count(b.level));
    return {{"n", n},
            {"counts", label_object(r, counts)},
            {"simulated", std::count(b.refined_computed.begin(), b.refined_computed.end(), char{1})}};
}

Json boundary_json(const BasinReport& r) {
    Json points = Json::array();
    for (const stability::BoundaryPoint& p : r.basin.boundary)
        points.push_back({{"at", p.at},
                          {"axis", r.options.starts.axes[static_cast<std::size_t>(p.axis)].name},
                          {"half_length", p.half_length},
                          {"below", p.below},
                          {"above", p.above}});
    return points;
}

/// A number with the six digits that a drawing needs.
double drawn_digits(double x) { return number_in(rounded_text(x, 6)); }

/// {"set", "points"}: curves in the plane of the axes; null interrupts a curve where something jumps.
Json paths_json(const BasinReport& r) {
    Json list = Json::array();
    for (const stability::PhasePath& p : r.paths) {
        Json points = Json::array();
        std::size_t next = 0;
        for (std::size_t k = 0; k < p.points.size(); ++k) {
            points.push_back({drawn_digits(p.points[k][0]), drawn_digits(p.points[k][1])});
            if (next < p.breaks.size() && p.breaks[next] == k) {
                points.push_back(nullptr);
                ++next;
            }
        }
        const Json set = p.set < 0 ? Json(nullptr) : Json(r.basin.sets[static_cast<std::size_t>(p.set)].name);
        list.push_back({{"set", set}, {"points", std::move(points)}});
    }
    return list;
}

}  // namespace

std::string basin_text(const BasinReport& r) {
    const Basin& b = r.basin;
    std::string text = r.model + "\n";
    text += fmt::format("  starts      {}: {}\n", counted(b.base, r.sampled() ? "sample" : "point"), axes_text(r));
    if (const std::size_t n = b.adjusted; n > 0)
        text +=
            fmt::format("              {} of them made admissible by changing other coordinates and velocities\n", n);
    if (const std::size_t n = b.moved; n > 0)
        text += fmt::format("              {} of them only by changing components that the axes give\n", n);
    text += fmt::format("  method      {}{}  ({})\n", b.method,
                        b.lanes > 1 ? fmt::format(", {} motions side by side", b.lanes) : "", r.options_text);
    text += fmt::format("  status      {}, {} steps in {:.2f} s, {:.3g} a second\n",
                        b.complete ? "completed" : "interrupted", b.steps_now, b.seconds,
                        b.seconds > 0.0 ? static_cast<double>(b.steps_now) / b.seconds : 0.0);
    text += device_text(b.device, b.device_use);
    for (const RestSet& s : b.sets) {
        text += fmt::format("  {:<11} {}", s.name,
                            s.known ? extent_text(r, s.lower, s.upper) : extent_text(r, s.low, s.high));
        if (!s.closed.empty()) text += "; closed: " + listing(s.closed);
        text += s.known || r.options.varies_parameters() ? "\n" : "; at rest outside all known sets\n";
    }
    for (const stability::BasinOrbit& o : b.orbits) {
        text += fmt::format("  {:<11} ", o.name);
        if (std::isnan(o.period)) {
            text += fmt::format("{} that repeat after {}\n", counted(o.motions, "motion"),
                                counted(static_cast<std::size_t>(o.returns), "point"));
            continue;
        }
        text += fmt::format("orbit of period {:.8g} s, stable, largest multiplier {:.4g}", o.period, o.largest);
        if (o.returns > 1) text += fmt::format("; closes after {} points", o.returns);
        text += "\n";
    }
    text += "  labels\n" + labels_text(r);
    if (r.options.level) {
        text += fmt::format("  level set   V < {:.10g} around {}, {}: {} inside, {}", r.options.level->rho,
                            b.labels[static_cast<std::size_t>(b.captor)].text,
                            r.options.level->proved ? "proved" : "numerical", counted(b.inside, "start"),
                            counted(b.violations, "violation"));
        if (b.inside_undecided > 0) text += fmt::format(", {} undecided", b.inside_undecided);
        text += "\n";
    }
    if (!b.refined.empty()) {
        const auto simulated =
            static_cast<std::size_t>(std::count(b.refined_computed.begin(), b.refined_computed.end(), char{1}));
        text += fmt::format("  refined     {} points, {} of them simulated\n", b.refined.size(), simulated);
    }
    if (!b.boundary.empty()) text += "  boundary    between labels\n";
    for (std::size_t k = 0; k < b.boundary.size() && k < max_boundary_points; ++k) {
        const stability::BoundaryPoint& p = b.boundary[k];
        text += "   ";
        for (std::size_t d = 0; d < p.at.size(); ++d)
            text += fmt::format(" {} = {:.10g}{}", r.options.starts.axes[d].name, p.at[d],
                                static_cast<int>(d) == p.axis ? fmt::format(" +- {:.1e}", p.half_length) : "");
        text += fmt::format(": {} | {}\n", b.labels[static_cast<std::size_t>(p.below)].text,
                            b.labels[static_cast<std::size_t>(p.above)].text);
    }
    if (b.boundary.size() > max_boundary_points)
        text += fmt::format("    and {} more; all of them with --json\n", b.boundary.size() - max_boundary_points);
    text += check_text(r);
    for (const std::string& w : r.warnings) text += "  warning     " + w + "\n";
    for (const std::string& w : b.warnings) text += "  warning     " + w + "\n";
    return text;
}

std::string basin_json(const BasinReport& r, Timing timing) {
    const Basin& b = r.basin;
    Json j;
    j["model"] = r.model;
    j["method"] = b.method;
    j["t_max"] = r.options.t_max;
    j["device"] = b.device;
    j["status"] = b.complete ? "completed" : "interrupted";
    j["grid"] = axes_json(r);
    add_labels(r, j);
    j["sets"] = sets_json(r);
    j["set_of_label"] = set_of_label_json(r);
    add_orbits(r, j);
    Json periods = Json::object();
    for (std::size_t i = 0; i < b.periods.size() && i < r.coordinates.size(); ++i)
        if (b.periods[i] > 0.0) periods[r.coordinates[i]] = b.periods[i];
    j["periods"] = std::move(periods);
    j["level_set"] = level_set_json(r);
    j["label_check"] = check_json(b);
    j["starts"] = {{"count", b.base}, {"adjusted", b.adjusted}, {"moved", b.moved}, {"inadmissible", b.inadmissible}};
    add_shape(r, j);
    if (!b.refined.empty()) j["refined"] = refined_json(r);
    if (r.options.boundary > 0.0) j["boundary"] = boundary_json(r);
    if (!r.paths.empty()) j["paths"] = paths_json(r);
    std::vector<std::string> warnings = r.warnings;
    warnings.insert(warnings.end(), b.warnings.begin(), b.warnings.end());
    j["warnings"] = warnings;
    j["statistics"] = {{"motions", b.record.size()}, {"steps", b.steps}};
    if (timing == Timing::included) {
        j["statistics"]["seconds"] = b.seconds;
        j["statistics"]["trajectory_steps_per_second"] =
            b.seconds > 0.0 ? static_cast<double>(b.steps_now) / b.seconds : 0.0;
        if (b.device != "cpu")
            j["statistics"]["device"] = {
                {"compile_seconds", b.device_use.compile_seconds}, {"kernel_found", b.device_use.from_cache},
                {"kernel_seconds", b.device_use.kernel_seconds},   {"steps", b.device_use.steps},
                {"steps_per_second", device_rate(b.device_use)},   {"threads", b.device_use.threads},
                {"motions_on_cpu", b.device_use.given_up}};
    }
    return json::document(j);
}

void basin_csv(const BasinReport& r, Starts starts, const std::function<void(std::string_view)>& take) {
    constexpr std::size_t lines_of_a_piece = 4096;
    const Basin& b = r.basin;
    Csv csv;
    for (const ensemble::Axis& a : r.options.starts.axes) csv.cell(a.name);
    csv.cells({"label", "t", "V", "inside", "start"});
    for (const std::string& c : r.coordinates) csv.cell("end " + c);
    csv.end_line();
    std::vector<double> x(r.options.starts.axes.size());
    ensemble::Labels::Reader label(b.label);
    b.record.scan(0, b.base, [&](std::size_t k, const stability::BasinMotion& m) {
        if (k % lines_of_a_piece == 0) take(csv.take());
        if (starts == Starts::computed && m.fate == Fate::pending) return;
        r.options.starts.values(k, x);
        for (const double v : x) csv.cell(v);
        csv.cell(std::to_string(label.at(k)));
        csv.cell(m.t).cell(m.V);
        csv.cell(std::string(m.inside ? "1" : "0"));
        const Admission a = m.admission;
        csv.cell(std::string(a == Admission::admissible ? "admissible"
                             : a == Admission::adjusted ? "adjusted"
                             : a == Admission::moved    ? "moved"
                                                        : "inadmissible"));
        for (const double q : m.q) csv.cell(q);
        csv.end_line();
    });
    take(csv.take());
}

std::string boundary_csv(const BasinReport& r) {
    if (!(r.options.boundary > 0.0)) return {};
    Csv csv;
    for (const ensemble::Axis& a : r.options.starts.axes) csv.cell(a.name);
    csv.cells({"axis", "half_length", "below", "above"});
    csv.end_line();
    for (const stability::BoundaryPoint& p : r.basin.boundary) {
        for (const double v : p.at) csv.cell(v);
        csv.cell(r.options.starts.axes[static_cast<std::size_t>(p.axis)].name).cell(p.half_length);
        csv.cell(std::to_string(p.below)).cell(std::to_string(p.above));
        csv.end_line();
    }
    return std::move(csv).text();
}

}  // namespace saltus::io
