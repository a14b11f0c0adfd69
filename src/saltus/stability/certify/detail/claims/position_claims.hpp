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

/// The claims of condition 2: no position of P on the faces of D, bounded level sets, one stationary point.
ClaimList minimum_claims(const ClaimScope& scope);

/// h(q, 0)·d and the forces of all elements along constant directions d (condition 8, completeness of a search): a leaf
/// "unbalanced", or nothing.
std::optional<ClaimValue> unbalanced_leaf(const ClaimScope& scope, const Box& q);
/// The uncertainty of these forces over a box.
double unbalanced_spread(const ClaimScope& scope, const Box& q);

}  // namespace saltus::stability
