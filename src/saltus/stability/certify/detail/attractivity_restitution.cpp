// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/impact/audit/dissipation.hpp"
#include "saltus/integrate/collision_at.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/attractivity_conditions.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

struct Coefficients {
    std::vector<Interval> e_n, e_t;  // one a contact
    std::vector<bool> friction;
};

Coefficients coefficients_of(const Ground& g) {
    const Enclosure& e = g.enclosure();
    const auto n = static_cast<std::size_t>(e.size());
    const IntervalVector values = e.coefficients(g.domain, whole_space(n));
    Coefficients c;
    for (const model::Contact& contact : g.model().contacts) {
        c.e_n.push_back(coefficient(values, contact.e_n));
        c.e_t.push_back(coefficient(values, contact.e_t));
        c.friction.push_back(!without_friction(contact.friction, values));
    }
    return c;
}

/// One number for all rows that an impact acts on.
bool all_equal(const Coefficients& c) {
    const Interval first = c.e_n.front();
    for (std::size_t k = 0; k < c.e_n.size(); ++k)
        for (const Interval& x : {c.e_n[k], c.friction[k] ? c.e_t[k] : c.e_n[k]})
            if (x.lo != first.lo || x.hi != first.hi) return false;
    return true;
}

/// The Delassus matrix over a box, and its rows' coefficients.
struct Delassus {
    IntervalMatrix D;
    std::vector<Interval> e;
};
std::optional<Delassus> delassus(const Ground& g, const Box& q, const std::vector<int>& closed, const Coefficients& c) {
    const Enclosure& e = g.enclosure();
    const IntervalMatrix all = e.row_matrix(q), M = e.mass(q);
    std::vector<int> rows, bilateral;
    Delassus result;
    for (const int r : closed) {
        const auto k = static_cast<std::size_t>(r - e.constraints());
        const model::Friction& f = g.model().contacts[k].friction;
        rows.push_back(r);
        result.e.push_back(c.e_n[k]);
        for (int j = 0; c.friction[k] && j < f.dimension; ++j) {
            rows.push_back(f.first_row + j);
            result.e.push_back(c.e_t[k]);
        }
    }
    for (const model::Constraint& constraint : g.model().constraints) bilateral.push_back(constraint.row);
    const IntervalMatrix W = rows_of(all, rows), G = rows_of(all, bilateral);
    const std::optional<IntervalMatrix> MW = solve(M, transpose(W));
    if (!MW) return std::nullopt;
    result.D = W * *MW;
    if (!bilateral.empty()) {
        const std::optional<IntervalMatrix> MG = solve(M, transpose(G));
        if (!MG) return std::nullopt;
        const std::optional<IntervalMatrix> x = solve(G * *MG, G * *MW);
        if (!x) return std::nullopt;
        result.D = result.D - W * *MG * *x;
    }
    return result;
}

IntervalMatrix negative(const IntervalMatrix& A) {
    IntervalMatrix B(A.rows(), A.cols());
    for (int i = 0; i < A.rows(); ++i)
        for (int j = 0; j < A.cols(); ++j) B(i, j) = -A(i, j);
    return B;
}

/// Condition 7a: 2e/(1 + e) < λ_min/λ_max.
bool small(const Delassus& d) {
    const IntervalMatrix I = IntervalMatrix::identity(d.D.rows());
    const double largest = largest_eigenvalue(d.D, I), smallest = -largest_eigenvalue(negative(d.D), I);
    double most = 0.0;
    for (const Interval& e : d.e) {
        if (e.lo < 0.0) return false;
        most = std::max(most, e.hi);
    }
    if (!(smallest > 0.0) || !std::isfinite(largest)) return false;
    const Interval left = Interval(2.0) * Interval(most) / (Interval(1.0) + Interval(most));
    return left.hi < (Interval(smallest) / Interval(largest)).lo;
}

/// What 7a is for: D B + B D > 0 with B = (I − E)(I + E)⁻¹.
bool definite(const Delassus& d) {
    IntervalMatrix S(d.D.rows(), d.D.cols());
    std::vector<Interval> b;
    for (const Interval& e : d.e) b.push_back((Interval(1.0) - e) / (Interval(1.0) + e));
    for (int i = 0; i < S.rows(); ++i)
        for (int j = 0; j < S.cols(); ++j)
            S(i, j) = d.D(i, j) * (b[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(j)]);
    return positive_definite(S);
}

}  // namespace

Condition restitution_condition(const Ground& g) {
    Condition c{"6", "Newton's impact law with 0 <= eN < 1 and |eT| < 1 at every contact", Verdict::proved, "", {}};
    const Coefficients e = coefficients_of(g);
    for (std::size_t k = 0; k < e.e_n.size(); ++k) {
        const model::Contact& contact = g.model().contacts[k];
        // One contact without friction bounces by Poisson's law as by Newton's.
        const bool alone = g.model().contacts.size() == 1 && !e.friction[k];
        if (contact.impact == model::ImpactLaw::energy || (contact.impact == model::ImpactLaw::poisson && !alone)) {
            c.verdict = Verdict::fails;
            c.evidence = "contact '" + contact.name + "' has the impact law \"" +
                         (contact.impact == model::ImpactLaw::energy ? "energy" : "poisson") +
                         "\"; the theorem is about Newton's";
            c.witness = collision_witness(g, k);
            return c;
        }
        const bool normal = e.e_n[k].lo >= 0.0 && e.e_n[k].hi < 1.0;
        const bool tangential = !e.friction[k] || (e.e_t[k].lo > -1.0 && e.e_t[k].hi < 1.0);
        if (normal && tangential) continue;
        c.verdict = Verdict::fails;
        c.evidence = "contact '" + contact.name + "' has " +
                     (normal ? "eT = " + number(expr::midpoint(e.e_t[k])) : "eN = " + number(expr::midpoint(e.e_n[k])));
        c.witness = collision_witness(g, k);
        c.witness.values.emplace_back(normal ? "eT" : "eN", expr::midpoint(normal ? e.e_t[k] : e.e_n[k]));
        return c;
    }
    double most = 0.0;
    for (const Interval& x : e.e_n) most = std::max(most, x.hi);
    c.evidence = "largest eN " + number(most);
    return c;
}

Condition impact_condition(const Ground& g) {
    Condition c{
        "7", "impacts take energy: (a) small, (b) equal or (c) frictionless restitution", Verdict::proved, "", {}};
    const Coefficients e = coefficients_of(g);
    const Enclosure& enclosure = g.enclosure();
    if (std::none_of(e.friction.begin(), e.friction.end(), [](bool f) { return f; })) {
        c.evidence = "(c): no contact has friction";
        return c;
    }
    const bool nonnegative = std::all_of(e.e_n.begin(), e.e_n.end(), [](const Interval& x) { return x.lo >= 0.0; });
    if (all_equal(e) && nonnegative) {
        c.evidence = "(b): all coefficients are " + number(expr::midpoint(e.e_n.front()));
        return c;
    }
    // Any gaps may close together, anywhere in the level set.
    std::vector<int> gaps;
    for (int r = enclosure.constraints(); r < enclosure.positions(); ++r) gaps.push_back(r);
    bool by_7a = true, proved = gaps.size() <= 8;
    Box where;
    std::vector<int> together;
    for (unsigned mask = 1; proved && mask < (1U << gaps.size()); ++mask) {
        const std::vector<int> closed = PositionTests::subset(gaps, mask);
        const CoverProof proof = prove_on(
            g.set, {g.domain}, closed, g.cap, g.rest.scale,
            [&](const Box& q) {
                BoxTest t;
                const std::optional<Delassus> d = delassus(g, q, closed, e);
                const bool a = d && small(*d);
                t.proved = d && (a || definite(*d));
                t.open = q;
                if (t.proved) {
                    by_7a = by_7a && a;
                } else {
                    t.side = decisive_side(q, g.rest.scale, [&](const Box& b) {
                        const std::optional<Delassus> x = delassus(g, b, closed, e);
                        return x ? spread_of(x->D) : 1e300;
                    });
                }
                return t;
            },
            std::min(g.budget, 5000L), 1e-4);
        proved = proof.proved;
        if (proved) continue;
        where = proof.box;
        together = closed;
    }
    if (proved) {
        c.evidence =
            by_7a ? "(a): 2e/(1 + e) < 1/cond(D), with every e >= 0, for all gaps that close in the level set"
                  : "not (a) as written, but what it is for: D B is positive definite for all gaps that close in the "
                    "level set";
        return c;
    }
    if (where.empty()) {
        c.verdict = Verdict::holds;
        c.evidence = "not examined: too many gaps can close together";
        return c;
    }
    // Where it could not be shown, and at the equilibrium: numbers, and a collision that creates energy.
    c.verdict = Verdict::fails;
    c.witness.q = centre(where);
    const std::optional<Delassus> there = delassus(g, point_box(c.witness.q), together, e);
    impact::DissipationTest test;
    if (there) {
        Vector coefficients(static_cast<Index>(there->e.size()));
        for (std::size_t k = 0; k < there->e.size(); ++k)
            coefficients(static_cast<Index>(k)) = expr::midpoint(there->e[k]);
        test = impact::dissipation_test({there->D.middle(), coefficients, true});
        c.evidence = "restitution is neither equal nor without friction, and 2e/(1 + e) = " + number(test.left) +
                     (test.small_coefficients_as_printed ? " with some e < 0 says nothing against" : " is not below") +
                     " 1/cond(D) = " + number(test.right);
        c.witness.values = {{"2e/(1+e)", test.left},
                            {"1/cond(D)", test.right},
                            {"smallest eigenvalue of DB", test.smallest_eigenvalue}};
        if (test.safe) {
            c.verdict = Verdict::holds;
            c.witness = {};
            c.evidence = "impacts take energy at every position looked at; over the whole level set it is not shown";
            return c;
        }
    } else {
        c.evidence = "restitution is neither equal nor without friction, and not small against cond(D)";
    }
    const std::vector<double> q(g.rest.q.data(), g.rest.q.data() + g.rest.q.size()), u(q.size(), 0.0);
    const integrate::ModelCollision at =
        integrate::collision_at(g.model(), 0.0, q, u, integrate::closed_elements(g.model(), 0.0, q));
    if (!at.singular && at.collision.directions.cols() > 0) {
        // The coefficients of the laws; at rest, as here, an impact has none.
        Vector rows = Vector::Zero(at.collision.directions.cols());
        impact::each_block(at.collision, [&](std::size_t block, Index first) {
            if (!impact::has_normal(at.collision.laws[block])) return;
            const auto k = static_cast<std::size_t>(at.owner[block]);  // contacts are the first elements
            for (Index i = 0; i < at.collision.sizes[block]; ++i)
                rows(first + i) = expr::midpoint(i == 0 ? e.e_n[k] : e.e_t[k]);
        });
        const impact::EnergyCreation creation = impact::find_energy_creation(at.collision, rows);
        if (creation.found) {
            c.evidence += "; the collision of the witness creates energy";
            c.witness.q = q;
            c.witness.u.assign(creation.u_minus.data(), creation.u_minus.data() + creation.u_minus.size());
            c.witness.values.emplace_back("energy created", creation.work);
        }
    }
    return c;
}

}  // namespace saltus::stability
