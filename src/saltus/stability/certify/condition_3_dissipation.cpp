// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 3: the smooth nonconservative forces f^nc = f − ∂R/∂u take energy, D^nc = −u·f^nc >= 0,
// and vanish for u = 0.
//
// Proof, by the form of f^nc:
//   f = 0 and R a quadratic form: D^nc = 2R >= 0 if the enclosure of R over all velocities is not negative.
//   f^nc = −C(q)u:                D^nc = ½uᵀ(C + Cᵀ)u (Proposition 2 with C + Cᵀ). Its rows and columns that are
//                                 zero throughout are removed; the rest is proved to be semidefinite on a cover.
//   otherwise:                    the enclosure of −u·f^nc is not negative on a cover of the states of the scope. It is
//                                 computed from the expression as it is, or from its parts by powers of the speed
//                                 (nonlinear_damping.cpp).
// The theorem is about autonomous systems. If the model depends on time, the condition fails as soon as a change
// is seen.
#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/nonlinear_damping.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// The definiteness of the damping matrix is proved with at most this number of boxes.
constexpr long max_damping_boxes = 2000;
/// Velocities that are tried at each sample position; components are limited to this speed if no bound is known.
constexpr int velocities_per_position = 16;
constexpr double unbounded_speed = 10.0;
constexpr unsigned velocity_seed = 7;
/// The power of nonlinear damping is bounded in each of the 2^n orthants of the velocities, for at most this n.
constexpr std::size_t max_orthant_coordinates = 6;
/// The damping matrix is constant if its entries over the domain are narrower than this fraction of 1 + |entry|.
constexpr double constant_width_ratio = 1e-14;

/// The rows that are not zero throughout.
std::vector<int> nonzero_rows(const IntervalMatrix& S) {
    std::vector<int> list;
    for (int i = 0; i < S.rows(); ++i)
        for (int j = 0; j < S.cols(); ++j)
            if (!is_zero(S(i, j))) {
                list.push_back(i);
                break;
            }
    return list;
}

/// The square block of the given rows and columns.
IntervalMatrix block(const IntervalMatrix& S, const std::vector<int>& rows) {
    return transpose(rows_of(transpose(rows_of(S, rows)), rows));
}

/// The block of C + Cᵀ on the given rows is positive semidefinite at all positions of the scope.
bool prove_semidefinite_damping(const ConditionScope& scope, const std::vector<int>& rows) {
    const Enclosure& e = scope.enclosure();
    return prove_on(
               scope.set, {scope.domain}, {}, scope.cap, scope.equilibrium.scale,
               [&](const Box& q) {
                   BoxTest t;
                   const IntervalMatrix S = block(symmetric_part(e.damping(q)), rows);
                   t.proved = positive_definite(S) || positive_semidefinite(S);
                   t.undecided = q;
                   if (!t.proved)
                       t.side = decisive_side(q, scope.equilibrium.scale,
                                              [&](const Box& b) { return spread_of(e.damping(b)); });
                   return t;
               },
               std::min(scope.budget, max_damping_boxes))
        .proved;
}

/// The velocities that the level allows at the positions of the box.
Box velocities_over(const ConditionScope& scope, const Box& q) {
    const double energy = std::min(scope.kinetic, scope.cap - scope.set.level(q).lo);
    return std::isfinite(energy) ? velocities_below(energy, scope.enclosure().mass(q)) : whole_space(q.size());
}

/// −u·f^nc >= 0 for all velocities in the box u. Each orthant is bounded by itself: products such as u·u³ have one sign
/// there.
bool takes_energy(const Enclosure& e, const Box& q, const Box& u) {
    if (e.damping_power(q, u).lo >= 0.0) return true;
    if (u.size() > max_orthant_coordinates) return false;
    for (unsigned signs = 0; signs < (1U << u.size()); ++signs) {
        Box part = u;
        bool empty = false;
        for (std::size_t k = 0; k < u.size(); ++k) {
            const bool negative = (signs >> k & 1U) != 0;
            const std::optional<Interval> side =
                intersection(u[k], negative ? Interval(-Interval::infinity, 0.0) : Interval(0.0, Interval::infinity));
            empty = empty || !side;
            if (side) part[k] = *side;
        }
        if (!empty && !(e.damping_power(q, part).lo >= 0.0)) return false;
    }
    return true;
}

/// −u·f^nc >= 0 at all states of the scope.
bool prove_nonlinear_damping(const ConditionScope& scope) {
    const Enclosure& e = scope.enclosure();
    return prove_on(
               scope.set, {scope.domain}, {}, scope.cap, scope.equilibrium.scale,
               [&](const Box& q) {
                   BoxTest t;
                   const Box u = velocities_over(scope, q);
                   t.proved = takes_energy(e, q, u) ||
                              damping_takes_energy(e, q, u, IntervalMatrix(0, e.size()), Loss::not_negative);
                   t.undecided = q;
                   if (!t.proved)
                       t.side = decisive_side(q, scope.equilibrium.scale, [&](const Box& b) {
                           return spread_of(IntervalVector{e.damping_power(b, velocities_over(scope, b))});
                       });
                   return t;
               },
               std::min(scope.budget, max_damping_boxes))
        .proved;
}

/// A sample position at which f^nc(q, 0) ≠ 0 is the witness.
void judge_forces_at_rest(const ConditionScope& scope, Condition& c) {
    const Enclosure& e = scope.enclosure();
    for (const std::vector<double>& q : sample_positions(scope)) {
        const IntervalVector at = e.forces_at_rest(point_box(q));
        for (std::size_t k = 0; k < at.size(); ++k) {
            if (at[k].lo <= 0.0 && at[k].hi >= 0.0) continue;
            c.verdict = Verdict::fails;
            c.evidence = "the force f on " + scope.model().coordinates[k] + " is " + number(expr::midpoint(at[k])) +
                         " for u = 0; a force with a potential belongs in U";
            c.witness.q = q;
            c.witness.u.assign(static_cast<std::size_t>(e.size()), 0.0);
            c.witness.values.emplace_back("f " + scope.model().coordinates[k], expr::midpoint(at[k]));
            return;
        }
    }
}

/// All entries of the damping matrix are the same at all positions of the domain, up to rounding.
bool is_constant(const IntervalMatrix& C) {
    if (!C.finite()) return false;
    for (int i = 0; i < C.rows(); ++i)
        for (int j = 0; j < C.cols(); ++j)
            if (width(C(i, j)) > constant_width_ratio * (1.0 + std::fabs(C(i, j).lo))) return false;
    return true;
}

/// f^nc is linear in u, and f^nc(q, 0) = 0.
void prove_linear_damping(const ConditionScope& scope, Condition& c) {
    const Enclosure& e = scope.enclosure();
    const std::vector<int> rows = nonzero_rows(symmetric_part(e.damping(scope.domain)));
    const bool rayleigh =
        e.quadratic_rayleigh && e.dissipation(scope.domain, whole_space(static_cast<std::size_t>(e.size()))).lo >= 0.0;
    if (!rows.empty() && !rayleigh && !prove_semidefinite_damping(scope, rows)) return;
    c.verdict = Verdict::proved;
    c.evidence = rows.empty() ? "no other smooth force does work"
                 : rayleigh   ? "R is a quadratic form that is nowhere negative"
                              : "linear damping with a positive semidefinite symmetric part";
}

/// Linear damping that is not proved to take energy: a sample position and velocity with uᵀCu < 0 is the witness. If
/// the matrix is constant then its computed eigenvalues are a numerical answer.
void judge_linear_damping(const ConditionScope& scope, Condition& c) {
    const Enclosure& e = scope.enclosure();
    double smallest = Interval::infinity;
    for (const std::vector<double>& q : sample_positions(scope)) {
        const IntervalMatrix D = symmetric_part(e.damping(point_box(q)));
        const Spectrum s = symmetric_spectrum(D.middle());
        smallest = std::min(smallest, s.smallest);
        const Interval power = quadratic_form(D, list_of(s.smallest_direction));
        if (!(power.hi < 0.0)) continue;
        c.verdict = Verdict::fails;
        c.evidence = "damping supplies energy: u.Cu = " + number(s.smallest) + " for the unit velocity of the witness";
        c.witness.q = q;
        c.witness.u = list_of(s.smallest_direction);
        c.witness.values.emplace_back("u.Cu", expr::midpoint(power));
        return;
    }
    if (!is_constant(e.damping(scope.domain))) return;
    c.verdict = Verdict::numerical;
    c.evidence =
        "the damping matrix is the same at all positions; the smallest computed eigenvalue of its symmetric "
        "part is " +
        number(smallest) + ", which is not negative up to rounding";
}

/// Damping that is any function of u and is not proved to take energy: a sample state with −u·f^nc < 0 is the witness.
void judge_nonlinear_damping(const ConditionScope& scope, Condition& c) {
    const Enclosure& e = scope.enclosure();
    SampleNumbers numbers(velocity_seed);
    for (const std::vector<double>& q : sample_positions(scope)) {
        const Box u = velocities_over(scope, point_box(q));
        for (int k = 0; k < velocities_per_position; ++k) {
            std::vector<double> v;
            for (const Interval& side : u) {
                const double fastest = std::isfinite(side.hi) ? side.hi : unbounded_speed;
                v.push_back(fastest * (2.0 * numbers.next() - 1.0));
            }
            const Interval power = e.damping_power(point_box(q), point_box(v));
            if (power.hi >= 0.0) continue;
            c.verdict = Verdict::fails;
            c.evidence = "the forces supply energy: -u.f = " + number(expr::midpoint(power));
            c.witness.q = q;
            c.witness.u = v;
            c.witness.values.emplace_back("-u.f", expr::midpoint(power));
            return;
        }
    }
}

/// The condition for the forces as they are at t = 0.
Condition dissipation_at_start(const ConditionScope& scope) {
    const Enclosure& e = scope.enclosure();
    Condition c{"3",
                "the other smooth forces take energy, -u.f >= 0, and vanish for u = 0",
                Verdict::not_examined,
                "it is not proved that the forces take energy, and no state was found at which they supply it",
                {}};
    const IntervalVector rest = e.forces_at_rest(scope.domain);
    if (!std::all_of(rest.begin(), rest.end(), is_zero)) {
        c.evidence = "it is not proved that the forces vanish for u = 0";
        if (!scope.probing) judge_forces_at_rest(scope, c);
        return c;
    }
    if (e.linear_damping) {
        prove_linear_damping(scope, c);
    } else if (prove_nonlinear_damping(scope)) {
        c.verdict = Verdict::proved;
        c.evidence = "the power -u.f is nowhere negative";
    }
    if (c.verdict == Verdict::proved || scope.probing) return c;
    if (e.linear_damping)
        judge_linear_damping(scope, c);
    else
        judge_nonlinear_damping(scope, c);
    return c;
}

}  // namespace

Condition condition_3_dissipation(const ConditionScope& scope) {
    Condition c = dissipation_at_start(scope);
    if (scope.model().autonomous) return c;
    if (c.verdict == Verdict::proved || c.verdict == Verdict::numerical) {
        c.verdict = Verdict::not_examined;
        c.evidence = "the model depends on the time t; the theorem is about autonomous systems";
    }
    const Witness changing = scope.probing ? Witness{} : changing_witness(scope);
    if (changing.given()) {
        c.verdict = Verdict::fails;
        c.evidence = "forces or friction depend on the time t";
        c.witness = changing;
    }
    return c;
}

}  // namespace saltus::stability
