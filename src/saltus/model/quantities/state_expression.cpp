// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/quantities/state_expression.hpp"

#include <algorithm>
#include <optional>

#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::model {

namespace {

using expr::Expr;

/// The symbols that an expression may contain, in the order t, q, u, parameters.
struct Symbols {
    std::vector<Expr> symbols;
    std::vector<std::string> names;

    Symbols(const Model& model, expr::Graph& graph) {
        add(graph, "t", expr::Kind::time);
        for (const std::string& c : model.coordinates) add(graph, c, expr::Kind::position);
        for (const std::string& c : model.coordinates) add(graph, c + "'", expr::Kind::velocity);
        std::vector<std::string> of_column(static_cast<std::size_t>(model.layout().parameters));
        for (const Parameter& p : model.settings->parameters)
            if (p.column >= 0) of_column[static_cast<std::size_t>(p.column)] = p.name;
        for (const std::string& p : of_column) add(graph, p, expr::Kind::parameter);
    }

    void add(expr::Graph& graph, const std::string& name, expr::Kind kind) {
        names.push_back(name);
        symbols.push_back(graph.symbol(name, kind));
    }
    std::optional<Expr> find(std::string_view name) const {
        const auto at = std::find(names.begin(), names.end(), name);
        if (at == names.end()) return {};
        return symbols[static_cast<std::size_t>(at - names.begin())];
    }
};

Expr parsed(const Model& model, const Symbols& s, expr::Graph& graph, const std::string& text, const Place& place) {
    // Coordinates of mass points have names such as p0.x, which cannot be parsed as expressions.
    for (const std::string& c : model.coordinates)
        if (text == c || text == c + "'") return *s.find(text);
    expr::Scope scope;
    scope.find = [&s](std::string_view name) { return s.find(name); };
    scope.names = [&s] { return s.names; };
    scope.refusal = [&model](std::string_view name) -> std::string {
        for (const Parameter& p : model.settings->parameters)
            if (p.name == name && p.column < 0) return "it is computed from other parameters: write it out";
        return {};
    };
    scope.what = "the output";
    std::vector<Definition> definitions = model.settings->definitions;
    if (const Outputs* const outputs = model.outputs.get())
        for (const Output& o : outputs->list)
            if (replace_calls(o.source, quantity_functions()).calls.empty()) definitions.push_back({o.name, o.source});
    expr::Source source;
    source.text = text;
    source.place = place;
    return expr::parse(graph, source, with_definitions(graph, definitions, std::move(scope)));
}

}  // namespace

StateExpression::StateExpression(const Model& model, const std::string& text, const Place& place,
                                 Derivatives derivatives) {
    expr::Graph graph;
    const Symbols s(model, graph);
    std::vector<Expr> wanted{parsed(model, s, graph, text, place)};
    if (derivatives == Derivatives::all)
        for (const Expr symbol : s.symbols) wanted.push_back(expr::Derivative(graph, symbol)(wanted[0]));
    const std::size_t state = 1 + 2 * model.coordinates.size();
    const std::span<const Expr> symbols(s.symbols);
    tape_ = expr::Tape(graph, wanted, symbols.subspan(state), symbols.first(state));
    variables_.resize(state);
    scratch_.resize(tape_.slot_count());
    results_.resize(wanted.size());
    tape_.prepare<double>(model.p, scratch_);
}

double StateExpression::value(double t, std::span<const double> q, std::span<const double> u) {
    variables_[0] = t;
    std::copy(q.begin(), q.end(), variables_.begin() + 1);
    std::copy(u.begin(), u.end(), variables_.begin() + 1 + static_cast<std::ptrdiff_t>(q.size()));
    tape_.evaluate<double>(variables_, scratch_, results_);
    return results_[0];
}

}  // namespace saltus::model
