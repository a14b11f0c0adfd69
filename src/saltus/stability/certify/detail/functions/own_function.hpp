// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/proof/theorem.hpp"
#include "saltus/stability/certify/attractivity.hpp"

namespace saltus::stability {

/// Lyapunov's method and [Leine] Theorem 2 with the function V of CertifyOptions::V. Without a theorem: attractivity,
/// or instability if V = aT + W(q) with a < 0.
///
/// If V = aT + W(q) and W accounts for all forces at rest, or V = φ(T + U), then V is a function of an energy of the
/// system, and the conditions of Theorem 1 or Theorem 2 are examined with it. Otherwise V is examined as it is: by
/// bounds of the second derivatives of V and V̇ and of the power of contacts, constraints, sliders and clutches, or by
/// simulated motions if the bounds do not suffice.
proof::Certificate certify_with_function(const model::Model& model, std::optional<proof::Theorem> theorem,
                                         const CertifyOptions& options);

}  // namespace saltus::stability
