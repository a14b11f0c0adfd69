// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace saltus::integrate {

/// The quadrature of Gauss and Legendre on [0, 1]: ∫ f ≈ Σ weight_j f(node_j), exact for polynomials of degree
/// 2·points − 1.
struct GaussRule {
    static constexpr int max_points = 32;  ///< a multiple of four
    int points = 0;
    double node[max_points] = {}, weight[max_points] = {};
};

/// The rule with 1 <= points <= max_points. It is computed by the first call, from whichever thread it comes.
const GaussRule& gauss_rule(int points);

}  // namespace saltus::integrate
