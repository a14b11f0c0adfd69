// SPDX-License-Identifier: Apache-2.0
#include "saltus/model/symbolic.hpp"

#include <utility>

#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/systems/tangent_program.hpp"

namespace saltus::model {

using expr::Derivative;
using expr::Expr;
using expr::Graph;
using expr::Tape;

namespace {

/// Seeds of D = u·∂/∂q + ∂/∂t.
std::vector<std::pair<Expr, Expr>> time_seeds(Formulas& f) {
    std::vector<std::pair<Expr, Expr>> seeds{{f.t, f.graph.constant(1.0)}};
    for (std::size_t i = 0; i < f.q.size(); ++i) seeds.emplace_back(f.q[i], f.u[i]);
    return seeds;
}

Expr sum_of_products(Graph& graph, std::span<const Expr> a, std::span<const Expr> b) {
    Expr sum = graph.constant(0.0);
    for (std::size_t i = 0; i < a.size(); ++i)
        if (!graph.is_zero(a[i])) sum = graph.add(sum, graph.mul(a[i], b[i]));
    return sum;
}

std::vector<Expr> values_of(std::span<const Derived::Entry> entries) {
    std::vector<Expr> values;
    for (const Derived::Entry& e : entries) values.push_back(e.value);
    return values;
}

}  // namespace

Derived derive(Formulas& f) {
    Graph& g = f.graph;
    const int n = static_cast<int>(f.q.size());
    Derived d;

    std::vector<Derivative> by_q, by_u;
    const auto symbols = std::make_shared<expr::SymbolSets>(g);
    for (const Expr q : f.q) by_q.emplace_back(g, q, symbols);
    for (const Expr u : f.u) by_u.emplace_back(g, u, symbols);
    Derivative by_time(g, time_seeds(f), symbols);

    std::vector<Expr> momentum, damping;
    for (int i = 0; i < n; ++i) {
        momentum.push_back(by_u[ix(i)](f.T));
        damping.push_back(by_u[ix(i)](f.R));
    }
    for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) {
            const Expr m = by_u[ix(j)](momentum[ix(i)]);
            if (!g.is_zero(m)) d.mass.push_back({i, j, m});
        }
        Derivative& dq = by_q[ix(i)];
        Expr h = g.sub(dq(f.T), by_time(momentum[ix(i)]));
        h = g.sub(h, dq(f.U));
        h = g.sub(h, damping[ix(i)]);
        d.h.push_back(g.add(h, f.f[ix(i)]));
        d.others.push_back(g.sub(f.f[ix(i)], damping[ix(i)]));
    }
    d.damping = sum_of_products(g, damping, f.u);
    Derivative at_fixed_state(g, f.t, symbols);
    d.driven = g.sub(at_fixed_state(f.U), at_fixed_state(f.T));
    d.applied = g.add(sum_of_products(g, f.f, f.u), d.driven);

    for (std::size_t k = 0; k < f.constraints.size(); ++k)
        d.velocity.push_back(f.velocity_constraint(k) ? f.constraints[k] : by_time(f.constraints[k]));
    for (const Expr gap : f.gaps) d.velocity.push_back(by_time(gap));
    d.velocity.insert(d.velocity.end(), f.slips.begin(), f.slips.end());

    std::vector<std::pair<Expr, Expr>> at_rest;
    for (const Expr u : f.u) at_rest.emplace_back(u, g.constant(0.0));
    expr::Substitution resting(g, at_rest);
    // T₂ = u·∂T/∂u − T + T₀. A quadratic form is kept as it is written.
    const Expr T0 = resting(f.T);
    bool form = g.is_zero(T0);
    for (const Expr p : momentum) form = form && g.is_zero(resting(p));
    d.kinetic = form ? f.T : g.add(g.sub(sum_of_products(g, momentum, f.u), f.T), T0);
    d.potential = form ? f.U : g.sub(f.U, T0);
    for (std::size_t r = 0; r < d.velocity.size(); ++r) {
        for (int j = 0; j < n; ++j) {
            const Expr w = by_u[ix(j)](d.velocity[r]);
            if (!g.is_zero(w)) d.rows.push_back({static_cast<int>(r), j, w});
        }
        d.chi.push_back(resting(d.velocity[r]));
        d.zeta.push_back(by_time(d.velocity[r]));
    }
    return d;
}

SymbolicEquations::SymbolicEquations(Formulas formulas)
    : formulas_(std::move(formulas)), tangents_(std::make_shared<TangentStore>()) {
    derived_ = derive(formulas_);
    const Formulas& f = formulas_;
    const Derived& d = derived_;
    std::vector<Expr> variables{f.t};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    variables.insert(variables.end(), f.u.begin(), f.u.end());

    std::array<std::vector<Expr>, part_count> outputs;
    const auto of = [&](Part part) -> std::vector<Expr>& { return outputs[static_cast<std::size_t>(part)]; };
    of(Part::mass) = values_of(d.mass);
    of(Part::force) = d.h;
    of(Part::positions) = f.constraints;
    of(Part::positions).insert(of(Part::positions).end(), f.gaps.begin(), f.gaps.end());
    of(Part::rows) = values_of(d.rows);
    of(Part::rows).insert(of(Part::rows).end(), d.chi.begin(), d.chi.end());
    of(Part::curvature) = d.zeta;
    of(Part::coefficients) = f.coefficients;
    of(Part::energy) = {d.kinetic, d.potential, d.damping, d.applied};
    for (const Part part : {Part::mass, Part::force, Part::positions, Part::rows, Part::curvature})
        of(Part::all).insert(of(Part::all).end(), of(part).begin(), of(part).end());
    for (std::size_t k = 0; k < part_count; ++k) tapes_[k] = Tape(f.graph, outputs[k], f.p, variables);
}

}  // namespace saltus::model
