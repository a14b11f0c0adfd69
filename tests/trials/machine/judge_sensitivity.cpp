// SPDX-License-Identifier: Apache-2.0
#include "machine/judge_sensitivity.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "machine/calls.hpp"

namespace trials {

namespace {

/// Springs keep their lengths without force when a point is moved.
void set_rest_lengths(Model& model) {
    for (Points::Spring& spring : model.points->springs) {
        if (spring.rest > 0.0) continue;
        for (std::size_t i = 0; i < 3; ++i)
            spring.rest = std::hypot(spring.rest, model.q0[3 * spring.j + i] - model.q0[3 * spring.i + i]);
    }
}

/// The start of a model, changed in one position or velocity.
struct Variable {
    bool velocity = false;
    std::size_t index = 0;
};

Model changed(Model model, const Variable& variable, double by) {
    if (model.points) set_rest_lengths(model);
    (variable.velocity ? model.u0 : model.q0)[variable.index] += by;
    return model;
}

/// What a motion leads to: its final positions and velocities, and the times of its events.
struct Outcome {
    Vector state, times;
    std::string kinds;  ///< of the events, in their order
};

std::string kinds_of(const nlohmann::json& events) {
    std::string kinds;
    for (const auto& event : events) kinds += event.at("kind").get<std::string>() + event.at("contacts").dump() + ' ';
    return kinds;
}

/// Nothing if the motion is not completed.
std::optional<Outcome> outcome_of(const Model& model, const Program& program) {
    const auto file = program.write("varied.toml", model.toml()).string();
    const Run run = program.run({"simulate", file, "--json", "--rtol", "1e-11", "--atol", "1e-13"}, 20);
    const auto document = run.code == 0 ? nlohmann::json::parse(run.out, nullptr, false) : nlohmann::json();
    if (!document.is_object() || document.value("status", "") != "completed") return {};
    Outcome result;
    for (const char* part : {"q", "u"})
        for (const std::string& name : model.coordinates)
            result.state.push_back(number(document.at("final").at(part).at(name)));
    for (const auto& event : document.at("events")) result.times.push_back(number(event.at("t")));
    result.kinds = kinds_of(document.at("events"));
    return result;
}

/// Central differences of the final state, and of the times of the events if both neighbours have the same events.
struct Difference {
    Vector state, times;
    std::string kinds;
    Outcome right;  ///< the neighbour with the larger value
};

std::optional<Difference> difference(const Model& model, const Program& program, const Variable& variable, double by) {
    const auto right = outcome_of(changed(model, variable, by), program);
    const auto left = outcome_of(changed(model, variable, -by), program);
    if (!right || !left) return {};
    Difference result{plus(right->state, left->state, -1.0), {}, right->kinds, *right};
    if (right->kinds == left->kinds) result.times = plus(right->times, left->times, -1.0);
    for (double& x : result.state) x /= 2.0 * by;
    for (double& x : result.times) x /= 2.0 * by;
    return result;
}

/// Derivatives of the times of events, for variables whose neighbouring motions have the same events.
void judge_times(const nlohmann::json& events, const std::string& name, const Difference& coarse,
                 const Difference& fine, Findings& findings) {
    const std::string kinds = kinds_of(events);
    if (fine.kinds != kinds || coarse.kinds != kinds || fine.times.size() != events.size() ||
        coarse.times.size() != events.size())
        return void(++findings.not_judged);
    for (std::size_t i = 0; i < events.size() && findings.violations.empty(); ++i) {
        const auto& by_name = events[i].at("dt");
        const double stated = by_name.contains(name) ? number(by_name.at(name)) : NAN;
        const double transversality = number(events[i].at("transversality"));
        const double spread = std::abs(coarse.times[i] - fine.times[i]), scale = 1e-2 + std::abs(fine.times[i]);
        if (std::isnan(stated) || !(transversality > 1e-3) || spread > 1e-3 * scale) {
            ++findings.not_judged;
            continue;
        }
        findings.check(std::abs(stated - fine.times[i]) <= 5.0 * spread + 1e-4 * scale, "event-time", [&] {
            return fmt::format("the time of event {} ({}) has the derivative {} by {}; differences give {} and {}", i,
                               events[i].at("kind").get<std::string>(), stated, name, fine.times[i], coarse.times[i]);
        });
    }
}

/// Whether the difference to the right is the central one. At a kink they differ, and a derivative of one side is
/// right.
bool one_sided_derivatives_agree(const Outcome& here, const Difference& central, double by) {
    Vector forward = plus(central.right.state, here.state, -1.0);
    for (double& x : forward) x /= by;
    return norm(plus(forward, central.state, -1.0)) <= 1e-2 * (1e-2 + norm(central.state));
}

/// `here` is the motion itself.
void judge_variable(const Model& model, const Program& program, const Variable& variable,
                    const nlohmann::json& document, const std::optional<Outcome>& here, Findings& findings) {
    const std::string name = model.coordinates[variable.index] + (variable.velocity ? "'" : "");
    Vector stated;
    for (const char* part : {"q", "u"})
        for (const std::string& coordinate : model.coordinates)
            stated.push_back(number(document.at("final").at(part).at(coordinate).at(name)));
    if (std::ranges::any_of(stated, [](double x) { return std::isnan(x); })) return void(++findings.refused);
    if (!here) return void(++findings.not_judged);
    constexpr double short_step = 2e-5, long_step = 1e-4;
    const auto fine = difference(model, program, variable, short_step);
    if (!fine) return void(++findings.not_judged);
    if (!one_sided_derivatives_agree(*here, *fine, short_step)) return void(++findings.not_judged);
    const auto coarse = difference(model, program, variable, long_step);
    if (!coarse) return void(++findings.not_judged);
    const double scale = 1e-2 + norm(fine->state), spread = norm(plus(coarse->state, fine->state, -1.0));
    if (spread > 1e-3 * scale) return void(++findings.not_judged);
    judge_times(document.at("events"), name, *coarse, *fine, findings);
    const double allowed = 5.0 * spread + 1e-4 * scale;
    // At a slight kink the derivatives of both sides differ a little, and either is right.
    Vector forward = plus(fine->right.state, here->state, -1.0);
    for (double& x : forward) x /= short_step;
    const Vector backward = plus(plus(fine->state, fine->state), forward, -1.0);
    const double miss = std::min(
        {norm(plus(stated, fine->state, -1.0)), norm(plus(stated, forward, -1.0)), norm(plus(stated, backward, -1.0))});
    findings.check(miss <= allowed, "derivative", [&] {
        return fmt::format(
            "derivatives by {} are {}, differences give {} (and {} with a step that is five times longer)", name,
            stated, fine->state, coarse->state);
    });
}

/// All positions and velocities of the start.
std::vector<Variable> start_variables(const Model& model) {
    std::vector<Variable> variables;
    for (const bool velocity : {true, false})
        for (std::size_t i = 0; i < model.size(); ++i) variables.push_back({velocity, i});
    return variables;
}

/// All derivatives are judged if one motion costs less computing time than this, in s; otherwise one of them, and other
/// models judge the others. Each derivative costs four motions.
constexpr double cheap_motion = 0.05;

}  // namespace

Findings judge_sensitivity(const Model& model, const Program& program) {
    Findings findings;
    const auto file = program.write("model.toml", model.toml()).string();
    std::vector<Variable> variables = start_variables(model);
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
    const double before = program.cpu_seconds();
    const std::optional<Outcome> here = outcome_of(model, program);
    if (program.cpu_seconds() - before > cheap_motion)
        variables = {variables[std::hash<std::string>()(model.name) % variables.size()]};
    for (const Variable& variable : variables) {
        judge_variable(model, program, variable, document, here, findings);
        if (!findings.violations.empty()) break;
    }
    return findings;
}

}  // namespace trials
