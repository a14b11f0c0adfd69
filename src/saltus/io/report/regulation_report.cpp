// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/report/regulation_report.hpp"

#include <fmt/format.h>

#include <cmath>

#include "saltus/base/plain_text.hpp"
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

constexpr double least_coordinate = 1e-15;  // a coordinate with |q| < this is shown as 0

/// Position and contact forces in one line.
std::string line(const RegulationReport& r, const Rest& rest) {
    std::string text(13, ' ');
    for (std::size_t i = 0; i < r.coordinates.size(); ++i)
        text +=
            fmt::format(" {} = {:.10g}  ", r.coordinates[i], std::abs(rest.q[i]) < least_coordinate ? 0.0 : rest.q[i]);
    for (std::size_t c = 0; c < r.contacts.size(); ++c)
        text += fmt::format(" {} N {:.10g}{}", r.contacts[c], force(r, rest, c) + 0.0,
                            c + 1 < r.contacts.size() ? ";" : "");
    return text + "\n";
}

/// The values of a certificate whose name begins with `prefix`, by the rest of the name.
std::vector<std::pair<std::string, double>> values_of(const proof::Certificate& c, const std::string& prefix) {
    std::vector<std::pair<std::string, double>> list;
    for (const auto& [name, value] : c.values)
        if (name.starts_with(prefix)) list.emplace_back(name.substr(prefix.size()), value);
    return list;
}

/// Starts that stay near q_R, and the fixed points of the equations with multipliers.
std::string stability_lines(const RegulationReport& r) {
    std::string text, near, gamma;
    for (const auto& [epsilon, delta] : values_of(r.certificate.table, "delta for epsilon "))
        near += fmt::format("{}{:.6g} for {}", near.empty() ? "" : ", ", delta, epsilon);
    if (!near.empty())
        text +=
            "  stability   |q - q_R|, |q'| < delta at the start stay < epsilon (Theorem 5, 1): delta = " + near + "\n";
    for (const auto& [contact, value] : values_of(r.certificate.table, "gamma "))
        gamma += fmt::format("{}{} {:.6g}", gamma.empty() ? "" : ", ", contact, value);
    if (!gamma.empty())
        text += fmt::format(
            "  fixed pts   (q_R, 0, lambda, gamma) for every lambda(0-), a manifold of dimension {} (Remark 2); gamma "
            "{}\n",
            r.contacts.size(), gamma);
    return text;
}

}  // namespace

std::string regulation_json(const RegulationReport& r) {
    const RegulationCertificate& c = r.certificate;
    Json j = Json::parse(certify_json({r.model, r.coordinates, c.table, r.written}));
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
    Json delta = Json::array(), gamma = Json::object();
    for (const auto& [epsilon, value] : values_of(c.table, "delta for epsilon "))
        delta.push_back({{"epsilon", number_in(epsilon)}, {"delta", number(value)}});
    for (const auto& [contact, value] : values_of(c.table, "gamma ")) gamma[contact] = number(value);
    j["epsilon_delta"] = std::move(delta);
    j["fixed_points"] = {{"dimension", gamma.size()}, {"gamma", std::move(gamma)}};
    return json::document(j);
}

std::string regulation_text(const RegulationReport& r) {
    const RegulationCertificate& c = r.certificate;
    std::string text = certify_text({r.model, r.coordinates, c.table, r.written}) + stability_lines(r);
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
