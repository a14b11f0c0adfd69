// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/limit.hpp"

#include <cmath>
#include <limits>

namespace saltus::sensitivity {

namespace {

constexpr std::size_t remembered = 16;

}  // namespace

void AccumulationLimits::impact(int element, double t, const std::vector<double>& dt) {
    std::vector<Impact>& own = impacts_[static_cast<std::size_t>(element)];
    if (own.size() == remembered) own.erase(own.begin());
    own.push_back({t, dt});
}

std::vector<double> AccumulationLimits::limit(const trajectory::Event& event) const {
    for (const int element : event.elements) {
        const std::vector<Impact>& own = impacts_[static_cast<std::size_t>(element)];
        for (std::size_t p = 1; p <= 4 && 2 * p < own.size(); ++p) {
            const Impact &a = own[own.size() - 1], &b = own[own.size() - 1 - p], &c = own[own.size() - 1 - 2 * p];
            const double S = a.t - b.t, before = b.t - c.t, shrink = before - S;
            const double t = a.t + S * S / shrink;
            if (!(shrink > 0.0) || !(std::abs(t - event.t) <= 1e-3 * (t - a.t) + 1e-14 * std::abs(t))) continue;
            std::vector<double> dt;
            for (std::size_t j = 0; j < a.dt.size(); ++j) {
                const double dS = a.dt[j] - b.dt[j], dbefore = b.dt[j] - c.dt[j];
                dt.push_back(a.dt[j] + (2.0 * S * dS * shrink - S * S * (dbefore - dS)) / (shrink * shrink));
            }
            return dt;
        }
    }
    std::size_t variables = 0;
    for (const std::vector<Impact>& own : impacts_)
        if (!own.empty()) variables = own.back().dt.size();
    return std::vector<double>(variables, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace saltus::sensitivity
