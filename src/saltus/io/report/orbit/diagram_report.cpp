// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/orbit/diagram_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/report/ensemble/ensemble_report.hpp"
#include "saltus/trajectory/warning_tally.hpp"

namespace saltus::io {

using json::Json;

namespace {

std::vector<std::string> state_names(const orbit::Diagram& d) {
    std::vector<std::string> names = d.coordinates;
    for (const std::string& name : d.coordinates) names.push_back(name + "'");
    return names;
}

std::span<const double> values_of(const Vector& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

Json part_json(const DiagramReport::Part& part, bool exponents) {
    Json section = Json::array(), times = Json::array(), periods = Json::array(), remarks = Json::array();
    Json lyapunov = Json::array(), changes = Json::array(), done = Json::array();
    for (const orbit::DiagramColumn& c : part.diagram.columns) {
        Json points = Json::array();
        for (const Vector& x : c.points) points.push_back(json::numbers(values_of(x)));
        section.push_back(points);
        times.push_back(json::numbers(c.times));
        periods.push_back(c.period);
        lyapunov.push_back(json::numbers(c.exponents));
        changes.push_back(json::numbers(c.changes));
        remarks.push_back(c.remark);
        done.push_back(c.done);
    }
    Json j{{"sweep", part.sweep}, {"section", section}, {"times", times}, {"periods", periods}};
    if (exponents) {
        j["exponents"] = lyapunov;
        j["exponent_changes"] = changes;
    }
    j["remarks"] = remarks;
    j["done"] = done;
    return j;
}

/// Neighbouring values whose motions repeat equally often, as one line each.
std::string part_text(const DiagramReport::Part& part) {
    std::string text;
    const std::vector<orbit::DiagramColumn>& columns = part.diagram.columns;
    const auto kind = [](const orbit::DiagramColumn& c) {
        if (!c.done) return std::string("not computed");
        if (c.points.empty()) return "no points: " + c.remark;
        if (c.period == 0) return std::string("does not repeat");
        return "repeats after " + std::to_string(c.period) + (c.period == 1 ? " point" : " points");
    };
    for (std::size_t k = 0; k < columns.size();) {
        std::size_t last = k;
        while (last + 1 < columns.size() && kind(columns[last + 1]) == kind(columns[k])) ++last;
        text += fmt::format("    {:<12.8g} to {:<12.8g} {}", columns[k].value, columns[last].value, kind(columns[k]));
        double largest = -std::numeric_limits<double>::infinity();
        bool known = false;
        for (std::size_t i = k; i <= last; ++i)
            if (!columns[i].exponents.empty()) largest = std::max(largest, columns[i].exponents[0]), known = true;
        if (known) text += fmt::format(", largest exponent {:.4g}", largest);
        text += "\n";
        k = last + 1;
    }
    return text;
}

/// The warnings of the command, and those of the motions by kind.
std::vector<std::string> all_warnings(const DiagramReport& report) {
    std::vector<std::string> list = report.warnings;
    trajectory::WarningTally tally;
    const std::string parameter = report.parts.front().diagram.parameter + " = ";
    for (const DiagramReport::Part& part : report.parts)
        for (const orbit::DiagramColumn& c : part.diagram.columns)
            if (c.done) tally.add(c.warnings, parameter + number_text(c.value));
    for (std::string& text : tally.texts("values")) list.push_back(std::move(text));
    return list;
}

}  // namespace

std::string diagram_text(const DiagramReport& report) {
    const orbit::Diagram& d = report.parts.front().diagram;
    std::string text = d.model + ": bifurcation diagram\n";
    text += fmt::format("  parameter   {}, {} values\n", d.parameter, d.columns.size());
    for (const DiagramReport::Part& part : report.parts) {
        std::size_t points = 0;
        for (const orbit::DiagramColumn& c : part.diagram.columns) points += c.points.size();
        text += fmt::format("  {:<11} {} points{}\n", part.sweep, points,
                            part.diagram.complete ? "" : ", interrupted before its end");
        text += part_text(part);
    }
    text += device_text(report.device, d.device_use);
    for (const std::string& w : all_warnings(report)) text += "  warning     " + w + "\n";
    return text;
}

std::string diagram_json(const DiagramReport& report) {
    const DiagramReport::Part& first = report.parts.front();
    std::vector<double> values;
    for (const orbit::DiagramColumn& c : first.diagram.columns) values.push_back(c.value);
    bool complete = true;
    for (const DiagramReport::Part& part : report.parts) complete = complete && part.diagram.complete;
    Json j{{"model", first.diagram.model},
           {"status", complete ? "completed" : "interrupted"},
           {"parameter", {{"name", first.diagram.parameter}, {"values", json::numbers(values)}}},
           {"coordinates", state_names(first.diagram)}};
    j.update(part_json(first, report.exponents));
    for (std::size_t k = 1; k < report.parts.size(); ++k)
        j[report.parts[k].sweep] = part_json(report.parts[k], report.exponents);
    j["device"] = report.device;
    j["identity"] = report.identity;
    j["warnings"] = all_warnings(report);
    return json::document(j);
}

std::string diagram_points_csv(const DiagramReport& report) {
    const orbit::Diagram& d = report.parts.front().diagram;
    Csv csv;
    csv.cell(std::string("sweep")).cell(d.parameter).cell(std::string("t"));
    for (const std::string& name : state_names(d)) csv.cell(name);
    csv.end_line();
    for (const DiagramReport::Part& part : report.parts)
        for (const orbit::DiagramColumn& c : part.diagram.columns)
            for (std::size_t k = 0; k < c.points.size(); ++k) {
                csv.cell(part.sweep).cell(c.value).cell(c.times[k]);
                for (const double x : values_of(c.points[k])) csv.cell(x);
                csv.end_line();
            }
    return std::move(csv).text();
}

std::string diagram_columns_csv(const DiagramReport& report) {
    const orbit::Diagram& d = report.parts.front().diagram;
    const std::size_t exponents = report.exponents ? 2 * d.coordinates.size() : 0;
    Csv csv;
    csv.cell(std::string("sweep")).cell(d.parameter).cells({"points", "period"});
    for (std::size_t k = 1; k <= exponents; ++k)
        csv.cell("exponent " + std::to_string(k)).cell("change " + std::to_string(k));
    csv.cell(std::string("remark")).end_line();
    for (const DiagramReport::Part& part : report.parts)
        for (const orbit::DiagramColumn& c : part.diagram.columns) {
            csv.cell(part.sweep).cell(c.value).cell(static_cast<double>(c.points.size())).cell(double(c.period));
            for (std::size_t k = 0; k < exponents; ++k) {
                const bool known = k < c.exponents.size();
                csv.cell(known ? std::optional(c.exponents[k]) : std::nullopt);
                csv.cell(known ? std::optional(c.changes[k]) : std::nullopt);
            }
            csv.cell(c.remark).end_line();
        }
    return std::move(csv).text();
}

}  // namespace saltus::io
