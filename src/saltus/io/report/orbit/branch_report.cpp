// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/orbit/branch_report.hpp"

#include <fmt/format.h>

#include <utility>

#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/report/orbit/detail/curve_json.hpp"

namespace saltus::io {

using json::Json;
using json::number;

namespace {

const char* stability_word(orbit::Stability s) {
    return s == orbit::Stability::stable ? "stable" : s == orbit::Stability::unstable ? "unstable" : "undecided";
}

Json point_json(const orbit::Branches& b, const orbit::BranchPoint& p) {
    Json j{{"parameter", {{b.parameter, number(p.parameter)}}}};
    j["period"] = b.equilibria ? Json(nullptr) : number(p.period);
    Json values = Json::array();
    for (const auto& m : p.multipliers) values.push_back({number(m.real()), number(m.imag())});
    j["multipliers"] = b.equilibria ? Json::array() : values;
    if (b.equilibria) j["eigenvalues"] = values;
    if (!p.multipliers_full.empty()) {
        j["multipliers_full"] = Json::array();
        for (const auto& m : p.multipliers_full) j["multipliers_full"].push_back({number(m.real()), number(m.imag())});
    }
    j["stable"] =
        p.stability == orbit::Stability::undecided ? Json(nullptr) : Json(p.stability == orbit::Stability::stable);
    j["unstable_count"] = p.unstable_count;
    j["amplitude"] = Json::object();
    for (std::size_t i = 0; i < p.amplitude.size(); ++i)
        j["amplitude"][b.coordinates[i]] = {number(p.amplitude[i].first), number(p.amplitude[i].second)};
    if (!p.drift.empty()) j["drift"] = json::by_name(b.coordinates, p.drift);
    j["events"] = p.events;
    if (b.equilibria) j["contacts_closed"] = p.closed;
    j["state"] = {{"q", json::by_name(b.coordinates, p.state.q)}, {"u", json::by_name(b.coordinates, p.state.u)}};
    j["residual"] = number(p.residual);
    return j;
}

Json branch_object(const orbit::Branches& all, const orbit::Branch& b) {
    Json points = Json::array(), special = Json::array();
    for (const orbit::BranchPoint& p : b.points) points.push_back(point_json(all, p));
    for (const orbit::SpecialPoint& s : b.special) {
        Json j{{"kind", s.kind},
               {"parameter", {{all.parameter, number(s.at.parameter)}}},
               {"error", number(s.error)},
               {"index", s.index}};
        if (!s.before.empty() || !s.after.empty()) j["before"] = s.before, j["after"] = s.after;
        if (!s.text.empty()) j["reason"] = s.text;
        j["at"] = point_json(all, s.at);
        if (s.at.curve) j["at"]["curve"] = curve_json(all.coordinates, *s.at.curve);
        special.push_back(std::move(j));
    }
    Json j{{"multiple", b.multiple}, {"points", points}, {"special", special}, {"reason", b.reason}};
    if (!b.origin.empty()) j["origin"] = b.origin;
    return j;
}

const char* status_of(const orbit::Branches& b) {
    if (!b.complete) return "interrupted";
    if (!b.failure.empty()) return b.equilibria ? "no equilibrium" : orbit::to_string(b.status);
    for (const orbit::Branch& x : b.branches)
        if (x.failed) return "failed";
    return "completed";
}

std::string special_line(const orbit::Branches& all, const orbit::SpecialPoint& s) {
    std::string text = fmt::format("    {:<16} {} = {:.13g}", s.kind, all.parameter, s.at.parameter);
    if (s.kind != "end") text += fmt::format("  (error {:.1g})", s.error);
    if (!s.before.empty() || !s.after.empty())
        text += fmt::format("  {} | {}", s.before.empty() ? "not known" : s.before,
                            s.after.empty() ? "not known" : s.after);
    if (!s.text.empty()) text += "  " + s.text;
    return text + "\n";
}

/// Neighbouring points with the same stability as one line each.
std::string parts(const orbit::Branches& all, const orbit::Branch& b) {
    std::string text;
    for (std::size_t k = 0; k < b.points.size();) {
        std::size_t last = k;
        while (last + 1 < b.points.size() && b.points[last + 1].stability == b.points[k].stability &&
               b.points[last + 1].events.size() == b.points[k].events.size())
            ++last;
        text += fmt::format("    {} = {:<12.8g} to {:<12.8g} {}", all.parameter, b.points[k].parameter,
                            b.points[last].parameter, stability_word(b.points[k].stability));
        if (!all.equilibria)
            text += fmt::format(", {} event{} in the orbit", b.points[k].events.size(),
                                b.points[k].events.size() == 1 ? "" : "s");
        text += "\n";
        k = last + 1;
    }
    return text;
}

}  // namespace

std::string branch_text(const BranchReport& report) {
    const orbit::Branches& all = report.result;
    std::string text =
        fmt::format("{}: {} over {}\n", all.model, all.equilibria ? "equilibria" : "periodic orbits", all.parameter);
    text += fmt::format("  status      {}\n", status_of(all));
    if (!all.failure.empty()) text += "  reason      " + all.failure + "\n";
    for (std::size_t k = 0; k < all.branches.size(); ++k) {
        const orbit::Branch& b = all.branches[k];
        text += fmt::format("  branch {:<4} {} points", k + 1, b.points.size());
        if (b.multiple > 1) text += fmt::format(", closes after {} periods", b.multiple);
        if (!b.origin.empty()) text += ", from the " + b.origin;
        text += "\n" + parts(all, b);
        for (const orbit::SpecialPoint& s : b.special) text += special_line(all, s);
        if (b.special.empty() && !b.reason.empty()) text += "    " + b.reason + "\n";
    }
    for (const orbit::SpecialCurve& c : all.curves) {
        text += fmt::format("  curve       {}: {} points over {} = {:.8g} to {:.8g}\n", c.kind, c.points.size(),
                            all.second, c.second.front(), c.second.back());
        text += "    " + c.reason + "\n";
    }
    for (const std::string& w : report.warnings) text += "  warning     " + w + "\n";
    return text;
}

std::string branch_json(const BranchReport& report) {
    const orbit::Branches& all = report.result;
    Json j{{"model", all.model}, {"status", status_of(all)}, {"over", all.parameter}};
    j["equilibria"] = all.equilibria;
    j["coordinates"] = all.coordinates;
    if (all.branches.empty()) {
        j.update(Json{{"points", Json::array()}, {"special", Json::array()}, {"reason", all.failure}});
    } else {
        j.update(branch_object(all, all.branches.front()));
    }
    j["branches"] = Json::array();
    for (std::size_t k = 1; k < all.branches.size(); ++k) j["branches"].push_back(branch_object(all, all.branches[k]));
    if (!all.second.empty()) {
        j["curves"] = Json::array();
        for (const orbit::SpecialCurve& c : all.curves) {
            Json points = Json::array();
            for (std::size_t k = 0; k < c.points.size(); ++k) {
                points.push_back(point_json(all, c.points[k]));
                points.back()["parameter"][all.second] = number(c.second[k]);
            }
            j["curves"].push_back({{"kind", c.kind}, {"points", points}, {"reason", c.reason}});
        }
    }
    j["warnings"] = report.warnings;
    return json::document(j);
}

std::string branch_points_csv(const BranchReport& report) {
    const orbit::Branches& all = report.result;
    const std::size_t n = all.coordinates.size();
    Csv csv;
    csv.cell(std::string("branch")).cell(all.parameter).cells({"period", "stability"});
    for (const std::string& name : all.coordinates) csv.cell(name + " least").cell(name + " largest");
    for (const std::string& name : all.coordinates) csv.cell(name);
    for (const std::string& name : all.coordinates) csv.cell(name + "'");
    const char* const value = all.equilibria ? "eigenvalue" : "multiplier";
    for (std::size_t k = 1; k <= 2 * n; ++k)
        csv.cell(fmt::format("{} {} re", value, k)).cell(fmt::format("{} {} im", value, k));
    csv.cell(std::string("events")).end_line();
    for (std::size_t b = 0; b < all.branches.size(); ++b)
        for (const orbit::BranchPoint& p : all.branches[b].points) {
            csv.cell(static_cast<double>(b + 1)).cell(p.parameter).cell(p.period);
            csv.cell(std::string(stability_word(p.stability)));
            for (const auto& [low, high] : p.amplitude) csv.cell(low).cell(high);
            for (const double q : p.state.q) csv.cell(q);
            for (const double u : p.state.u) csv.cell(u);
            for (std::size_t k = 0; k < 2 * n; ++k) {
                const bool known = k < p.multipliers.size();
                csv.cell(known ? std::optional(p.multipliers[k].real()) : std::nullopt);
                csv.cell(known ? std::optional(p.multipliers[k].imag()) : std::nullopt);
            }
            csv.cell(fmt::format("{}", fmt::join(p.events, " "))).end_line();
        }
    return std::move(csv).text();
}

std::string branch_special_csv(const BranchReport& report) {
    const orbit::Branches& all = report.result;
    Csv csv;
    csv.cells({"branch", "kind"}).cell(all.parameter).cells({"error", "period", "reason"}).end_line();
    for (std::size_t b = 0; b < all.branches.size(); ++b)
        for (const orbit::SpecialPoint& s : all.branches[b].special) {
            csv.cell(static_cast<double>(b + 1)).cell(s.kind).cell(s.at.parameter).cell(s.error).cell(s.at.period);
            csv.cell(s.text).end_line();
        }
    return std::move(csv).text();
}

std::string branch_curves_csv(const BranchReport& report) {
    const orbit::Branches& all = report.result;
    Csv csv;
    csv.cells({"curve", "kind"}).cell(all.parameter).cell(all.second).cells({"period"}).end_line();
    for (std::size_t k = 0; k < all.curves.size(); ++k)
        for (std::size_t i = 0; i < all.curves[k].points.size(); ++i) {
            const orbit::BranchPoint& p = all.curves[k].points[i];
            csv.cell(static_cast<double>(k + 1)).cell(all.curves[k].kind).cell(p.parameter);
            csv.cell(all.curves[k].second[i]).cell(p.period).end_line();
        }
    return std::move(csv).text();
}

}  // namespace saltus::io
