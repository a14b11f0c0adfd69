// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/basin/basin.hpp"

namespace saltus::stability {

/// The set of states that a certificate of attractivity speaks of; nothing where it speaks of none.
std::optional<CaptureSet> capture_set(const proof::Certificate& certificate);

}  // namespace saltus::stability
