// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 7: impacts do not create energy. The energy change of an impact of Newton's law is
// (70)–(74)
//     ΔV = −D^ΛT − ½Λᵀ D B Λ,   D = WᵀM⁻¹W,   B = (I − E)(I + E)⁻¹,
// with the dissipation D^ΛT >= 0 of friction. It is not positive if the symmetric part of D B is positive semidefinite.
// (c) no friction:          Λ_N >= 0 and complementarity suffice.
// (b) one coefficient e:    D B = (1 − e)/(1 + e) D.
// (a) small coefficients:   2e_max/(1 + e_max) < 1/cond(D) with all e >= 0 (Proposition 4; docs/papers.md adds e >= 0).
// If (a) fails, its conclusion is proved directly: D B + B D is positive definite.
//
// Proof: (b) and (c) by the bounds of the coefficients. (a) on a cover of the positions, for every set of gaps that may
// close together. With bilateral constraints D is the Delassus matrix along the constraints.
#include <algorithm>
#include <cmath>

#include "saltus/impact/audit/dissipation.hpp"
#include "saltus/integrate/collision_at.hpp"
#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// 2^n sets of n gaps are enumerated. The cover of each uses at most this number of boxes, and gives up at boxes
/// smaller than this fraction of the scales.
constexpr std::size_t max_gaps = 8;
constexpr long max_impact_boxes = 5000;
constexpr double smallest_box = 1e-4;

/// The coefficients of all rows on which an impact acts are one number. Equal bounds are not enough: two coefficients
/// that vary over the same range differ at most states.
bool all_equal(const ContactCoefficients& c) {
    const Interval first = c.e_n.front();
    for (std::size_t k = 0; k < c.e_n.size(); ++k)
        for (const Interval& x : {c.e_n[k], c.friction[k] ? c.e_t[k] : c.e_n[k]})
            if (!x.defined || !is_point(x) || x.lo != first.lo) return false;
    return true;
}

/// The Delassus matrix of the closed gaps and their slips over a box, and the restitution coefficient of each row. With
/// constraints G: D = W M⁻¹Wᵀ − W M⁻¹Gᵀ (G M⁻¹Gᵀ)⁻¹ G M⁻¹Wᵀ, here with W and G as matrices of rows.
struct Delassus {
    IntervalMatrix D;
    std::vector<Interval> e;
};
std::optional<Delassus> delassus(const ConditionScope& scope, const Box& q, const std::vector<int>& closed,
                                 const ContactCoefficients& c) {
    const Enclosure& e = scope.enclosure();
    const IntervalMatrix all = e.row_matrix(q), M = e.mass(q);
    std::vector<int> rows, bilateral;
    Delassus result;
    for (const int r : closed) {
        const auto k = static_cast<std::size_t>(r - e.constraints());
        const model::Friction& f = scope.model().contacts[k].friction;
        rows.push_back(r);
        result.e.push_back(c.e_n[k]);
        for (int j = 0; c.friction[k] && j < f.dimension; ++j) {
            rows.push_back(f.first_row + j);
            result.e.push_back(c.e_t[k]);
        }
    }
    for (const model::Constraint& constraint : scope.model().constraints) bilateral.push_back(constraint.row);
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

/// Condition 7a: e >= 0 and 2e_max/(1 + e_max) < λ_min(D)/λ_max(D) = 1/cond(D).
bool has_small_coefficients(const Delassus& d) {
    const IntervalMatrix I = IntervalMatrix::identity(d.D.rows());
    const double largest = largest_eigenvalue(d.D, I), smallest = -largest_eigenvalue(negative(d.D), I);
    double e_max = 0.0;
    for (const Interval& e : d.e) {
        if (e.lo < 0.0) return false;
        e_max = std::max(e_max, e.hi);
    }
    if (!(smallest > 0.0) || !std::isfinite(largest)) return false;
    const Interval left = Interval(2.0) * Interval(e_max) / (Interval(1.0) + Interval(e_max));
    return left.hi < (Interval(smallest) / Interval(largest)).lo;
}

/// The conclusion of 7a: D B + B D is positive definite, (D B + B D)_ij = D_ij (b_i + b_j) with b = (1 − e)/(1 + e).
bool is_dissipative(const Delassus& d) {
    IntervalMatrix S(d.D.rows(), d.D.cols());
    std::vector<Interval> b;
    for (const Interval& e : d.e) b.push_back((Interval(1.0) - e) / (Interval(1.0) + e));
    for (int i = 0; i < S.rows(); ++i)
        for (int j = 0; j < S.cols(); ++j)
            S(i, j) = d.D(i, j) * (b[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(j)]);
    return positive_definite(S);
}

/// The proof of 7a, or of its conclusion, for all sets of gaps.
struct ImpactProof {
    bool proved = false;
    bool by_7a = true;          // by 7a itself on every box
    Box box;                    // if not proved: where it failed; empty: too many gaps
    std::vector<int> together;  // and the gaps that close together there
};
ImpactProof prove_small_restitution(const ConditionScope& scope, const ContactCoefficients& e) {
    const Enclosure& enclosure = scope.enclosure();
    const std::vector<double>& scale = scope.equilibrium.scale;
    std::vector<int> gaps;
    for (int r = enclosure.constraints(); r < enclosure.positions(); ++r) gaps.push_back(r);
    ImpactProof result;
    result.proved = gaps.size() <= max_gaps;
    for (unsigned mask = 1; result.proved && mask < (1U << gaps.size()); ++mask) {
        const std::vector<int> closed = subset(gaps, mask);
        const auto test = [&](const Box& q) {
            BoxTest t;
            const std::optional<Delassus> d = delassus(scope, q, closed, e);
            const bool small = d && has_small_coefficients(*d);
            t.proved = d && (small || is_dissipative(*d));
            t.undecided = q;
            if (t.proved) {
                result.by_7a = result.by_7a && small;
            } else {
                t.side = decisive_side(q, scale, [&](const Box& b) {
                    const std::optional<Delassus> x = delassus(scope, b, closed, e);
                    return x ? spread_of(x->D) : unknown_spread;
                });
            }
            return t;
        };
        const CoverProof proof = prove_on(scope.set, {scope.domain}, closed, scope.cap, scale, test,
                                          std::min(scope.budget, max_impact_boxes), smallest_box);
        result.proved = proof.proved;
        if (result.proved) continue;
        result.box = proof.box;
        result.together = closed;
    }
    return result;
}

/// A collision at the equilibrium that creates energy, if the search finds one, into the witness.
void add_energy_creation(const ConditionScope& scope, const ContactCoefficients& e, Condition& c) {
    const std::vector<double> q = list_of(scope.equilibrium.q), u(q.size(), 0.0);
    const integrate::ModelCollision at =
        integrate::collision_at(scope.model(), 0.0, q, u, integrate::closed_elements(scope.model(), 0.0, q));
    if (at.singular || at.collision.directions.cols() == 0) return;
    // The coefficients of the laws: an impact at rest has none of its own.
    Vector rows = Vector::Zero(at.collision.directions.cols());
    impact::each_block(at.collision, [&](std::size_t block, Index first) {
        if (!impact::has_normal(at.collision.laws[block])) return;
        const auto k = static_cast<std::size_t>(at.owner[block]);  // contacts are the first elements
        for (Index i = 0; i < at.collision.sizes[block]; ++i)
            rows(first + i) = expr::midpoint(i == 0 ? e.e_n[k] : e.e_t[k]);
    });
    const impact::EnergyCreation creation = impact::find_energy_creation(at.collision, rows);
    if (!creation.found || !(creation.work > 0.0)) return;
    c.verdict = Verdict::fails;
    c.evidence += "; the collision of the witness creates energy";
    c.witness.q = q;
    c.witness.u.assign(creation.u_minus.data(), creation.u_minus.data() + creation.u_minus.size());
    c.witness.values.emplace_back("energy created", creation.work);
}

/// The proof of 7a failed at `where`: the numbers there, and a collision that creates energy. Without such a collision
/// nothing is decided, since 7a is only sufficient.
void judge_failure(const ConditionScope& scope, const ContactCoefficients& e, const ImpactProof& where, Condition& c) {
    const std::vector<double> q = centre(where.box);
    const std::optional<Delassus> there = delassus(scope, point_box(q), where.together, e);
    c.evidence = "the restitution coefficients differ, there is friction, and 2e/(1 + e) is not below 1/cond(D)";
    if (there) {
        Vector coefficients(static_cast<Index>(there->e.size()));
        for (std::size_t k = 0; k < there->e.size(); ++k)
            coefficients(static_cast<Index>(k)) = expr::midpoint(there->e[k]);
        const impact::DissipationTest test = impact::dissipation_test({there->D.middle(), coefficients, true});
        c.evidence = "the restitution coefficients differ, there is friction, and 2e/(1 + e) = " + number(test.left) +
                     (test.small_coefficients_as_printed ? " is below" : " is not below") +
                     " 1/cond(D) = " + number(test.right) +
                     (test.small_coefficients_as_printed ? ", but some e < 0" : "");
        c.witness.values = {{"2e/(1+e)", test.left},
                            {"1/cond(D)", test.right},
                            {"smallest eigenvalue of DB", test.smallest_eigenvalue}};
    }
    add_energy_creation(scope, e, c);
    if (c.verdict == Verdict::fails) return;
    c.witness = {};
    c.evidence += "; no collision at the equilibrium was found that creates energy";
}

}  // namespace

Condition condition_7_impacts(const ConditionScope& scope) {
    Condition c{"7", condition_text::impacts, Verdict::proved, "", {}};
    const ContactCoefficients e = contact_coefficients(scope);
    const model::Model& model = scope.model();
    if (!model.contacts.empty() && !frictional_constraints(scope.enclosure()).empty()) {
        c.verdict = Verdict::not_examined;
        c.evidence = "impacts act on constraints with friction, which the condition does not treat";
        return c;
    }
    if (std::none_of(e.friction.begin(), e.friction.end(), [](bool f) { return f; })) {
        c.evidence = "(c): no contact has friction";
        return c;
    }
    const bool nonnegative = std::all_of(e.e_n.begin(), e.e_n.end(), [](const Interval& x) { return x.lo >= 0.0; });
    if (all_equal(e) && nonnegative) {
        c.evidence = "(b): all coefficients are " + number(expr::midpoint(e.e_n.front()));
        return c;
    }
    const ImpactProof proof = prove_small_restitution(scope, e);
    if (proof.proved) {
        c.evidence =
            proof.by_7a ? "(a): 2e/(1 + e) < 1/cond(D), with every e >= 0, for all gaps that close in the level set"
                        : "not (a) as written, but its conclusion: D B is positive definite for all gaps that close in "
                          "the level set";
        return c;
    }
    c.verdict = Verdict::not_examined;
    if (proof.box.empty())
        c.evidence = "more than " + std::to_string(max_gaps) + " gaps can close together";
    else if (!scope.probing)
        judge_failure(scope, e, proof, c);
    return c;
}

}  // namespace saltus::stability
