// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/certify/attractivity.hpp"

namespace saltus::stability {

/// [Leine] Theorem 2, statement 3, with V = −T − (U − U(q_e)); for linear systems Theorem 3. For models without
/// contacts and clutches.
///
/// q_e is the stationary point of U that Newton's method reaches from the start, if it is not a minimum. Otherwise it
/// is the lowest saddle at the boundary of the minimum's valley.
///
/// With the corrections of docs/papers.md: K must have a negative eigenvalue, friction must act on ker(C + Cᵀ), and the
/// start x₀ of the proof lies beyond the point of the equilibrium set at which V is largest.
proof::Certificate certify_instability(const model::Mechanics& model, const CertifyOptions& options = {});

/// The start position lies in an equilibrium set, and Newton's method from it reaches a stationary point of U with a
/// direction of negative curvature. False for models with contacts or clutches.
bool starts_at_saddle_equilibrium(const model::Mechanics& model, const CertifyOptions& options);

}  // namespace saltus::stability
