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
    Limit found{limit, sequences_[ix(element)].count, {}};
    for (std::size_t e = 0; e < sequences_.size(); ++e) {
        const std::vector<Impact>& other = sequences_[e].recent;
        const bool faint = other.size() > Thresholds::companion_impacts && t - other.back().t <= span &&
                           other.back().speed * std::max(span, limit - t) <= Thresholds::irregular_factor * negligible;
        if (static_cast<int>(e) == element || faint) found.elements.push_back(static_cast<int>(e));
    }
    return found;
}

std::optional<Accumulation::Limit> Accumulation::impact(double t, int element, double speed, double negligible) {
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
        regular = true;
        // The upper end of the uncertain limit: before the true one infinitely many impacts would follow.
        const double remaining = s0 * r0 / (1.0 - r0) + rounding_of_limit(t, r0);
        double fastest = 0.0;
        for (int k = 0; k < p; ++k) fastest = std::max(fastest, at(k).speed);
        if (fastest * remaining <= negligible) return limit_at(t + remaining, t, s0, element, negligible);
    }
    constexpr int impacts = Thresholds::irregular_impacts;
    if (n > impacts && !regular) {
        double fastest = 0.0;
        for (int k = 0; k < impacts; ++k) fastest = std::max(fastest, at(k).speed);
        const double duration = t - at(impacts).t;
        if (fastest * duration <= Thresholds::irregular_factor * negligible) {
            Limit limit = limit_at(t, t, duration, element, negligible);
            limit.irregular = true;
            return limit;
        }
    }
    return {};
}

}  // namespace saltus::integrate
