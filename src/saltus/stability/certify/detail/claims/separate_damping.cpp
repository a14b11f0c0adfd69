// SPDX-License-Identifier: Apache-2.0
//
// Example: drag f = −c|x'|x' has φ(v) = c v² for both directions. It is smooth for v >= 0, although f has a kink in its
// second derivative, φ' = 2cv >= 0, and φ''(0) = 2c is not 0. So u·f = −v φ(v) < 0 for all x' ≠ 0.
#include "saltus/stability/certify/detail/claims/separate_damping.hpp"

#include <algorithm>

#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/symbolic.hpp"
#include "saltus/stability/certify/detail/claims/box_claims.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using expr::Expr;

namespace {

/// Orders of derivatives at v = 0 that are examined.
constexpr int max_order = 5;

}  // namespace

SeparateDamping::SeparateDamping(const model::Mechanics& model) : model_(model) {
    const model::SymbolicEquations* const symbolic = model.system->symbolic();
    if (symbolic == nullptr || !symbolic->complete()) return;
    model::Formulas f = symbolic->formulas();
    const model::Derived d = symbolic->derived();
    expr::Graph& g = f.graph;
    const Expr speed = g.symbol("speed", expr::auxiliary), zero = g.constant(0.0);
    std::vector<Expr> variables{f.t, speed};
    variables.insert(variables.end(), f.q.begin(), f.q.end());
    expr::Substitution rest(g, {{speed, zero}});
    std::vector<std::pair<Expr, Expr>> no_velocity;
    for (const Expr u : f.u) no_velocity.emplace_back(u, zero);
    expr::Substitution still(g, no_velocity);
    expr::Derivative by_speed(g, speed);
    std::vector<Expr> slopes;
    for (std::size_t a = 0; a < f.u.size(); ++a) {
        for (std::size_t b = 0; b < f.u.size(); ++b)
            if (a != b && !g.is_zero(expr::Derivative(g, f.u[b])(d.others[a]))) return;
        std::vector<Expr> orders;
        for (const double s : {1.0, -1.0}) {
            const Expr sign = g.constant(s);
            expr::Substitution one_sided(g, {{f.u[a], g.mul(sign, speed)},
                                             {g.unary(expr::Op::abs, f.u[a]), speed},
                                             {g.unary(expr::Op::sign, f.u[a]), sign}});
            Expr resistance = g.mul(g.constant(-s), one_sided(d.others[a]));
            if (g[resistance].kinked) return;
            // f − f(0) vanishes at rest by its construction, which rounded numbers may hide.
            const bool vanishes = f.vanishes_at_rest(a) && g.is_zero(still(expr::Derivative(g, f.u[a])(f.R)));
            if (!vanishes && !g.is_zero(rest(resistance))) return;
            for (int j = 1; j <= max_order; ++j) {
                resistance = by_speed(resistance);
                if (j == 1) slopes.push_back(resistance);
                orders.push_back(rest(resistance));
            }
        }
        at_rest_.emplace_back(g, orders, f.p, variables);
    }
    slopes_ = expr::Tape(g, slopes, f.p, variables);
    valid_ = true;
}

IntervalVector SeparateDamping::evaluate(const expr::Tape& tape, const Box& q, const Interval& speed) const {
    std::vector<Interval> in{Interval(0.0), speed}, scratch(tape.slot_count()), out(tape.output_count()),
        parameters(model_.p.begin(), model_.p.end());
    in.insert(in.end(), q.begin(), q.end());
    tape.prepare<Interval>(parameters, scratch);
    tape.evaluate<Interval>(in, scratch, out);
    return out;
}

bool SeparateDamping::rises(const Box& q, const std::vector<double>& speeds) const {
    for (std::size_t a = 0; a < speeds.size(); ++a) {
        const IntervalVector slopes = evaluate(slopes_, q, Interval(0.0, speeds[a]));
        for (const Interval& x : {slopes[2 * a], slopes[2 * a + 1]})
            if (!x.defined || !(x.lo >= 0.0)) return false;
    }
    return true;
}

bool SeparateDamping::takes_energy(const Box& q, int coordinate) const {
    const IntervalVector orders = evaluate(at_rest_[ix(coordinate)], q, Interval(0.0));
    const auto not_zero = [](const Interval& x) { return surely_positive(x) || surely_negative(x); };
    return std::any_of(orders.begin(), orders.begin() + max_order, not_zero) &&
           std::any_of(orders.begin() + max_order, orders.end(), not_zero);
}

}  // namespace saltus::stability
