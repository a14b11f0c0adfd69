// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/regulation_report.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "saltus/io/certify_report.hpp"

namespace saltus::io {

using namespace saltus::control;
using Json = nlohmann::ordered_json;

namespace {

Json number(double x) { return std::isfinite(x) ? Json(x + 0.0) : Json(nullptr); }

Json position(const RegulationReport& r, const Rest& rest) {
    Json q = Json::object();
    for (std::size_t i = 0; i < r.coordinates.size() && i < rest.q.size(); ++i) q[r.coordinates[i]] = number(rest.q[i]);
    return q;
}

/// Contacts come after the constraints of a rest.
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

std::string line(const RegulationReport& r, const char* title, const Rest& rest) {
    std::string text = fmt::format("  {:<11}", title);
    for (std::size_t i = 0; i < r.coordinates.size(); ++i)
        text += fmt::format(" {} = {:.10g}  ", r.coordinates[i], rest.q[i] + 0.0);
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
    if (c.with_springs && c.spring_rest.found)
        j["penalty"] = {{"q", position(r, c.spring_rest)},
                        {"forces", forces(r, c.spring_rest)},
                        {"solutions", solutions(r, c.spring_solutions)}};
    else
        j["penalty"] = {{"q", nullptr}, {"reason", c.with_springs ? c.spring_rest.reason : c.no_springs}};
    return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string regulation_text(const RegulationReport& r) {
    const RegulationCertificate& c = r.certificate;
    std::string text = certify_text({r.model, r.coordinates, c.table});
    if (c.with_springs && c.spring_rest.found) text += line(r, "springs", c.spring_rest);
    if (!c.with_springs && !c.no_springs.empty()) text += "  springs     left out: " + c.no_springs + "\n";
    text += fmt::format("  scope       rigid contacts: {}", to_string(c.rigid));
    if (c.with_springs) text += fmt::format("; springs: {}", to_string(c.springs));
    return text + "\n";
}

}  // namespace saltus::io
