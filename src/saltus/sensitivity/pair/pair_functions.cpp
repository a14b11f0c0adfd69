// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/pair/pair_functions.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>

#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/model/description.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"

namespace saltus::sensitivity {

namespace {

using expr::Expr;

/// Parses the entries of one table. Entries with the same owner are added up; the order is that of first mention.
template <class NumberOf>
void collect(expr::Graph& graph, const expr::Scope& scope, const std::vector<model::Entry>& entries,
             const NumberOf& number_of, std::vector<int>& owners, std::vector<Expr>& functions) {
    for (const model::Entry& e : entries) {
        const int owner = number_of(e.name);
        const Expr f = expr::parse(graph, e.value.source, scope);
        const auto known = std::find(owners.begin(), owners.end(), owner);
        if (known != owners.end()) {
            Expr& sum = functions[static_cast<std::size_t>(known - owners.begin())];
            sum = graph.add(sum, f);
        } else {
            owners.push_back(owner);
            functions.push_back(f);
        }
    }
}

/// Bisections that close in on a jump: a slope over a cell leaves 2⁻⁴⁰ of its change.
constexpr int jump_bisections = 40;
/// Refinements of the search for the largest value, and cells on each side of it.
constexpr int max_zooms = 8, zoom_cells = 10;
/// The values grow without bound if each of the last so many refinements increases them by this factor, at least.
constexpr int zooms_of_a_pole = 4;
constexpr double growth_of_a_pole = 1.2;
/// A change that is left after the bisections is a jump if it is larger than this · (largest value on the interval),
/// and if it has hardly become smaller in the second half of the bisections. Near the end of a root, as of max(t,
/// 0)^0.5, the change shrinks like a power of the width, but is not small yet.
constexpr double jump_ratio = 1e-9, shrinking = 0.5;

/// The index of a name. Building the model has checked that it exists.
int place_of(const std::string& name, const std::vector<std::string>& names) {
    const auto found = std::find(names.begin(), names.end(), name);
    SALTUS_EXPECT(found != names.end());
    return static_cast<int>(found - names.begin());
}

}  // namespace

PairFunctions::PairFunctions(const model::Description& description, const model::Model& model) {
    SALTUS_EXPECT(description.perturbation.has_value());
    const model::PerturbationDescription& p = *description.perturbation;
    expr::Graph graph;
    const Expr t = graph.symbol("t", expr::time);
    expr::Scope scope;
    scope.what = "the perturbation";
    scope.find = [&](std::string_view name) -> std::optional<Expr> {
        if (name == "t") return t;
        for (const model::Parameter& parameter : model.settings->parameters)
            if (parameter.name == name) return graph.constant(parameter.value);
        return {};
    };
    scope.names = [] { return std::vector<std::string>(); };
    scope.refusal = [](std::string_view) { return std::string(); };
    scope = model::with_definitions(graph, model.settings->definitions, std::move(scope));

    collect(
        graph, scope, p.delta, [&](const std::string& n) { return place_of(n, model.coordinates); }, delta_of_, delta_);
    std::vector<std::string> names;
    for (const model::Constraint& c : model.constraints) names.push_back(c.name);
    std::vector<int> owners;
    collect(
        graph, scope, p.eta, [&](const std::string& n) { return place_of(n, names); }, owners, eta_);

    // The contacts of obstacles come after the other contacts, in equal blocks; a block shares the obstacle's function.
    names.clear();
    owners.clear();
    for (const model::ContactDescription& c : description.contacts) names.push_back(c.name);
    for (const model::ObstacleDescription& o : description.obstacles) names.push_back(o.name);
    collect(
        graph, scope, p.theta, [&](const std::string& n) { return place_of(n, names); }, owners, theta_);
    theta_of_.assign(model.contacts.size(), -1);
    const std::size_t own = description.contacts.size();
    const std::size_t block =
        description.obstacles.empty() ? 0 : (model.contacts.size() - own) / description.obstacles.size();
    for (std::size_t k = 0; k < owners.size(); ++k) {
        const std::size_t owner = ix(owners[k]);
        const std::size_t first = owner < own ? owner : own + (owner - own) * block, count = owner < own ? 1 : block;
        std::fill_n(theta_of_.begin() + static_cast<std::ptrdiff_t>(first), count, static_cast<int>(k));
    }
    compile(graph, t);
}

/// Compiles the outputs of the tape: f and three derivatives of each θ, then of each η, then δ and δ̇ of each δ. Jumps
/// are looked for in all but the last derivative of each function.
void PairFunctions::compile(expr::Graph& graph, Expr t) {
    expr::Derivative derivative(graph, t);
    std::vector<Expr> outputs;
    const auto add = [&](Expr f, int derivatives) {
        outputs.push_back(f);
        for (int k = 0; k < derivatives; ++k) {
            if (graph[outputs.back()].kinked || !graph[outputs.back()].total) kinked_.push_back(outputs.size() - 1);
            outputs.push_back(derivative(outputs.back()));
        }
    };
    for (const std::vector<Expr>* list : {&theta_, &eta_})
        for (const Expr f : *list) add(f, 3);
    for (const Expr f : delta_) add(f, 1);
    const std::vector<Expr> variables{t};
    tape_ = expr::Tape(graph, outputs, {}, variables);
    scratch_.resize(tape_.slot_count());
    out_.resize(outputs.size());
    tape_.prepare<double>({}, scratch_);
    values_.theta.resize(theta_.size());
    values_.eta.resize(eta_.size());
    values_.delta.resize(delta_.size());
    values_.delta_rate.resize(delta_.size());
}

const PairFunctions::Values& PairFunctions::at(double t) {
    tape_.evaluate<double>({&t, 1}, scratch_, out_);
    std::size_t next = 0;
    for (auto* list : {&values_.theta, &values_.eta})
        for (std::array<double, 4>& f : *list)
            for (double& value : f) value = out_[next++];
    for (std::size_t k = 0; k < values_.delta.size(); ++k) {
        values_.delta[k] = out_[next++];
        values_.delta_rate[k] = out_[next++];
    }
    return values_;
}

/// The largest absolute value at one time; infinite if a value is not finite.
double PairFunctions::largest_at(double t, int order) {
    double largest = 0.0;
    const auto see = [&](double value) {
        largest = std::isfinite(value) ? std::max(largest, std::abs(value)) : std::numeric_limits<double>::infinity();
    };
    const Values& v = at(t);
    for (const auto* list : {&v.theta, &v.eta})
        for (const std::array<double, 4>& f : *list)
            for (std::size_t k = 0; k <= static_cast<std::size_t>(order) && std::isfinite(largest); ++k) see(f[k]);
    for (std::size_t k = 0; k < v.delta.size() && std::isfinite(largest); ++k) {
        see(v.delta[k]);
        if (order > 2 && std::isfinite(largest)) see(v.delta_rate[k]);
    }
    return largest;
}

double PairFunctions::largest_value(double from, double to, int order, int cells) {
    double largest = 0.0, where = from, width = (to - from) / cells;
    for (int i = 0; i <= cells; ++i) {
        const double t = i == cells ? to : from + width * i, value = largest_at(t, order);
        if (!std::isfinite(value)) return value;
        if (value > largest) largest = value, where = t;
    }
    // Near a maximum the value hardly grows as the search closes in. It keeps growing if the function has a pole or the
    // derivative of a root there: by a factor of refinement^s for |t − t₀|^(−s).
    int growing = 0;
    for (int zoom = 0; zoom < max_zooms; ++zoom) {
        const double begin = std::max(from, where - width), end = std::min(to, where + width), before = largest;
        for (int i = 0; i <= 2 * zoom_cells; ++i) {
            const double t = begin + (end - begin) * i / (2 * zoom_cells), value = largest_at(t, order);
            if (!std::isfinite(value)) return value;
            if (value > largest) largest = value, where = t;
        }
        growing = largest > growth_of_a_pole * before ? growing + 1 : 0;
        width /= zoom_cells;
    }
    return growing >= zooms_of_a_pole ? std::numeric_limits<double>::infinity() : largest;
}

double PairFunctions::largest_jump(double from, double to, int cells) {
    double worst = 0.0;
    for (const std::size_t k : kinked_) {
        const auto value = [&](double t) {
            at(t);
            return out_[k];
        };
        double size = 0.0, before = value(from), t_before = from;
        std::vector<std::array<double, 4>> steep;  // t and value at both ends
        for (int i = 1; i <= cells; ++i) {
            const double t = from + (to - from) * i / cells, now = value(t);
            if (!std::isfinite(before) || !std::isfinite(now)) return std::numeric_limits<double>::infinity();
            size = std::max({size, std::abs(before), std::abs(now)});
            if (now != before) steep.push_back({t_before, before, t, now});
            before = now, t_before = t;
        }
        for (auto [a, fa, b, fb] : steep) {
            double half_way = 0.0;
            for (int i = 0; i < jump_bisections && std::abs(fb - fa) > jump_ratio * size; ++i) {
                if (i == jump_bisections / 2) half_way = std::abs(fb - fa);
                const double middle = 0.5 * (a + b), f = value(middle);
                if (std::abs(f - fa) >= std::abs(fb - f))
                    b = middle, fb = f;
                else
                    a = middle, fa = f;
            }
            if (std::abs(fb - fa) > std::max(jump_ratio * size, shrinking * half_way))
                worst = std::max(worst, std::abs(fb - fa));
        }
    }
    return worst;
}

}  // namespace saltus::sensitivity
