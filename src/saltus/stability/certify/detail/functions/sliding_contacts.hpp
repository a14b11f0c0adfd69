// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "saltus/proof/theorem.hpp"
#include "saltus/stability/certify/attractivity.hpp"

namespace saltus::stability {

/// Steady sliding of closed contacts on moving surfaces (γ_T = χ ≠ 0 at rest: a block on a conveyor), judged by
/// Lyapunov's first method. sliding_contacts.cpp has the statements and their proofs. std::nullopt if no surface of a
/// contact moves, or if the model has elements that the method does not treat.
std::optional<proof::Certificate> certify_sliding_contacts(const model::Mechanics& model,
                                                           std::optional<proof::Theorem> theorem,
                                                           const CertifyOptions& options);

}  // namespace saltus::stability
