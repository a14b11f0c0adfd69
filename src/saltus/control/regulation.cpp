// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"
#include "saltus/control/regulation_domain.hpp"
#include "saltus/control/regulation_equilibria.hpp"
#include "saltus/control/regulation_invariance.hpp"
#include "saltus/control/regulation_rows.hpp"

namespace saltus::control {

using namespace saltus::proof;

const char* to_string(Scope scope) {
    switch (scope) {
        case Scope::global: return "global";
        case Scope::local: return "local";
        case Scope::inconclusive: return "inconclusive";
    }
    return "";
}

namespace {

Scope narrower(Scope a, Scope b) { return static_cast<Scope>(std::max(static_cast<int>(a), static_cast<int>(b))); }

std::vector<ElementForce> forces_of(const model::Model& m, const Rest& rest) {
    std::vector<ElementForce> list;
    for (const model::Contact& c : m.contacts) list.push_back({c.name, rest.lambda(c.row), {}});
    for (const model::Constraint& c : m.constraints) list.push_back({c.name, rest.lambda(c.row), {}});
    return list;
}

}  // namespace

RegulationCertificate certify_regulation(const model::Model& m, const RegulationOptions& o) {
    if (!m.control)
        throw Error("regulation is about a controller, and the model has no [control]", {},
                    "add one, or take --theorem attractivity");
    RegulationCertificate out;
    Certificate& t = out.table;
    t.theorem = "regulation";
    const bool under = static_cast<int>(m.control->actuated.size()) < m.size();
    t.basis = under ? "Theorem 5 with Remark 6" : "Theorem 5";
    Scope rigid = Scope::global;
    const auto add = [&](Row row) {
        rigid = narrower(rigid, row.condition.verdict == Verdict::fails ? Scope::inconclusive : row.scope);
        t.conditions.push_back(std::move(row.condition));
    };
    const Domain domain(m);
    add(law_row(domain));
    if (const std::string why = statics_refusal(m, ContactModel::rigid); !why.empty() || !m.constraints.empty()) {
        t.summary = "the closed loop is not of the theorem's kind";
        return out;
    }
    Statics statics(m, ContactModel::rigid);
    const std::vector<double> from = o.at.value_or(m.q0);
    const Rest rest = find_rest(statics, from);
    out.solutions = algebraic_solutions(domain, statics, ContactModel::rigid, rest.found ? rest.q : from);
    if (!rest.found) {
        add(no_equilibrium_row(rest));
        t.summary = "no equilibrium was found";
        return out;
    }
    t.q = rest.q;
    t.forces = forces_of(m, rest);
    const InertiaBounds inertia = inertia_bounds(domain, rest.q, o.budget);
    const Uniqueness unique = prove_unique(domain, rest, o.budget);
    add(inertia_row(inertia));
    add(motion_row(domain));
    add(independence_row(gradients_independent(domain, out.solutions, scales(m, rest.q), o.budget)));
    add(equilibrium_row(domain, rest, out.solutions, unique));
    PotentialBounds bounds;
    add(potential_row(domain, statics, rest, unique, out.solutions, bounds));
    add(impact_row(domain, rest));
    add(invariance_row("R6", only_rest_is_undamped(domain, statics, rest, ContactModel::rigid), under, "(26)"));
    out.rigid = rigid;

    t.values = {{"b_lower", inertia.lower},
                {"b_upper", inertia.upper},
                {"a_lower", bounds.lower},
                {"a_upper", bounds.upper},
                {"actuated", static_cast<double>(m.control->actuated.size())}};
    if (rigid == Scope::local && unique.proved && unique.level > 0.0) {
        t.has_rho = true;
        t.rho = t.rho_verified = unique.level;
    } else if (rigid == Scope::global) {
        t.has_rho = true;
        t.rho = Interval::infinity;
        if (unique.proved) t.rho_verified = Interval::infinity;
    }

    out.no_springs = statics_refusal(m, ContactModel::springs);
    out.with_springs = out.no_springs.empty() && !m.contacts.empty();
    if (out.with_springs) {
        Scope springs = t.conditions.front().verdict == Verdict::fails ? Scope::inconclusive : Scope::global;
        const auto add_spring = [&](Row row) {
            springs = narrower(springs, row.condition.verdict == Verdict::fails ? Scope::inconclusive : row.scope);
            t.conditions.push_back(std::move(row.condition));
        };
        Statics soft(m, ContactModel::springs);
        out.spring_rest = find_rest(soft, rest.q);
        if (!out.spring_rest.found) {
            add_spring(no_equilibrium_row(out.spring_rest, "6"));
        } else {
            out.spring_solutions = algebraic_solutions(domain, soft, ContactModel::springs, out.spring_rest.q);
            PotentialBounds spring_bounds;
            Row seven = spring_potential_row(domain, soft, out.spring_rest, out.spring_solutions, spring_bounds);
            add_spring(spring_motion_row(domain, inertia, seven));
            add_spring(spring_equilibrium_row(out.spring_rest, out.spring_solutions, spring_bounds));
            add_spring(std::move(seven));
            add_spring(invariance_row(
                "R13", only_rest_is_undamped(domain, soft, out.spring_rest, ContactModel::springs), under, "(47)"));
            t.values.emplace_back("penalty_a_lower", spring_bounds.lower);
            t.values.emplace_back("penalty_a_upper", spring_bounds.upper);
        }
        if (const Condition* one = t.find("1"); one != nullptr && one->verdict == Verdict::fails)
            springs = Scope::inconclusive;
        out.springs = springs;
    }

    t.outcome = rigid == Scope::inconclusive ? Outcome::inconclusive : Outcome::attractive;
    std::vector<Condition> own;  // those of the rigid theorem
    for (const Condition& c : t.conditions)
        if (c.id != "5" && c.id != "6" && c.id != "7" && c.id != "R13") own.push_back(c);
    t.grade = grade_of(own);
    t.summary = summary(out, domain, rest);
    warn(out, domain, rest);
    return out;
}

}  // namespace saltus::control
