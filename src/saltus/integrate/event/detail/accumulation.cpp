// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/event/detail/accumulation.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::integrate {

namespace {

constexpr std::size_t remembered = 24;
constexpr int longest_cycle = 4, irregular = 20;

}  // namespace

void Accumulation::clear() {
    for (Sequence& s : sequences_) s = {};
}

std::optional<Accumulation::Limit> Accumulation::impact(double t, int element, double speed, double negligible) {
    Sequence& own = sequences_[static_cast<std::size_t>(element)];
    // A contact that does not separate does not come again.
    if (!(speed > 0.0)) {
        own = {};
        return {};
    }
    if (own.recent.size() == remembered) own.recent.erase(own.recent.begin());
    own.recent.push_back({t, speed});
    ++own.count;
    const auto n = static_cast<int>(own.recent.size());
    const auto at = [&](int back) -> const Impact& { return own.recent[static_cast<std::size_t>(n - 1 - back)]; };
    // With it all whose last impact was not long ago and as faint.
    const auto limit_at = [&](double limit, double span) {
        Limit found{limit, own.count, {}};
        for (std::size_t e = 0; e < sequences_.size(); ++e) {
            const std::vector<Impact>& other = sequences_[e].recent;
            const bool faint = other.size() > 3 && t - other.back().t <= span &&
                               other.back().speed * std::max(span, limit - t) <= 100.0 * negligible;
            if (static_cast<int>(e) == element || faint) found.elements.push_back(static_cast<int>(e));
        }
        return found;
    };
    bool regular = false;
    for (int p = 1; p <= longest_cycle && 4 * p < n; ++p) {
        const double s0 = at(0).t - at(p).t, s1 = at(p).t - at(2 * p).t, s2 = at(2 * p).t - at(3 * p).t,
                     s3 = at(3 * p).t - at(4 * p).t;
        if (!(s0 > 0.0 && s1 > s0 && s2 > s1 && s3 > s2)) continue;
        const double r0 = s0 / s1, r1 = s1 / s2, r2 = s2 / s3;
        if (r0 > 0.999 || std::abs(r0 - r1) > 1e-2 * r0 || std::abs(r1 - r2) > 1e-2 * r1) continue;
        regular = true;
        const double remaining = s0 * r0 / (1.0 - r0);
        double fastest = 0.0;
        for (int k = 0; k < p; ++k) fastest = std::max(fastest, at(k).speed);
        if (fastest * remaining <= negligible) return limit_at(t + remaining, s0);
    }
    if (n > irregular && !regular) {
        double fastest = 0.0;
        for (int k = 0; k < irregular; ++k) fastest = std::max(fastest, at(k).speed);
        if (fastest * (t - at(irregular).t) <= 100.0 * negligible) return limit_at(t, t - at(irregular).t);
    }
    return {};
}

}  // namespace saltus::integrate
