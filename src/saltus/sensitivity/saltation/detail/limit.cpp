// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/limit.hpp"

#include <cmath>

namespace saltus::sensitivity {

namespace {

constexpr std::size_t remembered = 16;

}  // namespace

void AccumulationLimits::impact(int element, double t, std::size_t change) {
    std::vector<Impact>& own = impacts_[static_cast<std::size_t>(element)];
    if (own.size() == remembered) own.erase(own.begin());
    own.push_back({t, change});
}

std::vector<std::pair<std::size_t, double>> AccumulationLimits::weights(const trajectory::Event& event) const {
    for (const int element : event.elements) {
        const std::vector<Impact>& own = impacts_[static_cast<std::size_t>(element)];
        for (std::size_t p = 1; p <= 4 && 2 * p < own.size(); ++p) {
            const Impact &a = own[own.size() - 1], &b = own[own.size() - 1 - p], &c = own[own.size() - 1 - 2 * p];
            const double S = a.t - b.t, shrink = (b.t - c.t) - S;
            const double t = a.t + S * S / shrink;
            if (!(shrink > 0.0) || !(std::abs(t - event.t) <= 1e-3 * (t - a.t) + 1e-14 * std::abs(t))) continue;
            const double by_last = (2.0 * S * shrink + S * S) / (shrink * shrink),
                         by_before = -S * S / (shrink * shrink);
            return {{a.change, 1.0 + by_last}, {b.change, by_before - by_last}, {c.change, -by_before}};
        }
    }
    return {};
}

}  // namespace saltus::sensitivity
