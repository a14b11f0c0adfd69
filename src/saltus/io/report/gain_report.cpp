// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/gain_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/trajectory/warning_tally.hpp"

namespace saltus::io {

using namespace saltus::control;
using json::by_name;
using json::Json;
using json::number;

namespace {

// The text for terminals shows at most this number of runs (lines), and of forces, coordinates and outputs (columns).
constexpr std::size_t max_runs = 60, max_forces = 4, max_goal_coordinates = 6, max_outputs = 4;
// The text about a solution shows at most this number of forces at rest (lines).
constexpr std::size_t max_steady_forces = 12;

using Names = std::vector<std::string>;

/// The normal force of an element at the end; 0 if it does not act.
double normal_force(const Measures& m, std::size_t element) {
    for (const trajectory::Reaction& r : m.forces)
        if (r.element == static_cast<int>(element)) return r.N;
    return 0.0;
}

/// The normal force of an element at the steady state. The rows of a steady state are constraints, then contacts; the
/// elements are contacts, then constraints.
double steady_force(const Rest& rest, const Names& elements, std::size_t element, std::size_t constraints) {
    const std::size_t contacts = static_cast<std::size_t>(rest.lambda.size()) - constraints;
    if (element >= elements.size() || element >= static_cast<std::size_t>(rest.lambda.size())) return 0.0;
    return rest.lambda(static_cast<Eigen::Index>(element < contacts ? constraints + element : element - contacts));
}

/// The mean force of a contact, impacts included; null if the contact was not struck, or not often enough for a mean.
const trajectory::ImpulseRate* mean_force(const Measures& m, std::size_t element) {
    for (const trajectory::ImpulseRate& r : m.impulse_rates)
        if (r.element == static_cast<int>(element)) return &r;
    return nullptr;
}

Json steady_json(const Measures& m, const Names& coordinates, const Names& elements, std::size_t constraints) {
    if (!m.steady.found) return {{"found", false}, {"reason", m.steady.reason}};
    Json forces = Json::object(), closed = Json::array();
    for (std::size_t e = 0; e < static_cast<std::size_t>(m.steady.lambda.size()); ++e)
        forces[elements[e]] = {{"N", number(steady_force(m.steady, elements, e, constraints))}};
    for (const int row : m.steady.closed) closed.push_back(elements[static_cast<std::size_t>(row) - constraints]);
    return {{"found", true},
            {"q", by_name(coordinates, m.steady.q)},
            {"forces", std::move(forces)},
            {"contacts_closed", std::move(closed)},
            {"minimum", m.steady.minimum()}};
}

Json measures_json(const Measures& m, const Names& coordinates, const Names& elements, std::size_t constraints) {
    Json forces = Json::object();
    for (const trajectory::Reaction& r : m.forces)
        forces[elements[static_cast<std::size_t>(r.element)]] = {{"N", number(r.N)}, {"T", r.T}};
    Json j{
        {"status", trajectory::to_string(m.status)},
        {"settling_time", number(m.settling_time)},
        {"impacts", m.impacts},
        {"accumulations", m.accumulations},
        {"peak_impulse", number(m.peak_impulse)},
        {"peak_contact", m.peak_contact < 0 ? Json(nullptr) : Json(elements[static_cast<std::size_t>(m.peak_contact)])},
        {"final", {{"t", number(m.end.t)}, {"q", by_name(coordinates, m.end.q)}, {"u", by_name(coordinates, m.end.u)}}},
        {"forces", std::move(forces)},
        {"steady", steady_json(m, coordinates, elements, constraints)}};
    if (m.peak_force > 0.0) j["peak_force"] = number(m.peak_force);
    for (const trajectory::ImpulseRate& r : m.impulse_rates)
        j["impulse_rates"][elements[static_cast<std::size_t>(r.element)]] = {{"mean", number(r.mean)},
                                                                             {"earlier", number(r.earlier)},
                                                                             {"from", number(r.from)},
                                                                             {"to", number(r.to)},
                                                                             {"settled", r.settled}};
    for (const trajectory::OutputSummary& o : m.outputs)
        j["outputs"][o.name] = {{"unit", o.unit},
                                {"final", number(o.final)},
                                {"lowest", number(o.lowest)},
                                {"highest", number(o.highest)},
                                {"lowest_at", number(o.lowest_at)},
                                {"highest_at", number(o.highest_at)}};
    if (!m.not_settled.empty()) j["not_settled"] = m.not_settled;
    if (!m.reason.empty()) j["reason"] = m.reason;
    if (!m.warnings.empty()) j["warnings"] = m.warnings;
    return j;
}

/// The values of the axes of a run, such as "mu = 0.3, x = 1".
std::string values_text(const GainStudy& study, const StudiedRun& run) {
    std::string text;
    for (std::size_t p = 0; p < run.values.size(); ++p)
        text += (p > 0 ? ", " : "") + study.starts.axes[p].name + " = " + fmt::format("{:.6g}", run.values[p]);
    return text;
}

/// The warnings of the study, and those of its runs by kind.
std::vector<std::string> all_warnings(const GainStudy& study, const GainHead& head) {
    std::vector<std::string> list = head.warnings;
    trajectory::WarningTally tally;
    for (const StudiedRun& run : study.runs)
        if (run.done && run.refused.empty()) tally.add(run.measures.warnings, values_text(study, run));
    for (std::string& text : tally.texts("runs")) list.push_back(std::move(text));
    return list;
}

std::string title(const GainHead& head) {
    return fmt::format("{}\n  method      {}  ({})\n", head.model, head.method, head.options);
}

std::string warnings_text(const std::vector<std::string>& warnings) {
    std::string text;
    for (const std::string& w : warnings) text += "  warning     " + w + "\n";
    return text;
}

std::string cell(const std::optional<double>& x) { return x ? fmt::format("{:.8g}", *x) : std::string("-"); }

}  // namespace

std::string gain_study_text(const GainStudy& study, const GainHead& head) {
    std::string text =
        title(head) + fmt::format("  {} to t = {}, settled within {:g} % of the initial distance\n   ",
                                  counted(study.runs.size(), "run"), number_text(head.t_end), 100.0 * head.band);
    for (const ensemble::Axis& a : study.starts.axes) text += fmt::format(" {:>12}", a.name);
    text += fmt::format(" {:>12} {:>8} {:>14}", "settled at", "impacts", "peak impulse");
    const std::size_t coordinates = std::min(study.coordinates.size(), max_goal_coordinates);
    const std::size_t elements = std::min(study.elements.size(), max_forces);
    const auto any = [&](auto has) { return std::any_of(study.runs.begin(), study.runs.end(), has); };
    const bool springs = any([](const StudiedRun& r) { return r.measures.peak_force > 0.0; });
    const bool steady = any([](const StudiedRun& r) { return r.measures.steady.found; });
    if (springs) text += fmt::format(" {:>14}", "peak force");
    for (std::size_t i = 0; i < coordinates; ++i) text += fmt::format(" {:>14}", study.coordinates[i]);
    for (std::size_t e = 0; e < elements; ++e) text += fmt::format(" {:>14}", "N " + study.elements[e]);
    std::vector<std::size_t> struck;
    for (std::size_t e = 0; e < elements; ++e)
        if (any([&](const StudiedRun& r) { return mean_force(r.measures, e) != nullptr; })) struck.push_back(e);
    for (const std::size_t e : struck) text += fmt::format(" {:>16}", "mean " + study.elements[e]);
    const std::size_t outputs = std::min(study.outputs.size(), max_outputs);
    for (std::size_t k = 0; k < outputs; ++k)
        text += fmt::format(" {:>14} {:>14} {:>14}", study.outputs[k], "lowest", "highest");
    for (std::size_t e = 0; steady && e < elements; ++e) text += fmt::format(" {:>16}", "steady " + study.elements[e]);
    text += "  status\n";
    for (std::size_t r = 0; r < std::min(study.runs.size(), max_runs); ++r) {
        const StudiedRun& run = study.runs[r];
        const Measures& m = run.measures;
        text += "   ";
        for (const double v : run.values) text += fmt::format(" {:>12.6g}", v);
        if (!run.done || !run.refused.empty()) {
            text += run.done ? "  refused: " + run.refused + "\n" : "  not done\n";
            continue;
        }
        text += fmt::format(" {:>12} {:>8} {:>14.8g}", cell(m.settling_time),
                            std::to_string(m.impacts) + (m.accumulations > 0 ? "+" : ""), m.peak_impulse);
        if (springs) text += fmt::format(" {:>14.8g}", m.peak_force);
        for (std::size_t i = 0; i < coordinates; ++i) text += fmt::format(" {:>14.8g}", m.end.q[i]);
        for (std::size_t e = 0; e < elements; ++e) text += fmt::format(" {:>14.8g}", normal_force(m, e));
        for (const std::size_t e : struck) {
            const trajectory::ImpulseRate* const rate = mean_force(m, e);
            text += fmt::format(
                " {:>16}", rate == nullptr ? "-" : fmt::format("{}{:.8g}", rate->settled ? "" : "~", rate->mean + 0.0));
        }
        for (std::size_t k = 0; k < outputs; ++k)
            text += fmt::format(" {:>14.8g} {:>14.8g} {:>14.8g}", m.outputs[k].final, m.outputs[k].lowest,
                                m.outputs[k].highest);
        for (std::size_t e = 0; steady && e < elements; ++e)
            text += m.steady.found
                        ? fmt::format(" {:>16.8g}", steady_force(m.steady, study.elements, e, study.constraints))
                        : fmt::format(" {:>16}", "-");
        text += fmt::format("  {}\n", trajectory::to_string(m.status));
    }
    if (study.runs.size() > max_runs) text += fmt::format("    … {} runs in all\n", study.runs.size());
    if (any([](const StudiedRun& r) { return r.measures.accumulations > 0; }))
        text += "    +: and infinitely many more in an accumulation\n";
    if (any([](const StudiedRun& r) {
            return std::any_of(r.measures.impulse_rates.begin(), r.measures.impulse_rates.end(),
                               [](const trajectory::ImpulseRate& rate) { return !rate.settled; });
        }))
        text += "    ~: a mean force that has not settled\n";
    if (!study.complete) text += "  interrupted\n";
    return text + warnings_text(all_warnings(study, head));
}

std::string gain_study_json(const GainStudy& study, const GainHead& head) {
    Json vary = Json::object(), runs = Json::array();
    for (const ensemble::Axis& a : study.starts.axes) {
        if (a.normal)
            vary[a.name] = {{"mean", a.normal->mean}, {"deviation", a.normal->deviation}};
        else if (study.starts.sampled())
            vary[a.name] = {{"from", a.from}, {"to", a.to}};
        else
            vary[a.name] = a.values();
    }
    for (const StudiedRun& run : study.runs) {
        Json values = Json::object();
        for (std::size_t p = 0; p < study.starts.axes.size(); ++p) values[study.starts.axes[p].name] = run.values[p];
        Json j{{"parameters", std::move(values)}};
        if (!run.refused.empty())
            j.update({{"status", "refused"}, {"reason", run.refused}});
        else if (run.done)
            j.update(measures_json(run.measures, study.coordinates, study.elements, study.constraints));
        else
            j["status"] = "interrupted";
        runs.push_back(std::move(j));
    }
    const Json j{{"model", head.model},     {"method", head.method},
                 {"t_end", head.t_end},     {"settling_band", head.band},
                 {"vary", std::move(vary)}, {"complete", study.complete},
                 {"runs", std::move(runs)}, {"warnings", all_warnings(study, head)}};
    return json::document(j);
}

std::string gain_study_csv(const GainStudy& study) {
    Csv csv;
    for (const ensemble::Axis& a : study.starts.axes) csv.cell(a.name);
    csv.cells({"status", "settling_time", "impacts", "accumulations", "peak_impulse", "peak_force", "t"});
    for (const std::string& q : study.coordinates) csv.cell(q);
    for (const std::string& q : study.coordinates) csv.cell(q + "'");
    for (const std::string& e : study.elements) csv.cell("lambdaN " + e);
    for (const std::string& q : study.coordinates) csv.cell("steady " + q);
    for (const std::string& e : study.elements) csv.cell("steady lambdaN " + e);
    for (const std::string& e : study.elements) csv.cell("mean lambdaN " + e);
    for (const std::string& o : study.outputs) csv.cell(o).cell("lowest " + o).cell("highest " + o);
    csv.end_line();
    for (const StudiedRun& run : study.runs) {
        const Measures& m = run.measures;
        for (const double v : run.values) csv.cell(v);
        csv.cell(std::string(!run.refused.empty() ? "refused"
                             : run.done           ? trajectory::to_string(m.status)
                                                  : "interrupted"));
        csv.cell(m.settling_time);
        csv.cell(static_cast<double>(m.impacts)).cell(static_cast<double>(m.accumulations));
        csv.cell(m.peak_impulse).cell(m.peak_force).cell(m.end.t);
        csv.cells(m.end.q, study.coordinates.size()).cells(m.end.u, study.coordinates.size());
        std::vector<double> forces, steady;
        for (std::size_t e = 0; run.done && run.refused.empty() && e < study.elements.size(); ++e)
            forces.push_back(normal_force(m, e));
        csv.cells(forces, study.elements.size());
        csv.cells(m.steady.found ? m.steady.q : std::vector<double>(), study.coordinates.size());
        for (std::size_t e = 0; m.steady.found && e < study.elements.size(); ++e)
            steady.push_back(steady_force(m.steady, study.elements, e, study.constraints));
        csv.cells(steady, study.elements.size());
        for (std::size_t e = 0; e < study.elements.size(); ++e) {
            const trajectory::ImpulseRate* const rate = mean_force(m, e);
            csv.cell(rate == nullptr ? std::optional<double>() : std::optional(rate->mean));
        }
        std::vector<double> outputs;
        for (const trajectory::OutputSummary& o : m.outputs)
            outputs.insert(outputs.end(), {o.final, o.lowest, o.highest});
        csv.cells(outputs, 3 * study.outputs.size());
        csv.end_line();
    }
    return std::move(csv).text();
}

std::string gain_solution_text(const GainSolution& s, const GainHead& head) {
    std::string text = title(head);
    text += fmt::format("  target      {}, {}\n", s.target,
                        s.at == TargetAt::steady ? "at the rest that the motion leads to"
                                                 : fmt::format("at t = {}", number_text(head.t_end)));
    text += fmt::format("  status      {}{}\n", to_string(s.status), s.reason.empty() ? "" : ": " + s.reason);
    if (!std::isnan(s.value)) {
        text += fmt::format("  {} {} = {}\n", s.status == SolveStatus::solved ? "answer     " : "nearest    ",
                            s.unknown, number_text(s.value));
        text += fmt::format("  left side   {}, difference {:.2e}\n", number_text(s.reached.left), s.reached.difference);
        if (s.derivative) text += fmt::format("  derivative  {:.10g} of the target, exactly\n", *s.derivative);
        const Measures& m = s.run.measures;
        text += fmt::format("  run         settled at {}, {}{}, peak impulse {:.8g}\n", cell(m.settling_time),
                            counted(static_cast<std::size_t>(m.impacts), "impact"),
                            m.accumulations > 0 ? " and infinitely many more" : "", m.peak_impulse);
        if (m.steady.found)
            for (std::size_t i = 0; i < std::min(s.coordinates.size(), max_goal_coordinates); ++i)
                text += fmt::format("  {:<11} {} = {:.12g}\n", i == 0 ? "steady" : "", s.coordinates[i], m.steady.q[i]);
        for (std::size_t e = 0;
             m.steady.found && e < std::min(static_cast<std::size_t>(m.steady.lambda.size()), max_steady_forces); ++e)
            text += fmt::format("  {:<11} {:<18} N {:.12g}\n", e == 0 ? "forces" : "", s.elements[e],
                                steady_force(m.steady, s.elements, e, s.constraints));
    }
    text += fmt::format("  tried       {} with {} from {:.6g} to {:.6g}\n", counted(s.trials.size(), "run"), s.unknown,
                        s.explored_low, s.explored_high);
    return text + warnings_text(head.warnings);
}

std::string gain_solution_json(const GainSolution& s, const GainHead& head) {
    Json trials = Json::array();
    for (const SolveTrial& t : s.trials) {
        Json j{{s.unknown, t.value},
               {"left", t.target ? number(t.target->left) : Json(nullptr)},
               {"difference", t.target ? number(t.target->difference) : Json(nullptr)},
               {"derivative", number(t.derivative)}};
        if (!t.refused.empty()) j["refused"] = t.refused;
        trials.push_back(std::move(j));
    }
    const bool any = !std::isnan(s.value);
    Json j{{"model", head.model},
           {"method", head.method},
           {"t_end", head.t_end},
           {"solve_for", s.unknown},
           {"target", s.target},
           {"at", s.at == TargetAt::steady ? "steady" : "end"},
           {"status", to_string(s.status)},
           {"value", number(s.value)},
           {"solution", s.status == SolveStatus::solved ? Json{{s.unknown, number(s.value)}} : Json(nullptr)},
           {"left", any ? number(s.reached.left) : Json(nullptr)},
           {"difference", any ? number(s.reached.difference) : Json(nullptr)},
           {"derivative", number(s.derivative)},
           {"bracket", s.bracket ? Json{s.bracket->first, s.bracket->second} : Json(nullptr)},
           {"explored", {s.explored_low, s.explored_high}},
           {"left_range", {s.target_low, s.target_high}},
           {"run", any ? measures_json(s.run.measures, s.coordinates, s.elements, s.constraints) : Json(nullptr)},
           {"trials", std::move(trials)},
           {"warnings", head.warnings}};
    if (!s.reason.empty()) j["reason"] = s.reason;
    return json::document(j);
}

}  // namespace saltus::io
