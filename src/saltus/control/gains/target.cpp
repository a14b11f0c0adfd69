// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/gains/target.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/control/gains/gain_study.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/expr/tape.hpp"
#include "saltus/model/model.hpp"

namespace saltus::control {

using expr::Expr;

namespace {

const char* const remedy = "write --target \"lambda(NAME) = 5\", or another equation of forces, x, x' and parameters";

/// A number of a run that a target may name.
struct Symbol {
    enum class What { time, position, velocity, parameter, force, settling, impacts, peak_impulse, peak_force };
    What what = What::time;
    int index = 0;      ///< of the coordinate, parameter or element
    int component = 0;  ///< of a force: 0 is the normal force, 1, 2, ... are components of friction
    std::string name;
};

std::string stripped(std::string text) {
    const auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!text.empty() && space(text.front())) text.erase(text.begin());
    while (!text.empty() && space(text.back())) text.pop_back();
    return text;
}

/// Dimension of the friction of an element, whose index is that of element_names.
int friction_dimension(const model::Model& model, std::size_t element) {
    if (element < model.contacts.size()) return model.contacts[element].friction.dimension;
    element -= model.contacts.size();
    if (element < model.constraints.size()) return model.constraints[element].friction.dimension;
    element -= model.constraints.size();
    return element < model.sliders.size() ? model.sliders[element].friction.dimension : 0;
}

enum class ForceKind { normal, friction };

/// The symbol of lambda(inside) or lambdaT(inside). `inside` is the name of an element, with or without quotation
/// marks; for friction a component may follow after a comma.
Symbol force_symbol(const model::Model& model, std::string inside, ForceKind kind) {
    const bool friction = kind == ForceKind::friction;
    Symbol symbol;
    symbol.what = Symbol::What::force;
    symbol.component = friction ? 1 : 0;
    const std::vector<std::string> names = element_names(model);
    inside = stripped(inside);
    auto found = std::find(names.begin(), names.end(), inside);
    if (found == names.end() && inside.size() > 1 && (inside[0] == '"' || inside[0] == '\'') &&
        inside.back() == inside[0])
        found = std::find(names.begin(), names.end(), inside.substr(1, inside.size() - 2));
    if (const std::size_t comma = inside.rfind(','); found == names.end() && friction && comma != inside.npos) {
        const std::string name = stripped(inside.substr(0, comma)), number = stripped(inside.substr(comma + 1));
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), symbol.component);
        if (error == std::errc() && end == number.data() + number.size() && symbol.component >= 1)
            found = std::find(names.begin(), names.end(), name);
    }
    if (found == names.end())
        throw Error("no contact or constraint is called '" + inside + "'", {"--target", 0, 0},
                    names.empty() ? "the model has none" : did_you_mean(inside, names));
    symbol.index = static_cast<int>(std::distance(names.begin(), found));
    const int dimension = friction_dimension(model, static_cast<std::size_t>(symbol.index));
    if (symbol.component > dimension)
        throw Error("'" + *found + "' has " +
                        (dimension == 0 ? "no friction"
                                        : counted(static_cast<std::size_t>(dimension), "direction") + " of friction"),
                    {"--target", 0, 0}, "lambda(" + *found + ") is its normal force");
    return symbol;
}

/// A target in which each lambda(...) is replaced by a name of its own, which an expression may contain.
struct PlainText {
    std::string text;
    std::vector<Symbol> forces;
};

PlainText replace_forces(const std::string& text, const model::Model& model) {
    PlainText out;
    for (std::size_t at = 0; at < text.size();) {
        const bool in_word = at > 0 && (std::isalnum(static_cast<unsigned char>(text[at - 1])) || text[at - 1] == '_');
        std::size_t open = std::string::npos;
        ForceKind kind = ForceKind::normal;
        for (const char* const name : {"lambda", "lambdaN", "lambdaT"}) {
            const std::size_t length = std::char_traits<char>::length(name);
            if (in_word || text.compare(at, length, name) != 0) continue;
            std::size_t k = at + length;
            while (k < text.size() && text[k] == ' ') ++k;
            if (k < text.size() && text[k] == '(') {
                open = k;
                kind = name[length - 1] == 'T' ? ForceKind::friction : ForceKind::normal;
            }
        }
        if (open == std::string::npos) {
            out.text += text[at++];
            continue;
        }
        const std::size_t close = text.find(')', open);
        if (close == std::string::npos) throw Error("'(' is not closed in the target", {"--target", 0, 0}, remedy);
        Symbol symbol = force_symbol(model, text.substr(open + 1, close - open - 1), kind);
        symbol.name = "lambda_" + std::to_string(out.forces.size()) + "_of_element";
        out.text += " " + symbol.name + " ";
        out.forces.push_back(std::move(symbol));
        at = close + 1;
    }
    return out;
}

/// The symbol with this name, if there is one.
std::optional<Symbol> find_symbol(std::string_view name, const std::vector<Symbol>& forces, const model::Model& model) {
    for (const Symbol& symbol : forces)
        if (symbol.name == name) return symbol;
    const std::string text_name(name);
    for (int i = 0; i < model.size(); ++i) {
        const std::string& q = model.coordinates[static_cast<std::size_t>(i)];
        if (q == name) return Symbol{Symbol::What::position, i, 0, text_name};
        if (q + "'" == name) return Symbol{Symbol::What::velocity, i, 0, text_name};
    }
    for (std::size_t p = 0; p < model.parameters.size(); ++p)
        if (model.parameters[p].name == name) return Symbol{Symbol::What::parameter, static_cast<int>(p), 0, text_name};
    if (name == "t") return Symbol{Symbol::What::time, 0, 0, text_name};
    if (name == "settling_time") return Symbol{Symbol::What::settling, 0, 0, text_name};
    if (name == "impacts") return Symbol{Symbol::What::impacts, 0, 0, text_name};
    if (name == "peak_impulse") return Symbol{Symbol::What::peak_impulse, 0, 0, text_name};
    if (name == "peak_force") return Symbol{Symbol::What::peak_force, 0, 0, text_name};
    return {};
}

}  // namespace

struct Target::Parsed {
    std::vector<Symbol> symbols;  ///< those that the target contains
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
    const auto [plain, forces] = replace_forces(text, model);
    const std::size_t equals = plain.find('=');
    if (equals == std::string::npos || plain.find_first_of("<>!=", equals + 1) != std::string::npos ||
        plain.find_first_of("<>!") != std::string::npos)
        throw Error("'" + text + "' is not an equation", {"--target", 0, 0}, remedy);

    expr::Scope scope;
    const std::vector<Symbol>& force_symbols = forces;
    scope.find = [&](std::string_view name) -> std::optional<Expr> {
        for (std::size_t k = 0; k < in.symbols.size(); ++k)
            if (in.symbols[k].name == name) return in.variables[k];
        const std::optional<Symbol> symbol = find_symbol(name, force_symbols, model);
        if (!symbol) return {};
        in.symbols.push_back(*symbol);
        in.variables.push_back(in.graph.symbol(std::string(name), expr::Kind::parameter));
        return in.variables.back();
    };
    scope.names = [&] {
        std::vector<std::string> names{"settling_time", "impacts", "peak_impulse", "peak_force"};
        for (const std::string& q : model.coordinates) {
            names.push_back(q);
            names.push_back(q + "'");
        }
        for (const model::Parameter& p : model.parameters) names.push_back(p.name);
        for (const std::string& e : element_names(model)) names.push_back("lambda(" + e + ")");
        return names;
    };
    scope.what = "the target";
    const auto side = [&](const std::string& part) {
        if (stripped(part).empty()) throw Error("'" + text + "' is not an equation", {"--target", 0, 0}, remedy);
        expr::Source source;
        source.text = part;
        source.place = {"--target", 0, 0};
        return expr::parse(in.graph, source, model::with_definitions(in.graph, model.definitions, scope));
    };
    in.left = side(plain.substr(0, equals));
    in.difference = in.graph.sub(in.left, side(plain.substr(equals + 1)));
    std::vector<Expr> wanted{in.left, in.difference};
    for (const Expr variable : in.variables) wanted.push_back(expr::Derivative(in.graph, variable)(in.difference));
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

/// The reaction of an element at an equilibrium, which has no friction.
double steady_force(const model::Model& model, const Rest& rest, const Symbol& s) {
    if (s.component > 0) return 0.0;
    const auto i = static_cast<std::size_t>(s.index);
    if (i < model.contacts.size()) return rest.lambda(model.contacts[i].row);
    return rest.lambda(model.constraints[i - model.contacts.size()].row);
}

/// The value of a symbol in a run; nothing if the motion has not settled.
std::optional<double> number(const model::Model& model, const Measures& run, TargetAt at, const Symbol& s) {
    using What = Symbol::What;
    const bool steady = at == TargetAt::steady;
    const auto i = static_cast<std::size_t>(s.index);
    switch (s.what) {
        case What::time: return run.end.t;
        case What::position: return steady ? run.steady.q[i] : run.end.q[i];
        case What::velocity: return steady ? 0.0 : run.end.u[i];
        case What::parameter: return model.parameters[i].value;
        case What::settling: return run.settling_time;
        case What::impacts: return static_cast<double>(run.impacts);
        case What::peak_impulse: return run.peak_impulse;
        case What::peak_force: return run.peak_force;
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

/// Chain rule: Σ ∂difference/∂symbol · d(symbol)/dp, with dq/dp and dλ/dp of the equilibrium.
std::optional<double> Target::steady_derivative(const model::Model& model, const Measures& run, Statics& statics,
                                                const std::string& parameter) const {
    using What = Symbol::What;
    const Parsed& in = *parsed_;
    int column = -1;
    for (const model::Parameter& p : model.parameters)
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
            if (model.parameters[i].column < 0) return {};  // a dependent parameter: its derivative is not known here
            rate = model.parameters[i].column == column ? 1.0 : 0.0;
        } else if (s.what != What::velocity && (*results)[2 + k] != 0.0) {
            return {};
        }
        sum += (*results)[2 + k] * rate;
    }
    return std::isfinite(sum) ? std::optional(sum) : std::nullopt;
}

}  // namespace saltus::control
