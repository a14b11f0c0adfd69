// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/certify/attractivity.hpp"

namespace saltus::stability {

/// [Leine] Theorem 2, statement 3, with V = −T − (U − U(q_e)); for linear systems Theorem 3. With the errata: K must
/// have a negative eigenvalue, it is the kernel of C + Cᵀ that friction must act on, and the start x0 of the proof is
/// taken beyond the point of the equilibrium set where V is largest. The equilibrium is the stationary point of U that
/// Newton's method reaches from the start, if it is no minimum; otherwise the lowest pass out of the minimum's
/// surroundings.
proof::Certificate certify_instability(const model::Model& model, const CertifyOptions& options = {});

/// The start lies in an equilibrium set around a stationary point of U that is no minimum.
bool rests_on_a_pass(const model::Model& model, const CertifyOptions& options);

}  // namespace saltus::stability
