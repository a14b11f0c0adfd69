// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 3: the smooth nonconservative forces f^nc = f − ∂R/∂u take energy, D^nc = −u·f^nc >= 0,
// and vanish for u = 0.
//
// Proof, by the form of f^nc:
//   f = 0 and R a quadratic form: D^nc = 2R >= 0 if the enclosure of R over all velocities is not negative.
//   f^nc = −C(q)u:                D^nc = ½uᵀ(C + Cᵀ)u (Proposition 2 with C + Cᵀ). Its rows and columns that are
//                                 zero throughout are removed; the rest is proved to be positive definite on a cover.
//   otherwise:                    the enclosure of −u·f^nc over all states of the scope is not negative.
// The theorem is about autonomous systems. If the model depends on time, the condition fails as soon as a change
// is seen.
#include <algorithm>
#include <cmath>

#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// An eigenvalue of the damping matrix is negative if it is below −negative_damping_ratio (1 + largest eigenvalue).
constexpr double negative_damping_ratio = 1e-12;
/// The definiteness of the damping matrix is proved with at most this number of boxes.
constexpr long max_damping_boxes = 2000;
/// Velocities that are tried at each sample position; components are limited to this speed if no bound is known.
constexpr int velocities_per_position = 16;
constexpr double unbounded_speed = 10.0;
constexpr unsigned velocity_seed = 7;

bool is_zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }

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

/// The block of C + Cᵀ on the given rows is positive definite at all positions of the scope.
bool prove_definite_damping(const ConditionScope& scope, const std::vector<int>& rows) {
    const Enclosure& e = scope.enclosure();
    return prove_on(
               scope.set, {scope.domain}, {}, scope.cap, scope.equilibrium.scale,
               [&](const Box& q) {
                   BoxTest t;
                   t.proved = positive_definite(block(symmetric_part(e.damping(q)), rows));
                   t.undecided = q;
                   if (!t.proved)
                       t.side = decisive_side(q, scope.equilibrium.scale,
                                              [&](const Box& b) { return spread_of(e.damping(b)); });
                   return t;
               },
               std::min(scope.budget, max_damping_boxes))
        .proved;
}

/// A sample position at which f^nc(q, 0) ≠ 0 fails the condition; true: `c` is final.
bool fails_at_rest(const ConditionScope& scope, Condition& c) {
    const Enclosure& e = scope.enclosure();
    for (const std::vector<double>& q : sample_positions(scope)) {
        const IntervalVector at = e.forces_at_rest(point_box(q));
        for (std::size_t k = 0; k < at.size(); ++k)
            if (at[k].lo > 0.0 || at[k].hi < 0.0) {
                c.evidence = "the force f on " + scope.model().coordinates[k] + " is " + number(expr::midpoint(at[k])) +
                             " for u = 0; a force with a potential belongs in U";
                c.witness.q = q;
                c.witness.u.assign(static_cast<std::size_t>(e.size()), 0.0);
                c.witness.values.emplace_back("f " + scope.model().coordinates[k], expr::midpoint(at[k]));
                return true;
            }
    }
    return false;
}

/// f^nc is linear in u. `vanishes`: f^nc(q, 0) = 0 is proved.
void decide_linear_damping(const ConditionScope& scope, bool vanishes, Condition& c) {
    const Enclosure& e = scope.enclosure();
    const IntervalMatrix S = symmetric_part(e.damping(scope.domain));
    const std::vector<int> rows = nonzero_rows(S);
    if (rows.empty() && vanishes) {
        c.verdict = Verdict::proved;
        c.evidence = "no other smooth force does work";
        return;
    }
    const bool rayleigh =
        e.quadratic_rayleigh && e.dissipation(scope.domain, whole_space(static_cast<std::size_t>(e.size()))).lo >= 0.0;
    if (vanishes && (rayleigh || prove_definite_damping(scope, rows))) {
        c.verdict = Verdict::proved;
        c.evidence = rayleigh ? "R is a quadratic form that is nowhere negative"
                              : "linear damping with a positive definite symmetric part on the velocities it acts on";
        return;
    }
    double smallest = Interval::infinity;
    for (const std::vector<double>& q : sample_positions(scope)) {
        const Matrix D = symmetric_part(e.damping(point_box(q))).middle();
        const Spectrum s = symmetric_spectrum(D);
        smallest = std::min(smallest, s.smallest);
        if (s.smallest < -negative_damping_ratio * (1.0 + std::fabs(s.largest))) {
            c.evidence =
                "damping supplies energy: u.Cu = " + number(s.smallest) + " for the unit velocity of the witness";
            c.witness.q = q;
            c.witness.u = list_of(s.smallest_direction);
            c.witness.values.emplace_back("u.Cu", s.smallest);
            return;
        }
    }
    c.verdict = Verdict::holds;
    c.evidence =
        "linear damping, smallest eigenvalue of its symmetric part " + number(smallest) + " at the examined positions";
}

/// f^nc is any function of u.
void decide_nonlinear_damping(const ConditionScope& scope, bool vanishes, Condition& c) {
    const Enclosure& e = scope.enclosure();
    const auto n = static_cast<std::size_t>(e.size());
    const Box u = std::isfinite(scope.kinetic) ? velocities_below(scope.kinetic, e.mass(scope.domain)) : whole_space(n);
    if (vanishes && e.damping_power(scope.domain, u).lo >= 0.0) {
        c.verdict = Verdict::proved;
        c.evidence = "the power -u.f is nowhere negative";
        return;
    }
    SampleNumbers numbers(velocity_seed);
    for (const std::vector<double>& q : sample_positions(scope))
        for (int k = 0; k < velocities_per_position; ++k) {
            std::vector<double> v;
            for (std::size_t j = 0; j < n; ++j) {
                const double fastest = std::isfinite(u[j].hi) ? u[j].hi : unbounded_speed;
                v.push_back(fastest * (2.0 * numbers.next() - 1.0));
            }
            const Interval power = e.damping_power(point_box(q), point_box(v));
            if (power.hi >= 0.0) continue;
            c.evidence = "the forces supply energy: -u.f = " + number(expr::midpoint(power));
            c.witness.q = q;
            c.witness.u = v;
            c.witness.values.emplace_back("-u.f", expr::midpoint(power));
            return;
        }
    c.verdict = Verdict::holds;
    c.evidence = "the power -u.f was not negative at any examined state";
}

/// The condition for the forces as they are at t = 0.
Condition dissipation_at_start(const ConditionScope& scope) {
    const Enclosure& e = scope.enclosure();
    Condition c{"3", "the other smooth forces take energy, -u.f >= 0, and vanish for u = 0", Verdict::fails, "", {}};
    const IntervalVector rest = e.forces_at_rest(scope.domain);
    const bool vanishes = std::all_of(rest.begin(), rest.end(), is_zero);
    if (!vanishes && fails_at_rest(scope, c)) return c;
    if (e.linear_damping)
        decide_linear_damping(scope, vanishes, c);
    else
        decide_nonlinear_damping(scope, vanishes, c);
    return c;
}

}  // namespace

Condition condition_3_dissipation(const ConditionScope& scope) {
    Condition c = dissipation_at_start(scope);
    if (scope.model().autonomous) return c;
    const Witness changing = changing_witness(scope);
    if (changing.given()) {
        c.verdict = Verdict::fails;
        c.evidence = "forces or friction depend on the time t";
        c.witness = changing;
    } else if (c.verdict == Verdict::proved) {
        c.verdict = Verdict::holds;
        c.evidence += ", examined at t = 0; the model depends on the time t";
    }
    return c;
}

}  // namespace saltus::stability
