// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 7: impacts do not create energy. The energy change of an impact of Newton's law is
// (70)–(74)
//     ΔV = −D^ΛT − ½Λᵀ D B Λ,   D = WᵀM⁻¹W,   B = (I − E)(I + E)⁻¹,
// with the dissipation D^ΛT >= 0 of friction. It is not positive if the symmetric part of D B is positive semidefinite.
// (c) no friction:          Λ_N >= 0 and complementarity suffice.
// (b) one coefficient e:    D B = (1 − e)/(1 + e) D.
// (a) small coefficients:   2e_max/(1 + e_max) < 1/cond(D) with all e >= 0 (Proposition 4; docs/papers.md adds e >= 0).
// If (a) fails, its conclusion is proved directly: D B + B D is positive definite. If this fails too, it is enough that
// Λᵀ D B Λ > 0 for the impulses that the laws allow: Λ_N >= 0 and |Λ_T| <= μ Λ_N. They are Σ x_k r_k with x_k >= 0 for
// the rays r = (1, ±μ) of each contact, so that the matrix r_iᵀ D B r_j must be strictly copositive.
//
// With e_N = 1 the work can be 0. Impacts then do not create energy if the matrix is copositive; this is enough for
// stability, and attractivity fails by condition 6.
//
// Proof: (b) and (c) by the bounds of the coefficients. (a) on a cover of the positions, for every set of gaps that may
// close together. With bilateral constraints D is the Delassus matrix along the constraints.
#include <algorithm>
#include <cmath>

#include "saltus/impact/audit/dissipation.hpp"
#include "saltus/integrate/collision_at.hpp"
#include "saltus/model/mechanics.hpp"
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
constexpr double smallest_position_box = 1e-4;

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
    struct Cone {
        int normal;  // row of Λ_N; the rows of Λ_T follow
        int slips;   // number of rows of Λ_T
        double mu;   // upper bound of the friction coefficient
    };
    std::vector<Cone> cones;  // one for each closed contact
    bool planar = true;       // every friction law is Coulomb's with one or two slip directions
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
        const bool coulomb = f.law == model::FrictionLaw::coulomb && f.dimension <= 2;
        result.planar = result.planar && (!c.friction[k] || coulomb);
        result.cones.push_back({static_cast<int>(rows.size()), c.friction[k] ? f.dimension : 0, c.mu[k].hi});
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

/// D B + B D is positive semidefinite: rows that are zero throughout (e = 1) are left out.
bool creates_no_energy(const Delassus& d) {
    std::vector<Interval> b;
    for (const Interval& e : d.e) b.push_back((Interval(1.0) - e) / (Interval(1.0) + e));
    IntervalMatrix S(d.D.rows(), d.D.cols());
    std::vector<int> rows;
    for (int i = 0; i < S.rows(); ++i) {
        bool zero = true;
        for (int j = 0; j < S.cols(); ++j) {
            S(i, j) = d.D(i, j) * (b[static_cast<std::size_t>(i)] + b[static_cast<std::size_t>(j)]);
            zero = zero && S(i, j).lo == 0.0 && S(i, j).hi == 0.0;
        }
        if (!zero) rows.push_back(i);
    }
    const IntervalMatrix rest = transpose(rows_of(transpose(rows_of(S, rows)), rows));
    return rows.empty() || positive_definite(rest) || positive_semidefinite(rest);
}

/// Whether xᵀ A x is positive, or only not negative.
enum class Sign { positive, not_negative };

/// Proves the sign of xᵀAx for all x >= 0, x ≠ 0, and all symmetric matrices in A. On a simplex with the corners v_i, a
/// point is a convex combination of the corners, so that v_iᵀ A v_j > 0 for all i and j is enough. A simplex on which
/// this is not true is cut in two at the middle of its longest edge. False: not proved.
bool copositive(const IntervalMatrix& A, Sign sign) {
    constexpr int max_simplices = 400;
    const int n = A.rows();
    if (!A.finite()) return false;
    using Corners = std::vector<std::vector<double>>;
    const auto form = [&](const std::vector<double>& x, const std::vector<double>& y) {
        Interval sum;
        for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j) {
                const double a = x[static_cast<std::size_t>(i)], b = y[static_cast<std::size_t>(j)];
                if (a != 0.0 && b != 0.0) sum += A(i, j) * (Interval(a) * Interval(b));
            }
        return sum.lo;
    };
    Corners unit;
    for (int i = 0; i < n; ++i) {
        unit.emplace_back(static_cast<std::size_t>(n), 0.0);
        unit.back()[static_cast<std::size_t>(i)] = 1.0;
    }
    std::vector<Corners> stack{unit};
    for (int count = 0; !stack.empty(); ++count) {
        if (count >= max_simplices) return false;
        const Corners corners = std::move(stack.back());
        stack.pop_back();
        bool proved = true;
        std::size_t from = 0, to = 0;
        double longest = 0.0;
        for (std::size_t i = 0; i < corners.size(); ++i)
            for (std::size_t j = i; j < corners.size(); ++j) {
                const double value = form(corners[i], corners[j]);
                const bool holds = sign == Sign::positive ? value > 0.0 : value >= 0.0;
                if (!holds && i == j) return false;  // a corner is itself such an x
                proved = proved && holds;
                double length = 0.0;
                for (std::size_t k = 0; k < corners[i].size(); ++k)
                    length = std::max(length, std::fabs(corners[i][k] - corners[j][k]));
                if (!holds && length > longest) longest = length, from = i, to = j;
            }
        if (proved) continue;
        std::vector<double> middle;
        for (std::size_t k = 0; k < corners[from].size(); ++k)
            middle.push_back(0.5 * corners[from][k] + 0.5 * corners[to][k]);
        for (const std::size_t replaced : {from, to}) {
            Corners half = corners;
            half[replaced] = middle;
            stack.push_back(std::move(half));
        }
    }
    return true;
}

/// Λᵀ D B Λ has the sign for all impulses in the friction cones. A disk of friction impulses is enlarged to the square
/// around it.
bool sign_in_cones(const Delassus& d, Sign sign) {
    constexpr std::size_t max_rays = 12;
    if (!d.planar) return false;
    std::vector<Vector> rays;
    for (const Delassus::Cone& c : d.cones)
        for (int corner = 0; corner < (1 << c.slips); ++corner) {
            Vector ray = Vector::Zero(d.D.rows());
            ray(c.normal) = 1.0;
            for (int j = 0; j < c.slips; ++j) ray(c.normal + 1 + j) = (corner >> j & 1) != 0 ? -c.mu : c.mu;
            rays.push_back(std::move(ray));
        }
    if (rays.size() > max_rays) return false;
    std::vector<Interval> b;
    for (const Interval& e : d.e) b.push_back((Interval(1.0) - e) / (Interval(1.0) + e));
    const auto count = static_cast<int>(rays.size());
    IntervalMatrix Q(count, count);
    for (int i = 0; i < count; ++i)
        for (int j = 0; j < count; ++j)
            for (int k = 0; k < d.D.rows(); ++k)
                for (int l = 0; l < d.D.cols(); ++l) {
                    const double x = rays[static_cast<std::size_t>(i)](k), y = rays[static_cast<std::size_t>(j)](l);
                    if (x == 0.0 || y == 0.0) continue;
                    Q(i, j) += d.D(k, l) * (b[static_cast<std::size_t>(k)] + b[static_cast<std::size_t>(l)]) *
                               (Interval(x) * Interval(y));
                }
    return copositive(Q, sign);
}

/// The proof of 7a, or of its conclusion, for all sets of gaps.
struct ImpactProof {
    bool proved = false;
    bool by_7a = true;          // by 7a itself on every box
    bool by_conclusion = true;  // by 7a or by its conclusion on every box
    Box box;                    // if not proved: where it failed; empty: too many gaps
    std::vector<int> together;  // and the gaps that close together there
};
ImpactProof prove_small_restitution(const ConditionScope& scope, const ContactCoefficients& e, Sign sign) {
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
            const bool small = d && has_small_coefficients(*d), definite = d && (small || is_dissipative(*d));
            t.proved =
                d && (definite || sign_in_cones(*d, sign) || (sign == Sign::not_negative && creates_no_energy(*d)));
            t.undecided = q;
            if (t.proved) {
                result.by_7a = result.by_7a && small;
                result.by_conclusion = result.by_conclusion && definite;
            } else {
                t.side = decisive_side(q, scale, [&](const Box& b) {
                    const std::optional<Delassus> x = delassus(scope, b, closed, e);
                    return x ? spread_of(x->D) : unknown_spread;
                });
            }
            return t;
        };
        const CoverProof proof = prove_on(scope.set, {scope.domain}, closed, scope.cap, scale, test,
                                          std::min(scope.budget, max_impact_boxes), smallest_position_box);
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

std::optional<Condition> proposition_4_row(const ConditionScope& scope) {
    const ContactCoefficients e = contact_coefficients(scope);
    const std::vector<int>& closed = scope.equilibrium.closed;
    if (closed.empty() || !scope.box.proved() || !frictional_constraints(scope.enclosure()).empty())
        return std::nullopt;
    if (std::none_of(e.friction.begin(), e.friction.end(), [](bool f) { return f; }) || all_equal(e))
        return std::nullopt;
    const std::optional<Delassus> d = delassus(scope, scope.box.q, closed, e);
    if (!d) return std::nullopt;
    Vector coefficients(static_cast<Index>(d->e.size()));
    for (std::size_t k = 0; k < d->e.size(); ++k) coefficients(static_cast<Index>(k)) = expr::midpoint(d->e[k]);
    const impact::DissipationTest test = impact::dissipation_test({d->D.middle(), coefficients, true});
    Condition c{"P4",
                "Proposition 4 (condition 7a): D B is positive definite if 2e/(1 + e) < 1/cond(D) and all e >= 0",
                Verdict::proved,
                "",
                {}};
    c.evidence = "at the equilibrium 2e/(1 + e) = " + number(test.left) + ", 1/cond(D) = " + number(test.right);
    if (has_small_coefficients(*d)) return c;
    c.verdict = Verdict::not_examined;
    const bool negative_e = std::any_of(d->e.begin(), d->e.end(), [](const Interval& x) { return x.hi < 0.0; });
    constexpr double clearly = 1e-9;  // relative: the comparison is not a matter of rounding
    if (negative_e || test.left > test.right * (1.0 + clearly)) {
        c.verdict = Verdict::fails;
        c.evidence +=
            negative_e ? "; some e < 0, so that the proposition does not apply" : "; the proposition does not apply";
        c.witness.q = list_of(scope.equilibrium.q);
        c.witness.values = {{"2e/(1+e)", test.left}, {"1/cond(D)", test.right}};
    }
    return c;
}

Condition condition_7_impacts(const ConditionScope& scope) {
    Condition c{"7", condition_text::impacts, Verdict::proved, "", {}};
    const ContactCoefficients e = contact_coefficients(scope);
    const model::Mechanics& model = scope.model();
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
    const ImpactProof proof = prove_small_restitution(scope, e, Sign::positive);
    if (proof.proved) {
        c.evidence = proof.by_7a ? "(a): 2e/(1 + e) < 1/cond(D), with every e >= 0, for all gaps that close in the "
                                   "level set"
                     : proof.by_conclusion
                         ? "not (a) as written, but its conclusion: D B is positive definite for all gaps "
                           "that close in the level set"
                         : "not (a), but its purpose: D B is strictly copositive on the friction cones of all "
                           "gaps that close in the level set";
        return c;
    }
    const bool lossless = std::any_of(e.e_n.begin(), e.e_n.end(), [](const Interval& x) { return x.hi >= 1.0; });
    const bool in_range =
        std::all_of(e.e_n.begin(), e.e_n.end(), [](const Interval& x) { return x.lo >= 0.0 && x.hi <= 1.0; });
    if (lossless && in_range && prove_small_restitution(scope, e, Sign::not_negative).proved) {
        c.evidence =
            "impacts create no energy, but some lose none: L'DBL >= 0 with the impulses L for all gaps that close in "
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
