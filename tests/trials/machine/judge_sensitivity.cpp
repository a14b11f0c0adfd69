// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_sensitivity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "machine/calls.hpp"

namespace trials {

namespace {

/// The start of a model, changed in one position or velocity.
struct Variable {
    bool velocity = false;
    std::size_t index = 0;
};

Model changed(Model model, const Variable& variable, double by) {
    (variable.velocity ? model.u0 : model.q0)[variable.index] += by;
    return model;
}

/// Final positions and velocities; nothing if the motion is not completed.
std::optional<Vector> final_state(const Model& model, const Program& program) {
    const auto file = program.write("varied.toml", model.toml()).string();
    const Run run = program.run({"simulate", file, "--json", "--rtol", "1e-11", "--atol", "1e-13"}, 20);
    const auto document = run.code == 0 ? nlohmann::json::parse(run.out, nullptr, false) : nlohmann::json();
    if (!document.is_object() || document.value("status", "") != "completed") return {};
    Vector result;
    for (const char* part : {"q", "u"})
        for (const std::string& name : model.coordinates)
            result.push_back(number(document.at("final").at(part).at(name)));
    return result;
}

std::optional<Vector> difference(const Model& model, const Program& program, const Variable& variable, double by) {
    const auto right = final_state(changed(model, variable, by), program);
    const auto left = final_state(changed(model, variable, -by), program);
    if (!right || !left) return {};
    Vector result = plus(*right, *left, -1.0);
    for (double& x : result) x /= 2.0 * by;
    return result;
}

/// One-sided differences from both sides. At a kink they differ, and a derivative of one side is right.
bool one_sided_derivatives_agree(const Model& model, const Program& program, const Variable& variable,
                                 const Vector& central, double by) {
    const auto right = final_state(changed(model, variable, by), program), here = final_state(model, program);
    if (!right || !here) return false;
    Vector forward = plus(*right, *here, -1.0);
    for (double& x : forward) x /= by;
    return norm(plus(forward, central, -1.0)) <= 1e-2 * (1e-2 + norm(central));
}

void judge_variable(const Model& model, const Program& program, const Variable& variable,
                    const nlohmann::json& document, Findings& findings) {
    const std::string name = model.coordinates[variable.index] + (variable.velocity ? "'" : "");
    Vector stated;
    for (const char* part : {"q", "u"})
        for (const std::string& coordinate : model.coordinates)
            stated.push_back(number(document.at("final").at(part).at(coordinate).at(name)));
    if (std::ranges::any_of(stated, [](double x) { return std::isnan(x); })) return void(++findings.refused);
    const auto coarse = difference(model, program, variable, 1e-4), fine = difference(model, program, variable, 2e-5);
    if (!coarse || !fine) return void(++findings.not_judged);
    const double scale = 1e-2 + norm(*fine), spread = norm(plus(*coarse, *fine, -1.0));
    if (spread > 1e-3 * scale || !one_sided_derivatives_agree(model, program, variable, *fine, 2e-5))
        return void(++findings.not_judged);
    findings.check(norm(plus(stated, *fine, -1.0)) <= 5.0 * spread + 1e-4 * scale, "derivative", [&] {
        return fmt::format(
            "derivatives by {} are {}, differences give {} (and {} with a step that is five times longer)", name,
            stated, *fine, *coarse);
    });
}

}  // namespace

Findings judge_sensitivity(const Model& model, const Program& program) {
    Findings findings;
    const auto file = program.write("model.toml", model.toml()).string();
    std::vector<Variable> variables = {{true, 0}, {false, 0}};
    if (model.size() > 1) variables.push_back({true, model.size() - 1});
    std::string names;
    for (const Variable& v : variables)
        names += (names.empty() ? "" : ",") + model.coordinates[v.index] + (v.velocity ? "'" : "");
    nlohmann::json document;
    if (!call(program, {"sensitivity", file, "--json", "--wrt", names}, 40, document, findings)) return findings;
    // The motion failed, which the document says with its reason.
    if (!document.contains("final") || document.at("final").value("q", nlohmann::json::object()).empty()) {
        ++findings.refused;
        return findings;
    }
    for (const Variable& variable : variables) judge_variable(model, program, variable, document, findings);
    return findings;
}

}  // namespace trials
