// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/proof/certificate.hpp"

namespace saltus::stability {

struct CertifyOptions {
    std::vector<double> at;  ///< position where the search for the equilibrium starts; empty: the initial position
    long budget = 20'000;    ///< largest number of boxes of each search and each proof
    std::string V = {};      ///< Lyapunov function of the user, as written; empty: the energy T + U
    std::function<bool()> stop = {};  ///< polled during searches; true: they end as if their budget were used up
};

/// [Leine] Theorem 1: decides whether the equilibrium set around a minimum of U is attractive, and finds a level ρ*
/// such that { V < ρ* } belongs to its region of attraction. The minimum is the one that descent reaches from the
/// start. With contacts Theorem 1 or Corollary 2 is applied, without contacts Corollary 3.
///
/// With the corrections of docs/papers.md: condition 7a requires e >= 0, sublevel sets are the component around the
/// equilibrium, condition 8 belongs to Corollary 3 too, and gaps have the accelerations Wᵀu̇ + Ẇᵀu.
///
/// A model that cannot be examined gives an inconclusive certificate with the reason; nothing is thrown.
proof::Certificate certify_attractivity(const model::Mechanics& model, const CertifyOptions& options = {});

}  // namespace saltus::stability
