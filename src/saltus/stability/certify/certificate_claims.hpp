// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "saltus/model/fwd.hpp"
#include "saltus/proof/claims.hpp"
#include "saltus/stability/equilibria/equilibria.hpp"

namespace saltus::stability {

struct ClaimOptions {
    long budget = 20'000;             ///< largest number of leaves of each tree
    std::function<bool()> stop = {};  ///< polled; true: the remaining conditions are not certified
    std::string V = {};               ///< the function of the certificate as a text; empty: T + U
    /// What the model file contains that certificates do not cover (certificate_obstacle); empty: nothing.
    std::string obstacle = {};
};

/// The claims that prove a certificate (docs/certificate-format.md): of attractivity, instability or regulation; for
/// unstable linear systems with sliders those of the theorem "linear". They are found by a second subdivision that uses
/// only steps which another program can repeat. The certified level is a little below `rho_verified`: near the level
/// itself ever smaller boxes would be needed. A condition that cannot be shown in this way is not certified, and says
/// why. `certificate` must come from `certify` or `certify_regulation` with this model and the function `options.V`. If
/// that is a function of T + U, the claims are about T + U. Steady sliding, and instability with closed contacts, have
/// the claims of the theorem "one mode".
proof::CertifiedStatement certificate_claims(const model::Model& model, const proof::Certificate& certificate,
                                             const ClaimOptions& options = {});

/// The claims that prove the completeness of a search for equilibria: every equilibrium in the region of
/// `equilibria.completeness` lies in one of the listed boxes, which are the extents of the sets and of their copies
/// at other turns, a little enlarged.
proof::CertifiedStatement completeness_claims(const model::Mechanics& model, const Equilibria& equilibria,
                                              const ClaimOptions& options = {});

}  // namespace saltus::stability
