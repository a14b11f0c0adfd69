// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/variants/energy_split.hpp"

#include <algorithm>
#include <memory>
#include <span>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/mechanics.hpp"
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

Mechanics with_potential(const Mechanics& model, const std::function<Expr(Formulas&)>& potential) {
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
    Mechanics out = model;
    out.system = std::make_shared<ExpressionSystem>(std::move(f));
    return out;
}

/// A number that was computed from others stands for an interval, because its exact value is not representable. So the
/// graph does not see that f(0) − F is 0, and it is noted (Formulas::vanishing).
Mechanics with_constant_forces_in_potential(const Mechanics& model) {
    const SymbolicEquations* const symbolic = model.system->symbolic();
    SALTUS_EXPECT(symbolic != nullptr);
    Formulas f = symbolic->formulas();
    expr::Graph& g = f.graph;
    std::vector<std::pair<Expr, Expr>> rest;
    for (const Expr u : f.u) rest.emplace_back(u, g.constant(0.0));
    expr::Substitution at_rest(g, rest);
    for (std::size_t i = 0; i < f.q.size(); ++i) {
        const Expr F = at_rest(f.f[i]);
        if (g.is_zero(F) || g.depends_on(F, expr::position | expr::time)) continue;
        f.U = g.sub(f.U, g.mul(F, f.q[i]));
        f.f[i] = f.f[i] == F ? g.constant(0.0) : g.sub(f.f[i], F);
        f.vanishing.resize(f.q.size(), 0);
        f.vanishing[i] = 1;
    }
    Mechanics out = model;
    out.system = std::make_shared<ExpressionSystem>(std::move(f));
    return out;
}

namespace {

/// Adds the friction of a slider that slides in a plane to the forces: −F_N ∂s/∂γ, with the support function s of its
/// set. An ellipse has s = √(Σ μ_k² γ_k²) and ∂s/∂γ_k = μ_k² γ_k/s; a disk has s = μ|γ| and ∂s/∂γ_k = μ γ_k/|γ|, which
/// is smooth also where μ vanishes. Returns the expression whose root is the divisor; the force is smooth if it is > 0.
Expr add_plane_friction(Formulas& f, const Slider& slider, std::span<const Expr> gamma) {
    expr::Graph& g = f.graph;
    std::vector<Expr> weighted;  // μ_k² γ_k, or μ γ_k
    Expr square = g.constant(0.0);
    for (std::size_t k = 0; k < gamma.size(); ++k) {
        const bool ellipse = slider.friction.law == FrictionLaw::orthotropic;
        const Expr mu = f.coefficients[ix(slider.friction.mu[ellipse ? k : 0])];
        const Expr part = g.mul(mu, gamma[k]);
        weighted.push_back(ellipse ? g.mul(mu, part) : part);
        square = g.add(square, ellipse ? g.mul(part, part) : g.mul(gamma[k], gamma[k]));
    }
    const Expr scale = g.div(f.coefficients[ix(slider.normal_force)], g.unary(expr::Op::sqrt, square));
    for (std::size_t i = 0; i < f.u.size(); ++i)
        for (std::size_t k = 0; k < gamma.size(); ++k) {
            const Expr along = expr::Derivative(g, f.u[i])(gamma[k]);
            f.f[i] = g.sub(f.f[i], g.mul(g.mul(scale, weighted[k]), along));
        }
    return square;
}

}  // namespace

Mechanics with_sliding(const Mechanics& model, const std::vector<int>& signs, SlidingRegion region) {
    const SymbolicEquations* const symbolic = model.system->symbolic();
    SALTUS_EXPECT(symbolic != nullptr && signs.size() == model.sliders.size());
    Formulas f = symbolic->formulas();
    expr::Graph& g = f.graph;
    const int first_slip = static_cast<int>(f.constraints.size() + f.gaps.size());
    Mechanics out = model;
    out.sliders.clear();
    std::vector<std::pair<Expr, Expr>> magnitudes;  // |γ| → sign γ
    std::vector<Expr> not_negative;                 // μ and F_N of sliders whose slip may turn round
    for (std::size_t k = 0; k < signs.size(); ++k) {
        const Slider& slider = model.sliders[k];
        if (signs[k] == 0) {
            out.sliders.push_back(slider);
            continue;
        }
        // The rows stay, because rows are numbered, but no element uses them. Their surface does not move.
        std::vector<std::pair<Expr, Expr>> rest;
        for (const Expr u : f.u) rest.emplace_back(u, g.constant(0.0));
        const std::span<Expr> slips(&f.slips[ix(slider.friction.first_row - first_slip)],
                                    ix(slider.friction.dimension));
        const std::vector<Expr> gammas(slips.begin(), slips.end());
        for (Expr& slip : slips) slip = g.sub(slip, expr::Substitution(g, rest)(slip));
        if (slider.friction.dimension == 2) {
            SALTUS_EXPECT(slider.friction.law == FrictionLaw::coulomb ||
                          slider.friction.law == FrictionLaw::orthotropic);
            f.regions.push_back(add_plane_friction(f, slider, gammas));
            continue;
        }
        SALTUS_EXPECT(slider.friction.law == FrictionLaw::coulomb && slider.friction.dimension == 1);
        const Expr gamma = gammas[0];
        const Expr signed_gamma = signs[k] > 0 ? gamma : g.neg(gamma);
        for (const Expr same : {gamma, g.neg(gamma)})
            magnitudes.emplace_back(g.unary(expr::Op::abs, same), signed_gamma);
        const Expr bound = g.mul(f.coefficients[ix(slider.friction.mu[0])], f.coefficients[ix(slider.normal_force)]);
        const Expr force = signs[k] > 0 ? g.neg(bound) : bound;  // along γ
        for (std::size_t i = 0; i < f.u.size(); ++i)
            f.f[i] = g.add(f.f[i], g.mul(force, expr::Derivative(g, f.u[i])(gamma)));
        if (region == SlidingRegion::passive && slider.friction.mu_static == no_coefficient)
            for (const Coefficient c : {slider.friction.mu[0], slider.normal_force})
                not_negative.push_back(f.coefficients[ix(c)]);
        else
            f.regions.push_back(signed_gamma);
    }
    expr::Substitution replace(g, magnitudes);
    for (Expr& force : f.f) force = replace(force);
    for (Expr& c : f.coefficients) c = replace(c);
    f.R = replace(f.R);
    for (const Expr c : not_negative)
        if (const Expr bound = replace(c); g.depends_on(bound, expr::position | expr::velocity))
            f.regions.push_back(bound);
    out.system = std::make_shared<ExpressionSystem>(std::move(f));
    return out;
}

}  // namespace saltus::model
