// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/ensemble/ask_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/report/ensemble/ensemble_report.hpp"

namespace saltus::io {

using ensemble::Answers;
using ensemble::Question;
using json::Json;
using json::number;

namespace {

constexpr std::size_t shown_runs = 20;          // of the text
constexpr std::size_t listed_runs = 100'000;    // of the JSON document
constexpr std::size_t lines_of_a_piece = 4096;  // of a table

/// Calls f(run, values, answers) for each run that was made.
void for_each_run(const AskReport& r,
                  const std::function<void(std::size_t, const std::vector<double>&, const Answers&)>& f) {
    std::vector<double> x(r.starts.axes.size());
    r.table->scan(0, r.starts.size(), [&](std::size_t k, std::string_view bytes) {
        Answers a = ensemble::answers_from(bytes);
        a.values.resize(r.columns.size(), NAN);  // those of a model that could not be built
        r.starts.values(k, x);
        f(k, x, a);
    });
}

std::string status_text(const Answers& a) {
    return a.refused ? "refused" : std::string(trajectory::to_string(a.status));
}

Json starts_json(const ensemble::Starts& s) {
    Json j = Json::object();
    for (const ensemble::Axis& a : s.axes) {
        if (a.normal)
            j[a.name] = {{"mean", a.normal->mean}, {"deviation", a.normal->deviation}};
        else if (s.sampled())
            j[a.name] = {{"from", a.from}, {"to", a.to}};
        else if (a.n <= static_cast<long>(listed_runs))
            j[a.name] = a.values();
        else
            j[a.name] = {{"from", a.from}, {"to", a.to}, {"n", a.n}};
    }
    return j;
}

/// Whether a column is the time of something that need not happen.
std::vector<char> may_not_happen(const AskReport& r) {
    std::vector<char> flags;
    for (const Question& q : r.questions)
        flags.insert(flags.end(), q.kind == Question::Kind::end ? 2 * r.coordinates.size() : 1,
                     q.kind == Question::Kind::first || q.kind == Question::Kind::rest ? 1 : 0);
    return flags;
}

}  // namespace

bool has_points(const AskReport& r) {
    return std::any_of(r.questions.begin(), r.questions.end(),
                       [](const Question& q) { return q.kind == Question::Kind::section; });
}

AskSummary summary_of(const AskReport& r) {
    AskSummary s;
    s.of_column.resize(r.columns.size());
    for_each_run(r, [&](std::size_t, const std::vector<double>&, const Answers& a) {
        ++s.runs;
        if (a.refused)
            ++s.refused;
        else if (a.status == trajectory::Status::completed)
            ++s.completed;
        else
            ++s.failed;
        if (a.status != trajectory::Status::completed && s.first_failure.empty()) s.first_failure = a.reason;
        // A motion that ended early says nothing about those that did not.
        if (a.status != trajectory::Status::completed) return;
        for (std::size_t k = 0; k < r.columns.size(); ++k) s.of_column[k].add(a.values[k]);
    });
    return s;
}

std::string ask_text(const AskReport& r, const AskSummary& s) {
    std::string text = fmt::format("{}\n  method      {}  ({})\n", r.model, r.method, r.options);
    text += fmt::format("  runs        {} of {}: {} completed", s.runs, r.starts.size(), s.completed);
    if (s.failed > 0) text += fmt::format(", {} ended early", s.failed);
    if (s.refused > 0) text += fmt::format(", {} refused by the model", s.refused);
    text += "\n";
    text += device_text(r.device, r.device_use);
    if (!s.first_failure.empty()) text += "  first       " + s.first_failure + "\n";
    std::size_t width = 6;
    for (const std::string& c : r.columns) width = std::max(width, c.size());
    text += fmt::format("    {:<{}} {:>9} {:>14} {:>14} {:>14} {:>14}\n", "", width, "runs", "mean", "deviation",
                        "lowest", "highest");
    const std::vector<char> happens = may_not_happen(r);
    for (std::size_t k = 0; k < r.columns.size(); ++k) {
        const ensemble::Moments& m = s.of_column[k];
        text += fmt::format("    {:<{}} {:>9}", r.columns[k], width, m.count());
        if (m.count() > 0)
            text += fmt::format(" {:>14.8g} {:>14.8g} {:>14.8g} {:>14.8g}", m.mean(), m.deviation(), m.lowest(),
                                m.highest());
        if (happens[k] != 0) {
            const ensemble::Interval w = ensemble::wilson(m.count(), s.completed);
            text +=
                fmt::format("  in {:.4f} of the runs, 95 %: {:.4f} to {:.4f}",
                            s.completed > 0 ? static_cast<double>(m.count()) / static_cast<double>(s.completed) : 0.0,
                            w.low, w.high);
        }
        text += "\n";
    }
    if (r.starts.size() <= shown_runs) {
        text += "   ";
        for (const ensemble::Axis& a : r.starts.axes) text += fmt::format(" {:>12}", a.name);
        for (const std::string& c : r.columns) text += fmt::format(" {:>14}", c);
        text += "  status\n";
        for_each_run(r, [&](std::size_t, const std::vector<double>& x, const Answers& a) {
            text += "   ";
            for (const double v : x) text += fmt::format(" {:>12.6g}", v);
            for (std::size_t k = 0; k < r.columns.size(); ++k)
                text += std::isnan(a.values[k])
                            ? fmt::format(" {:>{}}", "-", std::max<std::size_t>(14, r.columns[k].size()))
                            : fmt::format(" {:>{}.8g}", a.values[k], std::max<std::size_t>(14, r.columns[k].size()));
            text += "  " + status_text(a) + "\n";
        });
    }
    if (!r.complete) text += "  interrupted\n";
    for (const std::string& w : r.warnings) text += "  warning     " + w + "\n";
    return text;
}

std::string ask_json(const AskReport& r, const AskSummary& s) {
    Json j;
    j["model"] = r.model;
    j["method"] = r.method;
    j["t_end"] = r.t_end;
    j["device"] = r.device;
    j["status"] = r.complete ? "completed" : "interrupted";
    j["vary"] = starts_json(r.starts);
    if (r.starts.sampled()) {
        j["samples"] = r.starts.samples;
        j["seed"] = r.starts.seed;
    }
    Json asked = Json::array();
    for (const Question& q : r.questions) asked.push_back(q.text);
    j["ask"] = std::move(asked);
    j["columns"] = r.columns;
    j["counts"] = {{"runs", s.runs}, {"completed", s.completed}, {"failed", s.failed}, {"refused", s.refused}};
    if (!s.first_failure.empty()) j["first_failure"] = s.first_failure;
    Json summary = Json::object(), fraction = Json::object();
    const std::vector<char> happens = may_not_happen(r);
    for (std::size_t k = 0; k < r.columns.size(); ++k) {
        const ensemble::Moments& m = s.of_column[k];
        const auto value = [&](double x) { return m.count() > 0 ? number(x) : Json(nullptr); };
        summary[r.columns[k]] = {{"count", m.count()},
                                 {"mean", value(m.mean())},
                                 {"deviation", value(m.deviation())},
                                 {"lowest", value(m.lowest())},
                                 {"highest", value(m.highest())}};
        if (happens[k] == 0) continue;
        const ensemble::Interval w = ensemble::wilson(m.count(), s.completed);
        fraction[r.columns[k]] = {
            {"value", s.completed > 0 ? static_cast<double>(m.count()) / static_cast<double>(s.completed) : 0.0},
            {"low", w.low},
            {"high", w.high}};
    }
    j["summary"] = std::move(summary);
    j["fraction"] = std::move(fraction);
    Json runs = Json::array();
    const std::size_t point = 1 + 2 * r.coordinates.size();
    if (r.starts.size() <= listed_runs)
        for_each_run(r, [&](std::size_t, const std::vector<double>& x, const Answers& a) {
            Json one;
            for (std::size_t k = 0; k < x.size(); ++k) one["parameters"][r.starts.axes[k].name] = number(x[k]);
            one["status"] = status_text(a);
            if (!a.reason.empty()) one["reason"] = a.reason;
            for (std::size_t k = 0; k < r.columns.size(); ++k) one["answers"][r.columns[k]] = number(a.values[k]);
            for (const std::vector<double>& list : a.points) {
                Json points = Json::array();
                for (std::size_t k = 0; k + point <= list.size(); k += point)
                    points.push_back(std::vector<double>(list.begin() + static_cast<std::ptrdiff_t>(k),
                                                         list.begin() + static_cast<std::ptrdiff_t>(k + point)));
                one["sections"].push_back(std::move(points));
            }
            runs.push_back(std::move(one));
        });
    else
        j["runs_left_out"] = s.runs;
    j["runs"] = std::move(runs);
    j["warnings"] = r.warnings;
    return json::document(j);
}

void ask_csv(const AskReport& r, const std::function<void(std::string_view)>& take) {
    Csv csv;
    for (const ensemble::Axis& a : r.starts.axes) csv.cell(a.name);
    csv.cell(std::string("status"));
    for (const std::string& c : r.columns) csv.cell(c);
    csv.end_line();
    std::size_t lines = 0;
    for_each_run(r, [&](std::size_t, const std::vector<double>& x, const Answers& a) {
        for (const double v : x) csv.cell(v);
        csv.cell(status_text(a));
        for (const double v : a.values) csv.cell_if_finite(v);
        csv.end_line();
        if (++lines % lines_of_a_piece == 0) take(csv.take());
    });
    take(csv.take());
}

void ask_points_csv(const AskReport& r, const std::function<void(std::string_view)>& take) {
    Csv csv;
    csv.cell(std::string("run"));
    for (const ensemble::Axis& a : r.starts.axes) csv.cell(a.name);
    csv.cells({"section", "t"});
    for (const std::string& c : r.coordinates) csv.cell(c);
    for (const std::string& c : r.coordinates) csv.cell(c + "'");
    csv.end_line();
    std::vector<std::string> sections;
    for (const Question& q : r.questions)
        if (q.kind == Question::Kind::section) sections.push_back(q.text);
    const std::size_t point = 1 + 2 * r.coordinates.size();
    for_each_run(r, [&](std::size_t run, const std::vector<double>& x, const Answers& a) {
        for (std::size_t s = 0; s < a.points.size(); ++s)
            for (std::size_t k = 0; k + point <= a.points[s].size(); k += point) {
                csv.cell(std::to_string(run));
                for (const double v : x) csv.cell(v);
                csv.cell(sections[s]);
                for (std::size_t i = 0; i < point; ++i) csv.cell(a.points[s][k + i]);
                csv.end_line();
            }
        take(csv.take());
    });
    take(csv.take());
}

}  // namespace saltus::io
