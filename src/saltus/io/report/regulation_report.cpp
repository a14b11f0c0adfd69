// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/regulation_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "saltus/io/report/certify_report.hpp"
#include "saltus/io/report/detail/json.hpp"

namespace saltus::io {

using namespace saltus::control;
using json::Json;
using json::number;

namespace {

Json position(const RegulationReport& r, const Rest& rest) { return json::by_name(r.coordinates, rest.q); }

/// The force of a contact. The rows of a steady state are constraints, then contacts.
double force(const RegulationReport& r, const Rest& rest, std::size_t contact) {
    const auto first = rest.lambda.size() - static_cast<Eigen::Index>(r.contacts.size());
    return rest.lambda(first + static_cast<Eigen::Index>(contact));
}

Json forces(const RegulationReport& r, const Rest& rest) {
    Json j = Json::object();
    for (std::size_t c = 0; c < r.contacts.size(); ++c) j[r.contacts[c]] = {{"N", number(force(r, rest, c))}};
    return j;
}

Json solutions(const RegulationReport& r, const std::vector<EquilibriumSolution>& list) {
    Json j = Json::array();
    for (const EquilibriumSolution& s : list)
        j.push_back({{"q", position(r, s.rest)},
                     {"forces", forces(r, s.rest)},
                     {"nonnegative", s.pushes},
                     {"minimum", s.pushes && s.rest.minimum()}});
    return j;
}

constexpr double shown_zero = 1e-15;  // a coordinate with |q| < this is shown as 0

/// Position and contact forces in one line.
std::string line(const RegulationReport& r, const Rest& rest) {
    std::string text(13, ' ');
    for (std::size_t i = 0; i < r.coordinates.size(); ++i)
        text += fmt::format(" {} = {:.10g}  ", r.coordinates[i], std::abs(rest.q[i]) < shown_zero ? 0.0 : rest.q[i]);
    for (std::size_t c = 0; c < r.contacts.size(); ++c)
        text += fmt::format(" {} N {:.10g}{}", r.contacts[c], force(r, rest, c) + 0.0,
                            c + 1 < r.contacts.size() ? ";" : "");
    return text + "\n";
}

}  // namespace

std::string regulation_json(const RegulationReport& r) {
    const RegulationCertificate& c = r.certificate;
    Json j = Json::parse(certify_json({r.model, r.coordinates, c.table}));
    j["scope"] = to_string(c.rigid);
    j["theorem5"] = to_string(c.rigid);
    j["theorem6"] = c.with_springs ? Json(to_string(c.springs)) : Json(nullptr);
    j["solutions"] = solutions(r, c.solutions);
    Json penalty{{"verdict", c.springs == Scope::inconclusive ? "inconclusive" : "attractive"},
                 {"scope", to_string(c.springs)},
                 {"grade", proof::to_string(c.spring_grade)}};
    if (!c.with_springs) penalty = {{"verdict", "inconclusive"}, {"scope", "inconclusive"}, {"reason", c.no_springs}};
    if (c.with_springs && c.spring_rest.found) {
        penalty["q"] = position(r, c.spring_rest);
        penalty["forces"] = forces(r, c.spring_rest);
    } else {
        penalty["q"] = nullptr;
        if (c.with_springs) penalty["reason"] = c.spring_rest.reason;
    }
    penalty["solutions"] = solutions(r, c.spring_solutions);
    j["penalty"] = std::move(penalty);
    return json::document(j);
}

std::string regulation_text(const RegulationReport& r) {
    const RegulationCertificate& c = r.certificate;
    std::string text = certify_text({r.model, r.coordinates, c.table});
    if (c.with_springs) {
        text += fmt::format("  springs     {}, {}: {}\n", to_string(c.springs), proof::to_string(c.spring_grade),
                            c.spring_summary);
        if (c.spring_rest.found) text += line(r, c.spring_rest);
    } else {
        text += "  springs     not examined: " + c.no_springs + "\n";
    }
    return text;
}

}  // namespace saltus::io
