// SPDX-License-Identifier: Apache-2.0
#include "saltus/integrate/mode/detail/gauss_rule.hpp"

#include <array>
#include <cmath>
#include <mutex>
#include <numbers>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::integrate {

namespace {

/// The Legendre polynomial P_n and its derivative at −1 < x < 1, by (k + 1) P_(k+1) = (2k + 1) x P_k − k P_(k−1) and
/// (1 − x²) P_n' = n (P_(n−1) − x P_n).
struct Legendre {
    double value, slope;
};
Legendre legendre(int n, double x) {
    double before = 1.0, value = x;
    for (int k = 1; k < n; ++k) {
        const double next = ((2 * k + 1) * x * value - k * before) / (k + 1);
        before = value;
        value = next;
    }
    return {value, n * (before - x * value) / (1.0 - x * x)};
}

/// The nodes on [−1, 1] are the zeros x of P_n; the weights are 2/((1 − x²) P_n'(x)²).
GaussRule make_rule(int n) {
    constexpr int newton_steps = 8;  // from an approximation with about three digits
    GaussRule rule;
    rule.points = n;
    for (int j = 0; j < n; ++j) {
        double x = -std::cos(std::numbers::pi * (j + 0.75) / (n + 0.5));
        for (int k = 0; k < newton_steps; ++k) {
            const Legendre p = legendre(n, x);
            x -= p.value / p.slope;
        }
        const double slope = legendre(n, x).slope;
        rule.node[j] = 0.5 * (1.0 + x);
        rule.weight[j] = 1.0 / ((1.0 - x * x) * slope * slope);
    }
    return rule;
}

}  // namespace

const GaussRule& gauss_rule(int points) {
    SALTUS_EXPECT(points >= 1 && points <= GaussRule::max_points);
    static std::array<std::once_flag, GaussRule::max_points> made;
    static std::array<GaussRule, GaussRule::max_points> rules;
    std::call_once(made[ix(points - 1)], [points] { rules[ix(points - 1)] = make_rule(points); });
    return rules[ix(points - 1)];
}

}  // namespace saltus::integrate
