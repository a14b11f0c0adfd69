// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/certify/detail/claims/box_claims.hpp"

namespace saltus::stability {

/// The claims of one condition; empty with a reason if they could not be made.
struct ClaimList {
    std::vector<ClaimValue> claims;
    std::string why;
    bool complete() const { return why.empty(); }
};

/// The claims of condition 2: a convex potential, or no position of P on the faces of D, bounded level sets, one
/// stationary point.
ClaimList minimum_claims(const ClaimScope& scope);

/// The free components of a direction along the constraints in which U decreases and every gap that may close opens,
/// over a box (leaf "separated"). std::nullopt: none was found and shown.
std::optional<std::vector<double>> descent_direction(const ClaimScope& scope, const Box& q,
                                                     const std::vector<int>& pivots);
/// ∇²U − Σ ν_j ∇²c_j over a box, with ν from G_Pᵀ ν = (∇U)_P. std::nullopt: ν is not enclosed.
std::optional<IntervalMatrix> lagrangian_hessian(const ClaimScope& scope, const Box& q, const std::vector<int>& pivots);

/// h(q, 0)·d and the forces of all elements along constant directions d (condition 8, completeness of a search): a leaf
/// "unbalanced", or nothing.
std::optional<ClaimValue> unbalanced_leaf(const ClaimScope& scope, const Box& q);
/// The uncertainty of these forces over a box.
double unbalanced_spread(const ClaimScope& scope, const Box& q);

}  // namespace saltus::stability
