// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/compare/penalty_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using namespace saltus::control;
using json::by_name;
using json::Json;
using json::number;
using Names = std::vector<std::string>;

namespace {

/// Orders are stored in 1/k; in k they have the other sign.
Json negative(const std::optional<double>& x) { return x ? number(-*x) : Json(nullptr); }

constexpr std::size_t max_penalty_coordinates = 4, max_contacts = 4;  // of the text

/// A number for a table; "-" if there is none.
std::string cell(const std::optional<double>& x, const char* form = "{:.9g}") {
    return x ? fmt::format(fmt::runtime(form), *x) : std::string("-");
}

/// The force of a contact. The first rows of a steady state are those of constraints.
double force(const PenaltyLimit& limit, const Rest& rest, std::size_t contact) {
    return rest.lambda(rest.lambda.size() - static_cast<Eigen::Index>(limit.contacts.size()) +
                       static_cast<Eigen::Index>(contact));
}

Json rest_json(const PenaltyLimit& limit, const Rest& rest) {
    if (!rest.found) return {{"found", false}, {"reason", rest.reason}};
    Json forces = Json::object();
    for (std::size_t c = 0; c < limit.contacts.size(); ++c)
        forces[limit.contacts[c]] = {{"N", number(force(limit, rest, c))}};
    return {{"found", true}, {"q", by_name(limit.coordinates, rest.q)}, {"forces", std::move(forces)}};
}

Json state_json(const PenaltyLimit& limit, const trajectory::State& state) {
    return {{"t", state.t}, {"q", by_name(limit.coordinates, state.q)}, {"u", by_name(limit.coordinates, state.u)}};
}

Json action_json(const PenaltyLimit& limit) {
    const ActionSequence& a = limit.action;
    if (!a.available) return {{"available", false}, {"reason", a.why_not}};
    Json rows = Json::array();
    for (const StationaryPath& p : a.paths) {
        Json j{{"k", p.k}, {"found", p.found}};
        if (!p.found) {
            j["reason"] = p.reason;
        } else {
            j["u_start"] = by_name(limit.coordinates, p.u_start);
            j["A_tilde"] = number(p.action.A_tilde);
            j["int_P_f"] = number(p.action.penalty_integral);
            j["A"] = number(p.action.A);
            j["contact_phases"] = p.phases;
            j["contact_duration"] = number(p.contact_duration);
            j["morse_index"] = p.morse_index;
            j["conjugate_times"] = p.conjugate_times;
            j["lowest_eigenvalue"] = number(p.lowest_eigenvalue);
        }
        j["contact_horizon"] = number(p.contact_horizon);
        rows.push_back(std::move(j));
    }
    return {{"available", true},
            {"horizon", a.horizon},
            {"q_start", by_name(limit.coordinates, a.q_start)},
            {"q_end", by_name(limit.coordinates, a.q_end)},
            {"rigid",
             {{"A", number(a.rigid.A)},
              {"S", number(-a.rigid.A)},
              {"u_start", by_name(limit.coordinates, a.rigid_u_start)},
              {"corner_slopes", a.corner_slopes}}},
            {"rows", std::move(rows)},
            {"inequalities_17", {{"a", a.A_tilde_grows}, {"b", a.penalty_falls}, {"c", a.A_grows}}},
            {"theorem2_inequality", a.bounded_by_rigid},
            {"free_horizon", number(a.free_horizon)},
            {"legendre", "-M"},
            {"minimum", false},
            {"theorem_applies", false}};
}

std::string action_text(const PenaltyLimit& limit) {
    const ActionSequence& a = limit.action;
    if (!a.available) return a.why_not.empty() ? std::string() : "  no sequences of Theorem 1: " + a.why_not + "\n";
    std::string text = fmt::format(
        "  stationary paths of A~ between the ends of the rigid one, without damping, on [0, {}]\n"
        "    {:<10} {:>18} {:>18} {:>14} {:>12} {:>6} {:>14} {:>14}\n",
        number_text(a.horizon), "k", "A", "A~", "int P_f", "contact", "index", "conjugate at", "lowest");
    for (const StationaryPath& p : a.paths) {
        if (!p.found) {
            text += fmt::format("    {:<10.4g} {}\n", p.k, p.reason);
            continue;
        }
        text +=
            fmt::format("    {:<10.4g} {:>18.12g} {:>18.12g} {:>14.6e} {:>12} {:>6} {:>14} {:>14}\n", p.k, p.action.A,
                        p.action.A_tilde, p.action.penalty_integral, cell(p.contact_duration, "{:.6g}"), p.morse_index,
                        p.conjugate_times.empty() ? "-" : fmt::format("{:.10g}", p.conjugate_times[0]),
                        cell(p.lowest_eigenvalue, "{:.6g}"));
    }
    text += fmt::format("    {:<10} {:>18.12g}\n", "rigid", a.rigid.A);
    text += fmt::format("    (17a) A~ grows: {}   (17b) int P_f falls: {}   (17c) A grows: {}   Theorem 2: {}\n",
                        a.A_tilde_grows ? "yes" : "no", a.penalty_falls ? "yes" : "no", a.A_grows ? "yes" : "no",
                        a.bounded_by_rigid ? "yes" : "no");
    text +=
        "    Theorems 1 to 3 do not say so: they assume minima. A and A~ have the Legendre coefficient -M, so that\n"
        "    no stationary path is a minimum of them on any horizon; and S = -A has conjugate points (index above),\n"
        "    so that it is no maximum either where the index is not 0.\n";
    if (!a.corner_slopes.empty())
        text += fmt::format("    Lifting the corner of the first impact by a gap changes S by {:.6g} of it.\n",
                            a.corner_slopes[0]);
    if (a.free_horizon) text += fmt::format("    S can be minimal on horizons below {:.9g} free", *a.free_horizon);
    const auto pressed =
        std::find_if(a.paths.rbegin(), a.paths.rend(), [](const auto& p) { return p.contact_horizon; });
    if (a.free_horizon && pressed != a.paths.rend())
        text += fmt::format(", {:.9g} in contact with k = {:.4g}", *pressed->contact_horizon, pressed->k);
    return a.free_horizon ? text + "\n" : text;
}

}  // namespace

std::string penalty_text(const PenaltyLimit& limit) {
    std::string text = fmt::format("{}\n  rigid with e = 1: {} to t = {}, {}\n", limit.model,
                                   trajectory::to_string(limit.rigid_status), number_text(limit.rigid_end.t),
                                   counted(static_cast<std::size_t>(limit.impacts), "impact"));
    const std::size_t coordinates = std::min(limit.coordinates.size(), max_penalty_coordinates);
    if (limit.steady.found) {
        text += "  steady state\n    " + fmt::format("{:<10}", limit.varied);
        for (std::size_t i = 0; i < coordinates; ++i) text += fmt::format(" {:>18}", limit.coordinates[i]);
        for (std::size_t c = 0; c < std::min(limit.contacts.size(), max_contacts); ++c)
            text += fmt::format(" {:>18}", "N " + limit.contacts[c]);
        text += fmt::format(" {:>10} {:>10}\n", "|dq|", "|dN|");
        const auto row = [&](const std::string& name, const Rest& rest) {
            std::string line = fmt::format("    {:<10}", name);
            for (std::size_t i = 0; i < coordinates; ++i) line += fmt::format(" {:>18.14g}", rest.q[i]);
            for (std::size_t c = 0; c < std::min(limit.contacts.size(), max_contacts); ++c)
                line += fmt::format(" {:>18.14g}", force(limit, rest, c));
            return line;
        };
        for (const PenaltyRun& r : limit.runs)
            if (r.steady.found)
                text += row(fmt::format("{:.4g}", r.k), r.steady) +
                        fmt::format(" {:>10} {:>10}\n", cell(r.steady_q, "{:.2e}"), cell(r.steady_force, "{:.2e}"));
        text += row("rigid", limit.steady) + "\n";
        if (limit.steady_order)
            text += fmt::format("    observed order in {}: {:.2f}\n", limit.varied, -*limit.steady_order);
    } else {
        text += "  no steady state: " + limit.steady.reason + "\n";
    }
    text += fmt::format("  motions against it\n    {:<10} {:>14} {:>12} {:>8} {:>12} {:>8} {:>14} {:>12}  {}\n",
                        limit.varied, "sup |dq|", "at t", "order", "sup |du|", "phases", "first contact", "restitution",
                        "status");
    for (const PenaltyRun& r : limit.runs)
        text += fmt::format("    {:<10.4g} {:>14.8g} {:>12.8g} {:>8} {:>12.8g} {:>8} {:>14} {:>12}  {}\n", r.k,
                            r.distance.q, r.distance.q_at, r.order ? fmt::format("{:.3f}", -*r.order) : "",
                            r.distance.u, r.phases, cell(r.first_duration, "{:.8g}"),
                            cell(r.first_restitution, "{:.8g}"), trajectory::to_string(r.status));
    if (limit.order)
        text += fmt::format("    observed order of positions in {}: {:.3f}; velocities do not converge uniformly\n",
                            limit.varied, -*limit.order);
    text += action_text(limit);
    for (const std::string& w : limit.warnings) text += "  warning     " + w + "\n";
    return limit.complete ? text : text + "  interrupted\n";
}

std::string penalty_json(const PenaltyLimit& limit) {
    Json runs = Json::array();
    for (const PenaltyRun& r : limit.runs) {
        Json j{{"k", r.k},
               {"status", trajectory::to_string(r.status)},
               {"steady", rest_json(limit, r.steady)},
               {"steady_error", {{"q", number(r.steady_q)}, {"force", number(r.steady_force)}}},
               {"sup_q", number(r.distance.q)},
               {"at_t", number(r.distance.q_at)},
               {"sup_q_times_sqrt_k", number(r.distance.q * std::sqrt(r.k))},
               {"sup_u", number(r.distance.u)},
               {"order", number(r.order)},
               {"order_in_k", negative(r.order)},
               {"contact_phases", r.phases},
               {"first_contact_duration", number(r.first_duration)},
               {"effective_restitution", number(r.first_restitution)},
               {"final", state_json(limit, r.end)}};
        if (!r.reason.empty()) j["reason"] = r.reason;
        runs.push_back(std::move(j));
    }
    Json j{{"model", limit.model},
           {"t_end", limit.t_end},
           {"rigid",
            {{"e", 1.0},
             {"status", trajectory::to_string(limit.rigid_status)},
             {"impacts", limit.impacts},
             {"steady", rest_json(limit, limit.steady)},
             {"final", state_json(limit, limit.rigid_end)}}},
           {"penalty",
            {{"varied", limit.varied},
             {"runs", std::move(runs)},
             {"order", number(limit.order)},
             {"order_in_k", negative(limit.order)},
             {"steady_order_in_k", negative(limit.steady_order)}}},
           {"theorem1", action_json(limit)},
           {"complete", limit.complete},
           {"warnings", limit.warnings}};
    if (!limit.rigid_reason.empty()) j["rigid"]["reason"] = limit.rigid_reason;
    return json::document(j);
}

std::string penalty_csv(const PenaltyLimit& limit) {
    Csv csv;
    csv.cells({"k", "status", "sup_q", "at_t", "sup_u", "order_in_k", "contact_phases", "first_contact_duration",
               "effective_restitution", "steady_error_q", "steady_error_force"});
    for (const std::string& q : limit.coordinates) csv.cell("steady " + q);
    for (const std::string& c : limit.contacts) csv.cell("steady lambdaN " + c);
    csv.cells({"A", "A_tilde", "int_P_f", "morse_index", "conjugate_time"});
    csv.end_line();
    for (std::size_t i = 0; i < limit.runs.size(); ++i) {
        const PenaltyRun& r = limit.runs[i];
        csv.cell(r.k).cell(std::string(trajectory::to_string(r.status)));
        csv.cell(r.distance.q).cell(r.distance.q_at).cell(r.distance.u);
        csv.cell(r.order ? std::optional(-*r.order) : std::nullopt);
        csv.cell(static_cast<double>(r.phases));
        csv.cell(r.first_duration);
        csv.cell(r.first_restitution);
        csv.cell(r.steady_q);
        csv.cell(r.steady_force);
        csv.cells(r.steady.found ? r.steady.q : std::vector<double>(), limit.coordinates.size());
        std::vector<double> forces;
        for (std::size_t c = 0; r.steady.found && c < limit.contacts.size(); ++c)
            forces.push_back(force(limit, r.steady, c));
        csv.cells(forces, limit.contacts.size());
        std::vector<double> action;
        if (i < limit.action.paths.size() && limit.action.paths[i].found) {
            const StationaryPath& p = limit.action.paths[i];
            action = {p.action.A, p.action.A_tilde, p.action.penalty_integral, static_cast<double>(p.morse_index)};
            if (!p.conjugate_times.empty()) action.push_back(p.conjugate_times[0]);
        }
        csv.cells(action, 5);
        csv.end_line();
    }
    return std::move(csv).text();
}

}  // namespace saltus::io
