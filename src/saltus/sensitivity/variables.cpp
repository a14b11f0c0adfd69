// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/variables.hpp"

#include <algorithm>

#include "saltus/base/error.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/description.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"
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

namespace {

/// The symbols that an output may contain, in the order of its gradient, with their values at the end of the motion.
struct Symbols {
    std::vector<expr::Expr> symbols;
    std::vector<std::string> names;
    std::vector<double> values;
};

Symbols symbols_of(const Model& model, expr::Graph& graph, double t, const std::vector<double>& q,
                   const std::vector<double>& u) {
    Symbols s;
    const auto add = [&](const std::string& name, expr::Kind kind, double value) {
        s.names.push_back(name);
        s.symbols.push_back(graph.symbol(name, kind));
        s.values.push_back(value);
    };
    add("t", expr::Kind::time, t);
    for (std::size_t i = 0; i < q.size(); ++i) add(model.coordinates[i], expr::Kind::position, q[i]);
    for (std::size_t i = 0; i < u.size(); ++i) add(model.coordinates[i] + "'", expr::Kind::velocity, u[i]);
    std::vector<std::string> of_column(static_cast<std::size_t>(model.layout().parameters));
    for (const Parameter& p : model.settings->parameters)
        if (p.column >= 0) of_column[static_cast<std::size_t>(p.column)] = p.name;
    for (std::size_t k = 0; k < of_column.size(); ++k) add(of_column[k], expr::Kind::parameter, model.p[k]);
    return s;
}

expr::Scope scope_of(const Model& model, const Symbols& s) {
    expr::Scope scope;
    scope.find = [&s](std::string_view name) -> std::optional<expr::Expr> {
        for (std::size_t k = 0; k < s.names.size(); ++k)
            if (s.names[k] == name) return s.symbols[k];
        return {};
    };
    scope.names = [&s] { return s.names; };
    scope.refusal = [&model](std::string_view name) -> std::string {
        for (const Parameter& p : model.settings->parameters)
            if (p.name == name && p.column < 0) return "it is computed from other parameters: write it out";
        return {};
    };
    scope.what = "the output";
    return scope;
}

}  // namespace

Output output_of(const Model& model, const std::string& expression, double t, const std::vector<double>& q,
                 const std::vector<double>& u) {
    using expr::Expr;
    const auto n = static_cast<std::size_t>(model.size());
    Output out;
    out.gradient = Vector::Zero(1 + 2 * model.size() + model.layout().parameters);
    // Coordinates of mass points have names such as p0.x, which cannot be parsed as expressions.
    for (std::size_t i = 0; i < n; ++i)
        for (const bool velocity : {false, true})
            if (expression == model.coordinates[i] + (velocity ? "'" : "")) {
                out.value = velocity ? u[i] : q[i];
                out.gradient(static_cast<Eigen::Index>(1 + i + (velocity ? n : 0))) = 1.0;
                return out;
            }
    expr::Graph graph;
    const Symbols s = symbols_of(model, graph, t, q, u);
    expr::Source source;
    source.text = expression;
    source.place = {"--output", 0, 0};
    // Outputs of the model that are functions of the state are known by their names too.
    std::vector<model::Definition> definitions = model.settings->definitions;
    if (const model::Outputs* const outputs = model.outputs.get())
        for (const model::Output& o : outputs->list)
            if (model::replace_calls(o.source, model::quantity_functions()).calls.empty())
                definitions.push_back({o.name, o.source});
    const Expr value = expr::parse(graph, source, model::with_definitions(graph, definitions, scope_of(model, s)));
    std::vector<Expr> wanted{value};
    for (const Expr symbol : s.symbols) wanted.push_back(expr::Derivative(graph, symbol)(value));
    const expr::Tape tape(graph, wanted, {}, s.symbols);
    std::vector<double> scratch(tape.slot_count()), results(wanted.size());
    tape.prepare<double>({}, scratch);
    tape.evaluate<double>(s.values, scratch, results);
    out.value = results[0];
    for (std::size_t k = 0; k < s.symbols.size(); ++k) out.gradient(static_cast<Eigen::Index>(k)) = results[k + 1];
    return out;
}

}  // namespace saltus::sensitivity
