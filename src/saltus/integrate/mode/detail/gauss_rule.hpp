// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace saltus::integrate {

/// The quadrature of Gauss and Legendre on [0, 1]: ∫ f ≈ Σ weight_j f(node_j), exact for polynomials of degree
/// 2·points − 1.
struct GaussRule {
    static constexpr int max_points = 32;  ///< a multiple of four, because ModeSeries evaluates four nodes at once
    int points = 0;
    double node[max_points] = {}, weight[max_points] = {};
};

/// The rule with this number of points, 1 <= points <= max_points. The first call computes it. May be called from any
/// thread.
const GaussRule& gauss_rule(int points);

}  // namespace saltus::integrate
