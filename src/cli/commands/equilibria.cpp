// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/equilibria.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "cli/assignments.hpp"
#include "cli/interrupt.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/base/text.hpp"
#include "saltus/io/model/load_model.hpp"
#include "saltus/io/report/equilibria_report.hpp"
#include "saltus/io/results/result_folder.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/certificate_grade.hpp"

namespace saltus::cli {

namespace {

/// A position of --at is refused if a constraint or a negative gap exceeds this part of the size of its row. The
/// initial state of a model is held to the same tolerance.
constexpr double admissible_violation = 1e-9;

/// The position of --at. Coordinates that are not given are taken from an equilibrium set with the given values.
void look_at(const EquilibriaCommand& c, const model::Model& m, io::EquilibriaReport& report) {
    std::vector<double> values = m.q0;
    std::vector<char> given(values.size(), 0);
    for (const Assigned& a : assigned(c.at, "--at"))
        if (a.name.ends_with('\''))
            throw Error("'" + a.name + "' is a velocity, and an equilibrium has none", {"--at", 0, 0},
                        "give positions alone");
    assign(c.at, "--at", m.coordinates, values, &given);
    stability::RestingModel resting(m, report.equilibria.time);
    Vector q = Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
    for (std::size_t i = 0; i < given.size(); ++i)
        if (given[i] == 0) report.completed.push_back(m.coordinates[i]);
    if (!report.completed.empty()) q = stability::complete_position(resting, report.equilibria, q, given);
    report.point = stability::equilibrium_at(resting, q);
    if (report.point->admissible) return;
    resting.move_to(q);
    for (const model::Constraint& k : m.constraints)
        if (std::abs(resting.position(k.row)) > admissible_violation * resting.position_scale(k.row))
            throw Error(
                "the position violates the constraint '" + k.name + "' by " + number_text(resting.position(k.row)),
                {"--at", 0, 0}, "leave out coordinates that follow from the others");
    for (std::size_t i = 0; i < m.contacts.size(); ++i)
        if (resting.gap(i) < -admissible_violation * resting.position_scale(m.contacts[i].row))
            throw Error(
                "the position penetrates '" + m.contacts[i].name + "': its gap is " + number_text(resting.gap(i)),
                {"--at", 0, 0}, "no gap may be negative");
}

/// The region of --region: NAME=FROM:TO for each bounded coordinate. Empty if the option was not given.
std::vector<std::pair<double, double>> region_of(const EquilibriaCommand& c, const model::Model& m) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, double>> region;
    for (const std::string& text : c.region) {
        region.resize(m.coordinates.size(), {-infinity, infinity});
        const std::size_t equals = text.find('='), colon = text.find(':');
        if (equals == std::string::npos || colon == std::string::npos || colon < equals)
            throw Error("'" + text + "' is not a range", {"--region", 0, 0}, "write --region x=-1:1");
        const std::string name = text.substr(0, equals);
        const auto at = std::find(m.coordinates.begin(), m.coordinates.end(), name);
        if (at == m.coordinates.end())
            throw Error("unknown coordinate '" + name + "'", {"--region", 0, 0}, did_you_mean(name, m.coordinates));
        const auto ends = [&](const std::string& part) {
            return assigned({name + "=" + part}, "--region")[0].values[0];
        };
        const double from = ends(text.substr(equals + 1, colon - equals - 1)), to = ends(text.substr(colon + 1));
        if (!(from < to)) throw Error("'" + text + "' is empty", {"--region", 0, 0}, "give the smaller end first");
        region[static_cast<std::size_t>(at - m.coordinates.begin())] = {from, to};
    }
    return region;
}

}  // namespace

int equilibria(const EquilibriaCommand& c) {
    if (c.time && !std::isfinite(*c.time)) throw Error("the time is not a finite number", {"--time", 0, 0});
    prepare_certificate(c.certificate, c.common.out);
    const io::LoadedModel loaded = load(c.common);
    const model::Model& m = loaded.model;
    const auto out = open_results(c.common, "equilibria", {c.common.model});
    const auto began = std::chrono::steady_clock::now();
    listen_for_interrupts();
    stability::EquilibriaOptions options;
    options.time = c.time;
    options.region = region_of(c, m);
    options.interrupted = interrupt_asked;
    io::EquilibriaReport report;
    report.equilibria = stability::equilibria(m, options);
    report.elements = integrate::elements_of(m);
    report.warnings = m.warnings;
    if (!c.at.empty()) {
        try {
            const Stoppable here(interrupt_asked);
            look_at(c, m, report);
        } catch (const Stopped&) {  // its linear programs have thousands of columns in a large model
            report.point.reset();
            report.completed.clear();
        }
    }
    stability::ClaimOptions options_of_claims;
    options_of_claims.stop = interrupt_asked;
    options_of_claims.obstacle = stability::certificate_obstacle(loaded.file.description);
    const proof::CertifiedStatement claims = stability::grade_by_claims(m, report.equilibria, options_of_claims);
    if (!c.certificate.file.empty()) report.written = write_certificate(c.certificate, c.common, loaded, claims);
    report.along = stability::forces_along_curves(m, report.equilibria.sets, report.equilibria.time, interrupt_asked);
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    // Also after a search that has ended: what follows it may be incomplete.
    const bool cut_short = interrupt_asked();
    const auto json = [&](io::Timing timing) { return document_of(io::equilibria_json(report, timing), cut_short); };
    deliver(c.common, out.get(),
            {[&](io::ResultFolder& folder) {
                 folder.add("sets.csv", io::sets_csv(report));
                 folder.add("boundary.csv", io::boundary_csv(report));
                 folder.add("equilibria.json", json(io::Timing::left_out));
             },
             [&] { return json(io::Timing::included); }, [&] { return io::equilibria_text(report); }});
    if (cut_short || report.equilibria.status == stability::SearchStatus::interrupted) return interrupted;
    return rejected(c.certificate, report.written) ? failed : done;
}

}  // namespace saltus::cli
