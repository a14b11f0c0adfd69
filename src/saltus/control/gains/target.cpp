// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/gains/target.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/gains/gain_study.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/evaluate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/outputs.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::control {

using expr::Expr;

namespace {

const char* const remedy = "write --target \"lambda(NAME) = 5\", or another equation of forces, x, x' and parameters";

/// A number of a run that a target may name.
struct Symbol {
    enum class What {
        time,
        position,
        velocity,
        parameter,
        force,
        gap,
        lowest,   ///< smallest value of an output along the motion
        highest,  ///< largest value of an output along the motion
        settling,
        impacts,
        peak_impulse,
        peak_force
    };
    What what = What::time;
    int index = 0;      ///< number of the coordinate, parameter, element or output
    int component = 0;  ///< component of a force: 0 is the normal force, 1, 2, ... are components of friction
    std::string name;
};

std::string stripped(std::string text) {
    while (!text.empty() && is_space(text.front())) text.erase(text.begin());
    while (!text.empty() && is_space(text.back())) text.pop_back();
    return text;
}

/// The functions that a target may call with a name.
std::vector<std::string_view> called_functions() {
    const auto quantities = model::quantity_functions();
    std::vector<std::string_view> names(quantities.begin(), quantities.end());
    names.insert(names.end(), {"highest", "lowest"});
    return names;
}

/// The symbol of a call such as lambda(stop), gap(stop) or highest(strain).
Symbol called_symbol(const model::NamedCall& call, const model::Model& model) {
    using Quantity = model::ElementQuantity::What;
    Symbol symbol;
    symbol.name = call.function + "(" + call.argument + ")";
    if (call.function == "highest" || call.function == "lowest") {
        symbol.what = call.function == "highest" ? Symbol::What::highest : Symbol::What::lowest;
        std::vector<std::string> names;
        if (const model::Outputs* const outputs = model.outputs.get())
            for (const model::Output& o : outputs->list) names.push_back(o.name);
        const auto found = std::find(names.begin(), names.end(), call.argument);
        if (found == names.end())
            throw Error("no output is called '" + call.argument + "'", call.place,
                        names.empty() ? "the model has no [output]" : did_you_mean(call.argument, names));
        symbol.index = static_cast<int>(found - names.begin());
        return symbol;
    }
    const model::ElementQuantity quantity = *model::element_quantity(model, call.function, call.argument, call.place);
    if (quantity.what == Quantity::impulse)
        throw Error("a running impulse cannot be a target by itself", call.place,
                    "name an output of it in [output], and write highest(NAME)");
    symbol.what = quantity.what == Quantity::gap ? Symbol::What::gap : Symbol::What::force;
    symbol.index = quantity.element;
    symbol.component = quantity.component;
    return symbol;
}

/// The symbol with this name, if there is one.
std::optional<Symbol> find_symbol(std::string_view name, const model::Model& model) {
    const std::string text_name(name);
    for (int i = 0; i < model.size(); ++i) {
        const std::string& q = model.coordinates[static_cast<std::size_t>(i)];
        if (q == name) return Symbol{Symbol::What::position, i, 0, text_name};
        if (q + "'" == name) return Symbol{Symbol::What::velocity, i, 0, text_name};
    }
    for (std::size_t p = 0; p < model.settings->parameters.size(); ++p)
        if (model.settings->parameters[p].name == name)
            return Symbol{Symbol::What::parameter, static_cast<int>(p), 0, text_name};
    if (name == "t") return Symbol{Symbol::What::time, 0, 0, text_name};
    if (name == "settling_time") return Symbol{Symbol::What::settling, 0, 0, text_name};
    if (name == "impacts") return Symbol{Symbol::What::impacts, 0, 0, text_name};
    if (name == "peak_impulse") return Symbol{Symbol::What::peak_impulse, 0, 0, text_name};
    if (name == "peak_force") return Symbol{Symbol::What::peak_force, 0, 0, text_name};
    return {};
}

}  // namespace

struct Target::Parsed {
    std::vector<Symbol> symbols;  ///< the numbers of a run that the target contains, each once
    expr::Graph graph;
    std::vector<Expr> variables;  ///< one for each symbol
    Expr left{}, difference{};
    expr::Tape tape;  ///< left, difference, ∂difference/∂variables
};

Target::Target(Target&&) noexcept = default;
Target& Target::operator=(Target&&) noexcept = default;
Target::~Target() = default;

Target::Target(const std::string& text, const model::Model& model) : text_(text), parsed_(std::make_unique<Parsed>()) {
    Parsed& in = *parsed_;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || text.find_first_of("<>!=", equals + 1) != std::string::npos ||
        text.find_first_of("<>!") != std::string::npos)
        throw Error("'" + text + "' is not an equation", {"--target", 0, 0}, remedy);

    expr::Scope scope;
    const auto variable = [&](const std::optional<Symbol>& symbol) -> std::optional<Expr> {
        if (!symbol) return {};
        for (std::size_t k = 0; k < in.symbols.size(); ++k)
            if (in.symbols[k].name == symbol->name) return in.variables[k];
        in.symbols.push_back(*symbol);
        in.variables.push_back(in.graph.symbol(symbol->name, expr::Kind::parameter));
        return in.variables.back();
    };
    std::vector<model::NamedCall> calls;  // the calls in the target and in the expressions of the outputs
    const auto without_calls = [&](const expr::Source& source) {
        model::WithoutCalls plain = model::replace_calls(source, called_functions(), calls.size());
        calls.insert(calls.end(), plain.calls.begin(), plain.calls.end());
        return plain.source;
    };
    scope.find = [&](std::string_view name) -> std::optional<Expr> {
        for (const model::NamedCall& call : calls)
            if (call.symbol == name) return variable(called_symbol(call, model));
        return variable(find_symbol(name, model));
    };
    scope.names = [&] {
        std::vector<std::string> names{"settling_time", "impacts", "peak_impulse", "peak_force"};
        for (const std::string& q : model.coordinates) {
            names.push_back(q);
            names.push_back(q + "'");
        }
        for (const model::Parameter& p : model.settings->parameters) names.push_back(p.name);
        for (const std::string& e : element_names(model)) names.push_back("lambda(" + e + ")");
        return names;
    };
    scope.what = "the target";
    // The names of [output] stand for their expressions, as those of [let] do.
    std::vector<model::Definition> definitions = model.settings->definitions;
    if (const model::Outputs* const outputs = model.outputs.get())
        for (const model::Output& o : outputs->list) definitions.push_back({o.name, without_calls(o.source)});
    const auto side = [&](const std::string& part) {
        if (stripped(part).empty()) throw Error("'" + text + "' is not an equation", {"--target", 0, 0}, remedy);
        expr::Source source;
        source.text = part;
        source.place = {"--target", 0, 0};
        return expr::parse(in.graph, without_calls(source), model::with_definitions(in.graph, definitions, scope));
    };
    in.left = side(text.substr(0, equals));
    in.difference = in.graph.sub(in.left, side(text.substr(equals + 1)));
    std::vector<Expr> wanted{in.left, in.difference};
    for (const Expr by : in.variables) wanted.push_back(expr::Derivative(in.graph, by)(in.difference));
    in.tape = expr::Tape(in.graph, wanted, {}, in.variables);
}

TargetAt Target::natural() const {
    bool force = false, moment = false;
    for (const Symbol& s : parsed_->symbols) {
        force = force || s.what == Symbol::What::force;
        moment = moment || s.what == Symbol::What::time || s.what == Symbol::What::velocity;
    }
    return force && !moment ? TargetAt::steady : TargetAt::end;
}

namespace {

/// The force of an element at an equilibrium: the normal force of a contact or the reaction of a constraint. Models
/// with friction are refused by statics_refusal, so components of friction are 0.
double steady_force(const model::Model& model, const Rest& rest, const Symbol& s) {
    if (s.component > 0) return 0.0;
    const auto i = static_cast<std::size_t>(s.index);
    if (i < model.contacts.size()) return rest.lambda(model.contacts[i].row);
    return rest.lambda(model.constraints[i - model.contacts.size()].row);
}

/// The gap of a contact at a position.
double gap_at(const model::Model& model, const std::vector<double>& q, double t, int contact) {
    model::Workspace workspace(model);
    model::Terms terms(model.layout());
    const std::vector<double> rest(q.size(), 0.0);
    model::evaluate(model, workspace, t, q, rest, terms);
    return terms.positions[static_cast<std::size_t>(model.contacts[static_cast<std::size_t>(contact)].row)];
}

/// The value of a symbol in a run. Nothing if the symbol is settling_time and the motion has not settled.
std::optional<double> number(const model::Model& model, const Measures& run, TargetAt at, const Symbol& s) {
    using What = Symbol::What;
    const bool steady = at == TargetAt::steady;
    const auto i = static_cast<std::size_t>(s.index);
    switch (s.what) {
        case What::time: return run.end.t;
        case What::position: return steady ? run.steady.q[i] : run.end.q[i];
        case What::velocity: return steady ? 0.0 : run.end.u[i];
        case What::parameter: return model.settings->parameters[i].value;
        case What::settling: return run.settling_time;
        case What::impacts: return static_cast<double>(run.impacts);
        case What::peak_impulse: return run.peak_impulse;
        case What::peak_force: return run.peak_force;
        case What::lowest: return run.outputs[i].lowest;
        case What::highest: return run.outputs[i].highest;
        case What::gap: return gap_at(model, steady ? run.steady.q : run.end.q, steady ? 0.0 : run.end.t, s.index);
        case What::force: break;
    }
    if (steady) return steady_force(model, run.steady, s);
    for (const trajectory::Reaction& r : run.forces) {
        if (r.element != s.index) continue;
        if (s.component == 0) return r.N;
        return static_cast<std::size_t>(s.component) <= r.T.size() ? r.T[static_cast<std::size_t>(s.component - 1)]
                                                                   : 0.0;
    }
    return 0.0;  // an open contact
}

}  // namespace

std::optional<std::vector<double>> Target::evaluate(const model::Model& model, const Measures& run, TargetAt at) const {
    const Parsed& in = *parsed_;
    std::vector<double> values;
    for (const Symbol& s : in.symbols) {
        const std::optional<double> x = number(model, run, at, s);
        if (!x) return {};
        values.push_back(*x);
    }
    std::vector<double> scratch(in.tape.slot_count()), results(2 + in.symbols.size());
    in.tape.prepare<double>({}, scratch);
    in.tape.evaluate<double>(values, scratch, results);
    return results;
}

std::optional<Target::Value> Target::value(const model::Model& model, const Measures& run, TargetAt at) const {
    if (at == TargetAt::steady && !run.steady.found) return {};
    if (run.status != trajectory::Status::completed) return {};
    const std::optional<std::vector<double>> results = evaluate(model, run, at);
    if (!results || !std::isfinite((*results)[1])) return {};
    return Value{(*results)[0], (*results)[1]};
}

/// Chain rule: Σ ∂difference/∂symbol · d(symbol)/dp. d(symbol)/dp is dq/dp or dλ/dp of the equilibrium, 1 for the
/// parameter itself, and 0 for other independent parameters and for velocities. It is not known here for a dependent
/// parameter: nothing is returned. Nor is it known for other symbols (time, gaps, outputs, numbers of the motion):
/// nothing is returned if the difference depends on one of them.
std::optional<double> Target::steady_derivative(const model::Model& model, const Measures& run, Statics& statics,
                                                const std::string& parameter) const {
    using What = Symbol::What;
    const Parsed& in = *parsed_;
    int column = -1;
    for (const model::Parameter& p : model.settings->parameters)
        if (p.name == parameter && !p.structural) column = p.column;
    if (column < 0 || !run.steady.found) return {};
    const std::optional<RestDerivative> change = rest_derivative(statics, run.steady, column);
    if (!change) return {};
    const std::optional<std::vector<double>> results = evaluate(model, run, TargetAt::steady);
    if (!results) return {};
    double sum = 0.0;
    for (std::size_t k = 0; k < in.symbols.size(); ++k) {
        const Symbol& s = in.symbols[k];
        const auto i = static_cast<std::size_t>(s.index);
        double rate = 0.0;
        if (s.what == What::position) {
            rate = change->q(s.index);
        } else if (s.what == What::force) {
            Rest rates = run.steady;
            rates.lambda = change->lambda;
            rate = steady_force(model, rates, s);
        } else if (s.what == What::parameter) {
            if (model.settings->parameters[i].column < 0)
                return {};  // a dependent parameter: its derivative is not known here
            rate = model.settings->parameters[i].column == column ? 1.0 : 0.0;
        } else if (s.what != What::velocity && (*results)[2 + k] != 0.0) {
            return {};
        }
        sum += (*results)[2 + k] * rate;
    }
    return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

}  // namespace saltus::control
