// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/stability/certify/detail/claims/position_claims.hpp"

namespace saltus::stability {

/// What the theorem "instability" states and shows (docs/certificate-format.md): D, U_ref, ρ, and the claims by the
/// numbers of the conditions. `why` says what is missing.
struct InstabilityClaims {
    Box domain;
    double reference = 0.0, level = 0.0;
    std::vector<std::pair<std::string, ClaimList>> conditions;
};

/// The claims for the equilibria around a stationary point of U that is no minimum. For models without contacts.
InstabilityClaims instability_claims_around(const proof::Enclosure& enclosure, const StationaryPoint& saddle,
                                            long budget, const std::function<bool()>& stop);

}  // namespace saltus::stability
