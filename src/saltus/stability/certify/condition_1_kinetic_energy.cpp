// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 1: T = ½uᵀM(q)u with M(q) > 0. The theory also needs scleronomic constraints, γ = Wᵀu
// with χ = 0 (28).
//
// Proof: T(q, 0) = 0, ∂T/∂u(q, 0) = 0 and χ = 0 by their enclosures over the whole domain. M > 0 by a cover of the
// positions in the level set; positive_definite() proves each box. Every set { V <= c } with c below the level is
// closed and bounded (condition 2), so that M has a positive lower bound on it and the velocities are bounded.
#include <algorithm>

#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

bool all_zero(const IntervalVector& v) { return std::all_of(v.begin(), v.end(), is_zero); }

/// M is positive definite at all positions of the scope.
CoverProof prove_mass_matrix(const ConditionScope& scope) {
    const Enclosure& e = scope.enclosure();
    return prove_on(
        scope.set, {scope.domain}, {}, scope.cap, scope.equilibrium.scale,
        [&](const Box& q) {
            BoxTest t;
            t.proved = positive_definite(e.mass(q));
            t.undecided = q;
            if (!t.proved)
                t.side = decisive_side(q, scope.equilibrium.scale, [&](const Box& b) { return spread_of(e.mass(b)); });
            return t;
        },
        scope.budget);
}

}  // namespace

namespace {

/// The model depends on time. At the witness a contact or slider moves although the coordinates rest.
void judge_time_dependence(const ConditionScope& scope, Condition& c) {
    c.evidence = "the kinetic energy, a constraint, a gap or a slip velocity depends on the time t";
    c.witness = moving_witness(scope);
    if (!c.witness.given()) return;
    c.verdict = Verdict::fails;
    c.evidence += "; at the witness one moves although the coordinates rest";
}

/// T and χ at sample positions. The condition fails at the first one at which something moves by itself.
void judge_own_motion(const ConditionScope& scope, Condition& c) {
    const Enclosure& e = scope.enclosure();
    const auto differs = [](const Interval& x) { return x.lo > 0.0 || x.hi < 0.0; };
    for (const std::vector<double>& q : sample_positions(scope)) {
        const IntervalVector rest = e.kinetic_rest(point_box(q)), chi = e.chi(point_box(q));
        c.witness.q = q;
        c.verdict = Verdict::fails;
        if (std::any_of(rest.begin(), rest.end(), differs)) {
            c.evidence = "T has terms that are not quadratic in the velocities";
            return;
        }
        if (const auto x = std::find_if(chi.begin(), chi.end(), differs); x != chi.end()) {
            c.evidence = "a contact or slider moves by itself: its velocity is " + number(expr::midpoint(*x)) +
                         " although the coordinates rest";
            c.witness.u.assign(q.size(), 0.0);
            c.witness.values.emplace_back("chi", expr::midpoint(*x));
            return;
        }
    }
    c.witness = {};
    c.verdict = Verdict::not_examined;
    c.evidence = "it is not proved that T is quadratic and that nothing moves by itself";
}

/// M is not proved to be positive definite: a sample position and velocity with uᵀMu <= 0 is the witness.
void judge_mass_matrix(const ConditionScope& scope, Condition& c) {
    for (const std::vector<double>& q : sample_positions(scope)) {
        const IntervalMatrix M = scope.enclosure().mass(point_box(q));
        const Spectrum s = symmetric_spectrum(M.middle());
        if (!(quadratic_form(M, list_of(s.smallest_direction)).hi <= 0.0)) continue;
        c.verdict = Verdict::fails;
        c.evidence = "M has the eigenvalue " + number(s.smallest);
        c.witness.q = q;
        c.witness.u = list_of(s.smallest_direction);
        return;
    }
}

}  // namespace

Condition condition_1_kinetic_energy(const ConditionScope& scope) {
    const Enclosure& e = scope.enclosure();
    Condition c{"1",
                "kinetic energy u'M(q)u/2 with M > 0; constraints, gaps and slips do not depend on time",
                Verdict::not_examined,
                "",
                {}};
    if (!scope.model().scleronomic) {
        if (!scope.probing) judge_time_dependence(scope, c);
        return c;
    }
    if (!all_zero(e.kinetic_rest(scope.domain)) || !all_zero(e.chi(scope.domain))) {
        if (!scope.probing) judge_own_motion(scope, c);
        return c;
    }
    const CoverProof proof = prove_mass_matrix(scope);
    if (proof.proved && proof.boxes == 0) {
        c.evidence = "there is no admissible position to examine";
        return c;
    }
    if (proof.proved) {
        c.verdict = Verdict::proved;
        c.evidence = "M is positive definite over the level set (" + boxes_text(proof.boxes) +
                     "), so that it has a positive lower bound on every bounded part of it";
        return c;
    }
    c.evidence = "it is not proved that M is positive definite near " +
                 position_text(scope.model(), vector_of(centre(proof.box)));
    if (!scope.probing) judge_mass_matrix(scope, c);
    return c;
}

}  // namespace saltus::stability
