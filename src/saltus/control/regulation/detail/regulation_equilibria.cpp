// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/detail/regulation_equilibria.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/proof/cover.hpp"
#include "saltus/proof/separation.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

constexpr int descents = 48, newton_starts = 256;
constexpr std::size_t most_subsets = 64, most_closed = 6;

/// Scattered points, the same in every run.
double scattered(int k, std::size_t i) {
    const double x = 0.5 + 0.6180339887498949 * k * (1.0 + 0.7548776662466927 * static_cast<double>(i));
    return 2.0 * (x - std::floor(x)) - 1.0;
}

std::vector<double> start(const Box& box, const std::vector<double>& around, const std::vector<double>& scale, int k) {
    std::vector<double> q = around;
    for (std::size_t i = 0; i < q.size() && k > 0; ++i) {
        const bool finite = std::isfinite(box[i].lo) && std::isfinite(box[i].hi);
        q[i] = finite ? midpoint(box[i]) + 0.5 * width(box[i]) * scattered(k, i)
                      : around[i] + 8.0 * scale[i] * scattered(k, i);
    }
    return q;
}

double size_of(const Vector& v) { return v.size() > 0 ? v.cwiseAbs().maxCoeff() : 0.0; }

bool same(const Rest& a, const Rest& b, const std::vector<double>& scale) {
    for (std::size_t i = 0; i < a.q.size(); ++i)
        if (std::abs(a.q[i] - b.q[i]) > 1e-7 * scale[i]) return false;
    return size_of(a.lambda - b.lambda) <= 1e-6 * (1.0 + size_of(a.lambda));
}

/// Forces on a box: −∇Ũ and any reactions of the closed contacts.
ForceSet forces_on(const Enclosure& e, const Box& q, const std::vector<int>& closed) {
    ForceSet forces;
    IntervalVector load = e.gradient(q);
    for (Interval& x : load) x = -x;
    forces.loads.push_back(std::move(load));
    const IntervalMatrix rows = e.row_matrix(q);
    for (const int r : closed) {
        ForceCone cone;
        for (int i = 0; i < e.size(); ++i) cone.normal.push_back(rows(r, i));
        forces.cones.push_back(std::move(cone));
    }
    return forces;
}

/// The Jacobian of ∇Ũ − Σ λw = 0, g_S = 0.
IntervalMatrix jacobian(const Enclosure& e, const Box& q, const std::vector<int>& closed,
                        const IntervalVector& lambda) {
    const int n = e.size(), m = static_cast<int>(closed.size());
    IntervalMatrix J(n + m, n + m);
    const IntervalMatrix H = e.hessian(q), rows = e.row_matrix(q);
    const std::vector<IntervalMatrix> curvature = e.position_hessians(q);
    for (int a = 0; a < n; ++a)
        for (int b = 0; b < n; ++b) {
            J(a, b) = H(a, b);
            for (int k = 0; k < m; ++k) {
                const Interval c = curvature[static_cast<std::size_t>(closed[static_cast<std::size_t>(k)])](a, b);
                if (c.lo != 0.0 || c.hi != 0.0) J(a, b) = J(a, b) - lambda[static_cast<std::size_t>(k)] * c;
            }
        }
    for (int k = 0; k < m; ++k)
        for (int a = 0; a < n; ++a) {
            J(a, n + k) = -rows(closed[static_cast<std::size_t>(k)], a);
            J(n + k, a) = rows(closed[static_cast<std::size_t>(k)], a);
        }
    return J;
}

/// A box in which the solution is proved to exist and to be the only one with its contacts: Krawczyk's operator.
struct VerifiedRest {
    Box q;
    IntervalVector lambda;
    bool proved = false;
    bool strict = false;  ///< forces are positive, and the gaps of all other contacts
};

VerifiedRest verified(const Enclosure& e, const Rest& rest, const std::vector<int>& closed,
                      const std::vector<double>& scale) {
    const int n = e.size(), m = static_cast<int>(closed.size());
    VerifiedRest out;
    for (double radius = 1e-12; radius < 1e-5; radius *= 10.0) {
        out.q.clear();
        out.lambda.clear();
        for (std::size_t i = 0; i < rest.q.size(); ++i) {
            const double r = radius * scale[i];
            out.q.push_back(Interval(rest.q[i] - r, rest.q[i] + r));
        }
        for (const int row : closed) {
            const double r = radius * (1.0 + std::abs(rest.lambda(row)));
            out.lambda.push_back(Interval(rest.lambda(row) - r, rest.lambda(row) + r));
        }
        // Newton's operator: x̃ − J⁻¹F(x̃) inside the box.
        const Box middle = point_box(rest.q);
        const IntervalVector gradient = e.gradient(middle), gaps = e.position_values(middle);
        const IntervalMatrix rows = e.row_matrix(middle);
        IntervalMatrix F(n + m, 1);
        for (int a = 0; a < n; ++a) {
            F(a, 0) = gradient[static_cast<std::size_t>(a)];
            for (const int row : closed) F(a, 0) = F(a, 0) - Interval(rest.lambda(row)) * rows(row, a);
        }
        for (int k = 0; k < m; ++k) F(n + k, 0) = gaps[static_cast<std::size_t>(closed[static_cast<std::size_t>(k)])];
        const std::optional<IntervalMatrix> step = solve(jacobian(e, out.q, closed, out.lambda), F);
        if (!step) continue;
        bool inside = true;
        for (int a = 0; a < n + m; ++a) {
            const Interval x = a < n ? Interval(rest.q[static_cast<std::size_t>(a)])
                                     : Interval(rest.lambda(closed[static_cast<std::size_t>(a - n)]));
            const Interval moved = x - (*step)(a, 0);
            const Interval& box =
                a < n ? out.q[static_cast<std::size_t>(a)] : out.lambda[static_cast<std::size_t>(a - n)];
            inside = inside && moved.lo > box.lo && moved.hi < box.hi;
        }
        if (!inside) continue;
        out.proved = out.strict = true;
        for (const Interval& x : out.lambda) out.strict = out.strict && x.lo > 0.0;
        const IntervalVector around = e.position_values(out.q);
        for (int i = e.constraints(); i < e.positions(); ++i)
            if (std::find(closed.begin(), closed.end(), i) == closed.end())
                out.strict = out.strict && around[static_cast<std::size_t>(i)].lo > 0.0;
        return out;
    }
    return {};
}

/// Whether q_R is the only equilibrium of a box and of the way from there to it.
class Search {
public:
    Search(const AdmissibleSet& set, const VerifiedRest& own, const std::vector<int>& support,
           const std::vector<double>& scale, bool convex)
        : set_(set), e_(set.enclosure()), own_(own), support_(support), scale_(scale), convex_(convex) {}

    BoxTest test(const Box& q) const {
        BoxTest t;
        const std::vector<int> rows = set_.may_close(q);
        t.proved = true;
        if (separate(forces_on(e_, q, rows))) return t;
        if (rows.size() > most_closed) return open(q, rows);
        for (unsigned mask = 0; mask < 1U << rows.size(); ++mask) {
            std::vector<int> closed;
            for (std::size_t k = 0; k < rows.size(); ++k)
                if ((mask >> k & 1U) != 0) closed.push_back(rows[k]);
            Box part = q;
            if (!set_.contract(part, closed, Interval::infinity)) continue;
            if (separate(forces_on(e_, part, closed)) || only(part, closed)) continue;
            return open(part, closed);
        }
        return t;
    }

private:
    BoxTest open(const Box& q, const std::vector<int>& closed) const {
        BoxTest t;
        t.undecided = q;
        t.side = decisive_side(q, scale_, [&](const Box& b) { return spread_of(forces_on(e_, b, closed)); });
        return t;
    }

    /// No equilibrium but q_R in the box with these contacts closed. Where Ũ is convex and gaps are concave, two would
    /// have (∇Ũ₁ − ∇Ũ₂)·(q₁ − q₂) <= −λ₁·g₂ − λ₂·g₁ <= 0. Otherwise two with the same contacts differ by a z with
    /// Jz = 0 for a J between them: none where all of those are regular.
    bool only(const Box& q, const std::vector<int>& closed) const {
        if (!e_.smooth || !bounded(q)) return false;
        const Box around = hull(q, own_.q);
        if (convex_ && positive_definite(e_.hessian(around))) return true;
        if (!own_.strict || closed != support_) return false;
        IntervalVector lambda;
        if (!closed.empty()) {
            const IntervalMatrix W = rows_of(e_.row_matrix(around), closed);
            IntervalMatrix g(e_.size(), 1);
            const IntervalVector gradient = e_.gradient(around);
            for (int i = 0; i < e_.size(); ++i) g(i, 0) = gradient[static_cast<std::size_t>(i)];
            const std::optional<IntervalMatrix> force = solve(W * transpose(W), W * g);
            if (!force) return false;
            for (int k = 0; k < force->rows(); ++k) lambda.push_back((*force)(k, 0));
        }
        return regular(jacobian(e_, around, closed, lambda));
    }

    const AdmissibleSet& set_;
    const Enclosure& e_;
    const VerifiedRest& own_;
    const std::vector<int>& support_;
    const std::vector<double>& scale_;
    bool convex_;
};

/// Ũ grows without bound in all directions: far out along each coordinate its slope outwards is bounded from below,
/// whatever the others are, so that Ũ(q) >= min over a cube + δ Σ (|q_k| − R)₊.
bool coercive(const Domain& domain, const std::vector<double>& q, const std::vector<double>& scale) {
    for (std::size_t k = 0; k < q.size(); ++k)
        for (const double sign : {-1.0, 1.0}) {
            if (std::isfinite(sign < 0.0 ? domain.admissible[k].lo : domain.admissible[k].hi)) continue;
            bool rises = false;
            for (double away = scale[k]; !rises && away < 1e9 * scale[k]; away *= 4.0) {
                Box slab = domain.admissible;
                const double at = q[k] + sign * away;
                const std::optional<Interval> side = intersection(
                    slab[k], sign < 0.0 ? Interval(-Interval::infinity, at) : Interval(at, Interval::infinity));
                if (!side) continue;
                slab[k] = *side;
                const Interval slope = domain.enclosure->gradient(slab)[k];
                rises = slope.defined && (sign < 0.0 ? slope.hi < 0.0 : slope.lo > 0.0);
            }
            if (!rises) return false;
        }
    return true;
}

/// Around q_R as far as the nearest other equilibrium with a higher potential, along every coordinate.
Box window_around(const Domain& domain, const AdmissibleSet& set, const Rest& rest,
                  const std::vector<EquilibriumSolution>& solutions) {
    Box window = domain.admissible;
    const std::vector<double> scale = scales(domain.model, rest.q);
    for (std::size_t k = 0; k < window.size(); ++k) {
        double reach = 1e3 * scale[k];
        for (const EquilibriumSolution& s : solutions) {
            const double d = std::abs(s.rest.q[k] - rest.q[k]);
            if (s.pushes && d > 1e-3 * scale[k] && set.level(point_box(s.rest.q)).lo > 0.0) reach = std::min(reach, d);
        }
        window[k] = intersection(window[k], Interval(rest.q[k] - reach, rest.q[k] + reach)).value_or(window[k]);
    }
    return window;
}

}  // namespace

std::vector<double> scales(const model::Model& model, const std::vector<double>& q) {
    std::vector<double> scale;
    for (std::size_t i = 0; i < q.size(); ++i)
        scale.push_back(std::max({0.1, std::abs(q[i]), std::abs(model.q0[i] - q[i])}));
    return scale;
}

std::vector<EquilibriumSolution> algebraic_solutions(const Domain& domain, Statics& statics, ContactModel contacts,
                                                     const std::vector<double>& around) {
    std::vector<EquilibriumSolution> list;
    const std::vector<double> scale = scales(domain.model, around);
    const Box& box = contacts == ContactModel::rigid ? domain.admissible : domain.whole;
    const auto add = [&](Rest rest) {
        if (!rest.found) return;
        for (std::size_t i = 0; i < rest.q.size(); ++i)  // where Newton's method threw it is not where one looked
            if (!(std::abs(rest.q[i] - around[i]) <= 100.0 * scale[i])) return;
        for (const EquilibriumSolution& s : list)
            if (same(s.rest, rest, scale)) return;
        EquilibriumSolution s{std::move(rest), true};
        const double size = 1e-10 * (1.0 + size_of(s.rest.lambda));
        for (int i = statics.constraints(); i < statics.rows(); ++i) s.pushes = s.pushes && s.rest.lambda(i) >= -size;
        list.push_back(std::move(s));
    };
    for (int k = 0; k < descents; ++k) add(find_rest(statics, start(box, around, scale, k)));
    std::vector<std::vector<int>> subsets =
        contact_subsets(domain, contacts, static_cast<std::size_t>(domain.model.size()));
    if (subsets.size() > most_subsets) subsets.resize(most_subsets);
    for (const std::vector<int>& subset : subsets) {
        std::vector<int> rows;
        for (const int i : subset) rows.push_back(domain.model.contacts[static_cast<std::size_t>(i)].row);
        const int starts = std::max(6, newton_starts / static_cast<int>(subsets.size()));
        for (int k = 0; k < starts; ++k) add(stationary_rest(statics, start(box, around, scale, k), rows));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const EquilibriumSolution& a, const EquilibriumSolution& b) { return a.pushes > b.pushes; });
    return list;
}

Uniqueness prove_unique(const Domain& domain, const Rest& rest, const std::vector<EquilibriumSolution>& solutions,
                        long budget) {
    Uniqueness out;
    if (!domain.enclosure || !domain.potential || !domain.enclosure->smooth) return out;
    const Enclosure& e = *domain.enclosure;
    if (domain.hessian.finite()) {
        const double curvature = eigenvalues(domain.hessian).lower;
        if (domain.convex && curvature > 0.0) {
            out.everywhere = out.bounded = true;
            out.level = Interval::infinity;
            out.convexity = curvature;
            out.how = "the potential is strongly convex on a convex region: one minimum, and no other solution";
            return out;
        }
    }
    const std::vector<double> scale = scales(domain.model, rest.q);
    std::vector<int> support;
    for (int i = e.constraints(); i < e.positions(); ++i)
        if (rest.lambda(i) > 1e-12 * (1.0 + size_of(rest.lambda))) support.push_back(i);
    const VerifiedRest own = verified(e, rest, support, scale);
    if (!own.proved || (!own.strict && !domain.convex)) return out;
    const Interval U = e.potential(own.q);
    const AdmissibleSet set(e, U);
    const Search search(set, own, support, scale, domain.convex);
    const auto test = [&](const Box& q) { return search.test(q); };
    LevelSearchOptions options;
    options.budget = std::max(budget / 20, 1L);
    options.tolerance = 1e-9;
    options.scale = std::max(1.0, std::abs(U.hi)) * 1e-6;
    LevelSearch found = search_level(set, own.q, scale, test, options);
    out.everywhere = found.end == LevelSearch::End::everywhere;
    out.bounded = out.everywhere ? found.bounded || coercive(domain, rest.q, scale) : found.bounded;
    if (out.everywhere && !out.bounded) {
        // Whether all level sets are bounded is not seen at once; those up to a high one are.
        options.cap = 1e6 * (1.0 + std::abs(U.hi));
        found = search_level(set, own.q, scale, test, options);
        out.bounded = found.bounded;
    }
    out.level = found.level;
    if (!out.local()) {  // copies of q_R further on: up to the next equilibrium
        const Box window = window_around(domain, set, rest, solutions);
        std::vector<Box> faces;
        for (std::size_t k = 0; k < window.size(); ++k)
            for (const double at : {window[k].lo, window[k].hi}) {
                if (!std::isfinite(at) || at == domain.admissible[k].lo || at == domain.admissible[k].hi) continue;
                faces.push_back(window);
                faces.back()[k] = Interval(at);
            }
        options.domain = window;
        options.cap = least_level(set, faces, scale, options.budget).lower;
        if (options.cap > 0.0) {
            found = search_level(set, own.q, scale, test, options);
            out.level = std::min(found.level, options.cap);
            out.bounded = found.bounded;
            out.window = window;
        }
    }
    out.how = out.everywhere ? "boxes over the whole region hold no other" : "boxes up to the level hold no other";
    out.how += " (" + std::to_string(found.boxes) + (found.boxes == 1 ? " box)" : " boxes)");
    return out;
}

}  // namespace saltus::control
