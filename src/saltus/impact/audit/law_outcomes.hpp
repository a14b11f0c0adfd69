// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/audit/collision_study.hpp"
#include "saltus/impact/collision.hpp"

namespace saltus::impact {

/// What one impact law makes of a collision, for one coefficient of restitution.
struct LawOutcomeAt {
    double e = 0.0;
    bool solved = false;
    std::string why;  ///< the reason if it is not solved
    Vector u_plus;
    double work = 0.0;                   ///< contact work of the impulses of the law, in J
    Verdict verdict = Verdict::invalid;  ///< whether u⁺ lies in the consistency set, as `study_collision` judges it
};

/// The outcomes of one impact law for several coefficients of restitution.
struct LawOutcomes {
    ImpactLaw law = ImpactLaw::newton;
    std::vector<LawOutcomeAt> at;  ///< by ascending e
};

/// Applies Newton's, Poisson's and the energy law to a collision. All contacts have the law and the coefficient e_N = e
/// with e = 0, 1/(count − 1), …, 1; count >= 2. Tangential coefficients stay those of `restitutions`, which has one
/// number per row. u⁺ of the collision is not read. An external impulse acts first. `alpha` is the allowed contact
/// work.
std::vector<LawOutcomes> law_outcomes(const FrictionalCollision& collision, const Restitutions& restitutions, int count,
                                      double alpha = 0.0);

}  // namespace saltus::impact
