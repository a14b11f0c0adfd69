// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>

namespace saltus {

/// A Gauss–Legendre rule with N nodes on [−1, 1]. It integrates polynomials of degree 2N − 1 exactly.
template <std::size_t N>
struct GaussRule {
    std::array<double, N> node;  ///< ascending
    std::array<double, N> weight;
};

inline constexpr GaussRule<5> gauss_five_nodes{
    {-0.9061798459386640, -0.5384693101056831, 0.0, 0.5384693101056831, 0.9061798459386640},
    {0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665, 0.2369268850561891}};

inline constexpr GaussRule<6> gauss_six_nodes{{-0.9324695142031521, -0.6612093864662645, -0.2386191860831969,
                                               0.2386191860831969, 0.6612093864662645, 0.9324695142031521},
                                              {0.1713244923791704, 0.3607615730481386, 0.4679139345726910,
                                               0.4679139345726910, 0.3607615730481386, 0.1713244923791704}};

inline constexpr GaussRule<7> gauss_seven_nodes{
    {-0.9491079123427585, -0.7415311855993944, -0.4058451513773972, 0.0, 0.4058451513773972, 0.7415311855993944,
     0.9491079123427585},
    {0.1294849661688697, 0.2797053914892767, 0.3818300505051189, 0.4179591836734694, 0.3818300505051189,
     0.2797053914892767, 0.1294849661688697}};

/// One node of a rule on an interval: ∫ g ≈ Σ g(t) dt.
struct GaussPoint {
    double t, dt;
};

/// The nodes of a rule on the interval [from, to], in ascending order.
template <std::size_t N>
std::array<GaussPoint, N> gauss_points(const GaussRule<N>& rule, double from, double to) {
    const double middle = 0.5 * (from + to), half = 0.5 * (to - from);
    std::array<GaussPoint, N> points;
    for (std::size_t k = 0; k < N; ++k) points[k] = {middle + half * rule.node[k], half * rule.weight[k]};
    return points;
}

}  // namespace saltus
