// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/regulation.hpp"

namespace saltus::control {

/// Whether only rest keeps u·Cu = 0, C the damping by the controller and by R (Remarks 5, 6, 13).
///
/// A motion with Cu = 0 on an interval of time, during which the contacts of S stay closed, has
///     Cu = 0,   W_S u = 0,   Mü + Ku = W_Sᵀμ,
/// where M, K, C, W are constant; so u stays in the unobservable subspace of (M⁻¹K, C) on ker W_S. If that is {0} for
/// every S that can be closed, u = 0 on every such interval, nothing moves, and no impact can happen. With springs S
/// are those that are pressed, K has their stiffness, and nothing is held. Models that are not linear are linearised at
/// the equilibrium: then the answer is local, and numerical.
struct Invariance {
    proof::Verdict verdict = proof::Verdict::assumed;
    Scope scope = Scope::inconclusive;
    std::string evidence;
    proof::Witness witness;
};
Invariance only_rest_is_undamped(const Domain& domain, Statics& statics, const Rest& rest, ContactModel contacts);

}  // namespace saltus::control
