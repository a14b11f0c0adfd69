// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Planar friction as a linear complementarity problem. With λ_R = μ r_N + r_T and λ_L = μ r_N − r_T, v_T = v_R − v_L,
///     0 <= v_N ⊥ r_N >= 0,   0 <= v_R ⊥ λ_R >= 0,   0 <= λ_L ⊥ v_L >= 0,
/// unknown r_N, λ_R and v_L; a slider is the same with its bound for μ r_N. Bilateral rows are eliminated.
struct PlanarComplementarity {
    LinearComplementarity problem;
    Matrix A;  ///< r = A z + offset
    Vector offset;

    /// Nothing for problems with other laws, or whose bilateral rows cannot be eliminated.
    static std::optional<PlanarComplementarity> of(const FrictionProblem& problem);

    std::vector<double> reactions(const std::vector<double>& z) const;
};

}  // namespace saltus::solvers
