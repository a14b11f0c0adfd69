// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/certify/detail/claims/box_claims.hpp"

namespace saltus::stability {

/// The statement of the theorem "linear" (docs/certificate-format.md) for an unstable linear system with sliders.
/// std::nullopt: the system is not linear, or the claims cannot be shown.
std::optional<proof::CertifiedStatement> linear_instability_claims(const ClaimScope& scope,
                                                                   const proof::Certificate& certificate);

/// The claim "friction": in a linear system with sliders friction takes more energy than damping supplies, for all
/// motions of the level set. std::nullopt: not shown, or the system is not linear.
std::optional<ClaimValue> friction_claim(const ClaimScope& scope);

}  // namespace saltus::stability
