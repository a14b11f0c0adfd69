// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/stability/certify/attractivity.hpp"

namespace saltus::stability {

using proof::Theorem;

/// Applies the requested theorem, attractivity or instability. Without a request the theorem that fits: instability if
/// the start is at rest in an equilibrium set around a saddle of U (`starts_at_saddle_equilibrium`), otherwise
/// attractivity. With CertifyOptions::V the theorems are applied to that function. Theorem::regulation is not allowed:
/// it belongs to control::certify_regulation.
proof::Certificate certify(const model::Model& model, std::optional<Theorem> theorem = std::nullopt,
                           const CertifyOptions& options = {});

}  // namespace saltus::stability
