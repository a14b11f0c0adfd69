// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/accumulation.hpp"

#include <algorithm>
#include <cmath>

namespace saltus::integrate {

namespace {

constexpr std::size_t remembered = 24;
constexpr int longest_cycle = 4;
constexpr int irregular = 20;

}  // namespace

void Accumulation::clear() {
    recent_.clear();
    count_ = 0;
}

std::optional<Accumulation::Limit> Accumulation::impact(double t, const std::vector<int>& elements, double speed,
                                                        double negligible) {
    // Contacts that do not separate do not come again; a longer interval than the one before begins a new sequence.
    if (!(speed > 0.0)) {
        clear();
        return {};
    }
    if (recent_.size() > 8) {
        const std::size_t n = recent_.size();
        const double now = t - recent_[n - 4].t, before = recent_[n - 4].t - recent_[n - 8].t;
        if (now > before) clear();
    }
    if (recent_.size() == remembered) recent_.erase(recent_.begin());
    recent_.push_back({t, speed, elements});
    ++count_;
    const auto n = static_cast<int>(recent_.size());
    const auto at = [&](int back) -> const Impact& { return recent_[static_cast<std::size_t>(n - 1 - back)]; };
    for (int p = 1; p <= longest_cycle && 4 * p < n; ++p) {
        const double s0 = at(0).t - at(p).t, s1 = at(p).t - at(2 * p).t, s2 = at(2 * p).t - at(3 * p).t,
                     s3 = at(3 * p).t - at(4 * p).t;
        if (!(s0 > 0.0 && s1 > s0 && s2 > s1 && s3 > s2)) continue;
        const double r0 = s0 / s1, r1 = s1 / s2, r2 = s2 / s3;
        if (r0 > 0.999 || std::abs(r0 - r1) > 1e-2 * r0 || std::abs(r1 - r2) > 1e-2 * r1) continue;
        bool same = true;
        for (int k = 0; k < p; ++k)
            same = same && at(k).elements == at(k + p).elements && at(k).elements == at(k + 2 * p).elements;
        if (!same) continue;
        const double remaining = s0 * r0 / (1.0 - r0);
        double fastest = 0.0;
        Limit limit{at(0).t + remaining, static_cast<int>(count_), {}};
        for (int k = 0; k < p; ++k) {
            fastest = std::max(fastest, at(k).speed);
            limit.elements.insert(limit.elements.end(), at(k).elements.begin(), at(k).elements.end());
        }
        if (fastest * remaining > negligible) continue;
        std::sort(limit.elements.begin(), limit.elements.end());
        limit.elements.erase(std::unique(limit.elements.begin(), limit.elements.end()), limit.elements.end());
        return limit;
    }
    if (n > irregular) {
        double fastest = 0.0;
        Limit limit{t, static_cast<int>(count_), {}};
        for (int k = 0; k < irregular; ++k) {
            fastest = std::max(fastest, at(k).speed);
            limit.elements.insert(limit.elements.end(), at(k).elements.begin(), at(k).elements.end());
        }
        if (fastest * (t - at(irregular).t) <= 100.0 * negligible) {
            std::sort(limit.elements.begin(), limit.elements.end());
            limit.elements.erase(std::unique(limit.elements.begin(), limit.elements.end()), limit.elements.end());
            return limit;
        }
    }
    return {};
}

}  // namespace saltus::integrate
