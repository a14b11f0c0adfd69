// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/certify/detail/claims/box_claims.hpp"

namespace saltus::stability {

/// The claim "observable" (docs/certificate-format.md): with constant matrices no motion except rest is without
/// dissipation, whichever contacts are closed. std::nullopt: not shown, or the model has no constant matrices.
std::optional<ClaimValue> observable_claim(const ClaimScope& scope);

}  // namespace saltus::stability
