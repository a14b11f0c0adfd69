// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/outputs.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"
#include "saltus/model/detail/builder.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

using expr::Expr;

namespace {

/// An element of a model, for messages and checks.
struct NamedElement {
    std::string name;
    int friction = 0;  ///< number of friction components
    bool contact = false;
    bool normal = false;  ///< has a normal force that is a reaction
};

std::vector<NamedElement> named_elements(const Mechanics& m) {
    std::vector<NamedElement> list;
    for (const Contact& c : m.contacts) list.push_back({c.name, c.friction.dimension, true, true});
    for (const Constraint& c : m.constraints) list.push_back({c.name, c.friction.dimension, false, true});
    for (const Slider& s : m.sliders) list.push_back({s.name, s.friction.dimension, false, false});
    for (const Clutch& c : m.clutches) list.push_back({c.name, 0, false, true});
    return list;
}

std::string_view without_quotes(std::string_view text) {
    const bool quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
    return quoted ? text.substr(1, text.size() - 2) : text;
}

/// Splits "floor, 2" into the name and the whole number >= 1 behind the last comma. Nothing if there is no such number.
std::optional<std::pair<std::string_view, int>> numbered(std::string_view text) {
    const std::size_t comma = text.rfind(',');
    if (comma == std::string_view::npos) return {};
    std::string_view name = text.substr(0, comma), number = text.substr(comma + 1);
    while (name.ends_with(' ')) name.remove_suffix(1);
    while (number.starts_with(' ')) number.remove_prefix(1);
    int value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() || value < 1) return {};
    return std::pair(name, value);
}

}  // namespace

std::span<const std::string_view> quantity_functions() {
    static constexpr std::array<std::string_view, 6> names{"gap", "lambda", "lambdaN", "lambdaT", "Lambda", "LambdaN"};
    return names;
}

WithoutCalls replace_calls(const expr::Source& source, std::span<const std::string_view> functions,
                           std::size_t first_number) {
    const auto in_word = [](char c) { return is_letter_or_digit(c) || c == '_'; };
    WithoutCalls out{source, {}};
    std::string& text = out.source.text;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (!in_word(text[at]) || (at > 0 && in_word(text[at - 1]))) continue;
        std::size_t end = at;
        while (end < text.size() && in_word(text[end])) ++end;
        const std::string word = text.substr(at, end - at);
        if (std::find(functions.begin(), functions.end(), word) == functions.end()) continue;
        std::size_t open = end;
        while (open < text.size() && is_space(text[open])) ++open;
        if (open == text.size() || text[open] != '(') continue;
        const std::size_t close = text.find(')', open);
        if (close == std::string::npos) throw Error("'(' is not closed", source.place_of(open), "add ')'");
        std::size_t first = open + 1, last = close;
        while (first < last && is_space(text[first])) ++first;
        while (last > first && is_space(text[last - 1])) --last;
        NamedCall call{word, text.substr(first, last - first), source.place_of(first), {}};
        const auto known = std::find_if(out.calls.begin(), out.calls.end(), [&](const NamedCall& c) {
            return c.function == call.function && c.argument == call.argument;
        });
        // The symbol takes exactly the place of the call, so that columns in error messages stay right. The shortest
        // call, gap(x), has six characters: room for _0 ... _99999.
        call.symbol = known != out.calls.end() ? known->symbol : "_" + std::to_string(first_number + out.calls.size());
        std::string stands = call.symbol;
        if (stands.size() > close + 1 - at) throw Error("too many calls of " + word, call.place, "use fewer");
        stands.resize(close + 1 - at, ' ');
        text.replace(at, stands.size(), stands);
        if (known == out.calls.end()) out.calls.push_back(std::move(call));
        at = close;
    }
    return out;
}

std::optional<ElementQuantity> element_quantity(const Mechanics& model, std::string_view function,
                                                std::string_view argument, const Place& place) {
    using What = ElementQuantity::What;
    ElementQuantity quantity;
    if (function == "gap")
        quantity.what = What::gap;
    else if (function == "lambda" || function == "lambdaN")
        quantity.what = What::force;
    else if (function == "lambdaT")
        quantity.what = What::friction;
    else if (function == "Lambda" || function == "LambdaN")
        quantity.what = What::impulse;
    else
        return {};
    const std::vector<NamedElement> elements = named_elements(model);
    const auto find = [&](std::string_view name) {
        const auto at =
            std::find_if(elements.begin(), elements.end(), [&](const NamedElement& e) { return e.name == name; });
        return at == elements.end() ? -1 : static_cast<int>(at - elements.begin());
    };
    quantity.component = quantity.what == What::friction ? 1 : 0;
    quantity.element = find(argument);
    if (quantity.element < 0) quantity.element = find(without_quotes(argument));
    if (quantity.element < 0 && quantity.what == What::friction) {
        if (const auto parts = numbered(argument)) {
            quantity.element = find(without_quotes(parts->first));
            quantity.component = parts->second;
        }
    }
    if (quantity.element < 0) {
        std::vector<std::string> names;
        for (const NamedElement& e : elements) names.push_back(e.name);
        throw Error("no contact or constraint is called '" + std::string(argument) + "'", place,
                    names.empty() ? "the model has none" : did_you_mean(std::string(argument), names));
    }
    const NamedElement& e = elements[static_cast<std::size_t>(quantity.element)];
    if (quantity.what == What::gap && !e.contact)
        throw Error("'" + e.name + "' has no gap", place, "only contacts have one");
    if ((quantity.what == What::force || quantity.what == What::impulse) && !e.normal)
        throw Error("the normal force of '" + e.name + "' is given, not a reaction", place,
                    "write its expression FN, or lambdaT(" + e.name + ") for its friction");
    if (quantity.component > e.friction)
        throw Error("'" + e.name + "' has " +
                        (e.friction == 0 ? "no friction"
                                         : counted(static_cast<std::size_t>(e.friction), "direction") + " of friction"),
                    place, "lambda(" + e.name + ") is its normal force");
    return quantity;
}

void SampledLaw::evaluate(double t, std::span<const double> q, std::span<const double> u,
                          std::span<const double> values, std::span<double> out) const {
    std::vector<double> scratch(tape_.slot_count()), variables{t};
    for (const std::span<const double> part : {q, u, values})
        variables.insert(variables.end(), part.begin(), part.end());
    tape_.prepare<double>(p_, scratch);
    tape_.evaluate<double>(variables, scratch, out);
}

long SampledLaw::first_after(double t) const {
    // t counts as a sample if t/period is below a whole number by at most this: rounding of t. The next sample is then
    // one period later.
    constexpr double rounding = 1e-9;
    return static_cast<long>(std::floor(t / period + rounding)) + 1;
}

bool has_outputs(const Model& model) { return model.outputs != nullptr && !model.outputs->list.empty(); }

void Outputs::evaluate(double t, std::span<const double> q, std::span<const double> u, std::span<const double> values,
                       std::span<double> out) const {
    std::vector<double> scratch(tape_.slot_count()), variables{t};
    for (const int i : positions_) variables.push_back(q[static_cast<std::size_t>(i)]);
    for (const int i : speeds_) variables.push_back(u[static_cast<std::size_t>(i)]);
    variables.insert(variables.end(), values.begin(), values.end());
    tape_.prepare<double>({}, scratch);
    tape_.evaluate<double>(variables, scratch, out);
}

/// The expressions of outputs are read into a graph of their own, because they are no part of the equations of motion.
/// In this graph parameters are constants. If the reference r(t) of [control] depends on the time, then the tracking
/// errors y − r(t) are outputs too, with the names error_COORDINATE.
std::shared_ptr<const Outputs> Builder::make_outputs() {
    std::vector<OutputDescription> described = d_.outputs;
    auto outputs = std::make_shared<Outputs>();
    for (const TrackedReference& r : tracked_) {
        OutputDescription o;
        o.name = "error_" + r.coordinate;
        std::replace(o.name.begin(), o.name.end(), '.', '_');  // coordinates of mass points: p0.x
        o.value = Field(r.coordinate + " - (" + r.text + ")");
        o.value.source.place = o.place = d_.control->place;
        for (const OutputDescription& other : described)
            if (other.name == o.name)
                throw Error("the output '" + o.name + "' has the name of a tracking error", other.place,
                            "choose another name");
        outputs->tracked.push_back({r.coordinate, described.size()});
        described.push_back(std::move(o));
    }
    if (described.empty()) return nullptr;
    expr::Graph graph;
    const Expr t = graph.symbol("t", expr::time);
    std::vector<Expr> positions, speeds, quantities, values;
    const auto variable = [&](std::vector<Expr>& symbols, std::vector<int>& indices, int coordinate,
                              std::string_view name) {
        const auto at = std::find(indices.begin(), indices.end(), coordinate);
        if (at != indices.end()) return symbols[static_cast<std::size_t>(at - indices.begin())];
        indices.push_back(coordinate);
        symbols.push_back(graph.symbol(std::string(name), expr::position));
        return symbols.back();
    };
    std::vector<NamedCall> calls;  // calls such as gap(x) in the expression that is being parsed
    const auto quantity = [&](const NamedCall& call) {
        const ElementQuantity wanted = *element_quantity(model_, call.function, call.argument, call.place);
        auto& known = outputs->quantities;
        const auto at = std::find(known.begin(), known.end(), wanted);
        if (at != known.end()) return quantities[static_cast<std::size_t>(at - known.begin())];
        known.push_back(wanted);
        quantities.push_back(graph.symbol(call.function + "(" + call.argument + ")", expr::auxiliary));
        return quantities.back();
    };
    expr::Scope scope;
    scope.find = [&](std::string_view name) -> std::optional<Expr> {
        if (name == "t") return t;
        for (const NamedCall& call : calls)
            if (call.symbol == name) return quantity(call);
        if (const auto found = parameter_index_.find(name); found != parameter_index_.end()) {
            states_[found->second].used = true;
            return graph.constant(settings_.parameters[found->second].value);
        }
        const bool prime = name.ends_with('\'');
        const std::optional<int> c = find_coordinate(prime ? name.substr(0, name.size() - 1) : name);
        if (!c) return std::nullopt;
        return prime ? variable(speeds, outputs->speeds_, *c, name)
                     : variable(positions, outputs->positions_, *c, name);
    };
    scope.names = [&] {
        std::vector<std::string> names = coordinate_names();
        for (const std::string& c : coordinate_names()) names.push_back(c + "'");
        for (const Entry& e : parameters_) names.push_back(e.name);
        return names;
    };
    for (const OutputDescription& o : described) {
        check_new_name(o.name, "the output", o.place);
        if (parameter_index_.contains(o.name))
            throw Error("the output '" + o.name + "' is named like a parameter", o.place, "choose another name");
        for (const Definition& d : settings_.definitions)
            if (d.name == o.name)
                throw Error("the output '" + o.name + "' is named like an expression of [let]", o.place,
                            "choose another name");
        scope.what = "'" + o.name + "' of [output]";
        WithoutCalls plain = replace_calls(o.value.source, quantity_functions());
        calls = std::move(plain.calls);
        values.push_back(expr::parse(
            graph, plain.source,
            with_definitions(graph, settings_.definitions, scope, [this](std::size_t k) { definition_used_[k] = 1; })));
        outputs->list.push_back({o.name, o.unit, o.value.source});
    }
    std::vector<Expr> variables{t};
    for (const std::vector<Expr>* const list : {&positions, &speeds, &quantities})
        variables.insert(variables.end(), list->begin(), list->end());
    outputs->tape_ = expr::Tape(graph, values, {}, variables);
    return outputs;
}

}  // namespace saltus::model
