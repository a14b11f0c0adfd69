// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 6: Newton's impact law with 0 <= e_N < 1 and |e_T| < 1 at every contact.
//
// Proof: the enclosures of the coefficients over the domain and all velocities. Poisson's law equals Newton's for a
// single contact without friction; other laws are outside of the theorem.
#include <algorithm>

#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

ContactCoefficients contact_coefficients(const ConditionScope& scope) {
    const Enclosure& e = scope.enclosure();
    const IntervalVector values = e.coefficients(scope.domain, whole_space(static_cast<std::size_t>(e.size())));
    ContactCoefficients c;
    for (const model::Contact& contact : scope.model().contacts) {
        c.e_n.push_back(coefficient(values, contact.e_n));
        c.e_t.push_back(coefficient(values, contact.e_t));
        c.friction.push_back(!proof::without_friction(contact.friction, values));
        c.mu.push_back(coefficient(values, contact.friction.mu[0]));
    }
    return c;
}

namespace {

/// The bounds of e_N or e_T of contact k are not those of the theorem. The condition fails if the coefficient just
/// before the collision of the witness is outside of them too.
void judge_coefficient(const ConditionScope& scope, std::size_t k, model::Coefficient which, bool tangential,
                       Condition& c) {
    const std::string name = tangential ? "eT" : "eN";
    c.verdict = Verdict::not_examined;
    c.evidence = name + " of contact '" + scope.model().contacts[k].name +
                 "' is not proved to have the values of the theorem at all states";
    const Witness w = collision_witness(scope, k);
    if (!w.given()) return;
    const Interval e = coefficient(scope.enclosure().coefficients(point_box(w.q), point_box(w.u)), which);
    const bool allowed = e.hi < 1.0 && (tangential ? e.lo > -1.0 : e.lo >= 0.0);
    if (allowed || !e.defined) return;
    c.verdict = Verdict::fails;
    c.evidence = "contact '" + scope.model().contacts[k].name + "' has " + name + " = " + number(expr::midpoint(e));
    c.witness = w;
    c.witness.values.emplace_back(name, expr::midpoint(e));
}

}  // namespace

Condition condition_6_restitution(const ConditionScope& scope) {
    Condition c{"6", "Newton's impact law with 0 <= eN < 1 and |eT| < 1 at every contact", Verdict::proved, "", {}};
    const ContactCoefficients e = contact_coefficients(scope);
    for (std::size_t k = 0; k < e.e_n.size(); ++k) {
        const model::Contact& contact = scope.model().contacts[k];
        const bool single_frictionless = scope.model().contacts.size() == 1 && !e.friction[k];
        if (contact.impact == model::ImpactLaw::energy ||
            (contact.impact == model::ImpactLaw::poisson && !single_frictionless)) {
            c.verdict = Verdict::fails;
            c.evidence = "contact '" + contact.name + "' has the impact law \"" +
                         (contact.impact == model::ImpactLaw::energy ? "energy" : "poisson") +
                         "\"; the theorem is about Newton's";
            c.witness = collision_witness(scope, k);
            return c;
        }
        const bool normal = e.e_n[k].lo >= 0.0 && e.e_n[k].hi < 1.0;
        const bool tangential = !e.friction[k] || (e.e_t[k].lo > -1.0 && e.e_t[k].hi < 1.0);
        if (normal && tangential) continue;
        judge_coefficient(scope, k, normal ? contact.e_t : contact.e_n, normal, c);
        return c;
    }
    double largest = 0.0;
    for (const Interval& x : e.e_n) largest = std::max(largest, x.hi);
    c.evidence = "largest eN " + number(largest);
    return c;
}

}  // namespace saltus::stability
