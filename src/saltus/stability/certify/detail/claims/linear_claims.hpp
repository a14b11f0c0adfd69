// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/certify/detail/claims/box_claims.hpp"

namespace saltus::stability {

/// The statement of the theorem "linear" (docs/certificate-format.md) for a certificate of attractivity or instability
/// of a linear system with sliders. std::nullopt: the system is not linear, or the claims cannot be shown.
std::optional<proof::CertifiedStatement> linear_claims(const ClaimScope& scope, const proof::Certificate& certificate);

}  // namespace saltus::stability
