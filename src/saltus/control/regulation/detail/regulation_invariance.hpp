// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/regulation.hpp"

namespace saltus::control {

/// The answer to the question of Remarks 5, 6 and 13: is rest the only motion without loss, u·Cu = 0 at all times? C is
/// the damping matrix of the controller and of R.
struct Invariance {
    proof::Verdict verdict = proof::Verdict::not_examined;
    Scope scope = Scope::inconclusive;  ///< global for linear models, local if the model was linearised at q_R
    std::string evidence;
    proof::Witness witness;  ///< a motion without loss, or a velocity to which the forces supply energy
};
/// If C is positive definite then the answer is yes. Otherwise, for a semidefinite C, a motion without loss during
/// which the contacts of S stay closed has
///     Cu = 0,   W_S u = 0,   M ü + K u = W_Sᵀμ,
/// so that u stays in the unobservable subspace of (M⁻¹K, C) on ker W_S. If this subspace is {0} for every S that can
/// be closed then u = 0 on every such interval: nothing moves, and no impact can happen. With springs S are the
/// compressed contacts; their stiffness is part of K, and no velocity is restricted. Models that are not linear are
/// linearised at the equilibrium; the answer is then local and numerical.
Invariance only_rest_is_undamped(const Domain& domain, Statics& statics, const Rest& rest, ContactModel contacts);

}  // namespace saltus::control
