// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/io/page/detail/static_parts.hpp"
#include "saltus/io/page/detail/svg_drawing.hpp"
#include "saltus/io/page/detail/svg_plot.hpp"
#include "saltus/io/page/report_page.hpp"

namespace saltus::io {

using json::Json;

namespace {

constexpr std::size_t max_events = 60;  // of the table of events

/// A curve over the times of a motion, interrupted where something jumps.
SvgPlot::Points over_time(const Json& motion, const Json& values) {
    SvgPlot::Points points;
    const Json &t = motion.at("t"), &breaks = motion.at("breaks");
    std::size_t next = 0;
    for (std::size_t k = 0; k < t.size(); ++k) {
        points.emplace_back(number_of(t[k]), number_of(values[k]));
        if (next < breaks.size() && breaks[next].get<std::size_t>() == k) {
            points.emplace_back(no_point, no_point);
            ++next;
        }
    }
    return points;
}

/// "x in m"; the name alone if the unit is not known.
std::string with_unit(const std::string& name, const std::string& unit) {
    return unit.empty() ? name : name + " in " + unit;
}
/// A unit of the motion: time, length, force or energy. Empty if the model gives no units.
std::string unit_of(const Json& motion, const char* what) {
    return motion.contains("units") ? motion.at("units").at(what).get<std::string>() : "";
}
std::string time_label(const Json& motion) { return with_unit("t", unit_of(motion, "time")); }

/// A plot of all curves under a key, with the label of the ordinate.
SvgPlot curves(const Json& motion, const char* key, const std::string& title, const std::string& label) {
    SvgPlot plot(title, time_label(motion), label);
    for (const Json& c : motion.at(key)) plot.curve(c.at("name").get<std::string>(), over_time(motion, c.at("values")));
    return plot;
}

/// Curves of one unit, which share an axis.
struct UnitGroup {
    std::string unit;
    std::vector<std::size_t> curves;
};
template <class UnitOf>
std::vector<UnitGroup> by_unit(const Json& list, const UnitOf& unit_of_curve) {
    std::vector<UnitGroup> groups;
    for (std::size_t k = 0; k < list.size(); ++k) {
        const std::string unit = unit_of_curve(list[k]);
        auto at = std::find_if(groups.begin(), groups.end(), [&](const UnitGroup& g) { return g.unit == unit; });
        if (at == groups.end()) at = groups.insert(groups.end(), {unit, {}});
        at->curves.push_back(k);
    }
    return groups;
}

/// Some curves of a list in one plot. The ordinate has the names of the first three, with the unit. `suffix` is added
/// to the names.
std::string group_plot(const Json& motion, const Json& list, const UnitGroup& group, const std::string& title,
                       const std::string& suffix) {
    constexpr std::size_t max_named = 3;
    std::string names;
    for (std::size_t k = 0; k < std::min(group.curves.size(), max_named); ++k)
        names += (k > 0 ? ", " : "") + list[group.curves[k]].at("name").get<std::string>() + suffix;
    if (group.curves.size() > max_named) names += ", …";
    SvgPlot plot(with_unit(title, group.unit), time_label(motion), with_unit(names, group.unit));
    for (const std::size_t k : group.curves)
        plot.curve(list[k].at("name").get<std::string>() + suffix, over_time(motion, list[k].at("values")));
    return plot.svg();
}

/// Coordinates and velocities, one pair of plots for each unit.
std::string state_plots(const Json& motion) {
    const Json &q = motion.at("q"), &names = motion.at("coordinates");
    const std::vector<UnitGroup> groups = by_unit(q, [&](const Json& curve) -> std::string {
        if (!motion.contains("units")) return "";
        for (std::size_t k = 0; k < names.size(); ++k)
            if (names[k] == curve.at("name")) return motion.at("units").at("q")[k].get<std::string>();
        return "";
    });
    std::string text;
    for (const UnitGroup& g : groups) {
        const UnitGroup rates{g.unit.empty() ? "" : g.unit + "/" + unit_of(motion, "time"), g.curves};
        text +=
            group_plot(motion, q, g, "Coordinates", "") + group_plot(motion, motion.at("u"), rates, "Velocities", "'");
    }
    return text;
}

/// Derived quantities: their names end with the unit in brackets.
std::string output_plots(const Json& motion) {
    if (!motion.contains("outputs")) return "";
    const Json& list = motion.at("outputs");
    std::string text;
    for (UnitGroup& g : by_unit(list, [](const Json& curve) -> std::string {
             const std::string name = curve.at("name").get<std::string>();
             const std::size_t at = name.rfind(" [");
             return at == std::string::npos || name.back() != ']' ? "" : name.substr(at + 2, name.size() - at - 3);
         })) {
        const std::string title = with_unit("Outputs", g.unit);
        g.unit.clear();  // it is part of the names
        text += group_plot(motion, list, g, title, "");
    }
    return text;
}

SvgPlot force_plot(const Json& motion) {
    SvgPlot plot("Contact forces", time_label(motion), with_unit("force", unit_of(motion, "force")));
    for (const Json& f : motion.at("forces")) {
        const std::string name = f.at("name").get<std::string>();
        if (f.at("kind") != "slider") plot.curve("N " + name, over_time(motion, f.at("N")));
        for (const Json& T : f.at("T")) plot.curve("T " + name, over_time(motion, T), true);
    }
    return plot;
}

/// Normal impulses as stems, a colour for each element.
SvgPlot impulse_plot(const Json& motion) {
    const std::string force = unit_of(motion, "force");
    SvgPlot plot("Impulses", time_label(motion),
                 with_unit("impulse", force.empty() ? "" : force + " " + unit_of(motion, "time")));
    std::vector<std::pair<std::string, SvgPlot::Points>> of;  // by element
    for (const Json& e : motion.at("events"))
        for (const Json& r : e.value("impulses", Json::array())) {
            const std::string name = r.at("name").get<std::string>();
            auto at = std::find_if(of.begin(), of.end(), [&](const auto& p) { return p.first == name; });
            if (at == of.end()) at = of.insert(of.end(), {name, {}});
            at->second.emplace_back(number_of(e.at("t")), number_of(r.at("N")));
        }
    for (auto& [name, points] : of) plot.stems(name, std::move(points));
    return plot;
}

std::string events_table(const Json& motion) {
    const Json& events = motion.at("events");
    if (events.empty()) return "<p>No events.</p>";
    std::vector<std::vector<std::string>> rows;
    for (std::size_t k = 0; k < std::min(events.size(), max_events); ++k) {
        const Json& e = events[k];
        std::string names;
        for (const Json& c : e.at("contacts")) names += (names.empty() ? "" : ", ") + c.get<std::string>();
        rows.push_back({short_number(e.at("t")), e.at("kind").get<std::string>(), names, short_number(e.at("jump")),
                        e.contains("work") ? short_number(e.at("work")) : "", e.value("note", "")});
    }
    std::string text = html_table({"t", "kind", "contacts", "largest |Δu|", "contact work", ""}, rows);
    if (events.size() > max_events)
        text += fmt::format("<p>{} of {} events.</p>", max_events, motion.at("event_count").get<long>());
    return text;
}

/// A motion: summary, pictures, curves, events.
std::string motion_section(const Json& motion) {
    std::string text =
        fmt::format("<p>{} {}, t = {} to {}, {} events, energy balance closed to {}.</p>",
                    escaped(motion.at("method").get<std::string>()), escaped(motion.at("status").get<std::string>()),
                    short_number(motion.at("t_begin")), short_number(motion.at("t_end")),
                    motion.at("event_count").get<long>(), short_number(motion.at("balance").at("error")));
    for (const Json& w : motion.at("warnings"))
        text += "<p class=\"warning\">" + escaped(w.get<std::string>()) + "</p>";
    if (motion.contains("drawing")) {
        text += "<div class=\"frames\">";
        const double from = number_of(motion.at("t_begin")), to = number_of(motion.at("t_end"));
        constexpr int pictures = 6;  // the first at the start, the last at the end
        for (int k = 0; k < pictures; ++k) {
            const double t = from + (to - from) * k / (pictures - 1.0);
            text += fmt::format("<figure>{}<figcaption>t = {:.4g}</figcaption></figure>",
                                drawing_svg(motion, t, 280, 180), t);
        }
        text += "</div>";
    }
    text += "<div class=\"plots\">";
    text += state_plots(motion) + output_plots(motion);
    const std::string energy = unit_of(motion, "energy");
    for (const SvgPlot& plot :
         {curves(motion, "gaps", "Gaps", with_unit("gap gN", unit_of(motion, "length"))), force_plot(motion),
          impulse_plot(motion), curves(motion, "energy", "Energy", with_unit("energy", energy)),
          curves(motion, "work", "Work since the start", with_unit("work", energy))})
        if (!plot.empty()) text += plot.svg();
    return text + "</div><h3>Events</h3>" + events_table(motion);
}

const char* const style = R"(<style>
:root{--page:#f6f7f9;--panel:#fff;--text:#1c2530;--muted:#5b6775;--grid:#e4e8ed;--body:#22303f;--fill:#c9d8ea;--ground:#8b95a1}
@media(prefers-color-scheme:dark){:root{--page:#12161c;--panel:#1b2129;--text:#e6ebf1;--muted:#9aa7b5;--grid:#2a323c;--body:#dbe5f0;--fill:#35506e;--ground:#7d8894}}
body{margin:0 auto;max-width:1300px;padding:12px 16px 40px;background:var(--page);color:var(--text);font:15px/1.5 system-ui,sans-serif}
.plots{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:12px}
.frames{display:flex;flex-wrap:wrap;gap:8px;margin-bottom:12px}figure{margin:0}figcaption{color:var(--muted);font-size:12px}
svg{background:var(--panel);border:1px solid var(--grid);border-radius:6px}svg.scene{width:190px}
.title{font:600 13px system-ui;fill:var(--text)}.tick{font:11px system-ui;fill:var(--muted)}.grid{stroke:var(--grid);fill:none}
.curve{fill:none;stroke-width:1.4}.area{fill-opacity:.2;stroke-width:1.4}.dashed{stroke-dasharray:5 4}
.c0{stroke:#0b62a8}.c1{stroke:#c8500b}.c2{stroke:#0a7f58}.c3{stroke:#a8326e}.c4{stroke:#8a6d00}.c5{stroke:#3a8fd0}.c6{stroke:#6a4fb0}.c7{stroke:#555f6b}
.area.c0{fill:#0b62a8}.area.c1{fill:#c8500b}.area.c2{fill:#0a7f58}.area.c3{fill:#a8326e}.area.c4{fill:#8a6d00}.area.c5{fill:#3a8fd0}.area.c6{fill:#6a4fb0}.area.c7{fill:#555f6b}
.f0{fill:#b9c1ca}.f1{fill:#3a8fd0}.f2{fill:#e08a3c}.f3{fill:#3aa57e}.f4{fill:#c86a9c}.f5{fill:#c9ad3d}.f6{fill:#8f78c9}.f7{fill:#6b7683}
.body{stroke:var(--body);fill:var(--fill);stroke-width:2}.segment.body{stroke-width:3}.spring,.segment{fill:none}.ground{stroke:var(--ground);fill:var(--grid)}.line{stroke:var(--ground);fill:none}
table{border-collapse:collapse;font-size:.85rem}td,th{text-align:left;padding:2px 10px;border-bottom:1px solid var(--grid);vertical-align:top}
.warning{border-left:3px solid #d2381f;padding-left:10px}.note{color:var(--muted)}code,pre{font-size:.82rem}pre{overflow:auto}
</style>)";

}  // namespace

double number_of(const Json& v) { return json::value_or(v, no_point); }

std::string short_number(const Json& v) {
    if (v.is_string()) return v.get<std::string>();
    if (v.is_boolean()) return v.get<bool>() ? "yes" : "no";
    return v.is_number() ? fmt::format("{:.8g}", v.get<double>()) : "–";
}

std::string html_table(const std::vector<std::string>& head, const std::vector<std::vector<std::string>>& rows) {
    std::string text = "<table><tr>";
    for (const std::string& h : head) text += "<th>" + escaped(h) + "</th>";
    text += "</tr>\n";
    for (const std::vector<std::string>& r : rows) {
        text += "<tr>";
        for (const std::string& cell : r) text += "<td>" + escaped(cell) + "</td>";
        text += "</tr>\n";
    }
    return text + "</table>\n";
}

std::string static_report_html(const Report& report) {
    const std::string title = escaped(report.title.empty() ? "Results" : report.title);
    std::string html = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + title +
                       " – Saltus</title>\n" + style + "</head><body>\n";
    if (!report.back_href.empty())
        html += "<a href=\"" + escaped(report.back_href) + "\">← " + escaped(report.back_text) + "</a>";
    html += "<h1>" + title + "</h1>\n";
    html +=
        "<p class=\"note\">Static plots: this Saltus was built without Node, or static plots were requested. The "
        "interactive page needs Node at build time.</p>\n";
    for (const std::string& note : report.notes) html += "<p class=\"note\">" + escaped(note) + "</p>\n";
    if (!report.text.empty()) html += "<p>" + escaped(report.text) + "</p>\n";
    if (!report.numbers.empty()) {
        std::vector<std::vector<std::string>> rows;
        for (const StatedNumber& n : report.numbers) rows.push_back({n.what, n.where, n.stated, n.ours, n.note});
        html += html_table({"", "where", "stated", "ours", ""}, rows);
    }
    for (const ReportPart& p : report.parts) {
        html += "<h2>" + escaped(p.kind == "motion" ? "simulate" : p.kind) + "</h2>\n<p class=\"note\">" +
                escaped(p.command.empty() ? p.source : p.command) + "</p>\n";
        const Json j = Json::parse(p.json);
        try {
            html += p.kind == "motion" ? motion_section(j) : static_part(p.kind, j);
        } catch (const Json::exception& e) {  // a key is missing or has another type
            throw Error("is incomplete or damaged: " + json::reason(e), {p.source, 0, 0}, "run the command again");
        }
    }
    return html + "</body></html>\n";
}

}  // namespace saltus::io
