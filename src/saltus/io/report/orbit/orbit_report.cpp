// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/orbit/orbit_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/report/orbit/detail/curve_json.hpp"
#include "saltus/io/report/simulate_report.hpp"

namespace saltus::io {

using json::Json;
using json::number;

namespace {

Json multiplier_list(const std::vector<std::complex<double>>& multipliers) {
    Json list = Json::array();
    for (const std::complex<double>& m : multipliers) list.push_back({number(m.real()), number(m.imag())});
    return list;
}

/// Energies of one period in J, and mean forces.
Json averages(const orbit::Orbit& o) {
    Json energy = Json::object(), impulse = Json::object(), forces = Json::object(), elements = Json::object();
    long impacts = 0;
    std::map<int, double> impulses;
    for (const trajectory::Event& e : o.motion.events) {
        if (e.kind == trajectory::EventKind::impact) ++impacts;
        impacts += e.impacts;
        for (const trajectory::Reaction& r : e.impulses) impulses[r.element] += r.N;
    }
    for (const auto& [element, sum] : impulses)
        impulse[o.motion.elements[static_cast<std::size_t>(element)].name] = number(sum);
    if (o.averages) {
        const trajectory::LyapunovBalance& b = o.averages->energy;
        const auto change = [](const std::vector<double>& v) { return v.empty() ? 0.0 : v.back() - v.front(); };
        if (!b.empty())
            energy = {{"applied", number(change(b.applied))},
                      {"driven", number(change(b.driven))},
                      {"damping", number(change(b.damping))},
                      {"friction", number(change(b.friction))},
                      {"springs", number(change(b.springs))},
                      {"impact_friction", number(change(b.impact_friction))},
                      {"impact_restitution", number(change(b.impact_restitution))}};
        for (const orbit::ElementAverage& e : o.averages->elements) {
            const bool known = o.averages->forces_known;
            if (known && e.kind == trajectory::ElementKind::contact) forces[e.name] = number(e.force);
            Json j{{"dissipated", number(e.dissipated)}, {"supplied", number(e.supplied)}};
            if (e.kind != trajectory::ElementKind::slider) j["force"] = known ? number(e.force) : Json(nullptr);
            if (!e.friction.empty()) j["friction"] = known ? json::numbers(e.friction) : Json(nullptr);
            j["impulse"] = number(e.impulse);
            elements[e.name] = std::move(j);
        }
        for (const orbit::JumpAverage& jump : o.averages->jumps) {
            const std::string name = elements.contains(jump.name) ? "jump " + jump.name : jump.name;
            elements[name] = {
                {"dissipated", number(jump.dissipated)}, {"supplied", number(jump.supplied)}, {"count", jump.count}};
        }
    }
    return {
        {"energy", energy}, {"impulses", impulse}, {"forces", forces}, {"elements", elements}, {"impacts", impacts}};
}

Json state_json(const orbit::Orbit& o) {
    return {{"t", number(o.state.t)},
            {"q", json::by_name(o.motion.coordinates, o.state.q)},
            {"u", json::by_name(o.motion.coordinates, o.state.u)}};
}

Json orbit_object(const orbit::Orbit& o, bool autonomous) {
    Json j{{"status", orbit::to_string(o.status)}, {"reason", o.reason}, {"period", nullptr}, {"multiple", o.multiple}};
    j["residual"] = number(o.residual);
    j["iterations"] = json::numbers(o.residuals);
    if (!o.converged()) return j;
    j["period"] = number(o.period);
    j["state"] = state_json(o);
    j["phase"] = o.motion.events.empty() ? Json(nullptr) : number(o.phase);
    j["events"] = Json::array();
    for (const trajectory::Event& e : o.motion.events)
        j["events"].push_back(Json::parse(event_entry(o.motion, e, true)));
    j["multipliers"] = multiplier_list(o.multipliers);
    if (!o.multipliers_full.empty()) j["multipliers_full"] = multiplier_list(o.multipliers_full);
    if (autonomous) j["trivial_multiplier_error"] = number(o.trivial_error);
    j["stable"] =
        o.stability == orbit::Stability::undecided ? Json(nullptr) : Json(o.stability == orbit::Stability::stable);
    j["unstable_count"] = o.unstable_count;
    j["admissible"] = {{"holds", o.status == orbit::Status::converged},
                       {"worst", number(std::max(o.motion.violation.gap, o.motion.violation.constraint))}};
    if (!o.drift.empty()) {
        j["drift"] = Json::object();
        for (const auto& [name, distance] : o.drift) j["drift"][name] = number(distance);
    }
    j["averages"] = averages(o);
    constexpr int samples = 400;
    if (o.motion.status == trajectory::Status::completed)
        j["curve"] = curve_json(o.motion.coordinates, orbit::curve_of(o.motion, samples));
    return j;
}

std::string multiplier_text(const std::complex<double>& m) {
    if (m.imag() == 0.0) return fmt::format("{:.12g}", m.real());
    return fmt::format("{:.12g} {} {:.12g}i", m.real(), m.imag() < 0.0 ? "-" : "+", std::abs(m.imag()));
}

const char* verdict(const orbit::Orbit& o) {
    switch (o.stability) {
        case orbit::Stability::stable: return "stable";
        case orbit::Stability::unstable: return "unstable";
        case orbit::Stability::undecided: return "undecided within the error";
    }
    return "";
}

std::string one_orbit(const orbit::Orbit& o) {
    std::string text = fmt::format("  status      {}\n", orbit::to_string(o.status));
    if (!o.reason.empty()) text += "  reason      " + o.reason + "\n";
    std::string residuals;
    for (const double r : o.residuals) residuals += fmt::format(" {:.2g}", r);
    text += "  residuals  " + residuals + "\n";
    if (!o.converged()) return text;
    text += fmt::format("  period      {:.14g}\n  start      ", o.period);
    for (std::size_t i = 0; i < o.state.q.size(); ++i)
        text += fmt::format(" {} = {:.12g}, {}' = {:.12g} ", o.motion.coordinates[i], o.state.q[i],
                            o.motion.coordinates[i], o.state.u[i]);
    text += fmt::format("\n  events      {}", o.motion.events.size());
    text += o.motion.events.empty() ? "\n" : fmt::format(", phase of the first {:.12g}\n", o.phase);
    constexpr std::size_t shown = 12;
    for (std::size_t k = 0; k < std::min(o.motion.events.size(), shown); ++k) {
        const trajectory::Event& e = o.motion.events[k];
        text += fmt::format("    {:<18.12g}{}", e.t, trajectory::to_string(e.kind));
        for (const int element : e.elements) text += " " + o.motion.elements[static_cast<std::size_t>(element)].name;
        text += "\n";
    }
    if (o.motion.events.size() > shown) text += fmt::format("    and {} more\n", o.motion.events.size() - shown);
    text += "  multipliers ";
    for (std::size_t k = 0; k < o.multipliers.size(); ++k)
        text += (k == 0 ? "" : ",  ") + multiplier_text(o.multipliers[k]);
    text += "\n";
    if (!o.multipliers_full.empty()) {
        text += "              of half the orbit; of the whole orbit ";
        for (std::size_t k = 0; k < o.multipliers_full.size(); ++k)
            text += (k == 0 ? "" : ",  ") + multiplier_text(o.multipliers_full[k]);
        text += "\n";
    }
    if (o.trivial_error) text += fmt::format("              one must be 1; its error is {:.2g}\n", *o.trivial_error);
    text += fmt::format("  verdict     {}", verdict(o));
    if (o.unstable_count > 0) text += fmt::format(", {} outside the unit circle", o.unstable_count);
    text += fmt::format("\n  gaps        violated by at most {:.2g}\n", o.motion.violation.gap);
    if (o.averages) {
        const auto line = [&](const std::string& name, double dissipated, double supplied) {
            text += fmt::format("    {:<16} takes out {:<12.6g} brings in {:<12.6g}", name, dissipated, supplied);
        };
        const trajectory::LyapunovBalance& b = o.averages->energy;
        text += "  energies of one period\n";
        if (!b.empty()) {
            line("forces, damping", b.damping.back(), b.applied.back());
            text += "\n";
        }
        for (const orbit::ElementAverage& e : o.averages->elements) {
            line(e.name, e.dissipated, e.supplied);
            if (o.averages->forces_known && e.kind != trajectory::ElementKind::slider)
                text += fmt::format(" mean force {:.6g}", e.force);
            text += "\n";
        }
        for (const orbit::JumpAverage& jump : o.averages->jumps) {
            line(jump.name, jump.dissipated, jump.supplied);
            text += "\n";
        }
    }
    for (const std::string& remark : o.remarks) text += "  remark      " + remark + "\n";
    return text;
}

}  // namespace

std::string orbit_text(const OrbitReport& report) {
    std::string text = report.model + ": periodic orbit" + (report.searched ? "s" : "") + "\n";
    if (!report.searched) {
        text += one_orbit(report.orbit);
    } else {
        text += fmt::format("  {} found\n", report.orbits.size());
        for (std::size_t k = 0; k < report.orbits.size(); ++k)
            text += fmt::format("orbit {}\n", k + 1) + one_orbit(report.orbits[k]);
    }
    for (const std::string& w : report.warnings) text += "  warning     " + w + "\n";
    return text;
}

std::string orbit_json(const OrbitReport& report) {
    Json j{{"model", report.model}};
    j.update(orbit_object(report.orbit, report.autonomous));
    if (report.searched) {
        j["orbits"] = Json::array();
        for (const orbit::Orbit& o : report.orbits) j["orbits"].push_back(orbit_object(o, report.autonomous));
    }
    Json warnings = report.warnings;
    for (const std::string& r : report.orbit.remarks) warnings.push_back(r);
    j["warnings"] = warnings;
    return json::document(j);
}

}  // namespace saltus::io
