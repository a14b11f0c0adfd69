// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/compare/compare_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/trajectory/warning_tally.hpp"

namespace saltus::io {

using integrate::ComparedRun;
using integrate::Comparison;
using json::Json;
using json::number;
using trajectory::EventKind;
using trajectory::Trajectory;

namespace {

constexpr std::size_t max_events = 12, max_coordinates = 12;  // of the text

/// Times at which a contact closes: impacts of rigid contacts, and beginnings of contact with springs.
std::vector<double> closing_times(const Trajectory& t) {
    std::vector<double> times;
    for (const trajectory::Event& e : t.events)
        if (e.kind == EventKind::impact || e.kind == EventKind::contact) times.push_back(e.t);
    return times;
}

Json state(const Trajectory& t) {
    return {{"t", t.end.t}, {"q", json::by_name(t.coordinates, t.end.q)}, {"u", json::by_name(t.coordinates, t.end.u)}};
}

/// The runs of one method. `parameter` is the name of the quantity that varies.
Json series(const std::vector<ComparedRun>& runs, const char* parameter) {
    Json list = Json::array();
    for (const ComparedRun& r : runs) {
        list.push_back({{parameter, r.parameter},
                        {"status", trajectory::to_string(r.trajectory.status)},
                        {"position_error", number(r.position_error)},
                        {"end_error", {{"q", number(r.end_error_q)}, {"u", number(r.end_error_u)}}},
                        {"order", number(r.order)},
                        {"events", r.trajectory.events.size()},
                        {"closing_times", closing_times(r.trajectory)},
                        {"final", state(r.trajectory)}});
        if (!r.trajectory.reason.empty()) list.back()["reason"] = r.trajectory.reason;
    }
    return list;
}

/// A table of the runs of one method. `in` is the quantity in which the order of convergence is measured.
std::string series_text(const std::vector<ComparedRun>& runs, const char* title, const char* parameter,
                        const std::optional<double>& slope, const char* in) {
    if (runs.empty()) return {};
    std::string text = fmt::format("  {}\n    {:<12} {:>12} {:>12} {:>12} {:>8} {:>8}  {}\n", title, parameter,
                                   "sup |dq|", "end |dq|", "end |du|", "order", "events", "status");
    const auto cell = [](const std::optional<double>& error) { return error ? fmt::format("{:.3e}", *error) : "-"; };
    for (const ComparedRun& r : runs)
        text += fmt::format("    {:<12.4g} {:>12.3e} {:>12} {:>12} {:>8} {:>8}  {}\n", r.parameter, r.position_error,
                            cell(r.end_error_q), cell(r.end_error_u), r.order ? fmt::format("{:.2f}", *r.order) : "",
                            r.trajectory.events.size(), trajectory::to_string(r.trajectory.status));
    for (const ComparedRun& r : runs)
        if (!r.trajectory.reason.empty())
            text += fmt::format("    {} = {:.4g} to t = {}: {}\n", parameter, r.parameter,
                                number_text(r.trajectory.end.t), r.trajectory.reason);
    if (slope) text += fmt::format("    observed order in {}: {:.2f}\n", in, *slope);
    return text;
}

/// The warnings of all runs, each kind once, with the runs that gave it.
std::vector<std::string> warnings_of(const Comparison& c) {
    std::vector<std::string> list;
    for (const std::string& w : trajectory::about_motion(c.event.warnings)) list.push_back("event-driven: " + w);
    const auto series = [&](const std::vector<ComparedRun>& runs, const char* method, const char* parameter) {
        trajectory::WarningTally tally;
        for (const ComparedRun& r : runs)
            tally.add(trajectory::about_motion(r.trajectory.warnings),
                      fmt::format("{} = {:.4g}", parameter, r.parameter));
        for (const std::string& text : tally.texts("runs")) list.push_back(std::string(method) + ", " + text);
    };
    series(c.moreau, "Moreau", "h");
    series(c.penalty, "penalty", "factor on k");
    return list;
}

}  // namespace

std::string compare_text(const Comparison& c) {
    std::string text = fmt::format("{}\n  event-driven: {} to t = {}, {} events, energy balance {:.1e}\n",
                                   c.event.model, trajectory::to_string(c.event.status), number_text(c.event.end.t),
                                   c.event.events.size(), c.event.energy.balance_error);
    if (!c.event.reason.empty()) text += "    " + c.event.reason + "\n";
    text += series_text(c.moreau, "Moreau's time-stepping against it", "h", c.moreau_order, "h");
    text += series_text(c.penalty, "penalty against it", "factor on k", c.penalty_order, "1/k");
    if (!c.penalty_note.empty()) text += "    " + c.penalty_note + "\n";
    if (!c.penalty_left_out.empty()) text += "  no penalty runs: " + c.penalty_left_out + "\n";

    const std::vector<double> event = closing_times(c.event);
    const std::vector<double> moreau =
        c.moreau.empty() ? std::vector<double>() : closing_times(c.moreau.back().trajectory);
    const std::vector<double> penalty =
        c.penalty.empty() ? std::vector<double>() : closing_times(c.penalty.back().trajectory);
    const std::size_t rows = std::min(max_events, std::max({event.size(), moreau.size(), penalty.size()}));
    if (rows > 0) {
        text += fmt::format("  contacts close at (finest runs)\n    {:<16} {:<16} {:<16}\n", "event-driven", "Moreau",
                            "penalty");
        const auto cell = [](const std::vector<double>& times, std::size_t k) {
            return k < times.size() ? fmt::format("{:.10g}", times[k]) : std::string();
        };
        for (std::size_t k = 0; k < rows; ++k)
            text += fmt::format("    {:<16} {:<16} {:<16}\n", cell(event, k), cell(moreau, k), cell(penalty, k));
    }
    text += "  end states (finest runs)\n";
    for (std::size_t i = 0; i < std::min(max_coordinates, c.event.coordinates.size()); ++i) {
        const auto cell = [&](const std::vector<ComparedRun>& runs) {
            return runs.empty() ? std::string() : fmt::format("{:.10g}", runs.back().trajectory.end.q[i]);
        };
        text += fmt::format("    {:<12} {:<16} {:<16} {:<16}\n", c.event.coordinates[i],
                            fmt::format("{:.10g}", c.event.end.q[i]), cell(c.moreau), cell(c.penalty));
    }
    for (const std::string& w : warnings_of(c)) text += "  warning     " + w + "\n";
    return text;
}

std::string compare_json(const Comparison& c) {
    Json j{{"model", c.event.model},
           {"event",
            {{"status", trajectory::to_string(c.event.status)},
             {"events", c.event.events.size()},
             {"closing_times", closing_times(c.event)},
             {"final", state(c.event)}}},
           {"moreau", {{"runs", series(c.moreau, "h")}, {"order", number(c.moreau_order)}}},
           {"penalty", {{"runs", series(c.penalty, "k_factor")}, {"order", number(c.penalty_order)}}}};
    j["warnings"] = warnings_of(c);
    if (!c.event.reason.empty()) j["event"]["reason"] = c.event.reason;
    if (!c.penalty_note.empty()) j["penalty"]["note"] = c.penalty_note;
    if (!c.penalty_left_out.empty()) j["penalty"]["left_out"] = c.penalty_left_out;
    return json::document(j);
}

}  // namespace saltus::io
