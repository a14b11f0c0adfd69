// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/certify/attractivity.hpp"

namespace saltus::stability {

enum class Theorem { fitting, attractivity, instability };

/// The theorem that is asked for, or the one that fits: instability where the start rests in an equilibrium set around
/// a stationary point that is no minimum, attractivity otherwise.
proof::Certificate certify(const model::Model& model, Theorem theorem, const CertifyOptions& options = {});

}  // namespace saltus::stability
