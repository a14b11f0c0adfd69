// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/level_set.hpp"

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

LevelPart part_of(const LevelSearch& s) {
    LevelPart part;
    part.boxes = s.boxes;
    part.which = s.which;
    part.proved = s.end != LevelSearch::End::budget;
    if (s.end == LevelSearch::End::found || s.end == LevelSearch::End::budget) {
        part.value = part.verified = s.level;
        if (!s.box.empty()) part.at = vector_of(centre(s.box));
    }
    return part;
}

}  // namespace

void combine(LevelSet& set) {
    set.rho = set.rho_verified = inf;
    set.proved = true;
    for (const LevelPart* p : {&set.stationary, &set.region, &set.velocity, &set.closing, &set.foreign}) {
        set.rho = std::min(set.rho, p->value);
        set.rho_verified = std::min(set.rho_verified, p->verified);
        set.proved = set.proved && p->proved;
    }
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
    const double size = std::fabs(expr::midpoint(e.potential(start)));
    search.scale = std::max(size, 1e-6);

    // U: a box that low levels do not leave, and in it water that rises around q_e until it meets a stationary point.
    set.domain = find_domain(e, rest);
    set.stationary = domain_level(admissible, rest, set.domain, options.budget);
    search.domain = set.domain.box;
    search.cap = set.stationary.verified;
    const LevelSearch stationary = search_level(
        admissible, start, tests.scale(), [&](const Box& q) { return tests.stationary(q, search.cap); }, search);
    set.boxes += stationary.boxes + set.stationary.boxes;
    if (stationary.end == LevelSearch::End::found || stationary.end == LevelSearch::End::budget) {
        // The face of the domain where the least level is may be that very point.
        const bool same = std::fabs(stationary.level - search.cap) <= 1e-6 * std::fabs(search.cap);
        LevelPart inner = part_of(stationary);
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
    search.cap = set.stationary.verified;

    if (!e.region_of_velocity.empty()) {
        const LevelSearch region = search_level(
            admissible, start, tests.scale(), [&](const Box& q) { return tests.in_region(q, inf); }, search);
        set.region = part_of(region);
        set.boxes += region.boxes;
        search.cap = std::min(search.cap, set.region.verified);
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
        const CoverMinimum velocity = least_over(
            admissible, {set.domain.box}, {}, closure, tests.scale(), flight,
            [&](const Box& q) { return flight(point_box(centre(q, tests.scale()))); }, spread, options.budget);
        set.velocity.value = velocity.lower;
        set.velocity.verified = velocity.lower;
        set.velocity.proved = velocity.settled || velocity.lower == inf;
        set.velocity.boxes = velocity.boxes;
        if (!velocity.box.empty()) set.velocity.at = vector_of(centre(velocity.box));
        set.boxes += velocity.boxes;

        const double kinetic = set.velocity.verified;
        const LevelSearch closing = search_level(
            admissible, start, tests.scale(), [&](const Box& q) { return tests.closing(q, search.cap, I_C, kinetic); },
            search);
        set.closing = part_of(closing);
        set.boxes += closing.boxes;
    }
    combine(set);
    return set;
}

}  // namespace saltus::stability
