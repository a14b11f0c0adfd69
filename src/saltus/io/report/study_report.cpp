// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/study_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using namespace saltus::sensitivity;
using json::Json;
using json::number;

namespace {

constexpr std::size_t max_runs = 60, max_event_times = 8;  // of the text

const char* name_of(Quantity quantity) { return quantity == Quantity::time ? "time" : "impulse"; }

std::vector<std::string> names(const EventStudy& study, const StudiedEvent& e) {
    std::vector<std::string> list;
    for (const int k : e.elements) list.push_back(study.elements[static_cast<std::size_t>(k)]);
    return list;
}

/// "impact of left at 0.45"
std::string title(const EventStudy& study, const StudiedEvent& e) {
    const std::vector<std::string> list = names(study, e);
    return fmt::format("{}{} at {:.12g}", to_string(e.kind), list.empty() ? "" : " of " + listing(list, "and", "", 4),
                       e.t);
}

Json event_json(const EventStudy& study, const StudiedEvent& e) {
    return {
        {"kind", to_string(e.kind)}, {"contacts", names(study, e)}, {"t", number(e.t)}, {"impulse", number(e.impulse)}};
}

/// θ, θ̇, θ̈ of the obstacle for one event; null if the run was not compared.
Json derivatives(const std::vector<std::array<double, 3>>& theta, std::size_t event) {
    if (event >= theta.size()) return nullptr;
    return {number(theta[event][0]), number(theta[event][1]), number(theta[event][2])};
}

Json law_json(const PowerLaw& law) {
    Json exponents = Json::object();
    for (std::size_t k = 0; k < law.of.size(); ++k) exponents[law.of[k]] = number(law.exponents[k]);
    return {{"exponents", std::move(exponents)}, {"rms", number(law.rms)}, {"runs", law.runs}};
}

Json fits_json(const EventResponse::Answer::Fits& fits) {
    Json laws = Json::array();
    for (const PowerLaw& law : fits.laws) laws.push_back(law_json(law));
    return {{"laws", std::move(laws)},
            {"feels", fits.felt < 0 ? Json(nullptr) : Json(fits.laws[static_cast<std::size_t>(fits.felt)].of[0])}};
}

/// "eps^0.5 mu^1   rms 0.01 over 12 runs"
std::string law_text(const PowerLaw& law) {
    if (!std::isfinite(law.rms)) return "no fit";
    std::string text;
    for (std::size_t k = 0; k < law.of.size(); ++k)
        text += fmt::format("{}{}^{:.3f}", k == 0 ? "" : " ", law.of[k], law.exponents[k]);
    return text + fmt::format("   rms {:.2g} over {}", law.rms, counted(static_cast<std::size_t>(law.runs), "run"));
}

/// Range and median of the local exponents of each parameter.
std::string local_text(const EventStudy& study, const std::vector<LocalExponent>& local) {
    std::string text;
    for (std::size_t p = 0; p < study.vary.size(); ++p) {
        std::vector<double> list;
        for (const LocalExponent& e : local)
            if (e.parameter == static_cast<int>(p)) list.push_back(e.exponent);
        if (list.empty()) continue;
        std::sort(list.begin(), list.end());
        text += fmt::format("        in {}: {:.3f} to {:.3f}, median {:.3f}\n", study.vary[p].name, list.front(),
                            list.back(), list[list.size() / 2]);
    }
    return text.empty() ? text : "      local exponents\n" + text;
}

/// "C ~ K^0.01, 1.70 to 1.72 over 5 runs"
std::string range_text(const ConstantRange& range) {
    std::string text = fmt::format("{:.4g} to {:.4g} over {}", range.smallest, range.largest,
                                   counted(static_cast<std::size_t>(range.runs), "run"));
    if (std::isfinite(range.exponent)) text += fmt::format(", C ~ K^{:.3f}", range.exponent + 0.0);
    return text;
}

/// The observed constants of the perturbed pairs of all runs, in the order of falling K.
std::string constants_text(const EventStudy& study) {
    std::vector<const EventStudyRun*> runs;
    for (const EventStudyRun& run : study.runs)
        if (run.pair && run.done) runs.push_back(&run);
    if (runs.empty()) return {};
    std::stable_sort(runs.begin(), runs.end(),
                     [](const EventStudyRun* a, const EventStudyRun* b) { return a->pair->size > b->pair->size; });
    std::string text = "  observed constants of the perturbed pairs, K is the size of the perturbation\n   ";
    for (const ensemble::Axis& v : study.vary) text += fmt::format(" {:>12}", v.name);
    text += fmt::format(" {:>11} {:>11} {:>9}", "K", "error", "C");
    for (std::size_t k = 1; k < study.constants.size(); ++k) text += fmt::format(" {:>9}", study.constants[k].equation);
    text += "  theorem\n";
    const auto cell = [](double value) {
        return value > 0.0 ? fmt::format(" {:>9.4g}", value) : fmt::format(" {:>9}", "-");
    };
    for (std::size_t r = 0; r < std::min(runs.size(), max_runs); ++r) {
        const StudiedPair& pair = *runs[r]->pair;
        text += "   ";
        for (const double v : runs[r]->values) text += fmt::format(" {:>12.6g}", v);
        text += fmt::format(" {:>11.4e} {:>11.4e}", pair.size, pair.error) + cell(pair.constant.value);
        for (std::size_t k = 1; k < study.constants.size(); ++k) {
            double value = 0.0;
            for (const PairEstimate& e : pair.estimates)
                if (e.equation == study.constants[k].equation) value = e.constant.value;
            text += cell(value);
        }
        text += "  " + (pair.theorem.empty() ? "none: " + pair.reason : pair.theorem) + "\n";
    }
    if (runs.size() > max_runs) text += fmt::format("    … {} runs in all\n", runs.size());
    for (const ConstantRange& range : study.constants)
        text += fmt::format("    {:<8} {}\n", range.equation, range_text(range));
    if (study.constants.empty()) text += "    no theorem applies to any run\n";
    return text;
}

Json pair_json(const StudiedPair& pair) {
    Json estimates = Json::array();
    for (const PairEstimate& e : pair.estimates)
        estimates.push_back({{"equation", e.equation},
                             {"text", e.text},
                             {"error", number(e.error)},
                             {"bound", number(e.bound)},
                             {"bound_constant", number(e.constant.value)},
                             {"bound_time", number(e.constant.t)}});
    return {{"theorem", pair.theorem.empty() ? Json(nullptr) : Json(pair.theorem)},
            {"reason", pair.reason},
            {"K", number(pair.size)},
            {"error", number(pair.error)},
            {"bound_constant", number(pair.constant.value)},
            {"bound_time", number(pair.constant.t)},
            {"estimates", std::move(estimates)}};
}

std::string answer_text(const EventStudy& study, const EventResponse::Answer& a) {
    std::string text = fmt::format("    change of its {} ~ {}\n", name_of(a.quantity), law_text(a.law));
    text += local_text(study, a.local);
    for (const EventResponse::Answer::Fits* fits : {&a.at_event, &a.largest})
        for (std::size_t k = 0; k < fits->laws.size(); ++k)
            if (std::isfinite(fits->laws[k].rms))
                text += fmt::format("      against {}{}\n", law_text(fits->laws[k]),
                                    fits->felt == static_cast<int>(k) ? "   <- best fit" : "");
    return text;
}

}  // namespace

std::string study_text(const EventStudy& study) {
    std::string text = fmt::format("{}: {} over ", study.model, counted(study.runs.size(), "run"));
    std::vector<std::string> ranges;
    for (const ensemble::Axis& v : study.vary)
        ranges.push_back(fmt::format("{} = {:.6g} to {:.6g} ({})", v.name, v.from, v.to, v.n));
    text += listing(ranges) + (study.perturbation ? ", perturbed" : "") + "\n";
    if (study.nominal.empty()) text += "  the nominal motion has no events\n";
    for (std::size_t i = 0; i < std::min(study.events.size(), max_event_times); ++i) {
        text += "  " + title(study, study.events[i].nominal) + "\n";
        for (const EventResponse::Answer& a : study.events[i].answers) text += answer_text(study, a);
    }
    if (study.events.size() > max_event_times) text += fmt::format("  … {} events in all\n", study.events.size());

    text += "  event times\n   ";
    for (const ensemble::Axis& v : study.vary) text += fmt::format(" {:>12}", v.name);
    const std::size_t columns = std::min(study.nominal.size(), max_event_times);
    for (std::size_t i = 0; i < columns; ++i)
        text += fmt::format(" {:>16}", fmt::format("{} {:.5g}", to_string(study.nominal[i].kind), study.nominal[i].t));
    text += "  all events\n";
    for (std::size_t r = 0; r < std::min(study.runs.size(), max_runs); ++r) {
        const EventStudyRun& run = study.runs[r];
        text += "   ";
        for (const double v : run.values) text += fmt::format(" {:>12.6g}", v);
        for (std::size_t i = 0; i < columns; ++i)
            text += std::isfinite(run.time[i]) ? fmt::format(" {:>16.10g}", run.time[i]) : fmt::format(" {:>16}", "-");
        text += fmt::format("  {}{}\n", run.events.size(),
                            !run.done                                     ? ", not done"
                            : run.status != trajectory::Status::completed ? ", " + std::string(to_string(run.status))
                                                                          : "");
    }
    if (study.runs.size() > max_runs) text += fmt::format("    … {} runs in all\n", study.runs.size());
    text += constants_text(study);
    if (!study.complete) text += "  interrupted: only the finished runs were fitted\n";
    return text;
}

std::string study_json(const EventStudy& study) {
    Json vary = Json::object(), nominal = Json::array(), runs = Json::array(), events = Json::array();
    for (const ensemble::Axis& v : study.vary) vary[v.name] = v.values();
    for (const StudiedEvent& e : study.nominal) nominal.push_back(event_json(study, e));
    for (const EventStudyRun& run : study.runs) {
        Json values = Json::object(), own = Json::array(), changes = Json::array();
        for (std::size_t p = 0; p < study.vary.size(); ++p) values[study.vary[p].name] = run.values[p];
        for (const StudiedEvent& e : run.events) own.push_back(event_json(study, e));
        for (std::size_t i = 0; i < study.nominal.size(); ++i)
            changes.push_back({{"t", number(run.time[i])},
                               {"dt", number(run.time_change[i])},
                               {"dimpulse", number(run.impulse_change[i])},
                               {"theta", derivatives(run.theta, i)},
                               {"theta_largest", derivatives(run.theta_largest, i)}});
        runs.push_back({{"parameters", std::move(values)},
                        {"status", run.done ? std::string(to_string(run.status)) : "interrupted"},
                        {"events", std::move(own)},
                        {"changes", std::move(changes)}});
        if (run.pair) runs.back()["pair"] = pair_json(*run.pair);
    }
    for (const EventResponse& e : study.events) {
        Json answers = Json::array();
        for (const EventResponse::Answer& a : e.answers) {
            Json local = Json::array();
            for (const LocalExponent& l : a.local)
                local.push_back({{"parameter", study.vary[static_cast<std::size_t>(l.parameter)].name},
                                 {"run", l.run},
                                 {"next", l.next},
                                 {"exponent", number(l.exponent)}});
            Json j = law_json(a.law);
            j["quantity"] = name_of(a.quantity);
            j["local"] = std::move(local);
            j["at_event"] = fits_json(a.at_event);
            j["largest"] = fits_json(a.largest);
            answers.push_back(std::move(j));
        }
        Json j = event_json(study, e.nominal);
        j["fits"] = std::move(answers);
        events.push_back(std::move(j));
    }
    Json j{{"model", study.model},       {"vary", std::move(vary)},       {"perturbed", study.perturbation},
           {"complete", study.complete}, {"nominal", std::move(nominal)}, {"events", std::move(events)},
           {"runs", std::move(runs)}};
    for (const ConstantRange& c : study.constants)
        j["bound_constants"].push_back({{"equation", c.equation},
                                        {"runs", c.runs},
                                        {"smallest", number(c.smallest)},
                                        {"largest", number(c.largest)},
                                        {"exponent", number(c.exponent)}});
    return json::fragment(j);
}

std::string study_csv(const EventStudy& study) {
    Csv csv;
    for (const ensemble::Axis& v : study.vary) csv.cell(v.name);
    csv.cells({"event", "kind", "contacts", "t_nominal", "t", "dt", "dimpulse"});
    for (const ensemble::Axis& v : study.vary) csv.cell("exponent_" + v.name);
    csv.end_line();
    const std::size_t parameters = study.vary.size();
    std::vector<std::vector<double>> exponents;  // of each event, by run and parameter
    for (const EventResponse& e : study.events) {
        exponents.emplace_back(study.runs.size() * parameters, std::numeric_limits<double>::quiet_NaN());
        for (const LocalExponent& l : e.answers[0].local)
            exponents.back()[l.run * parameters + static_cast<std::size_t>(l.parameter)] = l.exponent;
    }
    for (std::size_t r = 0; r < study.runs.size(); ++r)
        for (std::size_t i = 0; i < study.nominal.size(); ++i) {
            const EventStudyRun& run = study.runs[r];
            for (const double v : run.values) csv.cell(v);
            csv.cell(static_cast<double>(i)).cell(std::string(to_string(study.nominal[i].kind)));
            csv.cell(listing(names(study, study.nominal[i]))).cell(study.nominal[i].t);
            csv.cell_if_finite(run.time[i]);
            csv.cell_if_finite(run.time_change[i]);
            csv.cell_if_finite(run.impulse_change[i]);
            for (std::size_t p = 0; p < parameters; ++p) csv.cell_if_finite(exponents[i][r * parameters + p]);
            csv.end_line();
        }
    return std::move(csv).text();
}

std::string study_constants_csv(const EventStudy& study) {
    Csv csv;
    for (const ensemble::Axis& v : study.vary) csv.cell(v.name);
    csv.cells({"K", "error", "theorem", "bound_constant", "bound_time"});
    for (std::size_t k = 1; k < study.constants.size(); ++k) csv.cell("bound_constant " + study.constants[k].equation);
    csv.end_line();
    for (const EventStudyRun& run : study.runs) {
        if (!run.pair) continue;
        for (const double v : run.values) csv.cell(v);
        csv.cell_if_finite(run.pair->size);
        csv.cell(run.pair->error).cell(run.pair->theorem).cell(run.pair->constant.value);
        csv.cell_if_finite(run.pair->constant.t);
        for (std::size_t k = 1; k < study.constants.size(); ++k) {
            std::optional<double> value;
            for (const PairEstimate& e : run.pair->estimates)
                if (e.equation == study.constants[k].equation && e.constant.value > 0.0) value = e.constant.value;
            csv.cell(value);
        }
        csv.end_line();
    }
    return std::move(csv).text();
}

}  // namespace saltus::io
