// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/functions/element_powers.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/expr/differentiate.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/model/variants/energy_split.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/claims/impulse_claims.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using expr::Expr;

namespace {

/// The bounds k₁, k₂ of the curvature of V along an impact are searched on at most this many boxes.
constexpr int impact_boxes = 512;

}  // namespace

ElementPowers::ElementPowers(StateFunction& V, const Enclosure& enclosure, Course course)
    : V_(V), e_(enclosure), s_(course == Course::falls ? 1.0 : -1.0) {
    const model::Mechanics& m = e_.model();
    for (const model::Constraint& c : m.constraints) add(c.row, -1, false, true);
    for (const model::Contact& c : m.contacts) add(c.row, c.row, false, false);
    for (const model::Clutch& c : m.clutches) add(c.row, -1, false, false);
    const auto friction = [&](const model::Friction& f, int gap) {
        if (!f.present()) return;
        if (f.dimension == 1 && f.law == model::FrictionLaw::coulomb)
            add(f.first_row, gap, true, true);
        else
            usable_ = false;
    };
    for (const model::Contact& c : m.contacts) friction(c.friction, c.row);
    for (const model::Constraint& c : m.constraints) friction(c.friction, -1);
    for (const model::Slider& s : m.sliders) friction(s.friction, -1);
    quadratic_ = usable_ && std::all_of(rows_.begin(), rows_.end(), [](const Row& r) { return r.of_position; });
    expr::Graph& g = V_.f_.graph;
    for (const Expr y : V_.y_)
        for (const Expr u : V_.f_.u)
            for (const Expr v : V_.f_.u)
                quadratic_ = quadratic_ && V_.vanishes(expr::Derivative(g, v)(expr::Derivative(g, u)(y)));
}

/// Φ = w·y on the surface γ = 0: one velocity u_k is replaced by u_k − γ/W_k, which does not depend on u_k. On the
/// gap's surface one coordinate q_j is replaced in the same way, if the gap is linear in it: Φ may be 0 at the gap 0
/// only.
void ElementPowers::add(int row, int gap, bool friction, bool equality) {
    expr::Graph& g = V_.f_.graph;
    const model::Derived& d = V_.d_;
    Expr phi = g.constant(0.0);
    int k = -1;
    Expr w_k;
    for (const model::Derived::Entry& entry : d.rows) {
        if (entry.row != row) continue;
        phi = g.add(phi, g.mul(entry.value, V_.y_[ix(entry.column)]));
        // The first constant entry, otherwise the first one.
        const bool constant = !g.depends_on(entry.value, expr::position | expr::velocity);
        if (k < 0 || (constant && g.depends_on(w_k, expr::position | expr::velocity)))
            k = entry.column, w_k = entry.value;
    }
    if (k < 0) {
        usable_ = false;
        return;
    }
    const Expr u_k = V_.f_.u[ix(k)];
    const Expr slope = V_.reduced(g.div(expr::Derivative(g, u_k)(phi), w_k));
    Expr without = g.constant(0.0);
    for (const model::Derived::Entry& entry : d.rows)
        if (entry.row == row && entry.column != k)
            without = g.sub(without, g.mul(g.div(entry.value, w_k), V_.f_.u[ix(entry.column)]));
    const std::vector<std::pair<Expr, Expr>> surface{{u_k, V_.reduced(without)}};
    Expr there = expr::Substitution(g, surface)(phi);
    if (gap >= 0) {
        const Expr value = V_.f_.gaps[ix(gap - e_.constraints())];
        for (const Expr q : V_.f_.q) {
            const Expr by_q = expr::Derivative(g, q)(value);
            if (g.is_zero(by_q) || g.depends_on(by_q, expr::position)) continue;
            // g = by_q·q + rest with the rest at q = 0.
            const std::vector<std::pair<Expr, Expr>> zero{{q, g.constant(0.0)}};
            const Expr rest = expr::Substitution(g, zero)(value);
            const std::vector<std::pair<Expr, Expr>> closed{{q, g.neg(g.div(rest, by_q))}};
            there = expr::Substitution(g, closed)(there);
            break;
        }
    }
    there = V_.reduced(there);
    Row r;
    r.row = row;
    r.gap = gap;
    r.friction = friction;
    r.zero_on_surface = V_.vanishes(there);
    r.of_position = r.zero_on_surface || !g.depends_on(there, expr::velocity);
    if (equality && !r.zero_on_surface) usable_ = false;
    rows_.push_back(r);
    on_surface_.push_back(V_.compile({there}));
    slope_.push_back(V_.compile({slope}));
}

Box ElementPowers::positions(const Box& x) const { return {x.begin(), x.begin() + e_.size()}; }

Interval ElementPowers::on_surface(const Row& r, const Box& x) const {
    return V_.evaluate(on_surface_[static_cast<std::size_t>(&r - rows_.data())], x)[0];
}
Interval ElementPowers::slope(const Row& r, const Box& x) const {
    return V_.evaluate(slope_[static_cast<std::size_t>(&r - rows_.data())], x)[0];
}

/// s · value <= 0 is proved.
bool ElementPowers::right_sign(const Interval& value) const {
    return value.defined && (s_ > 0.0 ? value.hi <= 0.0 : value.lo >= 0.0);
}

bool ElementPowers::admissible(const Box& x) const {
    const IntervalVector g = e_.position_values(positions(x));
    for (std::size_t k = ix(e_.constraints()); k < g.size(); ++k)
        if (g[k].defined && g[k].hi < 0.0) return false;
    return true;
}

bool ElementPowers::powers(const Box& x) const {
    if (!usable_ && !V_.along_velocity()) return false;
    if (!admissible(x)) return true;
    // A negative normal force of a slider is no state of the model.
    const IntervalVector coefficients = e_.coefficients(positions(x), {x.begin() + e_.size(), x.end()});
    for (const model::Slider& s : e_.model().sliders)
        if (!(coefficient(coefficients, s.normal_force).lo >= 0.0)) return false;
    if (V_.along_velocity()) {
        const Interval kappa = V_.kappa(x);
        return kappa.defined && (s_ > 0.0 ? kappa.lo > 0.0 : kappa.hi < 0.0);
    }
    const IntervalVector g = e_.position_values(positions(x));
    for (const Row& r : rows_) {
        if (r.gap >= 0 && g[ix(r.gap)].defined && g[ix(r.gap)].lo > 0.0) continue;  // the contact is open
        if (!r.zero_on_surface && !right_sign(on_surface(r, x))) return false;
        if (!r.friction) continue;
        const Interval k = slope(r, x);
        if (!k.defined || !(s_ > 0.0 ? k.lo > 0.0 : k.hi < 0.0)) return false;
    }
    return true;
}

bool ElementPowers::only_rest(const Box& x) const {
    const model::Mechanics& m = e_.model();
    if (!admissible(x)) return true;
    const Box q = positions(x), u(x.begin() + e_.size(), x.end());
    const IntervalMatrix W = e_.row_matrix(q);
    const IntervalVector coefficients = e_.coefficients(q, u);
    std::vector<int> which;
    for (const model::Constraint& c : m.constraints) which.push_back(c.row);
    for (const model::Slider& s : m.sliders)
        if (with_friction(s.friction, coefficients) && coefficient(coefficients, s.normal_force).lo > 0.0)
            for (int k = 0; k < s.friction.dimension; ++k) which.push_back(s.friction.first_row + k);
    std::vector<int> damped;
    for (const int k : V_.losing_states())
        if (k >= e_.size()) damped.push_back(k - e_.size());
    IntervalMatrix S(static_cast<int>(damped.size() + which.size()), e_.size());
    for (std::size_t k = 0; k < damped.size(); ++k) S(static_cast<int>(k), damped[k]) = Interval(1.0);
    for (std::size_t k = 0; k < which.size(); ++k)
        for (int j = 0; j < e_.size(); ++j) S(static_cast<int>(damped.size() + k), j) = W(which[k], j);
    return S.rows() >= e_.size() && independent_columns(S);
}

bool ElementPowers::impacts(const Box& B, const StationaryPoint& equilibrium, long budget,
                            const std::function<bool()>& stop) const {
    const model::Mechanics& m = e_.model();
    if (m.contacts.empty()) return true;
    if (!m.clutches.empty()) return false;  // their impulses are no subject of conditions 6 and 7
    const Box q = positions(B);
    const AdmissibleSet set(e_, e_.potential(point_box({equilibrium.q.data(), equilibrium.q.data() + e_.size()})),
                            stop);
    if (set.may_close(q).empty()) return true;
    const StationaryBox none;
    ConditionScope scope{set, equilibrium, none, q, Interval::infinity, Interval::infinity, budget};
    scope.probing = true;
    if (condition_6_restitution(scope).verdict != Verdict::proved) return false;
    if (V_.along_velocity() && condition_7_impacts(scope).verdict == Verdict::proved) return true;
    if (!m.constraints.empty()) return false;
    if (quadratic_) {
        const ClaimScope claims{e_, equilibrium, q, 0.0, Interval::infinity, {}, budget, stop};
        const ImpulseForm form(claims,
                               [this](const std::vector<int>& rows, const Box& at) { return factors(rows, at); });
        return tree_over(
                   claims, q, [&](const Box& at) { return form.leaf(at); },
                   [&](const Box& at) { return form.spread(at); })
            .has_value();
    }
    const ContactCoefficients c = contact_coefficients(scope);
    return m.contacts.size() == 1 && !c.friction[0] && single_impact(B, c.e_n[0]);
}

std::optional<IntervalVector> ElementPowers::factors(const std::vector<int>& rows, const Box& q) const {
    Box x = q;
    x.resize(2 * q.size(), Interval(0.0));  // the factors do not depend on velocities
    IntervalVector list;
    for (const int row : rows) {
        const auto r = std::find_if(rows_.begin(), rows_.end(), [&](const Row& k) { return k.row == row; });
        if (r == rows_.end()) return std::nullopt;
        list.push_back(Interval(s_) * slope(*r, x));
    }
    return list;
}

/// One contact without friction. The velocities on the way of an impact from a state of B are u + τ d, 0 <= τ <=
/// 2|γ|/(w·d).
bool ElementPowers::single_impact(const Box& B, const Interval& e) const {
    const int n = e_.size();
    const int row = e_.model().contacts.front().row;
    const auto contact = std::find_if(rows_.begin(), rows_.end(), [&](const Row& r) { return r.row == row; });
    if (contact == rows_.end()) return false;
    Interval curvature(0.0);
    bool first = true;
    std::vector<Box> open{B};
    for (int count = 0; !open.empty(); ++count) {
        if (count > impact_boxes) return false;
        const Box x = open.back();
        open.pop_back();
        const Box q = positions(x);
        if (!admissible(x)) continue;
        const IntervalVector g = e_.position_values(q);
        if (g[ix(row)].defined && g[ix(row)].lo > 0.0) continue;
        const IntervalMatrix w = rows_of(e_.row_matrix(q), {row});
        const std::optional<IntervalMatrix> d = solve(e_.mass(q), transpose(w));
        if (!d) return false;
        const Interval length = (w * *d)(0, 0);
        Box way = x;
        Interval gamma(0.0);
        for (int i = 0; i < n; ++i)
            if (!is_zero(w(0, i))) gamma = gamma + w(0, i) * x[ix(n + i)];
        bool proved = length.defined && length.lo > 0.0;
        if (proved) {
            const Interval reach(0.0, 2.0 * std::max(0.0, -gamma.lo));
            for (int i = 0; i < n; ++i)
                if (!is_zero((*d)(i, 0))) way[ix(n + i)] = way[ix(n + i)] + reach * ((*d)(i, 0) / length);
            const IntervalMatrix H = V_.hessian(way);
            Interval k(0.0);
            for (int i = 0; i < n; ++i)
                for (int j = 0; j < n; ++j)
                    if (!is_zero((*d)(i, 0)) && !is_zero((*d)(j, 0))) k = k + (*d)(i, 0) * H(n + i, n + j) * (*d)(j, 0);
            k = Interval(s_) * (k / length);
            proved = k.defined && k.lo > 0.0 && (contact->zero_on_surface || right_sign(on_surface(*contact, way)));
            if (proved) {
                curvature = first ? k : Interval(std::min(curvature.lo, k.lo), std::max(curvature.hi, k.hi));
                first = false;
            }
        }
        if (proved) continue;
        std::size_t side = 0;
        double widest = 0.0;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (can_split(x, i) && width(x[i]) > widest) widest = width(x[i]), side = i;
        if (!(widest > 0.0) || !std::isfinite(widest)) return false;
        const auto [a, b] = split(x, side, 0.0, 1.0);
        open.push_back(a);
        open.push_back(b);
    }
    if (first) return true;  // the gap cannot close in the box
    const Interval lost = e * e * Interval(curvature.hi);
    return e.lo >= 0.0 && lost.defined && lost.hi <= curvature.lo;
}

}  // namespace saltus::stability
