// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/level_set.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::stability {

using namespace saltus::proof;
using Eigen::Index;

namespace {

constexpr double inf = Interval::infinity;

Vector vector_of(const std::vector<double>& x) {
    return Eigen::Map<const Vector>(x.data(), static_cast<Index>(x.size()));
}

/// The start of searches: q_e, proved or a little room around it.
Box start_box(const Rest& rest, const RestBox& box) {
    Box start = box.q;
    if (start.empty())
        for (Index k = 0; k < rest.q.size(); ++k) start.emplace_back(rest.q(k));
    for (Interval& x : start) {
        const double room = 1e-12 * (1.0 + std::fabs(expr::midpoint(x)));
        x = Interval(x.lo - room, x.hi + room);
    }
    return start;
}

double energy_scale(const Enclosure& e, const Rest& rest) {
    const Box at = point_box({rest.q.data(), rest.q.data() + rest.q.size()});
    double size = 0.0;
    for (const Interval& x : e.gradient(at)) size = std::max(size, std::fabs(expr::midpoint(x)));
    return std::max({size, e.hessian(at).middle().cwiseAbs().maxCoeff(), 1e-12});
}

LevelPart part_of(const LevelSearch& s, double scale) {
    LevelPart part;
    part.boxes = s.boxes;
    part.which = s.which;
    part.proved = s.end != LevelSearch::End::budget;
    if (s.end == LevelSearch::End::found || s.end == LevelSearch::End::budget) {
        part.value = part.verified = s.level;
        if (s.end == LevelSearch::End::found && s.level <= 1e-9 * scale) part.value = part.verified = 0.0;
        if (!s.box.empty()) part.at = vector_of(centre(s.box));
    }
    return part;
}

}  // namespace

namespace {

/// The kinetic energy from which on some velocity leaves the region, over positions up to the cap.
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
        part.proved = part.proved && (least.settled || least.lower == inf);
        if (least.lower >= part.verified) continue;
        part.value = part.verified = least.lower;
        if (!least.box.empty()) part.at = vector_of(centre(least.box));
    }
    return part;
}

}  // namespace

/// Q → ∞ with |q|: U is uniformly convex; or along each coordinate, beyond some distance, U rises at a rate that is
/// bounded below while the way back to that distance stays admissible, or nothing there is admissible at all.
bool grows_everywhere(const AdmissibleSet& set, const Rest& rest) {
    const Enclosure& e = set.enclosure();
    const auto n = static_cast<std::size_t>(e.size());
    if (e.smooth && positive_definite(e.hessian(whole_space(n)))) return true;
    if (e.constraints() > 0 || !e.lipschitz) return false;
    for (std::size_t k = 0; k < n; ++k)
        for (const double sign : {-1.0, 1.0}) {
            bool rises = false;
            for (double away = rest.scale[k]; !rises && away < 1e9 * rest.scale[k]; away *= 8.0) {
                const double at = rest.q(static_cast<Index>(k)) + sign * away;
                Box outer = whole_space(n), edge = whole_space(n);
                outer[k] = sign > 0.0 ? Interval(at, inf) : Interval(-inf, at);
                edge[k] = Interval(at);
                Box part = outer;
                if (!set.contract(part, {}, inf)) {
                    rises = true;
                    break;
                }
                const Interval slope = e.gradient(outer)[k];
                const IntervalMatrix rows = e.row_matrix(outer);
                const IntervalVector gaps = e.position_values(edge);
                rises = sign > 0.0 ? slope.lo > 0.0 : slope.hi < 0.0;
                for (int r = 0; r < e.positions(); ++r) {
                    const Interval& w = rows(r, static_cast<int>(k));
                    const bool opens = sign > 0.0 ? w.hi <= 0.0 : w.lo >= 0.0;  // on the way back
                    rises = rises && (opens || gaps[static_cast<std::size_t>(r)].lo >= 0.0);
                }
            }
            if (!rises) return false;
        }
    return true;
}

void combine(LevelSet& set) {
    set.rho = set.rho_verified = inf;
    set.proved = true;
    for (const LevelPart* p : {&set.stationary, &set.region, &set.velocity, &set.closing, &set.foreign, &set.damping}) {
        set.rho = std::min(set.rho, p->value);
        set.rho_verified = std::min(set.rho_verified, p->verified);
        set.proved = set.proved && p->proved;
    }
    set.rho = std::max(0.0, set.rho);
    set.rho_verified = std::max(0.0, set.rho_verified);
}

LevelSet level_set(const PositionTests& tests, const Rest& rest, const RestBox& box, const std::vector<int>& I_C,
                   const LevelOptions& options) {
    const AdmissibleSet& admissible = tests.set();
    const Enclosure& e = admissible.enclosure();
    const Box start = start_box(rest, box);
    LevelSet set;
    set.I_C = I_C;

    LevelSearchOptions search;
    search.budget = options.budget;
    // U: a box that low levels do not leave, and in it water that rises around q_e until it meets a stationary point.
    set.domain = find_domain(e, rest);
    set.stationary = domain_level(admissible, rest, set.domain, options.budget);
    search.domain = set.domain.box;
    search.cap = set.stationary.verified;
    // Levels compare with that of the pass, or with what a unit step against the stiffness or a load takes.
    search.scale = std::isfinite(search.cap) ? search.cap : energy_scale(e, rest);
    const LevelSearch stationary = search_level(
        admissible, start, tests.scale(), [&](const Box& q) { return tests.stationary(q, search.cap); }, search);
    set.boxes += stationary.boxes + set.stationary.boxes;
    if (stationary.end == LevelSearch::End::found || stationary.end == LevelSearch::End::budget) {
        // The face of the domain where the least level is may be that very point.
        const bool same = std::fabs(stationary.level - search.cap) <= 1e-6 * std::fabs(search.cap);
        LevelPart inner = part_of(stationary, search.scale);
        if (stationary.end == LevelSearch::End::found) {
            const Rest other = find_stationary(e, centre(stationary.box));
            const double value =
                expr::midpoint(admissible.level(point_box({other.q.data(), other.q.data() + other.q.size()})));
            if (other.found && std::fabs(value - stationary.level) <= 1e-6 * std::fabs(stationary.level)) {
                inner.value = value;
                inner.at = other.q;
            }
        }
        if (!same || stationary.end == LevelSearch::End::budget) set.stationary.value = inner.value;
        set.stationary.verified = inner.verified;
        set.stationary.at = inner.at;
        set.stationary.proved = set.stationary.proved && inner.proved;
    }
    set.cover = stationary.cover;
    set.bounded = stationary.bounded;
    set.everywhere = stationary.end == LevelSearch::End::everywhere && set.domain.faces.empty();
    if (set.everywhere) set.bounded = grows_everywhere(admissible, rest);
    search.cap = set.stationary.verified;

    if (!e.region_of_velocity.empty()) {
        const LevelSearch region = search_level(
            admissible, start, tests.scale(), [&](const Box& q) { return tests.in_region(q); }, search);
        set.region = part_of(region, search.scale);
        set.boxes += region.boxes;
        search.cap = std::min(search.cap, set.region.verified);
        const LevelPart fast = region_velocity(tests, set.domain.box, search.cap * (1.0 + 1e-9), options.budget);
        set.boxes += fast.boxes;
        if (fast.verified < set.region.verified) set.region = fast;
    }

    if (!I_C.empty()) {
        const auto flight = [&](const Box& q) {
            double least = inf;
            for (const int i : I_C) {
                const std::optional<Accelerations> a = accelerations(e, q, {{i}, {}, {}, 0.0});
                least = std::min(least, a ? a->kinetic_to_open() : 0.0);
            }
            return least;
        };
        const auto spread = [&](const Box& q) {
            double sum = 0.0;
            for (const int i : I_C) {
                const std::optional<Accelerations> a = accelerations(e, q, {{i}, {}, {}, 0.0});
                if (!a) return 1e300;
                sum += spread_of(a->constant) + spread_of(a->linear[0]) + spread_of(a->quadratic[0]);
            }
            return sum;
        };
        // Over the closure of U, which the infimum may need.
        const double closure = search.cap * (1.0 + 1e-9);
        const auto slowest = [&](double cap) {
            return least_over(
                admissible, {set.domain.box}, {}, cap, tests.scale(), flight,
                [&](const Box& q) { return flight(point_box(centre(q, tests.scale()))); }, spread, options.budget);
        };
        const auto close = [&](double kinetic) {
            const LevelSearch closing = search_level(
                admissible, start, tests.scale(),
                [&](const Box& q) { return tests.closing(q, search.cap, I_C, kinetic); }, search);
            set.closing = part_of(closing, search.scale);
            set.boxes += closing.boxes;
        };
        CoverMinimum velocity = slowest(closure);
        set.boxes += velocity.boxes;
        if (!(velocity.lower > 0.0)) {
            // Somewhere in U a gap stays open even at rest: positions first, up to a level c, and among those
            // velocities; c is as large as they allow.
            close(0.0);
            double low = 0.0, high = std::min(search.cap, set.closing.verified);
            if (high > 0.0) {
                if (!std::isfinite(high)) high = 1e3 * search.scale;
                for (int k = 0; k < 40; ++k) {
                    const double c = low > 0.0 ? 0.5 * (low + high) : 0.5 * high;
                    const CoverMinimum at = slowest(c);
                    set.boxes += at.boxes;
                    if (at.lower >= c) {
                        low = c;
                        velocity = at;
                    } else {
                        high = c;
                    }
                    if (high - low <= 1e-9 * high || high < 1e-9 * search.scale) break;
                }
                velocity.lower = std::min(velocity.lower, low);
                search.cap = std::min(search.cap, std::max(low, 0.0));
            }
        }
        set.velocity.value = velocity.lower;
        set.velocity.verified = velocity.lower;
        set.velocity.proved = velocity.settled || velocity.lower == inf;
        set.velocity.boxes = velocity.boxes;
        if (!velocity.box.empty()) set.velocity.at = vector_of(centre(velocity.box));
        if (velocity.lower > 0.0) close(set.velocity.verified);
    }
    combine(set);
    return set;
}

}  // namespace saltus::stability
