// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/sensitivity_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/report/pair_report.hpp"
#include "saltus/io/report/study_report.hpp"

namespace saltus::io {

using json::Json;
using json::number;
using sensitivity::Differenced;
using sensitivity::EventSensitivity;
using sensitivity::Sensitivity;

namespace {

constexpr std::size_t max_rows = 24, max_columns = 6, max_event_derivatives = 40, max_remarks = 30;  // of the text

std::string cell(double x) { return std::isfinite(x) ? fmt::format("{:.8g}", x) : std::string("-"); }

std::vector<std::string> contact_names(const Sensitivity& s, const EventSensitivity& e) {
    std::vector<std::string> names;
    for (const int k : s.motion.events[e.event].elements)
        names.push_back(s.motion.elements[static_cast<std::size_t>(k)].name);
    return names;
}

/// A table with a line for each head and a column for each variable; wide tables are broken after a few columns.
template <class Value>
std::string table(const Sensitivity& s, const std::vector<std::string>& heads, Value value) {
    std::string text;
    std::size_t width = 8;
    for (const std::string& head : heads) width = std::max(width, head.size());
    for (std::size_t from = 0; from < s.with_respect_to.size(); from += max_columns) {
        const std::size_t to = std::min(from + max_columns, s.with_respect_to.size());
        text += fmt::format("    {:<{}}", "", width);
        for (std::size_t j = from; j < to; ++j) text += fmt::format(" {:>16}", "d/d " + s.with_respect_to[j].name);
        text += "\n";
        for (std::size_t i = 0; i < heads.size(); ++i) {
            text += fmt::format("    {:<{}}", heads[i], width);
            for (std::size_t j = from; j < to; ++j) text += fmt::format(" {:>16}", cell(value(i, j)));
            text += "\n";
        }
    }
    return text;
}

std::string final_text(const Sensitivity& s) {
    if (s.final.cols() == 0) return {};
    std::vector<std::string> heads;
    std::vector<Eigen::Index> rows;
    const std::size_t n = s.motion.coordinates.size(), shown = std::min(n, max_rows / 2);
    for (std::size_t i = 0; i < shown; ++i)
        heads.push_back(s.motion.coordinates[i]), rows.push_back(static_cast<Eigen::Index>(i));
    for (std::size_t i = 0; i < shown; ++i)
        heads.push_back(s.motion.coordinates[i] + "'"), rows.push_back(static_cast<Eigen::Index>(n + i));
    std::string text = fmt::format("  state at t = {}\n", number_text(s.motion.end.t));
    text +=
        table(s, heads, [&](std::size_t i, std::size_t j) { return s.final(rows[i], static_cast<Eigen::Index>(j)); });
    if (shown < n) text += fmt::format("    the first {} of {} coordinates; all of them with --json\n", shown, n);
    return text;
}

std::string events_text(const Sensitivity& s) {
    if (s.events.empty()) return {};
    std::vector<std::string> heads;
    const std::size_t shown = std::min(s.events.size(), max_event_derivatives);
    for (std::size_t k = 0; k < shown; ++k) {
        const trajectory::Event& e = s.motion.events[s.events[k].event];
        std::string who = listing(contact_names(s, s.events[k]), "and", "", 2);
        heads.push_back(fmt::format("{:<14.10g} {:<12} {}", e.t, to_string(e.kind), who));
    }
    std::string text = "  event times\n";
    text += table(s, heads, [&](std::size_t i, std::size_t j) { return s.events[i].dt[j]; });
    if (shown < s.events.size())
        text += fmt::format("    the first {} of {} events; all of them with --json\n", shown, s.events.size());
    return text;
}

std::string_view verdict_text(const Differenced& d) {
    switch (d.verdict()) {
        case Differenced::Verdict::agrees: return "agrees";
        case Differenced::Verdict::disagrees: return "disagrees";
        case Differenced::Verdict::unsure: return "unsure";
        case Differenced::Verdict::not_compared: return "not compared";
    }
    return "";
}

/// What the comparison with differences shows, in one sentence.
std::string conclusion(const SensitivityReport& r) {
    const sensitivity::Differences& check = *r.check;
    if (check.compared == 0) return "nothing is confirmed: no derivative could be compared";
    if (check.disagreeing == 0)
        return fmt::format("confirmed: {} of {} derivatives agree with the differences, the others were not compared",
                           check.compared, check.variables.size());
    std::vector<std::string> names;
    for (std::size_t j = 0; j < check.variables.size(); ++j)
        if (check.variables[j].verdict() == Differenced::Verdict::disagrees)
            names.push_back(r.result->with_respect_to[j].name);
    return "not confirmed: the derivatives by " + listing(names, "and", "", max_columns) +
           " disagree with the differences; the motion is not smooth there, or it is not accurate enough";
}

std::string check_text(const SensitivityReport& r) {
    const Sensitivity& s = *r.result;
    std::string text =
        fmt::format("  against central differences of whole motions ({:.2f} s)\n    {:<12} {:>10} {:>14} {:>14}\n",
                    r.check->seconds, "", "step", "error", "uncertainty");
    for (std::size_t j = 0; j < s.with_respect_to.size(); ++j) {
        const Differenced& d = r.check->variables[j];
        if (d.possible)
            text += fmt::format("    {:<12} {:>10.1e} {:>14.2e} {:>14.2e}  {}{}\n", s.with_respect_to[j].name, d.step,
                                d.error, d.uncertainty, verdict_text(d),
                                d.times ? "" : ", of the state only: neighbouring motions have other events");
        else
            text += fmt::format("    {:<12} {}\n", s.with_respect_to[j].name, d.why_not);
    }
    if (r.check->compared > 0) text += fmt::format("    largest relative error {:.2e}\n", r.check->max_relative_error);
    return text + fmt::format("    {}\n", conclusion(r));
}

Json by_variable(const Sensitivity& s, const std::vector<double>& values) {
    Json j = Json::object();
    for (std::size_t k = 0; k < s.with_respect_to.size() && k < values.size(); ++k)
        j[s.with_respect_to[k].name] = number(values[k]);
    return j;
}

Json state_json(const Sensitivity& s, Eigen::Index first) {
    Json j = Json::object();
    if (s.final.cols() == 0) return j;
    for (std::size_t i = 0; i < s.motion.coordinates.size(); ++i) {
        Json row = Json::object();
        for (std::size_t k = 0; k < s.with_respect_to.size(); ++k)
            row[s.with_respect_to[k].name] =
                number(s.final(first + static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(k)));
        j[s.motion.coordinates[i]] = std::move(row);
    }
    return j;
}

Json event_json(const Sensitivity& s, const EventSensitivity& e) {
    const trajectory::Event& event = s.motion.events[e.event];
    Json saltation = Json::array();
    for (Eigen::Index i = 0; i < e.saltation.rows(); ++i) {
        Json row = Json::array();
        for (Eigen::Index k = 0; k < e.saltation.cols(); ++k) row.push_back(number(e.saltation(i, k)));
        saltation.push_back(std::move(row));
    }
    return {{"t", event.t},
            {"kind", to_string(event.kind)},
            {"contacts", contact_names(s, e)},
            {"dt", by_variable(s, e.dt)},
            {"transversality", number(e.transversality)},
            {"saltation", std::move(saltation)}};
}

Json check_json(const SensitivityReport& r) {
    Json variables = Json::object();
    const Sensitivity& s = *r.result;
    const auto n = static_cast<Eigen::Index>(s.motion.coordinates.size());
    for (std::size_t j = 0; j < s.with_respect_to.size(); ++j) {
        const Differenced& d = r.check->variables[j];
        Json v{{"possible", d.possible}, {"verdict", verdict_text(d)}};
        if (d.possible) {
            v["step"] = d.step;
            v["error"] = number(d.error);
            v["uncertainty"] = number(d.uncertainty);
            v["sure"] = !d.unsure();
            Json q = Json::object(), u = Json::object();
            for (Eigen::Index i = 0; i < n; ++i) {
                q[s.motion.coordinates[static_cast<std::size_t>(i)]] = number(d.state(i));
                u[s.motion.coordinates[static_cast<std::size_t>(i)]] = number(d.state(n + i));
            }
            v["q"] = std::move(q);
            v["u"] = std::move(u);
            v["event_times"] = d.times ? Json(d.dt) : Json(nullptr);
        } else {
            v["reason"] = d.why_not;
        }
        variables[s.with_respect_to[j].name] = std::move(v);
    }
    return {{"max_relative_error", r.check->compared > 0 ? number(r.check->max_relative_error) : Json(nullptr)},
            {"confirmed", r.check->confirmed()},
            {"conclusion", conclusion(r)},
            {"variables", std::move(variables)}};
}

std::string derivatives_text(const SensitivityReport& r) {
    const Sensitivity& s = *r.result;
    std::string text = fmt::format("{}\n  {} to t = {}, {}\n", r.model, trajectory::to_string(s.motion.status),
                                   number_text(s.motion.end.t), counted(s.motion.events.size(), "event"));
    for (const std::string& w : r.warnings) text += "  note: " + w + "\n";
    if (!s.available) return text + "  no derivatives: " + s.reason + "\n";
    if (s.output) {
        text += fmt::format("  {} = {} at the end{}\n", r.output, number_text(*s.output),
                            r.adjoint ? ", its derivatives by adjoint equations" : "");
        text += table(s, {r.output}, [&](std::size_t, std::size_t j) { return s.output_derivative[j]; });
    }
    text += final_text(s) + events_text(s);
    if (r.check) text += check_text(r);
    if (!s.remarks.empty()) text += "  places without a derivative\n";
    for (std::size_t k = 0; k < std::min(s.remarks.size(), max_remarks); ++k) {
        const sensitivity::Remark& m = s.remarks[k];
        text += fmt::format("    t = {:<12.8g} {}{}\n", m.t, m.variable.empty() ? "" : m.variable + ": ", m.text);
    }
    if (s.remarks.size() > max_remarks)
        text += fmt::format("    and {} more with --json\n", s.remarks.size() - max_remarks);
    return text + fmt::format("  motion {:.3f} s, derivatives {:.3f} s\n", s.simulation_seconds, s.derivative_seconds);
}

void add_derivatives(const SensitivityReport& r, Json& j) {
    const Sensitivity& s = *r.result;
    Json names = Json::array(), events = Json::array(), remarks = Json::array();
    for (const sensitivity::Variable& v : s.with_respect_to) names.push_back(v.name);
    for (const EventSensitivity& e : s.events) events.push_back(event_json(s, e));
    for (const sensitivity::Remark& m : s.remarks)
        remarks.push_back({{"t", m.t}, {"variable", m.variable}, {"text", m.text}});
    const auto n = static_cast<Eigen::Index>(s.motion.coordinates.size());
    j["with_respect_to"] = std::move(names);
    j["final"] = {{"t", s.motion.end.t}, {"q", state_json(s, 0)}, {"u", state_json(s, n)}};
    j["events"] = std::move(events);
    if (!s.available) j["reason"] = s.reason;
    if (s.output)
        j["output"] = {{"expression", r.output},
                       {"value", number(*s.output)},
                       {"derivative", by_variable(s, s.output_derivative)},
                       {"mode", r.adjoint ? "adjoint" : "forward"}};
    if (r.check) j["finite_difference"] = check_json(r);
    j["remarks"] = std::move(remarks);
}

}  // namespace

std::string sensitivity_text(const SensitivityReport& r) {
    std::string text;
    if (r.result) text += derivatives_text(r);
    if (r.pair) text += (text.empty() ? "" : "\n") + pair_text(*r.pair);
    if (r.study) text += (text.empty() ? "" : "\n") + study_text(*r.study);
    return text;
}

std::string sensitivity_json(const SensitivityReport& r, Timing timing) {
    Json j{{"model", r.model}};
    if (r.result) add_derivatives(r, j);
    if (r.pair) j["pair"] = Json::parse(pair_json(*r.pair));
    if (r.study) j["study"] = Json::parse(study_json(*r.study));
    j["warnings"] = r.warnings;
    if (r.result && timing == Timing::included)
        j["statistics"] = {{"simulation_seconds", r.result->simulation_seconds},
                           {"derivative_seconds", r.result->derivative_seconds},
                           {"check_seconds", r.check ? Json(r.check->seconds) : Json(nullptr)}};
    if (r.result) j["statistics"]["evaluations"] = r.result->evaluations;
    return json::document(j);
}

std::string sensitivity_events_csv(const SensitivityReport& r) {
    const Sensitivity& s = *r.result;
    Csv csv;
    csv.cell("t").cell("kind").cell("contacts").cell("transversality");
    for (const sensitivity::Variable& v : s.with_respect_to) csv.cell("dt/d" + v.name);
    csv.end_line();
    for (const EventSensitivity& e : s.events) {
        const trajectory::Event& event = s.motion.events[e.event];
        csv.cell(event.t).cell(std::string(to_string(event.kind)));
        csv.cell(listing(contact_names(s, e), "and", "", 1000)).cell_if_finite(e.transversality);
        for (const double dt : e.dt) csv.cell_if_finite(dt);
        csv.end_line();
    }
    return std::move(csv).text();
}

std::string sensitivity_course_csv(const SensitivityReport& r) {
    const Sensitivity& s = *r.result;
    if (s.history.empty()) return {};
    Csv csv;
    csv.cell("t");
    for (const char* const mark : {"", "'"})
        for (const std::string& c : s.motion.coordinates)
            for (const sensitivity::Variable& v : s.with_respect_to) csv.cell("d" + c + mark + "/d" + v.name);
    csv.end_line();
    for (const sensitivity::DerivativeSample& at : s.history) {
        csv.cell(at.t);
        for (Eigen::Index i = 0; i < at.state.rows(); ++i)
            for (Eigen::Index j = 0; j < at.state.cols(); ++j) csv.cell(at.state(i, j));
        csv.end_line();
    }
    return std::move(csv).text();
}

}  // namespace saltus::io
