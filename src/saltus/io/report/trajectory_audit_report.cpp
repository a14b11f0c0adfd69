// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/io/report/detail/csv.hpp"
#include "saltus/io/report/detail/json.hpp"
#include "saltus/io/report/impact_report.hpp"

namespace saltus::io {

using integrate::AuditedImpact;
using integrate::TrajectoryAudit;
using json::Json;
using json::number;
using trajectory::Trajectory;

namespace {

constexpr std::size_t max_impacts = 20;  // impacts of the text

std::vector<std::string> contacts_of(const Trajectory& t, const AuditedImpact& a) {
    std::vector<std::string> names;
    for (const int k : t.events[a.event].elements) names.push_back(t.elements[static_cast<std::size_t>(k)].name);
    return names;
}

std::string element_name(const Trajectory& t, int element) {
    return element < 0 ? std::string() : t.elements[static_cast<std::size_t>(element)].name;
}

Json impact_json(const Trajectory& t, const AuditedImpact& a) {
    Json j{{"event", a.event},
           {"t", t.events[a.event].t},
           {"contacts", contacts_of(t, a)},
           {"work", number(a.work)},
           {"tangential", number(a.audit.tangential)},
           {"obstacle_work", number(a.audit.obstacle_work)},
           {"kinetic_energy_change", number(a.kinetic_change)},
           {"energy_created", number(a.audit.created)},
           {"contact", nullptr},
           {"law", nullptr}};
    if (a.audit.prevented > 0.0) j["energy_prevented"] = a.audit.prevented;
    if (a.audit.element >= 0) j["contact"] = element_name(t, a.audit.element);
    if (!a.audit.law.empty()) j["law"] = a.audit.law;
    if (!a.why.empty()) j["text"] = a.why;
    return j;
}

}  // namespace

std::string audit_text(const Trajectory& t, const TrajectoryAudit& a, const std::vector<std::string>& warnings) {
    std::string text =
        fmt::format("{}: the impacts of a trajectory, t = {:.10g} to {:.10g}\n", t.model, t.start.t, t.end.t);
    text += a.recomputed ? "  audited     from the model and the stored states\n"
                         : fmt::format("  audited     as the run itself did: {}\n", a.why_not);
    text += fmt::format("  impacts     {}, contact work {:.6g}, of moving obstacles {:.6g}\n", a.impacts.size(),
                        a.work + 0.0, a.obstacle_work + 0.0);
    if (a.creating == 0) {
        text += "  verdict     no impact creates energy\n";
    } else {
        text += fmt::format("  verdict     {} creat{} energy, {:.6g} in all\n",
                            counted(static_cast<std::size_t>(a.creating), "impact"), a.creating == 1 ? "es" : "e",
                            a.created);
        std::size_t shown = 0;
        for (const AuditedImpact& i : a.impacts) {
            if (!(i.audit.created > 0.0)) continue;
            if (shown++ == max_impacts) {
                text += fmt::format("    and {} more\n", static_cast<std::size_t>(a.creating) - max_impacts);
                break;
            }
            text += fmt::format("    t = {:<14.10g} created {:<12.6g} {} ({})\n", t.events[i.event].t, i.audit.created,
                                element_name(t, i.audit.element), i.audit.law);
            if (!i.why.empty()) text += "      " + i.why + "\n";
        }
    }
    if (a.prevented > 0.0) text += fmt::format("  repaired    {:.6g} would have been created\n", a.prevented);
    if (a.recomputed)
        text += fmt::format("  misfit      {:.2g}: largest |M(u+ - u-) - W Lambda|, relative\n", a.misfit);
    for (const std::string& warning : warnings) text += "  warning     " + warning + "\n";
    return text;
}

std::string audit_json(const Trajectory& t, const TrajectoryAudit& a, const std::vector<std::string>& warnings) {
    Json impacts = Json::array();
    for (const AuditedImpact& i : a.impacts) impacts.push_back(impact_json(t, i));
    Json j{{"model", t.model},
           {"recomputed", a.recomputed},
           {"audit",
            {{"impacts", a.impacts.size()},
             {"creating", a.creating},
             {"energy_created", number(a.created)},
             {"energy_prevented", number(a.prevented)},
             {"work", number(a.work)},
             {"obstacle_work", number(a.obstacle_work)},
             {"misfit", number(a.misfit)},
             {"worst", a.worst < 0 ? Json(nullptr) : impact_json(t, a.impacts[static_cast<std::size_t>(a.worst)])}}},
           {"impacts", std::move(impacts)},
           {"warnings", warnings}};
    return json::document(j);
}

std::string audit_csv(const Trajectory& t, const TrajectoryAudit& a) {
    Csv csv;
    csv.cells({"t", "contacts", "work", "tangential", "obstacle_work", "kinetic_energy_change", "energy_created",
               "energy_prevented", "contact", "law"});
    csv.end_line();
    for (const AuditedImpact& i : a.impacts) {
        std::string contacts;
        for (const std::string& name : contacts_of(t, i)) contacts += (contacts.empty() ? "" : ";") + name;
        csv.cell(t.events[i.event].t).cell(contacts).cell(i.work).cell(i.audit.tangential).cell(i.audit.obstacle_work);
        csv.cell(i.kinetic_change).cell(i.audit.created).cell(i.audit.prevented);
        csv.cell(element_name(t, i.audit.element)).cell(i.audit.law);
        csv.end_line();
    }
    return std::move(csv).text();
}

}  // namespace saltus::io
