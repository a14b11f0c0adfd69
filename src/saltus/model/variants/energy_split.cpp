// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/variants/energy_split.hpp"

#include <algorithm>
#include <memory>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/model.hpp"
#include "saltus/model/settings.hpp"
#include "saltus/model/systems/detail/expression_system.hpp"

namespace saltus::model {

using expr::Expr;

namespace {

/// Proves that an expression of positions and parameters is 0 for all positions: it has no kink, all its derivatives by
/// the positions are exactly 0 over the whole space, and so is its value at q = 0.
bool vanishes(expr::Graph& g, const Formulas& f, const std::vector<double>& p, Expr e) {
    if (g.is_zero(e)) return true;
    if (!expr::kinks(g, e, expr::position).empty()) return false;
    std::vector<Expr> outputs{e};
    for (const Expr q : f.q) outputs.push_back(expr::Derivative(g, q)(e));
    std::vector<Expr> variables{f.t};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    variables.insert(variables.end(), f.u.begin(), f.u.end());
    const expr::Tape tape(g, outputs, f.p, variables);
    std::vector<expr::Interval> scratch(tape.slot_count()), out(outputs.size()), parameters(p.begin(), p.end());
    tape.prepare<expr::Interval>(parameters, scratch);
    const auto zero = [](const expr::Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; };
    std::vector<expr::Interval> at(variables.size(), expr::Interval(0.0));
    tape.evaluate<expr::Interval>(at, scratch, out);
    if (!zero(out[0])) return false;
    for (std::size_t k = 0; k < f.q.size(); ++k) at[1 + k] = expr::entire();
    tape.evaluate<expr::Interval>(at, scratch, out);
    for (std::size_t k = 1; k < out.size(); ++k)
        if (!zero(out[k])) return false;
    return true;
}

/// The forces with the part that does not depend on velocities taken out wherever it is proved to vanish.
void drop_vanishing_parts(Formulas& f, const std::vector<double>& p) {
    std::vector<std::pair<Expr, Expr>> rest;
    for (const Expr u : f.u) rest.emplace_back(u, f.graph.constant(0.0));
    for (Expr& force : f.f) {
        const Expr at_rest = expr::Substitution(f.graph, rest)(force);
        if (f.graph.is_zero(at_rest) || !vanishes(f.graph, f, p, at_rest)) continue;
        force = f.graph.depends_on(force, expr::velocity) ? f.graph.sub(force, at_rest) : f.graph.constant(0.0);
    }
}

}  // namespace

Expr cancelled_sum(expr::Graph& g, const std::vector<Expr>& summands) {
    std::vector<Expr> open;  // terms whose negative was not met yet
    for (const Expr summand : summands)
        for (const Expr term : expr::terms(g, summand, expr::Products::expand)) {
            const auto opposite = std::find(open.begin(), open.end(), g.neg(term));
            if (opposite == open.end())
                open.push_back(term);
            else
                open.erase(opposite);
        }
    Expr sum = g.constant(0.0);
    for (const Expr term : open) sum = g.add(sum, term);
    return sum;
}

Model with_potential(const Model& model, const std::function<Expr(Formulas&)>& potential) {
    const SymbolicEquations* const symbolic = model.system->symbolic();
    SALTUS_EXPECT(symbolic != nullptr);
    Formulas f = symbolic->formulas();
    const Expr old = f.U;
    f.U = potential(f);
    for (std::size_t i = 0; i < f.q.size(); ++i) {
        expr::Derivative by(f.graph, f.q[i]);
        f.f[i] = cancelled_sum(f.graph, {f.f[i], by(f.U), f.graph.neg(by(old))});
    }
    drop_vanishing_parts(f, model.p);
    Model out = model;
    out.system = std::make_shared<ExpressionSystem>(std::move(f));
    return out;
}

Model with_sliding(const Model& model, const std::vector<int>& signs) {
    const SymbolicEquations* const symbolic = model.system->symbolic();
    SALTUS_EXPECT(symbolic != nullptr && signs.size() == model.sliders.size());
    Formulas f = symbolic->formulas();
    expr::Graph& g = f.graph;
    const int first_slip = static_cast<int>(f.constraints.size() + f.gaps.size());
    Model out = model;
    out.sliders.clear();
    Settings settings = *model.settings;
    std::vector<std::pair<Expr, Expr>> magnitudes;  // |γ| → sign γ
    for (std::size_t k = 0; k < signs.size(); ++k) {
        const Slider& slider = model.sliders[k];
        if (signs[k] == 0) {
            out.sliders.push_back(slider);
            continue;
        }
        SALTUS_EXPECT(slider.friction.law == FrictionLaw::coulomb && slider.friction.dimension == 1);
        const Expr gamma = f.slips[ix(slider.friction.first_row - first_slip)];
        const Expr signed_gamma = signs[k] > 0 ? gamma : g.neg(gamma);
        for (const Expr same : {gamma, g.neg(gamma)})
            magnitudes.emplace_back(g.unary(expr::Op::abs, same), signed_gamma);
        const Expr bound = g.mul(f.coefficients[ix(slider.friction.mu[0])], f.coefficients[ix(slider.normal_force)]);
        const Expr force = signs[k] > 0 ? g.neg(bound) : bound;  // along γ
        for (std::size_t i = 0; i < f.u.size(); ++i)
            f.f[i] = g.add(f.f[i], g.mul(force, expr::Derivative(g, f.u[i])(gamma)));
        f.regions.push_back(signed_gamma);
        // The row stays, because rows are numbered, but no element uses it. Its surface does not move.
        std::vector<std::pair<Expr, Expr>> rest;
        for (const Expr u : f.u) rest.emplace_back(u, g.constant(0.0));
        f.slips[ix(slider.friction.first_row - first_slip)] = g.sub(gamma, expr::Substitution(g, rest)(gamma));
        settings.regions.push_back((signs[k] > 0 ? "slip of '" : "-slip of '") + slider.name + "' > 0");
    }
    expr::Substitution replace(g, magnitudes);
    for (Expr& force : f.f) force = replace(force);
    for (Expr& c : f.coefficients) c = replace(c);
    f.R = replace(f.R);
    out.system = std::make_shared<ExpressionSystem>(std::move(f));
    out.settings = std::make_shared<const Settings>(std::move(settings));
    return out;
}

}  // namespace saltus::model
