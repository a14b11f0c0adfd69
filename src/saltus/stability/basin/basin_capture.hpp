// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/basin/basin.hpp"

namespace saltus::stability {

/// The level set that a certificate of attractivity guarantees; nothing if the certificate does not conclude
/// attractivity or has no level rho > 0.
std::optional<CaptureSet> capture_set(const proof::Certificate& certificate);

/// The better of two level sets of one model: a proved one before one that is not, then the higher level; `a` if both
/// are equal.
std::optional<CaptureSet> wider(std::optional<CaptureSet> a, std::optional<CaptureSet> b);

}  // namespace saltus::stability
