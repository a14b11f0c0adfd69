// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/functions/state_function.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/expr/parse.hpp"
#include "saltus/model/definitions.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/stability/certify/detail/functions/reduced_sum.hpp"

namespace saltus::stability {

using expr::Expr;
using proof::Box;
using proof::Interval;
using proof::IntervalMatrix;

namespace {

constexpr expr::Kinds state_kinds = expr::position | expr::velocity;
/// The factor of T in V is taken to be a multiple of 1/8 if it differs from one by less than this, relative.
constexpr double factor_rounding = 1e-12;

bool is_zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }

IntervalMatrix symmetric(const std::vector<Interval>& lower, int n) {
    IntervalMatrix A(n, n);
    std::size_t from = 0;
    for (int i = 0; i < n; ++i)
        for (int j = 0; j <= i; ++j) A(i, j) = A(j, i) = lower[from++];
    return A;
}

}  // namespace

StateFunction::StateFunction(const model::Mechanics& model)
    : model_(model), f_(model.system->symbolic()->formulas()), d_(model.system->symbolic()->derived()) {
    n_ = static_cast<int>(f_.q.size());
    states_ = f_.q;
    states_.insert(states_.end(), f_.u.begin(), f_.u.end());
}

StateFunction StateFunction::read(const model::Model& model, const std::string& text) {
    StateFunction v(model);
    model::Formulas& f = v.f_;
    // The names of the model. Independent parameters are symbols, computed ones are their values.
    // T and U are symbols at first, which shows how V depends on them.
    const Expr kinetic = f.graph.symbol("T", expr::auxiliary), potential = f.graph.symbol("U", expr::auxiliary);
    std::vector<std::pair<std::string, Expr>> names{{"T", kinetic}, {"U", potential}};
    for (std::size_t i = 0; i < f.q.size(); ++i) {
        const std::string& name = model.coordinates[ix(f.index[i])];
        names.emplace_back(name, f.q[i]);
        names.emplace_back(name + "'", f.u[i]);
    }
    for (const model::Parameter& p : model.settings->parameters)
        names.emplace_back(p.name, p.column >= 0 ? f.p[ix(p.column)] : f.graph.constant(p.value));
    expr::Scope scope;
    scope.what = "the function V";
    // A coordinate or parameter of the model with the name T or U comes before the energy of that name.
    scope.find = [&names](std::string_view name) -> std::optional<Expr> {
        const auto at = std::find_if(names.rbegin(), names.rend(), [&](const auto& x) { return x.first == name; });
        if (at == names.rend()) return std::nullopt;
        return at->second;
    };
    scope.names = [&names] {
        std::vector<std::string> list;
        for (const auto& [name, value] : names) list.push_back(name);
        return list;
    };
    scope.refusal = [](std::string_view name) -> std::string {
        return name == "t" ? "V is a function of the state, not of the time" : "";
    };
    expr::Source source;
    source.text = text;
    source.place = {"--V", 0, 0};
    const Expr symbolic =
        expr::parse(f.graph, source, model::with_definitions(f.graph, model.settings->definitions, std::move(scope)));
    const std::vector<std::pair<Expr, Expr>> U{{potential, f.U}}, T{{kinetic, f.T}};
    const Expr psi = expr::Substitution(f.graph, U)(symbolic);
    const Expr V = expr::Substitution(f.graph, T)(psi);
    if (f.graph.depends_on(V, expr::time))
        throw Error("V depends on the time t", {"--V", 0, 0}, "write it as a function of coordinates and velocities");
    if (!f.graph.depends_on(V, state_kinds))
        throw Error("V depends neither on a coordinate nor on a velocity", {"--V", 0, 0},
                    "write a function of the state, such as \"T + U\"");
    if (f.graph.depends_on(psi, expr::auxiliary) && !f.graph.depends_on(psi, expr::velocity)) {
        v.kinetic_symbol_ = kinetic;
        v.psi_ = psi;
        // V = φ(T + U) if V is an expression of T and U with equal derivatives by both.
        const Expr by_T = expr::Derivative(f.graph, kinetic)(symbolic);
        const Expr by_U = expr::Derivative(f.graph, potential)(symbolic);
        v.function_of_energy_ =
            !f.graph.depends_on(symbolic, state_kinds) &&
            (by_T == by_U || f.graph.is_zero(model::cancelled_sum(f.graph, {by_T, f.graph.neg(by_U)})));
    }
    v.finish(V);
    v.find_energy_form(V);
    return v;
}

StateFunction StateFunction::quadratic(const model::Mechanics& model, const Matrix& P) {
    StateFunction v(model);
    expr::Graph& g = v.f_.graph;
    std::vector<Expr> x;
    for (std::size_t i = 0; i < ix(v.n_); ++i) {
        v.centre_symbols_.push_back(g.symbol("centre", expr::auxiliary));
        x.push_back(g.sub(v.f_.q[i], v.centre_symbols_.back()));
    }
    x.insert(x.end(), v.f_.u.begin(), v.f_.u.end());
    v.centre_.assign(ix(v.n_), Interval(0.0));
    Expr V = g.constant(0.0);
    for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) {
            const double p = P(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
            V = g.add(V, g.mul(g.constant(i == j ? p : 2.0 * p), g.mul(x[i], x[j])));
        }
    v.finish(V);
    return v;
}

/// Compiles V, V̇ and their derivatives.
void StateFunction::finish(Expr V) {
    expr::Graph& g = f_.graph;
    variables_ = {f_.t};
    variables_.insert(variables_.end(), states_.begin(), states_.end());
    variables_.insert(variables_.end(), centre_symbols_.begin(), centre_symbols_.end());
    smooth_ = expr::kinks(g, V, state_kinds).empty();
    std::vector<expr::Derivative> by;
    for (const Expr x : states_) by.emplace_back(g, x);
    const auto gradient = [&](Expr e) {
        std::vector<Expr> list;
        for (expr::Derivative& d : by) list.push_back(d(e));
        return list;
    };
    const auto hessian = [&](Expr e) {
        std::vector<Expr> list;
        for (std::size_t i = 0; i < by.size(); ++i)
            for (std::size_t j = 0; j <= i; ++j) list.push_back(by[j](by[i](e)));
        return list;
    };
    value_ = compile({V});
    gradient_ = compile(gradient(V));
    hessian_ = compile(hessian(V));
    if (!smooth_ || !model_.autonomous) return;
    find_kinetic_form();
    if (!model_.contacts.empty() || !model_.constraints.empty() || !model_.sliders.empty() ||
        !model_.clutches.empty()) {
        find_smooth_rate(V);
        return;
    }
    const Expr rate = rate_of(V);
    if (!expr::kinks(g, rate, state_kinds).empty()) return;
    has_rate_ = true;
    rate_ = compile({rate});
    rate_gradient_ = compile(gradient(rate));
    rate_hessian_ = compile(hessian(rate));
    find_losing_states(rate);
}

/// The states on which C depends, C with its slopes by them, and its second derivatives.
void StateFunction::find_losing_states(Expr core) {
    expr::Graph& g = f_.graph;
    std::vector<expr::Derivative> by;
    for (const Expr x : states_) by.emplace_back(g, x);
    std::vector<std::pair<Expr, Expr>> rest;
    for (const Expr u : f_.u) rest.emplace_back(u, g.constant(0.0));
    expr::Substitution at_rest(g, rest);
    core_rests_ = vanishes(at_rest(core));
    for (std::size_t i = ix(n_); i < by.size(); ++i) core_rests_ = core_rests_ && vanishes(at_rest(by[i](core)));
    std::vector<Expr> slopes{core}, second;
    for (std::size_t i = 0; i < by.size(); ++i) {
        const Expr slope = by[i](core);
        if (g.is_zero(slope) || g.is_zero(reduced(slope))) continue;
        losing_.push_back(static_cast<int>(i));
        slopes.push_back(slope);
    }
    for (std::size_t i = 0; i < losing_.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) second.push_back(by[ix(losing_[j])](by[ix(losing_[i])](core)));
    losing_slopes_ = compile(slopes);
    losing_hessian_ = compile(second);
}

/// V = ψ(q, T): κ = ∂ψ/∂T.
void StateFunction::find_kinetic_form() {
    if (!psi_) return;
    expr::Graph& g = f_.graph;
    psi_slope_ = expr::Derivative(g, *kinetic_symbol_)(*psi_);
    const std::vector<std::pair<Expr, Expr>> energy{{*kinetic_symbol_, f_.T}};
    kappa_ = compile({expr::Substitution(g, energy)(*psi_slope_)});
    along_velocity_ = true;
    // Positions and the kinetic energy are the variables here; the velocities are not used.
    variables_.push_back(*kinetic_symbol_);
    psi_group_ = compile({*psi_, *psi_slope_});
    variables_.pop_back();
}

/// S, and its Hessian by the velocities of coordinates that it depends on.
void StateFunction::find_smooth_rate(Expr V) {
    expr::Graph& g = f_.graph;
    const std::size_t n = ix(n_);
    Expr S, core;
    if (along_velocity_) {
        // S = ∂ψ/∂q·u + κ u·(f − ∂R/∂u − ∂U/∂q), by the power balance of T.
        const std::vector<std::pair<Expr, Expr>> energy{{*kinetic_symbol_, f_.T}};
        expr::Substitution with_energy(g, energy);
        const Expr kappa = with_energy(*psi_slope_);
        S = core = g.constant(0.0);
        for (std::size_t i = 0; i < n; ++i) {
            y_.push_back(g.mul(kappa, f_.u[i]));
            expr::Derivative by_q(g, f_.q[i]);
            const Expr rest = function_of_energy_
                                  ? g.constant(0.0)
                                  : model::cancelled_sum(g, {by_q(*psi_), g.neg(g.mul(*psi_slope_, by_q(f_.U)))});
            core = g.add(core, g.mul(f_.u[i], d_.others[i]));
            S = g.add(S, g.mul(f_.u[i], g.add(g.mul(kappa, d_.others[i]), with_energy(rest))));
        }
        if (!function_of_energy_) core = S;
    } else {
        S = core = rate_of(V);
        if (energy_) {
            along_velocity_ = true;
            kappa_ = compile({g.constant(energy_->factor)});
        }
    }
    if (!expr::kinks(g, S, state_kinds).empty() || !expr::kinks(g, core, state_kinds).empty()) return;
    has_smooth_rate_ = true;
    std::vector<expr::Derivative> by;
    for (const Expr x : states_) by.emplace_back(g, x);
    std::vector<Expr> lower;
    for (std::size_t i = 0; i < by.size(); ++i)
        for (std::size_t j = 0; j <= i; ++j) lower.push_back(by[j](by[i](S)));
    smooth_rate_hessian_ = compile(lower);
    find_losing_states(core);
}

/// V̇ = ∂V/∂q·u + y·h with M y = ∂V/∂u, because ∂V/∂u·M⁻¹h = y·h for the symmetric M. M = LDLᵀ is positive definite,
/// so that its pivots are not 0. With V = T this gives y = u in exact arithmetic, but not as an expression; the part
/// a·T of V is therefore taken apart first: d(aT)/dt = a u·(h + gyroscopic terms that cancel) = a u·(f − ∂R/∂u − ∂U/∂q)
/// by the power balance.
Expr StateFunction::rate_of(Expr V) {
    expr::Graph& g = f_.graph;
    const std::size_t n = ix(n_);
    find_energy_form(V);
    Expr rate = g.constant(0.0), remainder = V;
    if (energy_) {
        const Expr a = g.constant(energy_->factor);
        for (std::size_t i = 0; i < n; ++i) {
            expr::Derivative by_q(g, f_.q[i]);
            // a u·(f − ∂R/∂u) + a u·∂(potential/a − U)/∂q
            const Expr force = model::cancelled_sum(g, {d_.others[i], by_q(energy_->potential), g.neg(by_q(f_.U))});
            rate = g.add(rate, g.mul(a, g.mul(f_.u[i], force)));
            y_.push_back(g.mul(a, f_.u[i]));
        }
        return rate;
    }
    std::vector<std::vector<Expr>> M(n, std::vector<Expr>(n, g.constant(0.0)));
    for (const model::Derived::Entry& e : d_.mass) M[ix(e.row)][ix(e.column)] = M[ix(e.column)][ix(e.row)] = e.value;
    std::vector<Expr> y;
    for (const Expr u : f_.u) y.push_back(expr::Derivative(g, u)(remainder));
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i) {
            if (g.is_zero(M[i][k])) continue;
            const Expr factor = g.div(M[i][k], M[k][k]);
            for (std::size_t j = k; j < n; ++j) M[i][j] = g.sub(M[i][j], g.mul(factor, M[k][j]));
            y[i] = g.sub(y[i], g.mul(factor, y[k]));
        }
    for (std::size_t k = n; k-- > 0;) {
        for (std::size_t j = k + 1; j < n; ++j) y[k] = g.sub(y[k], g.mul(M[k][j], y[j]));
        y[k] = g.div(y[k], M[k][k]);
    }
    for (Expr& e : y) e = reduced(e);
    y_ = y;
    for (std::size_t i = 0; i < n; ++i) {
        rate = g.add(rate, g.mul(f_.u[i], expr::Derivative(g, f_.q[i])(remainder)));
        rate = g.add(rate, g.mul(y[i], d_.h[i]));
    }
    // Powers of conservative forces cancel against the change of the potential energy. Bounds of both would not.
    const Expr sum = reduced(rate);
    const bool shorter = expr::terms(g, sum).size() < expr::terms(g, rate, expr::Products::expand).size();
    return shorter ? sum : rate;
}

/// V = a T + W(q) if ∂²V/∂u² = a M for all positions and ∂V/∂u = 0 for u = 0, both exactly.
void StateFunction::find_energy_form(Expr V) {
    expr::Graph& g = f_.graph;
    if (energy_ || !expr::kinks(g, V, expr::velocity).empty()) return;
    std::vector<std::pair<Expr, Expr>> rest;
    for (const Expr u : f_.u) rest.emplace_back(u, g.constant(0.0));
    expr::Substitution at_rest(g, rest);
    const std::size_t n = ix(n_);
    std::vector<std::vector<Expr>> M(n, std::vector<Expr>(n, g.constant(0.0)));
    for (const model::Derived::Entry& e : d_.mass) M[ix(e.row)][ix(e.column)] = M[ix(e.column)][ix(e.row)] = e.value;
    std::vector<std::vector<Expr>> S(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Expr slope = expr::Derivative(g, f_.u[i])(V);
        if (!vanishes(at_rest(slope))) return;
        for (std::size_t j = 0; j < n; ++j) {
            S[i].push_back(expr::Derivative(g, f_.u[j])(slope));
            if (g.depends_on(S[i][j], expr::velocity)) return;
        }
    }
    // The factor from the first diagonal entry, at the initial position.
    const Group entries = compile({S[0][0], M[0][0]});
    Box x;
    for (const double q : model_.q0) x.emplace_back(q);
    x.resize(2 * n, Interval(0.0));
    const std::vector<Interval>& e = evaluate(entries, x);
    if (!e[0].defined || !e[1].defined || !(expr::midpoint(e[1]) > 0.0)) return;
    double a = expr::midpoint(e[0]) / expr::midpoint(e[1]);
    const double eighths = std::round(8.0 * a) / 8.0;
    if (std::fabs(a - eighths) <= factor_rounding * std::fabs(a)) a = eighths;
    if (a == 0.0 || !std::isfinite(a)) return;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (!vanishes(model::cancelled_sum(g, {S[i][j], g.mul(g.constant(-a), M[i][j])}))) return;
    energy_ = EnergyForm{a, g.div(at_rest(V), g.constant(a))};
}

/// The same function with cancelled terms. Functions of the parameters that are not 0 may be cancelled as factors.
Expr StateFunction::reduced(Expr e) {
    const std::function<bool(Expr)> nonzero = [this](Expr factor) {
        if (f_.graph.depends_on(factor, state_kinds | expr::time | expr::auxiliary)) return false;
        const Group group = compile({factor});
        const Interval value = evaluate(group, proof::whole_space(2 * ix(n_)))[0];
        return value.defined && (value.lo > 0.0 || value.hi < 0.0);
    };
    return reduced_sum(f_.graph, e, nonzero);
}

/// Proves that an expression is 0 at all states: its terms cancel, or it is exactly 0 over the whole space.
bool StateFunction::vanishes(Expr e) {
    if (f_.graph.is_zero(e) || f_.graph.is_zero(reduced(e))) return true;
    const Group group = compile({e});
    return is_zero(evaluate(group, proof::whole_space(2 * ix(n_)))[0]);
}

StateFunction::Group StateFunction::compile(const std::vector<Expr>& outputs) const {
    Group group;
    std::vector<Expr> variables = variables_;
    if (variables.empty()) {
        variables = {f_.t};
        variables.insert(variables.end(), states_.begin(), states_.end());
        variables.insert(variables.end(), centre_symbols_.begin(), centre_symbols_.end());
    }
    group.tape = expr::Tape(f_.graph, outputs, f_.p, variables);
    group.scratch.resize(group.tape.slot_count());
    group.in.resize(variables.size());
    group.out.resize(outputs.size());
    const std::vector<Interval> p(model_.p.begin(), model_.p.end());
    group.tape.prepare<Interval>(p, group.scratch);
    return group;
}

const std::vector<Interval>& StateFunction::evaluate(const Group& group, const Box& x) const {
    group.in[0] = Interval(0.0);
    std::copy(x.begin(), x.end(), group.in.begin() + 1);
    std::copy(centre_.begin(), centre_.end(), group.in.begin() + 1 + static_cast<std::ptrdiff_t>(x.size()));
    group.tape.evaluate<Interval>(group.in, group.scratch, group.out);
    for (Interval& y : group.out)
        if (!y.defined) y = expr::entire(false);
    return group.out;
}

double StateFunction::value(const std::vector<double>& q, const std::vector<double>& u) const {
    if (number_scratch_.empty()) {
        number_scratch_.resize(value_.tape.slot_count());
        value_.tape.prepare<double>(model_.p, number_scratch_);
    }
    numbers_.assign(1, 0.0);
    numbers_.insert(numbers_.end(), q.begin(), q.end());
    numbers_.insert(numbers_.end(), u.begin(), u.end());
    for (const Interval& c : centre_) numbers_.push_back(expr::midpoint(c));
    double out = 0.0;
    value_.tape.evaluate<double>(numbers_, number_scratch_, {&out, 1});
    return out;
}

Interval StateFunction::value(const Box& x) const { return evaluate(value_, x)[0]; }
std::vector<Interval> StateFunction::gradient(const Box& x) const { return evaluate(gradient_, x); }
IntervalMatrix StateFunction::hessian(const Box& x) const { return symmetric(evaluate(hessian_, x), 2 * n_); }
Interval StateFunction::rate(const Box& x) const { return evaluate(rate_, x)[0]; }
std::vector<Interval> StateFunction::rate_gradient(const Box& x) const { return evaluate(rate_gradient_, x); }
IntervalMatrix StateFunction::rate_hessian(const Box& x) const { return symmetric(evaluate(rate_hessian_, x), 2 * n_); }

Interval StateFunction::kappa(const Box& x) const { return evaluate(kappa_, x)[0]; }
IntervalMatrix StateFunction::smooth_rate_hessian(const Box& x) const {
    return symmetric(evaluate(smooth_rate_hessian_, x), 2 * n_);
}
IntervalMatrix StateFunction::losing_hessian(const Box& x) const {
    return symmetric(evaluate(losing_hessian_, x), static_cast<int>(losing_.size()));
}
bool StateFunction::losing_vanishes(const Box& state) const {
    const std::vector<Interval>& values = evaluate(losing_slopes_, state);
    return std::all_of(values.begin(), values.end(), is_zero);
}

/// The state (q, 0) with the kinetic energy behind it: the variables of psi_group_.
Interval StateFunction::value_at(const Box& q, const Interval& kinetic) const {
    Box x = q;
    x.resize(2 * q.size(), Interval(0.0));
    x.push_back(kinetic);
    return evaluate(psi_group_, x)[0];
}
Interval StateFunction::kappa_at(const Box& q, const Interval& kinetic) const {
    Box x = q;
    x.resize(2 * q.size(), Interval(0.0));
    x.push_back(kinetic);
    return evaluate(psi_group_, x)[1];
}

}  // namespace saltus::stability
