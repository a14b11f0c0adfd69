// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>

#include "saltus/model/detail/builder.hpp"
#include "saltus/model/detail/magnitude.hpp"
#include "saltus/model/model.hpp"

namespace saltus::model {

std::string not_finite_text(double value) {
    return std::isnan(value) ? " is not a number" : " is not finite: " + number_text(value);
}

using expr::Expr;
using expr::Kinds;

namespace {

constexpr long max_point_number = 100'000'000;  // larger numbers are no names of points

constexpr const char* not_finite_remedy = "look for a division by zero, or a root or logarithm of a negative number";

/// Number of a coordinate of a mass point among all of them, from its name: "p12.x" is 12·3 + 0. None if it is no such
/// name.
std::optional<long> point_coordinate(std::string_view name) {
    if (name.size() < 4 || name[0] != 'p' || name[name.size() - 2] != '.') return std::nullopt;
    const std::size_t axis = point_axes.find(name.back());
    long point = 0;
    const char* end = name.data() + name.size() - 2;
    const auto result = std::from_chars(name.data() + 1, end, point);
    if (axis == std::string_view::npos || result.ptr != end || result.ec != std::errc{} || point < 0 ||
        point > max_point_number)
        return std::nullopt;
    return point * 3 + static_cast<long>(axis);
}

}  // namespace

void Builder::check_new_name(const std::string& name, const std::string& what, const Place& place) const {
    if (!expr::is_name(name))
        throw Error(what + " '" + name + "' is not a name", place, "use letters, digits and _, a letter first");
    if (name == "t" || name == "pi")
        throw Error(what + " '" + name + "' has a name that is taken: " +
                        (name == "t" ? "t is the time" : "pi is the number 3.14159..."),
                    place, "choose another name");
    if (expr::is_function(name))
        throw Error(what + " '" + name + "' is named like a function", place, "choose another name");
    if (coordinate_index_.contains(name))
        throw Error(what + " '" + name + "' is named like a coordinate", place, "choose another name");
}

void Builder::declare_coordinates() {
    for (const Coordinate& c : d_.q) {
        if (coordinate_index_.contains(c.name))
            throw Error("coordinate '" + c.name + "' is listed twice", c.place, "remove one of them");
        check_new_name(c.name, "coordinate", c.place);
        coordinate_index_[c.name] = static_cast<int>(f_.q.size());
        f_.index.push_back(static_cast<int>(f_.q.size()));
        f_.q.push_back(f_.graph.symbol(c.name, expr::position));
        f_.u.push_back(f_.graph.symbol(c.name + "'", expr::velocity));
        f_.f.push_back(f_.graph.constant(0.0));
        model_.coordinates.push_back(c.name);
    }
    declare_filters();
    declare_holds();
}

/// A coordinate that a controller adds to those of the description.
void Builder::declare_state(const std::string& name, const std::string& what, const Place& place) {
    if (coordinate_index_.contains(name)) return;  // actuated twice, which add_control refuses
    check_new_name(name, what, place);
    coordinate_index_[name] = static_cast<int>(f_.q.size());
    f_.index.push_back(static_cast<int>(f_.q.size()));
    f_.q.push_back(f_.graph.symbol(name, expr::position));
    f_.u.push_back(f_.graph.symbol(name + "'", expr::velocity));
    f_.f.push_back(f_.graph.constant(0.0));
    model_.coordinates.push_back(name);
}

/// The held force of a sampled law is the position of a coordinate of its own (control.cpp).
void Builder::declare_holds() {
    if (options_.open_loop || !d_.control || !d_.control->period.given) return;
    if (d_.points)
        throw Error("sampling is not possible with mass points", d_.control->period.place(), "remove period");
    for (const Coordinate& a : d_.control->actuated)
        declare_state(a.name + "_hold", "the coordinate of the held force", a.place);
}

/// The estimate of a velocity has a coordinate of its own for each actuated coordinate (control.cpp).
void Builder::declare_filters() {
    if (options_.open_loop || !d_.control || d_.control->velocity.word != "estimated") return;
    if (d_.points)
        throw Error("velocity = \"estimated\" is not possible with mass points", d_.control->velocity.place,
                    "use measured velocities");
    for (const Coordinate& a : d_.control->actuated)
        declare_state(a.name + "_filter", "the coordinate of the estimate", a.place);
}

void Builder::declare_parameters() {
    parameters_ = d_.parameters;
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Entry& e = parameters_[i];
        if (parameter_index_.contains(e.name))
            throw Error("parameter '" + e.name + "' is given twice", e.place, "remove one of them");
        check_new_name(e.name, "parameter", e.place);
        parameter_index_[e.name] = i;
    }
    for (const auto& [name, text] : options_.set) {
        const std::string_view base = name.ends_with('\'') ? std::string_view(name).substr(0, name.size() - 1) : name;
        if (coordinate_index_.contains(base)) continue;  // an initial value, see initial_values()
        const auto found = parameter_index_.find(name);
        const Place place{"--set " + name, 0, 0};
        if (found == parameter_index_.end()) {
            std::vector<std::string> known;
            for (const Entry& e : parameters_) known.push_back(e.name);
            throw Error("the model has no parameter '" + name + "'", place, did_you_mean(name, known));
        }
        parameters_[found->second].value = Field(expr::Source{text, place, {}});
        parameters_[found->second].place = place;
    }
    states_.resize(parameters_.size());
    std::vector<std::size_t> path;
    for (std::size_t i = 0; i < parameters_.size(); ++i) resolve_parameter(i, path);

    // Symbols were made in the order of dependence. Sort the independent parameters in the order of the file.
    std::vector<Expr> symbols;
    std::vector<double> numbers;
    for (const ParameterState& state : states_) {
        if (state.derived) continue;
        symbols.push_back(state.value);
        numbers.push_back(
            p_[static_cast<std::size_t>(std::find(f_.p.begin(), f_.p.end(), state.value) - f_.p.begin())]);
    }
    f_.p = std::move(symbols);
    p_ = std::move(numbers);

    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const double value = value_of(states_[i].value);
        if (!std::isfinite(value))
            throw Error("parameter '" + parameters_[i].name + "'" + not_finite_text(value), parameters_[i].place,
                        not_finite_remedy);
        if (too_large(value) || too_small(value))
            throw Error("parameter '" + parameters_[i].name + "' is " + number_text(value) + "; " + valid_range(),
                        parameters_[i].place, range_remedy);
        Parameter parameter;
        parameter.name = parameters_[i].name;
        parameter.value = value;
        if (!states_[i].derived)
            parameter.column = static_cast<int>(std::find(f_.p.begin(), f_.p.end(), states_[i].value) - f_.p.begin());
        settings_.parameters.push_back(std::move(parameter));
    }
}

/// Makes the expressions of [let] known. They are read where they are mentioned.
void Builder::declare_definitions() {
    for (const Entry& e : d_.let) {
        check_new_name(e.name, "the expression", e.place);
        if (parameter_index_.contains(e.name))
            throw Error("the expression '" + e.name + "' is named like a parameter", e.place, "choose another name");
        for (const Definition& d : settings_.definitions)
            if (d.name == e.name)
                throw Error("the expression '" + e.name + "' is given twice", e.place, "remove one of them");
        settings_.definitions.push_back({e.name, e.value.source});
    }
    definition_used_.assign(settings_.definitions.size(), 0);
}

/// Reads every expression of [let] once, so that errors in those that nothing mentions are found too.
void Builder::check_definitions() {
    for (const Definition& d : settings_.definitions)
        parse(Field(d.source), "'" + d.name + "' of [let]", expr::time | expr::position | expr::velocity);
    definition_used_.assign(settings_.definitions.size(), 0);
}

/// Reads the expression of a parameter, after those that it mentions (depth first). If a parameter is met again while
/// its own expression is being read, the definition is cyclic. `path` has the parameters that are being read.
void Builder::resolve_parameter(std::size_t i, std::vector<std::size_t>& path) {
    constexpr std::size_t max_depth = 500;  // bounds the recursion
    ParameterState& state = states_[i];
    if (state.state == ParameterState::done) return;
    const Entry& entry = parameters_[i];
    if (state.state == ParameterState::open) {
        const auto begin = std::find(path.begin(), path.end(), i);
        std::string cycle;
        for (auto k = begin; k != path.end(); ++k) cycle += parameters_[*k].name + " -> ";
        throw Error("the definition of parameters is cyclic: " + cycle + entry.name, entry.place,
                    "give one of them a number");
    }
    if (path.size() > max_depth)
        throw Error("parameters are chained more than 500 deep", entry.place, "give some of them numbers");
    state.state = ParameterState::open;
    path.push_back(i);

    expr::Scope s;
    s.what = "parameter '" + entry.name + "'";
    s.find = [&](std::string_view name) -> std::optional<Expr> {
        const auto found = parameter_index_.find(name);
        if (found == parameter_index_.end()) return std::nullopt;
        resolve_parameter(found->second, path);
        states_[found->second].used = true;
        return states_[found->second].value;
    };
    s.names = [&] {
        std::vector<std::string> names;
        for (const Entry& e : parameters_) names.push_back(e.name);
        return names;
    };
    s.refusal = [&](std::string_view name) -> std::string {
        const std::string_view base = name.ends_with('\'') ? name.substr(0, name.size() - 1) : name;
        const bool defined = std::any_of(d_.let.begin(), d_.let.end(), [&](const Entry& e) { return e.name == base; });
        return base == "t" || defined || find_coordinate(base) || (has_points_ && point_coordinate(base))
                   ? "a parameter may depend on other parameters only"
                   : "";
    };
    const Expr value = expr::parse(f_.graph, entry.value.source, s);
    state.derived = f_.graph.depends_on(value, expr::parameter);
    if (state.derived) {
        state.value = value;
    } else {
        // An independent parameter gets a symbol, so that derivatives by it exist.
        state.value = f_.graph.symbol(entry.name, expr::parameter);
        const expr::Tape tape(f_.graph, std::array{value}, {}, {});
        std::vector<double> scratch(tape.slot_count());
        double number = 0.0;
        tape.prepare<double>({}, scratch);
        tape.evaluate<double>({}, scratch, {&number, 1});
        if (!std::isfinite(number))
            throw Error("parameter '" + entry.name + "'" + not_finite_text(number), entry.place, not_finite_remedy);
        f_.p.push_back(state.value);
        p_.push_back(number);
    }
    path.pop_back();
    state.state = ParameterState::done;
}

std::optional<int> Builder::find_coordinate(std::string_view name) const {
    if (const auto found = coordinate_index_.find(name); found != coordinate_index_.end()) return found->second;
    if (point_count_ > 0)
        if (const std::optional<long> c = point_coordinate(name); c && *c < 3L * point_count_)
            return static_cast<int>(coordinate_index_.size()) + static_cast<int>(*c);
    return std::nullopt;
}

std::vector<std::string> Builder::coordinate_names() const {
    std::vector<std::string> names;
    for (const Coordinate& c : d_.q) names.push_back(c.name);
    if (point_count_ > 0) names.insert(names.end(), {"p0.x", "p0.y", "p0.z"});
    return names;
}

int Builder::coordinate_of(const std::string& name, const std::string& where, const Place& place) const {
    if (const std::optional<int> c = find_coordinate(name)) return *c;
    if (point_count_ > 0 && point_coordinate(name))
        throw Error("unknown coordinate '" + name + "' in " + where, place,
                    "points are numbered 0 to " + std::to_string(point_count_ - 1));
    throw Error("unknown coordinate '" + name + "' in " + where, place, did_you_mean(name, coordinate_names()));
}

/// Index of a coordinate in f_.q. The coordinates of points are added when an expression first mentions them.
std::size_t Builder::local_coordinate(int index) {
    if (index < static_cast<int>(coordinate_index_.size())) return static_cast<std::size_t>(index);
    if (const auto found = point_coordinate_.find(index); found != point_coordinate_.end()) return found->second;
    const std::string& name = model_.coordinates[static_cast<std::size_t>(index)];
    const std::size_t local = f_.q.size();
    f_.index.push_back(index);
    f_.q.push_back(f_.graph.symbol(name, expr::position));
    f_.u.push_back(f_.graph.symbol(name + "'", expr::velocity));
    f_.f.push_back(f_.graph.constant(0.0));
    point_coordinate_[index] = local;
    return local;
}

/// The meaning of a name, if it is known and of an allowed kind.
std::optional<Expr> Builder::find(std::string_view name, Kinds allowed) {
    if (name == "t") return (allowed & expr::time) != 0 ? std::optional(f_.t) : std::nullopt;
    if (const auto found = local_names_.find(std::string(name)); found != local_names_.end()) return found->second;
    if (const auto found = parameter_index_.find(name); found != parameter_index_.end()) {
        states_[found->second].used = true;
        return states_[found->second].value;
    }
    const bool prime = name.ends_with('\'');
    if (const std::optional<int> c = find_coordinate(prime ? name.substr(0, name.size() - 1) : name)) {
        if ((allowed & (prime ? expr::velocity : expr::position)) == 0) return std::nullopt;
        const std::size_t local = local_coordinate(*c);
        return prime ? f_.u[local] : f_.q[local];
    }
    return std::nullopt;
}

expr::Scope Builder::scope(std::string what, Kinds allowed) {
    expr::Scope s;
    s.what = std::move(what);
    s.find = [this, allowed](std::string_view name) { return find(name, allowed); };
    s.names = [this, allowed] {
        std::vector<std::string> names;
        if ((allowed & expr::position) != 0) names = coordinate_names();
        if ((allowed & expr::velocity) != 0)
            for (const std::string& c : coordinate_names()) names.push_back(c + "'");
        if ((allowed & expr::time) != 0) names.emplace_back("t");
        for (const auto& [name, meaning] : local_names_) names.push_back(name);
        for (const Entry& e : parameters_) names.push_back(e.name);
        return names;
    };
    s.refusal = [this, allowed](std::string_view name) -> std::string {
        const bool prime = name.ends_with('\'');
        const std::string_view base = prime ? name.substr(0, name.size() - 1) : name;
        if (prime && parameter_index_.contains(base)) return "a parameter has no velocity";
        if (name != "t" && !find_coordinate(base)) return "";
        std::vector<std::string> may;
        if ((allowed & expr::time) != 0) may.emplace_back("t");
        if ((allowed & expr::position) != 0) may.emplace_back("coordinates");
        if ((allowed & expr::velocity) != 0) may.emplace_back("velocities");
        may.emplace_back("parameters");
        return "it may depend on " + listing(may) + (may.size() == 1 ? " only" : "");
    };
    return with_definitions(f_.graph, settings_.definitions, std::move(s),
                            [this](std::size_t k) { definition_used_[k] = 1; });
}

/// Nodes that the graph had before were checked when they were made.
Expr Builder::parse(const Field& field, const std::string& what, Kinds allowed) {
    const std::size_t known = f_.graph.size();
    const Expr e = expr::parse(f_.graph, field.source, scope(what, allowed));
    for (std::size_t id = known; id < f_.graph.size(); ++id) {
        const expr::Node& node = f_.graph[Expr{static_cast<std::uint32_t>(id)}];
        if (node.op != expr::Op::constant || !std::isfinite(node.value)) continue;
        if (too_large(node.value) || too_small(node.value))
            throw Error(what + " contains the number " + number_text(node.value) + "; " + valid_range(), field.place(),
                        range_remedy);
    }
    return e;
}

double Builder::value_of(Expr e) {
    const expr::Tape tape(f_.graph, std::array{e}, f_.p, {});
    std::vector<double> scratch(tape.slot_count());
    double value = 0.0;
    tape.prepare<double>(p_, scratch);
    tape.evaluate<double>({}, scratch, {&value, 1});
    return value;
}

double Builder::number(const Field& field, const std::string& what) {
    const double value = value_of(parse(field, what, 0));
    if (!std::isfinite(value)) throw Error(what + not_finite_text(value), field.place(), not_finite_remedy);
    return value;
}

}  // namespace saltus::model
