// SPDX-License-Identifier: Apache-2.0
#include "saltus/sensitivity/saltation/detail/limit.hpp"

#include <cmath>

namespace saltus::sensitivity {

namespace {

/// Longest cycle of impacts that repeats in a geometric sequence: an element struck this many times per cycle.
constexpr std::size_t longest_cycle = 4;
/// Impacts that are remembered per element. Two cycles of the longest length need 2·longest_cycle + 1 of them.
constexpr std::size_t remembered_impacts = 16;
/// A cycle explains an accumulation at time T if |t_∞ − T| ≤ this · (t_∞ − t_n) + limit_rounding · |t_∞|.
constexpr double limit_agreement = 1e-3;
constexpr double limit_rounding = 1e-14;

}  // namespace

void AccumulationLimits::impact(int element, double t, std::size_t change) {
    std::vector<Impact>& own = impacts_[static_cast<std::size_t>(element)];
    if (own.size() == remembered_impacts) own.erase(own.begin());
    own.push_back({t, change});
}

// Derivation. Let a, b, c be the times of the last impact, of the impact one cycle earlier, and two cycles earlier. The
// cycles have the lengths S = a − b and S' = b − c, and S shrinks by the ratio r = S/S' from cycle to cycle. The sum of
// the remaining cycles is S r + S r² + … = S r/(1 − r) = S²/(S' − S), so
//     t_∞ = a + S²/d,     d = S' − S = (b − c) − (a − b).
// With ∂S/∂a = 1, ∂S/∂b = −1, ∂d/∂a = −1, ∂d/∂b = 2, ∂d/∂c = −1 and
//     ∂(S²/d)/∂S at fixed S' = (2 S d + S²)/d²  (by_last),     ∂(S²/d)/∂S' at fixed S = −S²/d²  (by_before)
// the chain rule gives t_∞,a = 1 + by_last, t_∞,b = by_before − by_last, t_∞,c = −by_before. The weights sum to 1: a
// shift of all impacts shifts the limit. Bouncing ball: S = 2 e^n v₀/g and t_∞ = t₁ + (2 v₀/g) e/(1 − e).
TimeCombination AccumulationLimits::weights(const trajectory::Event& event) const {
    for (const int element : event.elements) {
        const std::vector<Impact>& own = impacts_[static_cast<std::size_t>(element)];
        for (std::size_t p = 1; p <= longest_cycle && 2 * p < own.size(); ++p) {
            const Impact &a = own[own.size() - 1], &b = own[own.size() - 1 - p], &c = own[own.size() - 1 - 2 * p];
            const double S = a.t - b.t, shrink = (b.t - c.t) - S;
            const double t = a.t + S * S / shrink;
            const bool converges = shrink > 0.0;
            const bool explains = std::abs(t - event.t) <= limit_agreement * (t - a.t) + limit_rounding * std::abs(t);
            if (!converges || !explains) continue;
            const double by_last = (2.0 * S * shrink + S * S) / (shrink * shrink),
                         by_before = -S * S / (shrink * shrink);
            return {{a.change, 1.0 + by_last}, {b.change, by_before - by_last}, {c.change, -by_before}};
        }
    }
    return {};
}

}  // namespace saltus::sensitivity
