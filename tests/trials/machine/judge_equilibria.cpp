// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_equilibria.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "machine/calls.hpp"
#include "machine/scan.hpp"

namespace trials {

namespace {

constexpr double scan_reach = 3.0;  // of the scans, in each coordinate

Vector position_of(const nlohmann::json& by_name, const Model& model) {
    Vector q;
    for (const std::string& name : model.coordinates) q.push_back(number(by_name.at(name)));
    return q;
}

/// Sets nearer to each other than this, relative to 1 + |q|, may be listed as one.
double resolution_of(const nlohmann::json& document) {
    const double stated = document.contains("resolution") ? number(document.at("resolution")) : 0.0;
    return std::isnan(stated) ? 0.0 : stated;
}

/// Whether a position, shifted by whole periods, lies in the extent of a set, or at most `slack` (1 + |q|) beside it.
bool in_extent(const nlohmann::json& set, const nlohmann::json& periods, const Model& model, const Vector& q,
               double slack = 0.0) {
    for (std::size_t i = 0; i < q.size(); ++i) {
        const std::string& name = model.coordinates[i];
        const auto& extent = set.at("extent").at(name);
        double low = number(extent[0]), high = number(extent[1]);
        const double near = (1e-5 + slack) * (1.0 + std::abs(q[i]));
        if (std::isnan(low)) low = -INFINITY;
        if (std::isnan(high)) high = INFINITY;
        bool inside = q[i] >= low - near && q[i] <= high + near;
        if (periods.contains(name)) {
            const double period = number(periods.at(name));
            const double turns = std::ceil((low - near - q[i]) / period);
            inside = inside || q[i] + turns * period <= high + near;
        }
        if (!inside) return false;
    }
    return true;
}

void judge_position(const Mechanics& mechanics, const Vector& q, const std::string& what, Findings& findings) {
    const Hold hold = hold_at(mechanics, q, 1e-7 * (1.0 + norm(q)));
    if (!hold.converged && hold.residual > 1e-6) return void(++findings.not_judged);
    findings.check(hold.admissible && hold.residual <= 1e-6, "no-equilibrium", [&] {
        return fmt::format("{} at {} is no equilibrium: {}", what, q,
                           hold.admissible ? fmt::format("relative residual {}", hold.residual) : "a gap is negative");
    });
}

/// Whether some position on the line within the resolution is held.
bool held_nearby(const Mechanics& mechanics, double x, double resolution) {
    constexpr int count = 20;
    for (int i = -count; i <= count && resolution > 0.0; ++i) {
        const auto q = line_position(mechanics, x + resolution * (1.0 + std::abs(x)) * i / count);
        if (q && hold_at(mechanics, *q).residual <= 1e-6) return true;
    }
    return false;
}

/// Positions between the ends of a set with one parameter.
void judge_inside(const Mechanics& mechanics, const nlohmann::json& set, double resolution, Findings& findings) {
    const auto& extent = set.at("extent").at(mechanics.model().coordinates[0]);
    double low = number(extent[0]), high = number(extent[1]);
    if (std::isnan(low)) low = -2.0 * scan_reach;
    if (std::isnan(high)) high = 2.0 * scan_reach;
    if (!line_position(mechanics, low) || high - low < 1e-6) return;
    if (mechanics.model().size() == 2 && set.at("contacts_closed").empty()) return;
    constexpr int count = 60;
    for (int i = 1; i < count && findings.violations.empty(); ++i) {
        const double x = low + (high - low) * i / count;
        Findings one;
        judge_position(mechanics, *line_position(mechanics, x), "the inside of " + set.at("label").get<std::string>(),
                       one);
        if (!one.violations.empty() && held_nearby(mechanics, x, resolution)) one = Findings{0, 1, 0, {}};
        findings += one;
    }
}

/// The ends of a set with one parameter: the positions just beyond an end are not held, or belong to another set. This
/// holds for every set that is listed, whether the list is complete or not.
void judge_ends(const Mechanics& mechanics, const nlohmann::json& document, const nlohmann::json& set,
                Findings& findings) {
    const Model& model = mechanics.model();
    if (model.size() == 2 && set.at("contacts_closed").empty()) return;
    if (set.at("dimension") != 1) return;
    const auto periods = document.value("periods", nlohmann::json::object());
    const auto& extent = set.at("extent").at(model.coordinates[0]);
    for (const double side : {-1.0, 1.0}) {
        const double end = number(extent[side < 0.0 ? 0 : 1]);
        if (std::isnan(end) || !line_position(mechanics, end)) continue;
        const double beyond = 1e-3 * (1.0 + std::abs(end));
        if (resolution_of(document) * (1.0 + std::abs(end)) > beyond) {
            ++findings.not_judged;
            continue;
        }
        const auto held_elsewhere = [&](double part) {
            const auto q = line_position(mechanics, end + side * part * beyond);
            const Hold hold = q ? hold_at(mechanics, *q) : Hold{};
            return q && hold.admissible && hold.residual <= 1e-9 &&
                   std::none_of(document.at("sets").begin(), document.at("sets").end(),
                                [&](const nlohmann::json& other) { return in_extent(other, periods, model, *q); });
        };
        findings.check(!(held_elsewhere(0.1) && held_elsewhere(0.3) && held_elsewhere(0.6) && held_elsewhere(1.0)),
                       "false-end", [&] {
                           return fmt::format("{} is said to end at {} = {}, but the positions beyond are held as well",
                                              set.at("label").get<std::string>(), model.coordinates[0], end);
                       });
    }
}

/// The representative of a set lies in its extent.
void judge_representative(const Model& model, const nlohmann::json& document, const nlohmann::json& set,
                          Findings& findings) {
    const Vector q = position_of(set.at("representative"), model);
    const auto periods = document.value("periods", nlohmann::json::object());
    findings.check(in_extent(set, periods, model, q), "representative", [&] {
        return fmt::format("the representative {} of {} lies outside of its extent {}", q,
                           set.at("label").get<std::string>(), set.at("extent").dump());
    });
}

bool complete(const nlohmann::json& document) {
    return document.contains("complete") && document.at("complete") == true;
}

/// Whether a position lies in the region for which the list is complete; no region means everywhere.
bool in_region(const nlohmann::json& document, const Model& model, const Vector& q) {
    if (!document.contains("region") || !document.at("region").is_object()) return true;
    for (std::size_t i = 0; i < q.size(); ++i) {
        if (!document.at("region").contains(model.coordinates[i])) continue;
        const auto& range = document.at("region").at(model.coordinates[i]);
        if (!range.is_array() || range.size() != 2) return false;
        if (q[i] < number(range[0]) || q[i] > number(range[1])) return false;  // NaN: unbounded on this side
    }
    return true;
}

void judge_listed_once(const Model& model, const nlohmann::json& document, Findings& findings) {
    const auto& sets = document.at("sets");
    const auto periods = document.value("periods", nlohmann::json::object());
    for (std::size_t i = 0; i < sets.size(); ++i) {
        for (std::size_t k = 0; k < sets.size(); ++k) {
            if (i == k || sets[i].at("contacts_closed") != sets[k].at("contacts_closed") ||
                sets[k].at("dimension") != 1)
                continue;
            if (model.size() > 1 && sets[k].at("contacts_closed").empty()) continue;
            const Vector q = position_of(sets[i].at("representative"), model);
            findings.check(!in_extent(sets[k], periods, model, q), "listed-twice", [&] {
                return fmt::format("{} at {} lies inside of {}", sets[i].at("label").get<std::string>(), q,
                                   sets[k].at("label").get<std::string>());
            });
        }
    }
}

/// The least curvature of U at q, in any direction, by second differences.
double least_curvature(const Mechanics& mechanics, const Vector& q) {
    constexpr double h = 1e-3;
    const auto potential = [&](double dx, double dy) {
        Vector other = q;
        other[0] += dx;
        if (q.size() > 1) other[1] += dy;
        return mechanics.potential_energy({0.0, other, Vector(q.size(), 0.0)});
    };
    const double here = potential(0.0, 0.0);
    const double xx = (potential(h, 0.0) - 2.0 * here + potential(-h, 0.0)) / (h * h);
    if (q.size() == 1) return xx;
    const double yy = (potential(0.0, h) - 2.0 * here + potential(0.0, -h)) / (h * h);
    const double xy = (potential(h, h) - potential(h, -h) - potential(-h, h) + potential(-h, -h)) / (4.0 * h * h);
    return (xx + yy) / 2 - std::hypot((xx - yy) / 2, xy);
}

/// Stability of isolated points without contacts and friction: a point from which U descends is unstable. A curvature
/// near zero decides nothing.
void judge_stability(const Mechanics& mechanics, const nlohmann::json& set, Findings& findings) {
    if (!set.contains("stability") || !set.at("stability").is_object() || set.at("dimension") != 0) return;
    if (mechanics.elements() > 0 || mechanics.model().size() > 2) return;
    const std::string verdict = set.at("stability").value("verdict", "");
    const bool says_unstable =
        verdict.find("unstable") != std::string::npos || verdict.find("saddle") != std::string::npos;
    const bool says_stable = !says_unstable && verdict.find("stable") != std::string::npos;
    const Vector q = position_of(set.at("representative"), mechanics.model());
    const double curvature = least_curvature(mechanics, q);
    constexpr double flat = 1e-3;  // second differences with this step have errors of about 1e-6
    if (std::abs(curvature) < flat) return void(++findings.not_judged);
    const bool falls = curvature < 0.0;
    findings.check(!(says_stable && falls), "stability",
                   [&] { return fmt::format("{} is called {}, but U descends", q, verdict); });
    findings.check(!(says_unstable && !falls), "stability",
                   [&] { return fmt::format("{} is called {}, but is a minimum", q, verdict); });
}

void judge_single_positions(const Model& model, const Mechanics& mechanics, const Program& program,
                            Findings& findings) {
    for (const double x : {-1.3, 0.21, 0.9}) {
        const auto q = line_position(mechanics, x);
        if (!q) return;
        std::string at;
        for (std::size_t i = 0; i < q->size(); ++i)
            at += fmt::format("{}{}={}", i > 0 ? "," : "", model.coordinates[i], (*q)[i]);
        nlohmann::json document;
        if (!call(program, {"equilibria", (program.folder() / "model.toml").string(), "--json", "--at", at}, 30,
                  document, findings))
            return;
        const auto& stated = document.at("point").at("is_equilibrium");
        const Hold hold = hold_at(mechanics, *q);
        if (stated.is_null() || !hold.converged || (hold.residual > 1e-9 && hold.residual < 1e-6)) {
            ++findings.not_judged;
            continue;
        }
        const bool truth = hold.admissible && hold.residual <= 1e-9;
        findings.check(stated.get<bool>() == truth, "point", [&] {
            return fmt::format("is_equilibrium of {} is {}, but the relative residual is {}", *q, stated.get<bool>(),
                               hold.residual);
        });
    }
}

}  // namespace

void judge_listed(const Model& model, const nlohmann::json& document, const std::vector<Vector>& equilibria,
                  Findings& findings) {
    if (!complete(document)) return;
    const auto periods = document.value("periods", nlohmann::json::object());
    for (const Vector& q : equilibria) {
        if (!in_region(document, model, q)) continue;
        const auto& sets = document.at("sets");
        const bool listed = std::any_of(sets.begin(), sets.end(), [&](const nlohmann::json& set) {
            return in_extent(set, periods, model, q, 2.0 * resolution_of(document));
        });
        findings.check(listed, "missing-equilibrium",
                       [&] { return fmt::format("complete, but {} is an equilibrium in no set", q); });
        if (!listed) return;
    }
}

Findings judge_sets(const Model& model, const nlohmann::json& document) {
    Findings findings;
    const Mechanics mechanics(model);
    for (const auto& set : document.at("sets")) {
        const std::string label = set.at("label");
        judge_position(mechanics, position_of(set.at("representative"), model), "the representative of " + label,
                       findings);
        for (const auto& q : set.at("boundary"))
            judge_position(mechanics, position_of(q, model), "the boundary of " + label, findings);
        judge_representative(mechanics.model(), document, set, findings);
        judge_inside(mechanics, set, resolution_of(document), findings);
        judge_ends(mechanics, document, set, findings);
        judge_stability(mechanics, set, findings);
    }
    judge_listed_once(model, document, findings);
    if (complete(document))
        judge_listed(model, document, scanned_equilibria(mechanics, scan_reach), findings);
    else
        ++findings.not_judged;
    return findings;
}

Findings judge_equilibria(const Model& model, const Program& program) {
    Findings findings;
    nlohmann::json document;
    const auto file = program.write("model.toml", model.toml());
    if (!call(program, {"equilibria", file.string(), "--json"}, 30, document, findings)) return findings;
    findings += judge_sets(model, document);
    if (findings.violations.empty()) judge_single_positions(model, Mechanics(model), program, findings);
    return findings;
}

}  // namespace trials
