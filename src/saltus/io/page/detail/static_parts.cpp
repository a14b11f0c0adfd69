// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/static_parts.hpp"

#include <algorithm>

#include "saltus/io/page/detail/static_velocity.hpp"
#include "saltus/io/page/detail/svg_plot.hpp"

namespace saltus::io {

using json::Json;

namespace {

/// The value under a key as the text of a table cell; empty if the key is missing.
std::string word(const Json& j, const char* key) { return j.contains(key) ? short_number(j.at(key)) : ""; }

std::string compare_section(const Json& j) {
    SvgPlot plot("Error of positions against the event-driven motion", "h, or 1/k", "sup |Δq|");
    plot.logarithmic();
    // For the runs under `name`: adds the curve of the position error over `parameter` (over 1/parameter if `inverse`,
    // for stiffnesses) to the plot, and returns their table.
    const auto series = [&](const char* name, const char* parameter, bool inverse) {
        SvgPlot::Points points;
        std::vector<std::vector<std::string>> rows;
        for (const Json& r : j.at(name).value("runs", Json::array())) {
            const double p = number_of(r.at(parameter));
            points.emplace_back(inverse ? 1.0 / p : p, number_of(r.at("position_error")));
            rows.push_back({short_number(r.at(parameter)), short_number(r.at("position_error")),
                            short_number(r.at("end_error").at("q")), short_number(r.at("end_error").at("u")),
                            short_number(r.at("order")), short_number(r.at("events"))});
        }
        if (points.empty()) return std::string();
        plot.curve(name, points);
        return "<h3>" + std::string(name) + ", order " + short_number(j.at(name).at("order")) + "</h3>" +
               html_table({parameter, "sup |Δq|", "end |Δq|", "end |Δu|", "order", "events"}, rows);
    };
    const std::string tables = series("moreau", "h", false) + series("penalty", "k_factor", true);
    return plot.svg() + tables;
}

std::string impact_section(const Json& j) {
    std::string text = "<p>" + escaped(word(j, "text")) + "</p>";
    std::vector<std::string> names;
    for (const auto& [name, value] : j.at("u_minus").items()) names.push_back(name);
    text += static_velocity_picture(j);
    std::vector<std::vector<std::string>> rows;
    for (const std::string& n : names)
        rows.push_back({n + "'", short_number(j.at("u_minus").at(n)), short_number(j.at("u_plus").at(n))});
    text += html_table({"", "u⁻", "u⁺"}, rows);
    const Json& w = j.at("work");
    return text + html_table({"", ""}, {{"contact work, least", word(w, "min")},
                                        {"contact work, greatest", word(w, "max")},
                                        {"change of energy", word(j, "energy_change")},
                                        {"consistent", word(j, "consistent")}});
}

/// A table of the problems. If the document has computing times, also the performance profile: the share of all
/// problems that were solved within a time, over that time.
std::string solve_section(const Json& j) {
    std::vector<std::vector<std::string>> rows;
    SvgPlot::Points profile;
    std::vector<double> seconds;
    for (const Json& r : j) {
        rows.push_back({word(r, "file"), word(r, "kind"), word(r, "contacts"), word(r, "method"), word(r, "status"),
                        word(r, "residual"), word(r, "iterations"), word(r, "seconds")});
        if (r.value("status", "") == "converged" && r.contains("seconds")) {
            constexpr double clock_resolution = 1e-7;  // in s; a time of 0 has no place on a logarithmic axis
            seconds.push_back(std::max(clock_resolution, number_of(r.at("seconds"))));
        }
    }
    std::sort(seconds.begin(), seconds.end());
    for (std::size_t k = 0; k < seconds.size(); ++k)
        profile.emplace_back(seconds[k], static_cast<double>(k + 1) / static_cast<double>(j.size()));
    SvgPlot plot("Share of problems solved within a time", "seconds", "share");
    plot.logarithmic().curve("solved", profile);
    return (profile.empty() ? "" : plot.svg()) +
           html_table({"file", "kind", "contacts", "method", "status", "residual", "iterations", "seconds"}, rows);
}

/// A sentence that says whether a certificate file was written and whether the independent checker accepted it. If no
/// file was written, then there is a sentence only for results that are `proved`.
std::string certificate_line(const Json& j, bool proved) {
    const Json written = j.value("certificate", Json());
    if (!written.is_object())
        return proved ? "<p>certificate file: none was written, so that nothing was checked independently</p>" : "";
    const std::string checked = word(written, "checked");
    const bool complete = written.value("certified", false);
    return "<p>certificate file " + escaped(word(written, "file")) + ": " +
           (complete ? "all conditions are certified, " : "not all conditions are certified, ") +
           (checked == "not checked" ? "not checked independently"
                                     : "<b>" + escaped(checked) + "</b> by the independent checker") +
           "</p>";
}

std::string certify_section(const Json& j) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& c : j.value("conditions", Json::array()))
        rows.push_back({word(c, "id"), word(c, "text"), word(c, "verdict"), word(c, "evidence")});
    return "<p>" + escaped(word(j, "theorem")) + ": <b>" + escaped(word(j, "verdict")) + "</b> (" +
           escaped(word(j, "grade")) + "), ρ* = " + word(j, "rho") + "</p>" +
           certificate_line(j, word(j, "grade") == "proved") +
           html_table({"condition", "", "verdict", "evidence"}, rows);
}

std::string sensitivity_section(const Json& j) {
    std::string text;
    if (j.contains("events")) {
        std::vector<std::string> head{"t", "kind"};
        const Json wrt = j.value("with_respect_to", Json::array());
        for (const Json& p : wrt) head.push_back("dt/d" + p.get<std::string>());
        std::vector<std::vector<std::string>> rows;
        for (const Json& e : j.at("events")) {
            rows.push_back({short_number(e.at("t")), word(e, "kind")});
            for (const Json& p : wrt)
                rows.back().push_back(word(e.value("dt", Json::object()), p.get<std::string>().c_str()));
        }
        text += html_table(head, rows);
    }
    return text;
}

std::string basin_section(const Json& j) {
    std::vector<std::vector<std::string>> rows;
    for (const auto& [number, label] : j.at("labels").items())
        rows.push_back({number, short_number(label), j.contains("counts") ? word(j.at("counts"), number.c_str()) : ""});
    std::string text;
    const Json &grid = j.at("grid"), image = j.value("image", Json::array());
    if (!image.empty()) {
        const auto a0 = j.at("image_axes").at(0).get<std::size_t>(), a1 = j.at("image_axes").at(1).get<std::size_t>();
        SvgPlot plot("Which set each start reaches", short_number(grid.at("coordinates").at(a0)),
                     short_number(grid.at("coordinates").at(a1)));
        const auto nx = grid.at("n").at(a0).get<std::size_t>(), ny = grid.at("n").at(a1).get<std::size_t>();
        const double x0 = number_of(grid.at("from").at(a0)), y0 = number_of(grid.at("from").at(a1));
        const double dx = (number_of(grid.at("to").at(a0)) - x0) / static_cast<double>(nx),
                     dy = (number_of(grid.at("to").at(a1)) - y0) / static_cast<double>(ny);
        const bool fits = nx <= image.size() && ny <= image.size() && image.size() == nx * ny;
        for (std::size_t b = 0; b < ny && fits; ++b)
            for (std::size_t a = 0; a < nx; ++a)
                plot.cell(x0 + dx * static_cast<double>(a), y0 + dy * static_cast<double>(b), dx, dy,
                          image.at(b * nx + a).get<int>());
        text += plot.svg(460, 400);
    }
    return text + html_table({"label", "", "starts"}, rows);
}

}  // namespace

std::string static_part(const std::string& kind, const Json& j) {
    constexpr std::size_t max_json_characters = 20000;
    if (kind == "compare") return compare_section(j);
    if (kind == "impact") return impact_section(j);
    if (kind == "solve" && j.is_array()) return solve_section(j);
    if (kind == "certify") return certify_section(j);
    if (kind == "sensitivity" && j.contains("with_respect_to")) return sensitivity_section(j);
    if (kind == "basin") return basin_section(j);
    const std::string certificate = kind == "equilibria" ? certificate_line(j, j.value("complete", false)) : "";
    return certificate + "<pre>" + escaped(json::fragment(j).substr(0, max_json_characters)) + "</pre>";
}

}  // namespace saltus::io
