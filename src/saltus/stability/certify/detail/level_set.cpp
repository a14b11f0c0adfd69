// SPDX-License-Identifier: Apache-2.0
//
// ρ* of [Leine] Theorem 1, condition 8: the largest ρ with { V < ρ } ⊂ 𝒱 ∩ 𝒬, V = T + Q, where { V < ρ } means the
// component around q_e (docs/papers.md). 𝒬 = { q ∈ 𝒰 } belongs to condition 2, 𝒱 to condition 4.
//
// Since T >= 0, { V < ρ } ⊂ { Q < ρ }: a bound for positions is a level of Q. Since Q >= 0 on the component,
// { V < ρ } ⊂ { T < ρ }: a bound for velocities is a level of T. Each part is therefore found by itself:
//
//   stationary   Q < stationary: no point with 0 ∈ ∂Q except q_e. (mga for the bar, mg(√(a² + b²) − b) for the block)
//   region       Q < region: the positions lie in the region of the model file; T < region: so do the velocities.
//   velocity     T < velocity: in free flight all gaps of I_C have γ̇ < 0 over 𝒰. ((J_S g/a)/2, (J_S g/√(a² + b²))/2)
//   closing      Q < closing: they have γ̇ < 0 for T < velocity although other gaps are closed and friction acts
//                anywhere in its cone. (mga/√(1 + μ²), mg(√(a² + b²)/√(1 + μ²) − b))
//   damping      T < damping: friction takes more energy than damping with the wrong sign supplies. [Leine] 6.1
//   other_equilibria   Q < other_equilibria: all equilibria with friction belong to the set of q_e. [Leine] (143)
//
// In parentheses: the values that [Leine] derives by hand for the rocking bar (117) and the rocking block (134).
#include "saltus/stability/certify/detail/level_set.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/numbers.hpp"

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

/// Two levels are the same stationary point if they differ by at most this fraction.
constexpr double same_level_ratio = 1e-6;
/// The infimum over the open set 𝒰 may be reached on its boundary: levels up to cap · (1 + closure_margin) are
/// included.
constexpr double closure_margin = 1e-9;
/// If the energy scale of the model is below this number, this number is used.
constexpr double smallest_energy_scale = 1e-12;
/// The search of the whole domain after that of the component: the tolerance of its level.
constexpr double whole_tolerance = 1e-9;
/// `largest_level`: levels fall from this multiple of the scale by this factor to zero_level_ratio · scale, and are
/// then bisected to this relative width.
constexpr double highest_level_ratio = 1e6, level_step = 8.0, level_width = 1e-6;
/// A computed level counts as proved if it exceeds its proved bound by at most this fraction.
constexpr double rounding_of_levels = 1e-6;
/// Bisection of the level in `velocity_below_its_own_level`: it ends if the interval is narrower than this fraction.
/// Each level of the bisection uses at most this number of boxes.
constexpr double bisection_tolerance = 1e-6;
constexpr int max_bisections = 40;
constexpr long max_bisection_boxes = 2000;
/// The bisection begins at this multiple of the energy scale if no finite level is known.
constexpr double unbounded_level_ratio = 1e3;
/// `grows_without_bound` looks for a rising potential from the distance scale[k] to this multiple of it, by this
/// factor.
constexpr double farthest_rise = 1e9, rise_growth = 8.0;

/// The result of a level search as a part of ρ*. A level below zero_level_ratio · scale is 0.
LevelPart part_of(const LevelSearch& s, double scale) {
    LevelPart part;
    part.boxes = s.boxes;
    part.failed_item = s.failed_item;
    part.proved = s.end != LevelSearch::End::budget;
    if (s.end == LevelSearch::End::found || s.end == LevelSearch::End::budget) {
        part.value = part.verified = s.level;
        if (s.end == LevelSearch::End::found && s.level <= zero_level_ratio * scale) part.value = part.verified = 0.0;
        if (!s.box.empty()) part.at = vector_of(centre(s.box));
    }
    return part;
}

/// The least kinetic energy at which some velocity leaves the region, over the positions with Q <= cap.
LevelPart region_velocity(const PositionTests& tests, const Box& domain, double cap, long budget) {
    const Enclosure& e = tests.set().enclosure();
    LevelPart part;
    for (std::size_t r = 0; r < e.region_of_velocity.size(); ++r) {
        if (!e.region_of_velocity[r]) continue;
        const auto bound = [&](const Box& q) { return e.region_kinetic(q, static_cast<int>(r)); };
        const CoverMinimum least = least_over(
            tests.set(), {domain}, {}, cap, tests.scale(), bound,
            [&](const Box& q) { return bound(point_box(centre(q, tests.scale()))); },
            [&](const Box& q) { return spread_of(e.region_terms(q, static_cast<int>(r))); }, budget);
        part.boxes += least.boxes;
        part.proved = part.proved && (least.settled || least.lower == infinity);
        if (least.lower >= part.verified) continue;
        part.value = part.verified = least.lower;
        if (!least.box.empty()) part.at = vector_of(centre(least.box));
    }
    return part;
}

/// Finds the parts one after the other. The verified level of each part caps the searches of the next ones.
class LevelSetSearch {
public:
    LevelSetSearch(const PositionTests& tests, const StationaryPoint& equilibrium, const StationaryBox& box,
                   const std::vector<int>& I_C, const LevelOptions& options)
        : tests_(tests),
          set_(tests.set()),
          e_(tests.set().enclosure()),
          equilibrium_(equilibrium),
          start_(neighbourhood_of(equilibrium, box)),
          budget_(options.budget) {
        levels_.I_C = I_C;
        search_.budget = options.budget;
    }

    LevelSet run() {
        find_stationary_part();
        if (search_.cap > 0.0 && !e_.region_of_velocity.empty()) find_region_part();
        if (search_.cap > 0.0 && !levels_.I_C.empty()) find_velocity_and_closing_parts();
        combine(levels_);
        return std::move(levels_);
    }

private:
    /// A box around q_e first, whose faces low levels do not cross. If nothing is proved there, a smaller box.
    void find_stationary_part() {
        const LevelDomain natural = find_domain(e_, equilibrium_);
        const auto settled = [&] { return levels_.bounded && levels_.stationary.verified > 0.0; };
        examine(natural);
        if (!settled() && !natural.blocked.empty()) examine(with_blocked_faces(natural));
        if (!settled()) {
            const LevelDomain smaller = bounded_domain(set_, equilibrium_, natural);
            if (!smaller.faces.empty()) examine(smaller);
        }
        search_.cap = std::max(0.0, levels_.stationary.verified);
    }

    /// Two searches inside the domain, up to the least level of its faces: a flood from q_e until it meets a stationary
    /// point, and then the whole domain below the level of the flood. The second search proves that { Q < level } in
    /// the domain has no other component: each component is closed and bounded, so that Q has a minimum on it, which is
    /// a stationary point.
    void examine(const LevelDomain& domain) {
        LevelPart& part = levels_.stationary;
        levels_.domain = domain;
        levels_.bounded = false;
        part = domain_level(set_, equilibrium_, domain, budget_);
        levels_.boxes += part.boxes;
        search_.domain = domain.box;
        search_.cap = part.verified;
        if (!(search_.cap > 0.0)) {
            part.value = part.verified = 0.0;
            return;
        }
        // Levels compare with that of the faces, or with the energy of a unit step.
        search_.scale = std::min(search_.cap, energy_scale(e_, equilibrium_));
        const auto test = [&](const Box& q) { return tests_.no_stationary_point(q, search_.cap); };
        const LevelSearch found = flood(test);
        levels_.boxes += found.boxes;
        if (found.end == LevelSearch::End::found || found.end == LevelSearch::End::budget)
            take_inner_stationary_point(found);
        if (!(part.verified > 0.0)) return;
        LevelSearchOptions options = search_;
        options.all_components = true;
        options.cap = part.verified;
        options.tolerance = whole_tolerance;
        const LevelSearch whole = search_level(set_, start_, tests_.scale(), test, options);
        levels_.boxes += whole.boxes;
        part.verified = std::min(part.verified, std::max(0.0, whole.level));
        levels_.bounded = bounded(domain.box) || (std::isfinite(part.verified) && whole.bounded) ||
                          grows_without_bound(set_, equilibrium_, domain.box);
    }

    /// The flood ended inside the domain. Its level is replaced by the level of the stationary point itself if Newton's
    /// method confirms that point.
    void take_inner_stationary_point(const LevelSearch& found) {
        LevelPart& part = levels_.stationary;
        // The lowest point of a face may be that very stationary point.
        const bool same_as_face = std::isfinite(search_.cap) &&
                                  std::fabs(found.level - search_.cap) <= same_level_ratio * std::fabs(search_.cap);
        LevelPart inner = part_of(found, search_.scale);
        if (found.end == LevelSearch::End::found) {
            const StationaryPoint other = find_stationary(e_, centre(found.box));
            const double value = expr::midpoint(set_.level(point_box(list_of(other.q))));
            if (other.found && std::fabs(value - found.level) <= same_level_ratio * std::fabs(found.level)) {
                inner.value = value;
                inner.at = other.q;
            }
        }
        if (!same_as_face || found.end == LevelSearch::End::budget) part.value = inner.value;
        part.verified = inner.verified;
        part.at = inner.at;
        part.proved = part.proved && inner.proved;
    }

    void find_region_part() {
        const LevelSearch found = flood([&](const Box& q) { return tests_.in_region(q); });
        levels_.region = part_of(found, search_.scale);
        levels_.boxes += found.boxes;
        search_.cap = std::min(search_.cap, levels_.region.verified);
        const LevelPart fast =
            region_velocity(tests_, levels_.domain.box, search_.cap * (1.0 + closure_margin), budget_);
        levels_.boxes += fast.boxes;
        if (fast.verified < levels_.region.verified) levels_.region = fast;
    }

    void find_velocity_and_closing_parts() {
        CoverMinimum velocity = least_opening_energy(search_.cap * (1.0 + closure_margin), budget_);
        levels_.boxes += velocity.boxes;
        if (!(velocity.lower > 0.0)) velocity_below_its_own_level(velocity);
        levels_.velocity.value = velocity.lower;
        levels_.velocity.verified = velocity.lower;
        levels_.velocity.proved = velocity.settled || velocity.lower == infinity;
        levels_.velocity.boxes = velocity.boxes;
        if (!velocity.box.empty()) levels_.velocity.at = vector_of(centre(velocity.box));
        if (velocity.lower > 0.0) find_closing_part(levels_.velocity.verified);
    }

    /// Somewhere in 𝒰 a gap stays open even at rest. Then 𝒱 has positions up to a level c only, and among those
    /// positions the velocities T < τ(c), where τ falls with c. ρ* <= c and ρ* <= τ(c): the best c has τ(c) = c, and is
    /// found by bisection.
    void velocity_below_its_own_level(CoverMinimum& velocity) {
        find_closing_part(0.0);
        double low = 0.0, high = std::min(search_.cap, levels_.closing.verified);
        if (!(high > 0.0)) return;
        if (!std::isfinite(high)) high = unbounded_level_ratio * search_.scale;
        for (int k = 0; k < max_bisections; ++k) {
            const double c = low > 0.0 ? 0.5 * (low + high) : 0.5 * high;
            const CoverMinimum at = least_opening_energy(c, std::min(budget_, max_bisection_boxes));
            levels_.boxes += at.boxes;
            if (at.lower >= c) {
                low = c;
                velocity = at;
            } else {
                high = c;
            }
            if (high - low <= bisection_tolerance * high || high < zero_level_ratio * search_.scale) break;
        }
        velocity.lower = std::min(velocity.lower, low);
        search_.cap = std::min(search_.cap, std::max(low, 0.0));
    }

    /// The least kinetic energy at which some gap of I_C can stay open in free flight, over positions with Q <= cap.
    CoverMinimum least_opening_energy(double cap, long budget) const {
        const auto bound = [&](const Box& q) { return opening_energy(q); };
        return least_over(
            set_, {levels_.domain.box}, {}, cap, tests_.scale(), bound,
            [&](const Box& q) { return opening_energy(point_box(centre(q, tests_.scale()))); },
            [&](const Box& q) { return flight_spread(q); }, budget);
    }

    /// Lower bound of that energy over one box.
    double opening_energy(const Box& q) const {
        double least = infinity;
        for (const int gap : levels_.I_C) {
            const std::optional<Accelerations> a = flight(q, gap);
            least = std::min(least, a ? a->kinetic_to_open() : 0.0);
        }
        return least;
    }

    double flight_spread(const Box& q) const {
        double sum = 0.0;
        for (const int gap : levels_.I_C) {
            const std::optional<Accelerations> a = flight(q, gap);
            if (!a) return unknown_spread;
            sum += spread_of(a->constant) + spread_of(a->linear[0]) + spread_of(a->quadratic[0]);
        }
        return sum;
    }

    /// The acceleration of one gap while no contact exerts a force.
    std::optional<Accelerations> flight(const Box& q, int gap) const {
        return accelerations(e_, q, {{gap}, {}, {}, 0.0});
    }

    void find_closing_part(double kinetic) {
        const LevelSearch closing =
            flood([&](const Box& q) { return tests_.gaps_close(q, search_.cap, levels_.I_C, kinetic); });
        levels_.closing = part_of(closing, search_.scale);
        levels_.boxes += closing.boxes;
    }

    LevelSearch flood(const std::function<BoxTest(const Box&)>& test) const {
        return search_level(set_, start_, tests_.scale(), test, search_);
    }

    const PositionTests& tests_;
    const AdmissibleSet& set_;
    const Enclosure& e_;
    const StationaryPoint& equilibrium_;
    Box start_;
    long budget_;
    LevelSearchOptions search_;
    LevelSet levels_;
};

/// Proves for one direction of coordinate k that Q rises without bound or that nothing is admissible: beyond some
/// distance dU/dq_k has a positive lower bound (away from q_e), and the way back along q_k to that distance stays
/// admissible (gaps do not decrease on it, or are nonnegative at its end).
bool grows_along(const AdmissibleSet& set, const StationaryPoint& equilibrium, const Box& box, std::size_t k,
                 double sign) {
    const Enclosure& e = set.enclosure();
    const double scale = equilibrium.scale[k];
    for (double away = scale; away < farthest_rise * scale; away *= rise_growth) {
        const double at = equilibrium.q(static_cast<Index>(k)) + sign * away;
        const std::optional<Interval> side =
            intersection(box[k], sign > 0.0 ? Interval(at, infinity) : Interval(-infinity, at));
        if (!side) return true;
        Box outer = box, edge = box;
        outer[k] = *side;
        edge[k] = Interval(at);
        Box part = outer;
        if (!set.contract(part, {}, infinity)) return true;
        const Interval slope = e.gradient(outer)[k];
        const IntervalMatrix rows = e.row_matrix(outer);
        const IntervalVector gaps = e.position_values(edge);
        bool rises = slope.defined && (sign > 0.0 ? slope.lo > 0.0 : slope.hi < 0.0);
        for (int r = 0; r < e.positions(); ++r) {
            const Interval& w = rows(r, static_cast<int>(k));
            const bool opens = w.defined && (sign > 0.0 ? w.hi <= 0.0 : w.lo >= 0.0);  // on the way back
            const Interval& gap = gaps[static_cast<std::size_t>(r)];
            rises = rises && (opens || (gap.defined && gap.lo >= 0.0));
        }
        if (rises) return true;
    }
    return false;
}

}  // namespace

double energy_scale(const Enclosure& e, const StationaryPoint& equilibrium) {
    const Box at = point_box(list_of(equilibrium.q));
    double size = 0.0;
    for (const Interval& x : e.gradient(at)) size = std::max(size, std::fabs(expr::midpoint(x)));
    return std::max({size, e.hessian(at).middle().cwiseAbs().maxCoeff(), smallest_energy_scale});
}

namespace {

/// U is convex on the box, and all gaps are concave and all constraints affine: the admissible positions are convex.
bool is_convex(const Enclosure& e, const Box& box) {
    if (!e.smooth || !positive_semidefinite(e.hessian(box))) return false;
    const std::vector<IntervalMatrix> curved = e.position_hessians(box);
    for (int r = 0; r < e.positions(); ++r) {
        const IntervalMatrix& H = curved[static_cast<std::size_t>(r)];
        const IntervalMatrix opposite = IntervalMatrix(H.rows(), H.cols()) - H;
        if (!positive_semidefinite(opposite) || (r < e.constraints() && !positive_semidefinite(H))) return false;
    }
    return true;
}

}  // namespace

/// One of three reasons:
/// U is uniformly convex: ∇²U is positive definite over the box with bounded interval entries.
/// U and the admissible positions are convex. A closed convex function with exactly one minimum has bounded sublevel
/// sets (Rockafellar, Convex Analysis, 8.7.1); q_e is the only minimum if no other stationary point is found above it.
/// Q grows along every unbounded direction of every coordinate. Let a point be far out along some coordinates. It is
/// moved back along one coordinate after the other. Each move lowers U by at least a constant times its length and ends
/// at an admissible point, the last one in a bounded box, where U has a lower bound.
bool grows_without_bound(const AdmissibleSet& set, const StationaryPoint& equilibrium, const Box& box) {
    const Enclosure& e = set.enclosure();
    if (e.smooth && positive_definite(e.hessian(box))) return true;
    if (is_convex(e, box)) return true;
    if (e.constraints() > 0 || !e.lipschitz) return false;
    for (std::size_t k = 0; k < box.size(); ++k)
        for (const double sign : {-1.0, 1.0})
            if (!std::isfinite(sign > 0.0 ? box[k].hi : box[k].lo) && !grows_along(set, equilibrium, box, k, sign))
                return false;
    return true;
}

double largest_level(double cap, double scale, const std::function<bool(double)>& proves) {
    if (!(cap > 0.0) || proves(cap)) return std::max(cap, 0.0);
    double high = std::min(cap, highest_level_ratio * scale), low = high;
    while (!proves(low)) {
        high = low;
        low /= level_step;
        if (!(low > zero_level_ratio * scale)) return 0.0;
    }
    while (high - low > level_width * high) {
        const double middle = 0.5 * (low + high);
        (proves(middle) ? low : high) = middle;
    }
    return low;
}

void combine(LevelSet& set) {
    set.rho = set.rho_verified = infinity;
    for (LevelPart* p : {&set.stationary, &set.region, &set.velocity, &set.closing, &set.other_equilibria, &set.damping,
                         &set.inertia, &set.dissipation, &set.losses, &set.impacts}) {
        if (!(p->value <= p->verified * (1.0 + rounding_of_levels))) p->value = p->verified;
        set.rho = std::min(set.rho, p->value);
        set.rho_verified = std::min(set.rho_verified, p->verified);
    }
    set.rho = std::max(0.0, set.rho);
    set.rho_verified = std::max(0.0, set.rho_verified);
}

LevelSet level_set(const PositionTests& tests, const StationaryPoint& equilibrium, const StationaryBox& box,
                   const std::vector<int>& I_C, const LevelOptions& options) {
    return LevelSetSearch(tests, equilibrium, box, I_C, options).run();
}

}  // namespace saltus::stability
