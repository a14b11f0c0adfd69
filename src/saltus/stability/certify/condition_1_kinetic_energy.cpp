// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 1: T = ½uᵀM(q)u with M(q) > 0. The theory also needs scleronomic constraints, γ = Wᵀu
// with χ = 0 (28).
//
// Proof: T(q, 0) = 0, ∂T/∂u(q, 0) = 0 and χ = 0 by their enclosures over the whole domain. M > 0 by a cover of the
// positions in the level set; positive_definite() proves each box.
#include <algorithm>

#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

bool is_zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }
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

Condition condition_1_kinetic_energy(const ConditionScope& scope) {
    const Enclosure& e = scope.enclosure();
    Condition c{"1",
                "kinetic energy u'M(q)u/2 with M > 0; constraints, gaps and slips do not depend on time",
                Verdict::fails,
                "",
                {}};
    if (!scope.model().scleronomic) {
        c.evidence = "the kinetic energy, a constraint, a gap or a slip velocity depends on the time t";
        c.witness = moving_witness(scope);
        if (c.witness.given()) c.evidence += "; at the witness one moves although the coordinates rest";
        return c;
    }
    const IntervalVector rest = e.kinetic_rest(scope.domain);
    if (!all_zero(rest)) {
        for (const std::vector<double>& q : sample_positions(scope))
            for (const Interval& x : e.kinetic_rest(point_box(q)))
                if (x.lo > 0.0 || x.hi < 0.0) {
                    c.evidence = "T has terms that are not quadratic in the velocities";
                    c.witness.q = q;
                    return c;
                }
    }
    const IntervalVector chi = e.chi(scope.domain);
    for (std::size_t r = 0; r < chi.size(); ++r) {
        if (is_zero(chi[r])) continue;
        for (const std::vector<double>& q : sample_positions(scope)) {
            const Interval x = e.chi(point_box(q))[r];
            if (x.lo > 0.0 || x.hi < 0.0) {
                c.evidence = "a contact or slider moves by itself: its velocity is " + number(expr::midpoint(x)) +
                             " although the coordinates rest";
                c.witness.q = q;
                c.witness.u.assign(q.size(), 0.0);
                c.witness.values.emplace_back("chi", expr::midpoint(x));
                return c;
            }
        }
    }
    const CoverProof proof = prove_mass_matrix(scope);
    const bool structure = all_zero(rest) && all_zero(chi);
    c.verdict = proof.proved && structure ? Verdict::proved : Verdict::holds;
    c.evidence = proof.proved ? "M is positive definite over the level set (" + boxes_text(proof.boxes) + ")"
                              : "M is positive definite at every examined position";
    if (proof.proved) return c;
    for (const std::vector<double>& q : sample_positions(scope)) {
        const Spectrum s = symmetric_spectrum(e.mass(point_box(q)).middle());
        if (s.smallest > 0.0) continue;
        c.verdict = Verdict::fails;
        c.evidence = "M has the eigenvalue " + number(s.smallest);
        c.witness.q = q;
        c.witness.u = list_of(s.smallest_direction);
        return c;
    }
    return c;
}

}  // namespace saltus::stability
