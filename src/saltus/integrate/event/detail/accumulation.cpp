// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/detail/accumulation.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::integrate {

namespace {

/// Error of the extrapolated limit, in s, if each time of an impact has an error of two units in the last place of t.
/// With S = t_0 − t_1, S_1 = t_1 − t_2 (t_0 is the last impact) and R = S/S_1 the limit is t_∞ = t_0 + S²/(S_1 − S),
/// and
///     ∂t_∞/∂t_0 = 1/(1 − R)²,   ∂t_∞/∂t_1 = −2R/(1 − R)²,   ∂t_∞/∂t_2 = R²/(1 − R)²,
/// whose absolute values have the sum ((1 + R)/(1 − R))².
double rounding_of_limit(double t, double ratio) {
    const double amplification = (1.0 + ratio) / (1.0 - ratio);
    return 2.0 * epsilon * std::abs(t) * amplification * amplification;
}

}  // namespace

void Accumulation::clear() {
    for (Sequence& s : sequences_) {
        s.recent.clear();  // its memory is kept
        s.count = 0;
    }
}

Accumulation::Limit Accumulation::limit_at(double limit, double t, double span, int element, double negligible) const {
    Limit found;
    found.t = limit;
    found.impacts = sequences_[ix(element)].count;
    for (std::size_t e = 0; e < sequences_.size(); ++e) {
        const std::vector<Impact>& other = sequences_[e].recent;
        const bool faint = other.size() > Thresholds::companion_impacts && t - other.back().t <= span &&
                           other.back().speed * std::max(span, limit - t) <= Thresholds::companion_factor * negligible;
        if (static_cast<int>(e) == element || faint) found.elements.push_back(static_cast<int>(e));
    }
    return found;
}

std::optional<Accumulation::Limit> Accumulation::impact(double t, int element, double speed,
                                                        const Negligible& negligible) {
    Sequence& own = sequences_[ix(element)];
    if (!(speed > 0.0)) {
        own.recent.clear();
        own.count = 0;
        return {};
    }
    if (own.recent.size() == Thresholds::remembered_impacts) own.recent.erase(own.recent.begin());
    own.recent.push_back({t, speed});
    ++own.count;
    const auto n = static_cast<int>(own.recent.size());
    const auto at = [&](int back) -> const Impact& { return own.recent[ix(n - 1 - back)]; };
    bool regular = false;
    for (int p = 1; p <= Thresholds::longest_cycle && 4 * p < n; ++p) {
        // Durations of the last four cycles of p impacts, the last one first, and their ratios.
        const double s0 = at(0).t - at(p).t, s1 = at(p).t - at(2 * p).t, s2 = at(2 * p).t - at(3 * p).t,
                     s3 = at(3 * p).t - at(4 * p).t;
        if (!(s0 > 0.0 && s1 > s0 && s2 > s1 && s3 > s2)) continue;
        const double r0 = s0 / s1, r1 = s1 / s2, r2 = s2 / s3;
        if (r0 > Thresholds::slowest_ratio || std::abs(r0 - r1) > Thresholds::ratio_scatter * r0 ||
            std::abs(r1 - r2) > Thresholds::ratio_scatter * r1)
            continue;
        // Intervals of a few units in the last place of t agree by chance.
        if (s0 < Thresholds::resolved_interval * epsilon * std::abs(t)) continue;
        regular = true;
        // The upper end of the uncertain limit: before the true one infinitely many impacts would follow.
        const double rounding = rounding_of_limit(t, r0);
        const double remaining = s0 * r0 / (1.0 - r0) + rounding;
        double fastest = 0.0, fastest_before = 0.0;  // in the last cycle and in the one before
        for (int k = 0; k < p; ++k) {
            fastest = std::max(fastest, at(k).speed);
            fastest_before = std::max(fastest_before, at(p + k).speed);
        }
        if (fastest * remaining > negligible.motion) continue;
        Limit limit = limit_at(t + remaining, t, s0, element, negligible.motion);
        limit.slows_down = fastest <= (1.0 + Thresholds::slowing_scatter) * r0 * fastest_before ||
                           fastest <= std::max(negligible.speed, negligible.acceleration * s0);
        limit.at_resolution =
            rounding > 0.5 * remaining || fastest * remaining <= Thresholds::least_motion * negligible.motion;
        return limit;
    }
    return regular ? std::nullopt : irregular_limit(t, element, negligible);
}

/// The limit of a sequence without a cycle. The two halves of the last irregular_impacts intervals have the durations D
/// (the last ones) and D', and R = D/D' stands for the factor that a regular sequence would have over so many impacts.
/// If D is a few units in the last place of t then R is not known, and the speeds alone decide.
std::optional<Accumulation::Limit> Accumulation::irregular_limit(double t, int element,
                                                                 const Negligible& negligible) const {
    const std::vector<Impact>& recent = sequences_[ix(element)].recent;
    constexpr int impacts = Thresholds::irregular_impacts, half = impacts / 2;
    const auto n = static_cast<int>(recent.size());
    if (n <= impacts) return {};
    const auto at = [&](int back) -> const Impact& { return recent[ix(n - 1 - back)]; };
    double fastest = 0.0;
    for (int k = 0; k < half; ++k) fastest = std::max(fastest, at(k).speed);
    const double last = t - at(half).t, before = at(half).t - at(impacts).t;
    const double least = half * Thresholds::resolved_interval * epsilon * std::abs(t);
    if (fastest > std::max(negligible.speed, negligible.acceleration * std::max(last, least))) return {};
    const auto ends = [&](double limit_time, Limit::Kind kind, double motion) {
        Limit limit = limit_at(limit_time, t, last + before, element, negligible.motion);
        limit.kind = kind;
        limit.motion = motion;
        limit.speed = fastest;
        limit.at_resolution = motion <= Thresholds::least_motion * negligible.motion;
        return limit;
    };
    const double motion = fastest * (last + before), ratio = last / before;
    const bool resolved = last > least && before > least;
    if (!resolved && motion <= negligible.motion) return ends(t, Limit::Kind::estimated, motion);
    if (!resolved) return {};
    if (ratio <= Thresholds::slowest_ratio) {
        const double remaining = last * ratio / (1.0 - ratio);
        if (!(fastest * remaining <= negligible.motion)) return {};
        return ends(t + remaining, Limit::Kind::estimated, fastest * remaining);
    }
    if (motion <= Thresholds::rounding_motion * negligible.motion) return ends(t, Limit::Kind::estimated, motion);
    const bool grows = ratio * Thresholds::slowest_ratio > 1.0;  // it will be large enough to be followed
    if (grows || motion > Thresholds::unending_motion * negligible.motion) return {};
    return ends(t, Limit::Kind::unending, motion);
}

}  // namespace saltus::integrate
