// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/collision.hpp"
#include "saltus/model/elements.hpp"
#include "saltus/solvers/problem.hpp"

namespace saltus::integrate {

/// The impact law of a contact, as the module `impact` names it.
inline impact::ImpactLaw impact_law(model::ImpactLaw law) {
    switch (law) {
        case model::ImpactLaw::newton: return impact::ImpactLaw::newton;
        case model::ImpactLaw::poisson: return impact::ImpactLaw::poisson;
        case model::ImpactLaw::energy: return impact::ImpactLaw::energy;
    }
    return impact::ImpactLaw::newton;
}

/// A law of a contact problem that has no parameters besides its kind.
inline solvers::Law plain_law(solvers::LawKind kind) {
    solvers::Law law;
    law.kind = kind;
    return law;
}

}  // namespace saltus::integrate
