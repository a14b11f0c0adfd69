// SPDX-License-Identifier: Apache-2.0
#include "saltus/control/regulation/detail/regulation_equilibria.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/control/regulation/detail/regulation_scatter.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/proof/cover.hpp"
#include "saltus/proof/separation.hpp"

namespace saltus::control {

using namespace saltus::proof;

namespace {

// The numerical search for solutions. Lengths are in scales of the coordinates (`scales`).
constexpr int descents = 48, newton_starts = 256, least_newton_starts = 6;
constexpr std::size_t max_subsets = 64;    ///< combinations of contacts; further ones are not searched
constexpr double spread_of_starts = 8.0;   ///< where the region has no bounds
constexpr double search_radius = 100.0;    ///< solutions further away are not kept
constexpr double same_position = 1e-7;     ///< two solutions are the same if their positions differ by less
constexpr double same_forces = 1e-6;       ///< and their forces by less than this times 1 + |λ|
constexpr double negligible_pull = 1e-10;  ///< λ >= −this (1 + |λ|) counts as pushing
constexpr double negligible_push = 1e-12;  ///< λ <= this (1 + |λ|) does not support q_R

// The proof of uniqueness.
constexpr std::size_t max_closed = 6;  ///< boxes where more contacts may be closed are not decided
/// Radii of the box around q_R in which Krawczyk's test is tried, in scales and in 1 + |λ|.
constexpr double first_radius = 1e-12, last_radius = 1e-5, radius_growth = 10.0;
constexpr double furthest_slab = 1e9, slab_growth = 4.0;  ///< distances at which `coercive` tests the slope, in scales
constexpr double window_reach = 1e3;                      ///< largest half width of the window, in scales
constexpr double near_solution = 1e-3;      ///< solutions nearer to q_R along a coordinate do not limit it
constexpr double level_tolerance = 1e-9;    ///< relative accuracy of the level search
constexpr double least_level_scale = 1e-6;  ///< smallest level of interest, relative to max(1, |Ũ_R|)
constexpr double highest_level = 1e6;       ///< if the region is not seen to be bounded: times 1 + |Ũ_R|
constexpr long searches_in_budget = 20;     ///< a single search may use this part of the budget

/// Start k of a search: 0 is `around`; the others are scattered over the box, or around the position where the box is
/// unbounded.
std::vector<double> start(const Box& box, const std::vector<double>& around, const std::vector<double>& scale, int k) {
    std::vector<double> q = around;
    for (std::size_t i = 0; i < q.size() && k > 0; ++i) {
        const bool finite = std::isfinite(box[i].lo) && std::isfinite(box[i].hi);
        q[i] = finite ? midpoint(box[i]) + 0.5 * width(box[i]) * scattered(k, i)
                      : around[i] + spread_of_starts * scale[i] * scattered(k, i);
    }
    return q;
}

double size_of(const Vector& v) { return v.size() > 0 ? v.cwiseAbs().maxCoeff() : 0.0; }

bool same(const Rest& a, const Rest& b, const std::vector<double>& scale) {
    for (std::size_t i = 0; i < a.q.size(); ++i)
        if (std::abs(a.q[i] - b.q[i]) > same_position * scale[i]) return false;
    return size_of(a.lambda - b.lambda) <= same_forces * (1.0 + size_of(a.lambda));
}

/// The forces that can act at rest on a box: −∇Ũ and nonnegative reactions of the closed contacts.
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

/// An enclosure of the Jacobian of the equations ∇Ũ − Σ_S λ w = 0, g_S = 0 with the closed contacts S:
///     ( ∇²Ũ − Σ λ ∇²g   −Wᵀ )
///     ( W                 0  ).
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

/// A box that is proved to contain exactly one solution of the equations with the given closed contacts.
struct VerifiedRest {
    Box q;
    IntervalVector lambda;
    bool proved = false;
    bool strict = false;  ///< all forces of the closed contacts are positive, and the gaps of all others
};

/// The interval Newton test: if x̃ − J(X)⁻¹F(x̃) lies in the interior of the box X around x̃, J(X) an enclosure of the
/// Jacobian over X, then X contains exactly one root of F. Boxes of growing radius are tried.
VerifiedRest verified(const Enclosure& e, const Rest& rest, const std::vector<int>& closed,
                      const std::vector<double>& scale) {
    const int n = e.size(), m = static_cast<int>(closed.size());
    VerifiedRest out;
    for (double radius = first_radius; radius < last_radius; radius *= radius_growth) {
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

/// The test of one box: it contains no equilibrium but q_R.
class Search {
public:
    Search(const AdmissibleSet& set, const VerifiedRest& own, const std::vector<int>& support,
           const std::vector<double>& scale, bool convex)
        : set_(set), e_(set.enclosure()), own_(own), support_(support), scale_(scale), convex_(convex) {}

    /// For every set S of contacts that may be closed in the box it must hold that no forces balance (a direction
    /// separates them from 0), or that q_R is the only equilibrium with these contacts.
    BoxTest test(const Box& q) const {
        BoxTest t;
        const std::vector<int> rows = set_.may_close(q);
        t.proved = true;
        if (separate(forces_on(e_, q, rows))) return t;
        if (rows.size() > max_closed) return open(q, rows);
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
    /// The box is not decided: it is to be split along the side that narrows the forces most.
    BoxTest open(const Box& q, const std::vector<int>& closed) const {
        BoxTest t;
        t.undecided = q;
        t.side = decisive_side(q, scale_, [&](const Box& b) { return spread_of(forces_on(e_, b, closed)); });
        return t;
    }

    /// No equilibrium but q_R in the box with these contacts closed.
    /// If Ũ is strictly convex and the gaps are concave: with ∇Ũ_j = Σ λ_j ∇g and g concave, two equilibria have
    ///     (∇Ũ₁ − ∇Ũ₂)·(q₁ − q₂) <= −λ₁·g(q₂) − λ₂·g(q₁) <= 0,
    /// which contradicts strict convexity. Otherwise: the equations of two equilibria with the same contacts differ by
    /// J z = 0 with z = (q₁ − q₂, λ₁ − λ₂) and a matrix J of the enclosure over the hull of both; there is no other one
    /// if all of these matrices are regular.
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

/// Whether Ũ is proved to grow without bound in all directions of the region: beyond some distance R along each
/// coordinate its outward slope is at least δ > 0, whatever the other coordinates are, so that
///     Ũ(q) >= min over a cube + δ Σ max(0, |q_k| − R).
bool coercive(const Domain& domain, const std::vector<double>& q, const std::vector<double>& scale) {
    for (std::size_t k = 0; k < q.size(); ++k)
        for (const double sign : {-1.0, 1.0}) {
            if (std::isfinite(sign < 0.0 ? domain.admissible[k].lo : domain.admissible[k].hi)) continue;
            bool rises = false;
            for (double away = scale[k]; !rises && away < furthest_slab * scale[k]; away *= slab_growth) {
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

/// A box around q_R that reaches, along every coordinate, to the nearest other equilibrium with a higher potential.
Box window_around(const Domain& domain, const AdmissibleSet& set, const Rest& rest,
                  const std::vector<EquilibriumSolution>& solutions) {
    Box window = domain.admissible;
    const std::vector<double> scale = scales(domain.model, rest.q);
    for (std::size_t k = 0; k < window.size(); ++k) {
        double reach = window_reach * scale[k];
        for (const EquilibriumSolution& s : solutions) {
            const double d = std::abs(s.rest.q[k] - rest.q[k]);
            if (s.pushes && d > near_solution * scale[k] && set.level(point_box(s.rest.q)).lo > 0.0)
                reach = std::min(reach, d);
        }
        window[k] = intersection(window[k], Interval(rest.q[k] - reach, rest.q[k] + reach)).value_or(window[k]);
    }
    return window;
}

}  // namespace

std::vector<double> scales(const model::Mechanics& model, const std::vector<double>& q) {
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
        for (std::size_t i = 0; i < rest.q.size(); ++i)  // Newton's method may end far away from its start
            if (!(std::abs(rest.q[i] - around[i]) <= search_radius * scale[i])) return;
        for (const EquilibriumSolution& s : list)
            if (same(s.rest, rest, scale)) return;
        EquilibriumSolution s{std::move(rest), true};
        const double size = negligible_pull * (1.0 + size_of(s.rest.lambda));
        for (int i = statics.constraints(); i < statics.rows(); ++i) s.pushes = s.pushes && s.rest.lambda(i) >= -size;
        list.push_back(std::move(s));
    };
    for (int k = 0; k < descents; ++k) add(find_rest(statics, start(box, around, scale, k)));
    std::vector<std::vector<int>> subsets =
        contact_subsets(domain, contacts, static_cast<std::size_t>(domain.model.size()));
    if (subsets.size() > max_subsets) subsets.resize(max_subsets);
    for (const std::vector<int>& subset : subsets) {
        std::vector<int> rows;
        for (const int i : subset) rows.push_back(domain.model.contacts[static_cast<std::size_t>(i)].row);
        const int starts = std::max(least_newton_starts, newton_starts / static_cast<int>(subsets.size()));
        for (int k = 0; k < starts; ++k) add(stationary_rest(statics, start(box, around, scale, k), rows));
    }
    std::stable_sort(list.begin(), list.end(),
                     [](const EquilibriumSolution& a, const EquilibriumSolution& b) { return a.pushes > b.pushes; });
    return list;
}

namespace {

/// The faces of a window that are not on the boundary of the admissible box.
std::vector<Box> inner_faces(const Box& window, const Box& admissible) {
    std::vector<Box> faces;
    for (std::size_t k = 0; k < window.size(); ++k)
        for (const double at : {window[k].lo, window[k].hi}) {
            if (!std::isfinite(at) || at == admissible[k].lo || at == admissible[k].hi) continue;
            faces.push_back(window);
            faces.back()[k] = Interval(at);
        }
    return faces;
}

/// The searches of `prove_unique` around a verified q_R.
class UniquenessSearch {
public:
    UniquenessSearch(const Domain& domain, const AdmissibleSet& set, const VerifiedRest& own, const Search& search,
                     const std::vector<double>& scale, long budget)
        : domain_(domain), set_(set), own_(own), scale_(scale), test_([&search](const Box& q) {
              return search.test(q);
          }) {
        options_.budget = std::max(budget / searches_in_budget, 1L);
        options_.tolerance = level_tolerance;
        options_.scale = std::max(1.0, std::abs(set.reference().hi)) * least_level_scale;
        options_.all_components = true;
    }

    Uniqueness run(const Rest& rest, const std::vector<EquilibriumSolution>& solutions) {
        search_region(rest);
        if (!out_.local()) try_window(window_around(domain_, set_, rest, solutions));
        if (!out_.everywhere) try_hull_of_component();
        out_.how =
            out_.everywhere ? "boxes over the whole region contain no other" : "boxes up to the level contain no other";
        out_.how += " (" + std::to_string(boxes_) + (boxes_ == 1 ? " box)" : " boxes)");
        return out_;
    }

private:
    void search_region(const Rest& rest) {
        LevelSearch found = search_level(set_, own_.q, scale_, test_, options_);
        out_.everywhere = found.end == LevelSearch::End::everywhere;
        out_.bounded = found.bounded || (out_.everywhere && coercive(domain_, rest.q, scale_));
        if (out_.everywhere && !out_.bounded) {
            // It is not known whether all level sets are bounded. Those up to a high level may be.
            LevelSearchOptions high = options_;
            high.cap = highest_level * (1.0 + std::abs(set_.reference().hi));
            found = search_level(set_, own_.q, scale_, test_, high);
            out_.bounded = found.bounded;
        }
        out_.level = found.level;
        boxes_ = found.boxes;
    }

    /// A window excludes equilibria that are lower than the barrier around q_R. It is taken if it proves a higher
    /// level.
    void try_window(const Box& window) {
        LevelSearchOptions inside = options_;
        inside.domain = window;
        inside.cap = least_level(set_, inner_faces(window, domain_.admissible), scale_, inside.budget).lower;
        if (!(inside.cap > 0.0)) return;
        const LevelSearch found = search_level(set_, own_.q, scale_, test_, inside);
        const double level = std::min(found.level, inside.cap);
        if (!found.bounded || (out_.local() && !(level > out_.level))) return;
        out_.level = level;
        out_.bounded = true;
        out_.window = window;
        boxes_ = found.boxes;
    }

    /// The hull of the component of q_R, up to the level at which this component meets another equilibrium.
    void try_hull_of_component() {
        LevelSearchOptions component = options_;
        component.all_components = false;
        const LevelSearch flood = search_level(set_, own_.q, scale_, test_, component);
        Box window = own_.q;
        for (const Box& b : flood.cover) window = hull(window, b);
        if (flood.bounded && bounded(window)) try_window(window);
    }

    const Domain& domain_;
    const AdmissibleSet& set_;
    const VerifiedRest& own_;
    const std::vector<double>& scale_;
    std::function<BoxTest(const Box&)> test_;
    LevelSearchOptions options_;
    Uniqueness out_;
    long boxes_ = 0;
};

}  // namespace

/// Strong convexity of Ũ over a convex region is tried first. Then q_R is verified, and a level search proves box by
/// box that no other equilibrium lies below some level, in any component of the level set. If other equilibria prevent
/// this (periodic copies of q_R, positions behind a wall), the search is repeated within a window around q_R, up to the
/// least level on its faces, which the level set cannot pass.
Uniqueness prove_unique(const Domain& domain, const Rest& rest, const std::vector<EquilibriumSolution>& solutions,
                        long budget, const std::function<bool()>& stop) {
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
        if (rest.lambda(i) > negligible_push * (1.0 + size_of(rest.lambda))) support.push_back(i);
    const VerifiedRest own = verified(e, rest, support, scale);
    if (!own.proved || (!own.strict && !domain.convex)) return out;
    const Interval U = e.potential(own.q);
    const AdmissibleSet set(e, U, stop);
    const Search search(set, own, support, scale, domain.convex);
    return UniquenessSearch(domain, set, own, search, scale, budget).run(rest, solutions);
}

}  // namespace saltus::control
