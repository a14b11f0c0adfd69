// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/variables.hpp"

#include <algorithm>

#include "saltus/base/error.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/description.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/quantities/state_expression.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::sensitivity {

namespace {

using model::Model;
using model::Parameter;

Variable parameter_variable(const Parameter& p) { return {Variable::Kind::parameter, p.column, p.name, p.value}; }

std::vector<std::string> independent_names(const Model& model) {
    std::vector<std::string> names;
    for (const Parameter& p : model.settings->parameters)
        if (p.column >= 0 && !p.structural) names.push_back(p.name);
    return names;
}

std::vector<std::string> known_names(const Model& model) {
    std::vector<std::string> names;
    for (const std::string& c : model.coordinates) {
        names.push_back(c);
        names.push_back(c + "'");
    }
    for (const std::string& p : independent_names(model)) names.push_back(p);
    return names;
}

/// Whether a name occurs in a text as a whole word.
bool mentions(const std::string& text, const std::string& name) {
    const auto part_of_name = [&](std::size_t i) {
        return i < text.size() && (is_letter_or_digit(text[i]) || text[i] == '_');
    };
    for (std::size_t k = text.find(name); k != std::string::npos; k = text.find(name, k + 1))
        if (!(k > 0 && part_of_name(k - 1)) && !part_of_name(k + name.size())) return true;
    return false;
}

/// The independent parameters that a derived parameter depends on, directly or through other derived ones.
std::vector<std::string> sources_of(const Model& model, const model::Description& description,
                                    const std::string& name) {
    std::vector<std::string> open{name}, seen{name}, sources;
    while (!open.empty()) {
        const std::string at = open.back();
        open.pop_back();
        for (const model::Entry& entry : description.parameters) {
            if (entry.name != at) continue;
            const std::string& text = entry.value.source.text;
            for (const Parameter& p : model.settings->parameters) {
                if (!mentions(text, p.name) || std::find(seen.begin(), seen.end(), p.name) != seen.end()) continue;
                seen.push_back(p.name);
                (p.column >= 0 ? sources : open).push_back(p.name);
            }
        }
    }
    return sources;
}

/// Looks one variable up; throws Error if there is none.
Variable variable(const Model& model, const std::string& name, const model::Description* description) {
    const bool velocity = !name.empty() && name.back() == '\'';
    const std::string coordinate = velocity ? name.substr(0, name.size() - 1) : name;
    for (int i = 0; i < model.size(); ++i) {
        const auto k = static_cast<std::size_t>(i);
        if (model.coordinates[k] != coordinate) continue;
        return {velocity ? Variable::Kind::velocity : Variable::Kind::position, i, name,
                velocity ? model.u0[k] : model.q0[k]};
    }
    for (const Parameter& p : model.settings->parameters) {
        if (p.name != name) continue;
        if (p.structural)
            throw Error("'" + name +
                            "' shapes the initial geometry of the points: there are no derivatives with "
                            "respect to it",
                        {"--wrt", 0, 0}, "simulate with --set " + name + "=... and compare");
        if (p.column < 0) {
            std::vector<std::string> sources;
            if (description != nullptr) sources = sources_of(model, *description, name);
            throw Error("'" + name + "' is computed from other parameters", {"--wrt", 0, 0},
                        sources.empty() ? "take those it comes from, among " + listing(independent_names(model))
                                        : "take " + listing(sources) + " instead");
        }
        return parameter_variable(p);
    }
    throw Error("unknown name '" + name + "'", {"--wrt", 0, 0}, did_you_mean(name, known_names(model)));
}

}  // namespace

std::vector<Variable> variables(const Model& model, const std::vector<std::string>& names,
                                const model::Description* description) {
    std::vector<Variable> list;
    for (const std::string& name : names) {
        const bool again = std::any_of(list.begin(), list.end(), [&](const Variable& v) { return v.name == name; });
        if (!again) list.push_back(variable(model, name, description));
    }
    return list;
}

std::vector<Variable> all_variables(const Model& model) { return variables(model, known_names(model)); }

Output output_of(const Model& model, const std::string& expression, double t, const std::vector<double>& q,
                 const std::vector<double>& u) {
    model::StateExpression compiled(model, expression, {"--output", 0, 0}, model::StateExpression::Derivatives::all);
    Output out;
    out.value = compiled.value(t, q, u);
    const std::span<const double> gradient = compiled.gradient();
    out.gradient = Eigen::Map<const Vector>(gradient.data(), static_cast<Eigen::Index>(gradient.size()));
    return out;
}

}  // namespace saltus::sensitivity
