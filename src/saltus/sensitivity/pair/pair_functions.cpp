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
/// A change that is left after the bisections is a jump if it is larger than this · (largest value on the interval).
constexpr double jump_ratio = 1e-9;

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
        for (const model::Parameter& parameter : model.parameters)
            if (parameter.name == name) return graph.constant(parameter.value);
        return {};
    };
    scope.names = [] { return std::vector<std::string>(); };
    scope.refusal = [](std::string_view) { return std::string(); };
    scope = model::with_definitions(graph, model.definitions, std::move(scope));

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

/// Compiles the outputs of the tape: f, ḟ, f̈ of each θ, then of each η, then each δ.
void PairFunctions::compile(expr::Graph& graph, Expr t) {
    expr::Derivative derivative(graph, t);
    std::vector<Expr> outputs;
    for (const std::vector<Expr>* list : {&theta_, &eta_})
        for (const Expr f : *list) {
            outputs.push_back(f);
            outputs.push_back(derivative(outputs.back()));
            outputs.push_back(derivative(outputs.back()));
        }
    outputs.insert(outputs.end(), delta_.begin(), delta_.end());
    for (std::size_t k = 0; k < outputs.size(); ++k)
        if (graph[outputs[k]].kinked || !graph[outputs[k]].total) kinked_.push_back(k);
    const std::vector<Expr> variables{t};
    tape_ = expr::Tape(graph, outputs, {}, variables);
    scratch_.resize(tape_.slot_count());
    out_.resize(outputs.size());
    tape_.prepare<double>({}, scratch_);
    values_.theta.resize(theta_.size());
    values_.eta.resize(eta_.size());
    values_.delta.resize(delta_.size());
}

const PairFunctions::Values& PairFunctions::at(double t) {
    tape_.evaluate<double>({&t, 1}, scratch_, out_);
    std::size_t next = 0;
    for (auto* list : {&values_.theta, &values_.eta})
        for (std::array<double, 3>& f : *list)
            for (double& value : f) value = out_[next++];
    for (double& value : values_.delta) value = out_[next++];
    return values_;
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
            for (int i = 0; i < jump_bisections && std::abs(fb - fa) > jump_ratio * size; ++i) {
                const double middle = 0.5 * (a + b), f = value(middle);
                if (std::abs(f - fa) >= std::abs(fb - f))
                    b = middle, fb = f;
                else
                    a = middle, fa = f;
            }
            if (std::abs(fb - fa) > jump_ratio * size) worst = std::max(worst, std::abs(fb - fa));
        }
    }
    return worst;
}

}  // namespace saltus::sensitivity
