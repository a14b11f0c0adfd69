// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/certify_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using json::Json;
using json::level;
using namespace saltus::proof;

namespace {

/// {coordinate: value}; `prime` is added to the names of velocities.
Json by_coordinate(const CertifyReport& r, const std::vector<double>& x, const char* prime = "") {
    Json j = Json::object();
    for (std::size_t k = 0; k < x.size() && k < r.coordinates.size(); ++k) j[r.coordinates[k] + prime] = level(x[k]);
    return j;
}

/// The state or numbers that disprove a condition; null if there are none.
Json witness(const CertifyReport& r, const Witness& w) {
    if (!w.given()) return nullptr;
    Json j = Json::object();
    if (!w.q.empty()) j["q"] = by_coordinate(r, w.q);
    if (!w.u.empty()) j["u"] = by_coordinate(r, w.u);
    for (const auto& [name, value] : w.values) j[name] = level(value);
    return j;
}

/// The domain of the level set: [low, high] of each coordinate that is bounded.
Json domain(const CertifyReport& r) {
    Json j = Json::object();
    for (std::size_t k = 0; k < r.certificate.domain.size() && k < r.coordinates.size(); ++k) {
        const auto& [lo, hi] = r.certificate.domain[k];
        if (std::isfinite(lo) || std::isfinite(hi)) j[r.coordinates[k]] = {level(lo), level(hi)};
    }
    return j;
}

Json named(const std::vector<std::pair<std::string, double>>& values) {
    Json j = Json::object();
    for (const auto& [name, value] : values) j[name] = level(value);
    return j;
}

std::string level_text(double x) { return std::isinf(x) ? "inf" : fmt::format("{:.10g}", x); }

/// A text in lines of at most `width` characters. All lines but the first are indented.
std::string folded(const std::string& text, std::size_t indent, std::size_t width) {
    std::string out;
    std::size_t column = indent;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = text.substr(at, end - at);
        if (column > indent && column + 1 + word.size() > width) {
            out += "\n" + std::string(indent, ' ');
            column = indent;
        } else if (column > indent) {
            out += " ";
            ++column;
        }
        out += word;
        column += word.size();
        at = end + 1;
    }
    return out;
}

/// "x = 1   y = 2"
std::string state(const CertifyReport& r, const std::vector<double>& x, const char* prime) {
    std::string text;
    for (std::size_t k = 0; k < x.size() && k < r.coordinates.size(); ++k)
        text += fmt::format("{}{}{} = {:.6g}", k > 0 ? "   " : "", r.coordinates[k], prime, x[k] + 0.0);
    return text;
}

}  // namespace

std::string certify_json(const CertifyReport& r) {
    const Certificate& c = r.certificate;
    const auto table = [&](const std::vector<Condition>& rows) {
        Json list = Json::array();
        for (const Condition& row : rows)
            list.push_back({{"id", row.id},
                            {"text", row.text},
                            {"verdict", to_string(row.verdict)},
                            {"evidence", row.evidence},
                            {"witness", witness(r, row.witness)}});
        return list;
    };
    Json forces = Json::object();
    for (const ElementForce& f : c.forces) {
        Json T = Json::array();
        for (const double x : f.T) T.push_back(level(x));
        forces[f.name] = {{"N", level(f.N)}, {"T", std::move(T)}};
    }
    Json j{{"model", r.model},
           {"theorem", to_string(c.theorem)},
           {"basis", c.basis},
           {"verdict", to_string(c.outcome)},
           {"grade", to_string(c.grade)},
           {"assumptions", c.assumptions},
           {"summary", c.summary},
           {"conditions", table(c.conditions)},
           {"further", table(c.further)},
           {"rho", c.has_rho ? level(c.rho) : Json(nullptr)},
           {"rho_verified", c.has_rho ? level(c.rho_verified) : Json(nullptr)},
           {"rho_parts", named(c.rho_parts)},
           {"domain", domain(r)},
           {"reference", level(c.reference)},
           {"equilibrium", {{"q", by_coordinate(r, c.q)}, {"forces", std::move(forces)}}},
           {"values", named(c.values)}};
    if (!c.classification.empty()) {
        j["classification"] = c.classification;
        j["eigenvalues"] = c.eigenvalues;
    }
    if (!c.P.empty()) j["P"] = c.P;
    j["warnings"] = c.warnings;
    if (r.written) j["certificate"] = json::written_certificate(*r.written);
    return json::document(j);
}

std::string certify_text(const CertifyReport& r) {
    const Certificate& c = r.certificate;
    constexpr std::size_t width = 118, indent = 19;
    std::string text = fmt::format("{}: {} ({})\n", r.model, to_string(c.theorem), c.basis);
    if (!c.q.empty()) {
        text += "  equilibrium " + state(r, c.q, "") + "\n";
        std::string forces;
        for (const ElementForce& f : c.forces) {
            forces += fmt::format("{}{} N {:.6g}", forces.empty() ? "" : "; ", f.name, f.N + 0.0);
            for (const double T : f.T)
                if (T != 0.0) forces += fmt::format(" T {:.6g}", T);
        }
        if (!forces.empty()) text += "  forces      " + forces + "\n";
    }
    const auto add_row = [&](const Condition& row) {
        text += fmt::format("  {:>3} {:<12} {}\n", row.id, to_string(row.verdict), folded(row.text, indent, width));
        if (!row.evidence.empty()) text += std::string(indent, ' ') + folded(row.evidence, indent, width) + "\n";
        if (row.witness.given()) {
            std::string where;
            if (!row.witness.q.empty()) where += state(r, row.witness.q, "");
            if (!row.witness.u.empty()) where += (where.empty() ? "" : "   ") + state(r, row.witness.u, "'");
            for (const auto& [name, value] : row.witness.values)
                where += fmt::format("{}{} = {:.6g}", where.empty() ? "" : "   ", name, value);
            text += std::string(indent, ' ') + "witness: " + folded(where, indent, width) + "\n";
        }
    };
    for (const Condition& row : c.conditions) add_row(row);
    if (!c.further.empty()) text += "  further statements, which the verdict does not need\n";
    for (const Condition& row : c.further) add_row(row);
    if (c.has_rho) {
        text += "  rho*        " + level_text(c.rho);
        std::string parts;
        for (const auto& [name, value] : c.rho_parts)
            parts += (parts.empty() ? "" : ", ") + name + " " + level_text(value);
        if (c.rho_parts.size() == 1)
            text += "   the level of the " + c.rho_parts.front().first;
        else if (!parts.empty())
            text += "   the least of " + parts;
        text += "\n";
        for (std::size_t k = 0; k < c.P.size(); ++k) {
            text += k == 0 ? "  P           " : "              ";
            for (const double x : c.P[k]) text += fmt::format("{:>14.6g}", x + 0.0);
            text += "\n";
        }
    }
    text += fmt::format("  verdict     {}, {}: {}\n", to_string(c.outcome), to_string(c.grade),
                        folded(c.summary, indent, width));
    for (const std::string& a : c.assumptions) text += "  assumed     " + folded(a, indent, width) + "\n";
    for (const std::string& w : c.warnings) text += "  warning     " + w + "\n";
    if (r.written) text += "  certificate " + written_text(*r.written) + "\n";
    return text;
}

}  // namespace saltus::io
