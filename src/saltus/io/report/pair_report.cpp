// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/pair_report.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using namespace saltus::sensitivity;
using json::Json;
using json::number;

namespace {

constexpr std::size_t max_events = 12, max_pieces = 8;  // of the text

/// One term of the bound on the error, see sensitivity/pair.
struct Term {
    const char* name;  ///< in JSON and CSV
    const char* text;  ///< in the text
    double BoundTerms::*value;
};

constexpr std::array<Term, 10> all_terms{{
    {"initial", "initial error", &BoundTerms::initial},
    {"h_before", "int h to c_min", &BoundTerms::h_before},
    {"theta", "|theta_p(c_min)|", &BoundTerms::theta},
    {"theta_rate", "|theta_p'(c_min)|", &BoundTerms::theta_rate},
    {"eta_rate", "sum |eta'(c_min)|", &BoundTerms::eta_rate},
    {"h_event", "h(c_min)", &BoundTerms::h_event},
    {"theta_critical", "int |theta''| critical", &BoundTerms::theta_critical},
    {"delta_critical", "int |delta| critical", &BoundTerms::delta_critical},
    {"delta_uncovered", "int |delta| uncovered", &BoundTerms::delta_uncovered},
    {"h_after", "int h from c_max", &BoundTerms::h_after},
}};

const char* name_of(Region region) {
    switch (region) {
        case Region::before: return "before";
        case Region::critical: return "critical";
        case Region::after: return "after";
        case Region::beyond: return "beyond";
    }
    return "";
}

const char* name_of(PairEventKind kind) { return kind == PairEventKind::collision ? "collision" : "lift-off"; }

Json names(const Pair& pair, const std::vector<int>& contacts) {
    Json list = Json::array();
    for (const int k : contacts) list.push_back(pair.contacts[static_cast<std::size_t>(k)]);
    return list;
}

std::string listed(const Pair& pair, const std::vector<int>& contacts) {
    std::vector<std::string> list;
    for (const int k : contacts) list.push_back(pair.contacts[static_cast<std::size_t>(k)]);
    return list.empty() ? "none" : listing(list, "and", "", 4);
}

Json constant(const ObservedConstant& c) { return {{"value", number(c.value)}, {"t", number(c.t)}}; }

Json hypotheses(const std::vector<Hypothesis>& list) {
    Json j = Json::array();
    for (const Hypothesis& h : list)
        j.push_back({{"name", h.name}, {"holds", h.holds}, {"value", number(h.value)}, {"text", h.text}});
    return j;
}

Json estimates(const std::vector<PairEstimate>& list) {
    Json j = Json::array();
    for (const PairEstimate& e : list)
        j.push_back({{"equation", e.equation},
                     {"text", e.text},
                     {"error", number(e.error)},
                     {"bound", number(e.bound)},
                     {"bound_constant", number(e.constant.value)},
                     {"bound_time", number(e.constant.t)}});
    return j;
}

Json piece_json(const Pair& pair, const PairPiece& p) {
    Json j{{"from", p.begin},
           {"to", p.end},
           {"theorem", p.theorem.empty() ? Json(nullptr) : Json(p.theorem)},
           {"reason", p.reason},
           {"closed_before", names(pair, p.closed_before)},
           {"closed_after", names(pair, p.closed_after)}};
    if (p.event)
        j["event"] = {{"kind", name_of(p.event->kind)},
                      {"contacts", names(pair, p.event->contacts)},
                      {"c_bar", p.event->c_bar},
                      {"c_hat", p.event->c_hat},
                      {"critical_interval", {p.event->c_min(), p.event->c_max()}},
                      {"shift", number(p.event_shift)},
                      {"shift_bound", number(p.event_bound)},
                      {"velocity_difference", number(p.critical_velocity)}};
    if (p.bounded) {
        j["hypotheses"] = hypotheses(p.hypotheses);
        j["bound_constant"] = number(p.constant.value);
        j["bound_time"] = number(p.constant.t);
        j["by_region"] = {
            {"before", constant(p.before)}, {"critical", constant(p.critical)}, {"after", constant(p.after)}};
        j["K"] = number(p.size);
        j["estimates"] = estimates(p.estimates);
    }
    return j;
}

std::string event_table(const Pair& pair) {
    const auto cell = [](const std::vector<double>& list, std::size_t k) {
        return k < list.size() ? fmt::format("{:.12g}", list[k]) : std::string("-");
    };
    const std::size_t count = std::max(pair.c_bar.size(), pair.c_hat.size());
    std::string text = fmt::format("  events            {:>18} {:>18}\n", "nominal", "perturbed");
    const auto kind = [](const trajectory::Trajectory& t, double at) {
        for (const trajectory::Event& e : t.events)
            if (e.t == at) return std::string(to_string(e.kind));
        return std::string();
    };
    for (std::size_t k = 0; k < std::min(count, max_events); ++k) {
        const std::string a = k < pair.c_bar.size() ? kind(pair.nominal, pair.c_bar[k]) : "";
        const std::string b = k < pair.c_hat.size() ? kind(pair.perturbed, pair.c_hat[k]) : "";
        text += fmt::format("    {:<15} {:>18} {:>18}\n",
                            a.empty() || a == b ? b
                            : b.empty()         ? a
                                                : a + "/" + b,
                            cell(pair.c_bar, k), cell(pair.c_hat, k));
    }
    if (count > max_events) text += fmt::format("    … {} in all\n", count);
    return count == 0 ? "  no events\n" : text;
}

/// A table of the terms of the bound, at the end of each region and at the time where the constant is attained.
std::string term_table(const Pair& pair, std::size_t number) {
    const PairPiece& piece = pair.pieces[number];
    std::vector<const PairPoint*> columns;
    for (std::size_t k = 0; k < pair.points.size(); ++k) {
        const PairPoint& p = pair.points[k];
        if (p.piece != static_cast<int>(number)) continue;
        const bool last =
            k + 1 == pair.points.size() || pair.points[k + 1].piece != p.piece || pair.points[k + 1].region != p.region;
        if (last || p.t == piece.constant.t) columns.push_back(&p);
    }
    std::string text = fmt::format("    {:<24}", "t");
    for (const PairPoint* p : columns) text += fmt::format(" {:>13.7g}", p->t);
    text += fmt::format("\n    {:<24}", "region");
    for (const PairPoint* p : columns) text += fmt::format(" {:>13}", name_of(p->region));
    for (const Term& term : all_terms) {
        bool any = false;
        for (const PairPoint* p : columns) any = any || p->terms.*(term.value) != 0.0;
        if (!any) continue;
        text += fmt::format("\n    {:<24}", term.text);
        for (const PairPoint* p : columns) text += fmt::format(" {:>13.4e}", p->terms.*(term.value));
    }
    text += fmt::format("\n    {:<24}", "bound / C");
    for (const PairPoint* p : columns) text += fmt::format(" {:>13.4e}", p->bound);
    text += fmt::format("\n    {:<24}", "error");
    for (const PairPoint* p : columns) text += fmt::format(" {:>13.4e}", p->error);
    text += fmt::format("\n    {:<24}", "error / bound");
    for (const PairPoint* p : columns)
        text += p->bound > 0.0 ? fmt::format(" {:>13.4f}", p->error / p->bound) : fmt::format(" {:>13}", "-");
    return text + "\n";
}

/// A table of the other estimates, at the time of the largest ratio.
std::string estimate_table(const PairPiece& piece) {
    if (piece.estimates.empty()) return {};
    std::string text = fmt::format("    other estimates, K = {:.4g}\n      {:<5} {:>11} {:>11} {:>11} {:>11}  {}\n",
                                   piece.size, "", "error", "bound / C", "observed C", "at t", "of what");
    for (const PairEstimate& e : piece.estimates) {
        const bool seen = e.constant.value > 0.0;
        text += fmt::format("      {:<5} {:>11.4e} {:>11.4e} {:>11} {:>11}  {}\n", e.equation, e.error, e.bound,
                            seen ? fmt::format("{:.4g}", e.constant.value) : "-",
                            seen ? fmt::format("{:.6g}", e.constant.t) : "-", e.text);
    }
    return text;
}

std::string piece_text(const Pair& pair, std::size_t number) {
    const PairPiece& p = pair.pieces[number];
    std::string text = fmt::format("\n  t = {:.6g} to {:.6g}", p.begin, p.end);
    if (p.event)
        text += fmt::format(": {} of {}, nominal {:.12g}, perturbed {:.12g}", name_of(p.event->kind),
                            listed(pair, p.event->contacts), p.event->c_bar, p.event->c_hat);
    text += "\n";
    if (!p.theorem.empty())
        text += fmt::format("    Theorem {} applies\n", p.theorem);
    else
        text += fmt::format("    no theorem applies: {}\n", p.reason);
    if (!p.bounded) return text;
    for (const Hypothesis& h : p.hypotheses)
        text += fmt::format("      {:<5} {:<28} {:>13}  {}\n", h.holds ? "holds" : "FAILS", h.name,
                            std::isfinite(h.value) ? fmt::format("{:.5g}", h.value) : "-", h.text);
    if (p.event) {
        text +=
            fmt::format("    critical interval [{:.12g}, {:.12g}], width {:.3e}; velocities differ by {:.3g} in it\n",
                        p.event->c_min(), p.event->c_max(), p.event_shift, p.critical_velocity);
        if (p.event_bound > 0.0)
            text += fmt::format("    event time: |c_hat - c_bar| = {:.4e} <= C * {:.4e}, C >= {:.4g}\n", p.event_shift,
                                p.event_bound, p.event_shift / p.event_bound);
    }
    text += fmt::format("    observed constant C = {:.6g}{}", p.constant.value,
                        p.constant.value > 0.0 ? fmt::format(" at t = {:.8g}", p.constant.t) : "");
    text += fmt::format(" (before {:.4g}, critical {:.4g}, after {:.4g}){}\n", p.before.value, p.critical.value,
                        p.after.value, p.theorem.empty() ? "; no theorem guarantees that it stays bounded" : "");
    return text + term_table(pair, number) + estimate_table(p);
}

/// Both motions at the times of the points, for plots: {"nominal": {"x": [..], "x'": [..]}, "perturbed": {..}}. Null
/// for models with many coordinates; pair.csv has them all.
Json motions_json(const Pair& pair) {
    constexpr std::size_t max_drawn_coordinates = 6;
    const std::size_t n = pair.coordinates.size();
    if (n > max_drawn_coordinates) return nullptr;
    Json motions = Json::object();
    for (const bool nominal : {true, false}) {
        const trajectory::Trajectory& motion = nominal ? pair.nominal : pair.perturbed;
        Json& own = motions[nominal ? "nominal" : "perturbed"] = Json::object();
        for (const std::string& x : pair.coordinates) own[x] = own[x + "'"] = Json::array();
        for (std::size_t k = 0; k < pair.points.size(); ++k) {
            const double t = pair.points[k].t;
            // Of two points at the same time the first is the left limit.
            const bool left = k + 1 < pair.points.size() && pair.points[k + 1].t == t;
            const trajectory::State s = left ? motion.left(t) : motion.right(t);
            for (std::size_t i = 0; i < n; ++i) {
                own[pair.coordinates[i]].push_back(number(s.q[i]));
                own[pair.coordinates[i] + "'"].push_back(number(s.u[i]));
            }
        }
    }
    return motions;
}

}  // namespace

std::string pair_text(const Pair& pair) {
    std::string text = fmt::format("{}: nominal and perturbed motion\n", pair.model);
    const auto tell = [&](const char* which, const trajectory::Trajectory& motion) {
        if (motion.status != trajectory::Status::completed)
            text += fmt::format("  the {} motion ended at t = {:.10g}: {}\n", which, motion.end.t, motion.reason);
    };
    tell("nominal", pair.nominal);
    tell("perturbed", pair.perturbed);
    text += event_table(pair);
    for (std::size_t k = 0; k < std::min(pair.pieces.size(), max_pieces); ++k) text += piece_text(pair, k);
    if (pair.pieces.size() > max_pieces) text += fmt::format("\n  … {} pieces in all\n", pair.pieces.size());
    if (pair.applies())
        text += fmt::format("\n  {}: theorem {}, observed constant {:.6g}\n",
                            pair.pieces.size() > 1 ? "chain" : "verdict", pair.theorem, pair.constant.value);
    else if (!pair.reason.empty())
        text += fmt::format("\n  no theorem covers the whole motion: {}\n", pair.reason);
    return text;
}

std::string pair_json(const Pair& pair) {
    Json pieces = Json::array(), all = Json::array();
    for (const PairPiece& p : pair.pieces) {
        pieces.push_back(piece_json(pair, p));
        for (Json& h : hypotheses(p.hypotheses)) all.push_back(std::move(h));
    }
    Json error = Json::array(), bound = Json::array(), times = Json::array(), error_q = Json::array(),
         error_u = Json::array(), error_lambda = Json::array(), error_nu = Json::array(),
         bound_reactions = Json::array(), h = Json::array(), phi = Json::array(), piece = Json::array(),
         region = Json::array(), terms = Json::object();
    for (const Term& term : all_terms) terms[term.name] = Json::array();
    for (const PairPoint& p : pair.points) {
        times.push_back(p.t);
        error.push_back(number(p.error));
        bound.push_back(number(p.bound));
        error_q.push_back(number(p.error_q));
        error_u.push_back(number(p.error_u));
        error_lambda.push_back(number(p.error_lambda));
        error_nu.push_back(number(p.error_nu));
        bound_reactions.push_back(number(p.bound_reactions));
        h.push_back(number(p.h));
        phi.push_back(number(p.phi));
        piece.push_back(p.piece);
        region.push_back(name_of(p.region));
        for (const Term& term : all_terms)
            terms[term.name].push_back(p.region == Region::beyond ? Json(nullptr) : number(p.terms.*(term.value)));
    }
    const Json j{{"c_bar", pair.c_bar},
                 {"c_hat", pair.c_hat},
                 {"theorem", pair.theorem.empty() ? Json(nullptr) : Json(pair.theorem)},
                 {"reason", pair.reason},
                 {"hypotheses", std::move(all)},
                 {"bound_constant", number(pair.constant.value)},
                 {"bound_time", number(pair.constant.t)},
                 {"times", std::move(times)},
                 {"error", std::move(error)},
                 {"bound", std::move(bound)},
                 {"error_q", std::move(error_q)},
                 {"error_u", std::move(error_u)},
                 {"error_lambda", std::move(error_lambda)},
                 {"error_nu", std::move(error_nu)},
                 {"bound_reactions", std::move(bound_reactions)},
                 {"h", std::move(h)},
                 {"phi", std::move(phi)},
                 {"terms", std::move(terms)},
                 {"piece", std::move(piece)},
                 {"region", std::move(region)},
                 {"pieces", std::move(pieces)},
                 {"motions", motions_json(pair)}};
    return json::fragment(j);
}

std::string pair_csv(const Pair& pair) {
    Csv csv;
    csv.cells({"t", "piece", "region", "error", "bound", "error_q", "error_u", "h", "phi"});
    csv.cells({"error_lambda", "error_nu", "bound_reactions"});
    for (const Term& term : all_terms) csv.cell(std::string(term.name));
    for (const char* of : {"nominal ", "perturbed "}) {
        for (const std::string& q : pair.coordinates) csv.cell(of + q);
        for (const std::string& q : pair.coordinates) csv.cell(of + q + "'");
    }
    csv.end_line();
    for (std::size_t k = 0; k < pair.points.size(); ++k) {
        const PairPoint& p = pair.points[k];
        // Of two points at the same time the first is the left limit.
        const bool left = k + 1 < pair.points.size() && pair.points[k + 1].t == p.t;
        csv.cell(p.t).cell(static_cast<double>(p.piece)).cell(std::string(name_of(p.region))).cell(p.error);
        csv.cell_if_finite(p.bound);
        csv.cell(p.error_q).cell(p.error_u);
        csv.cell_if_finite(p.h);
        csv.cell_if_finite(p.phi);
        csv.cell_if_finite(p.error_lambda);
        csv.cell_if_finite(p.error_nu);
        csv.cell_if_finite(p.bound_reactions);
        for (const Term& term : all_terms)
            p.region == Region::beyond ? csv.cell(std::string()) : csv.cell(p.terms.*(term.value));
        for (const trajectory::Trajectory* motion : {&pair.nominal, &pair.perturbed}) {
            const trajectory::State s = left ? motion->left(p.t) : motion->right(p.t);
            csv.cells(s.q, s.q.size()).cells(s.u, s.u.size());
        }
        csv.end_line();
    }
    return std::move(csv).text();
}

}  // namespace saltus::io
