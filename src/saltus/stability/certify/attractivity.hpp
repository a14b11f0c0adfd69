// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/proof/certificate.hpp"

namespace saltus::stability {

struct CertifyOptions {
    std::vector<double> at;  ///< where to look for the equilibrium; empty: the model's initial position
    long budget = 20'000;    ///< boxes, of each search
};

/// [Leine] Theorem 1: is the equilibrium set around the minimum of U that is reached from the start attractive, and
/// which { V < ρ } belongs to its region of attraction? Without contacts Corollary 3. With the errata: condition 7a
/// asks for e >= 0, sublevel sets are the component of the equilibrium, condition 8 belongs to Corollary 3 too, and
/// gaps have the accelerations Wᵀu̇ + Ẇᵀu.
proof::Certificate certify_attractivity(const model::Model& model, const CertifyOptions& options = {});

}  // namespace saltus::stability
