// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/certify/detail/claims/impulse_claims.hpp"
#include "saltus/stability/certify/detail/claims/position_claims.hpp"

namespace saltus::stability {

/// The claims of the other conditions of [Leine] Theorem 1 (docs/certificate-format.md).
ClaimList kinetic_claims(const ClaimScope& scope);      ///< condition 1
ClaimList dissipation_claims(const ClaimScope& scope);  ///< condition 3
ClaimList closing_claims(const ClaimScope& scope);      ///< condition 4
ClaimList loss_claims(const ClaimScope& scope);         ///< condition 5
/// Condition 6, and condition 7. Stability needs no loss in impacts.
ClaimList restitution_claims(const ClaimScope& scope, ImpactLoss loss = ImpactLoss::required);
ClaimList impact_claims(const ClaimScope& scope, ImpactLoss loss = ImpactLoss::required);
ClaimList equilibrium_claims(const ClaimScope& scope);  ///< condition 8
/// Impacts without friction do not increase the energy (condition R8 of regulation).
ClaimList passive_impact_claims(const ClaimScope& scope);

}  // namespace saltus::stability
