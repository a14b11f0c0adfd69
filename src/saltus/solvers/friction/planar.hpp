// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/solvers/problem.hpp"

namespace saltus::solvers {

/// Planar friction as a linear complementarity problem. With λ_R = μ r_N + r_T, λ_L = μ r_N − r_T and the split
/// v_T = v_R − v_L of the slip velocity into nonnegative parts, Coulomb's law is
///     0 <= v_N ⊥ r_N >= 0,   0 <= v_R ⊥ λ_R >= 0,   0 <= λ_L ⊥ v_L >= 0.
/// The unknowns z of a contact are r_N, λ_R and v_L. A slider has the same form with its bound in the place of μ r_N
/// and the unknowns λ_R and v_L. Bilateral rows are eliminated.
struct PlanarComplementarity {
    LinearComplementarity problem;
    Matrix A;       ///< r = A z + offset
    Vector offset;  ///< reactions at z = 0

    /// Empty if the problem has other laws, or if the bilateral rows of W are singular and cannot be eliminated.
    static std::optional<PlanarComplementarity> of(const FrictionProblem& problem);

    /// The reactions r = A z + offset.
    std::vector<double> reactions(const std::vector<double>& z) const;
};

}  // namespace saltus::solvers
