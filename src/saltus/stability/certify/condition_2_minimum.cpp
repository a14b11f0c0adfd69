// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 2: q_e is a local minimum of the total potential energy Q and 0 ∉ ∂Q(q) for all other q
// in 𝒰 (59). 𝒰 is the component of { Q < levels.stationary } around q_e.
//
// Proof: q_e exists in its box (Krawczyk's operator, stationary_box.cpp). The flood in level_set.cpp proves box by box
// that there is no other point with 0 ∈ ∂Q below the level (PositionTests::no_stationary_point), in the whole domain
// and not only in the component of q_e. { Q <= c } is bounded for every c below the level, because Q grows without
// bound or because Q is not below the level on the faces of a bounded box. On each closed and bounded component Q has a
// minimum, which is a stationary point, so that it is q_e: there is one component.
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

Condition condition_2_minimum(const ConditionScope& scope, const LevelSet& levels) {
    Condition c{"2", condition_text::minimum, Verdict::not_examined, "", {}};
    const model::Mechanics& model = scope.model();
    const LevelPart& U = levels.stationary;
    const std::string where = position_text(model, scope.equilibrium.q);
    if (!scope.box.proved()) {
        c.evidence = "the existence of the equilibrium " + where + " is not proved";
        return c;
    }
    if (!(U.verified > 0.0)) {
        c.evidence = "no neighbourhood of the equilibrium " + where +
                     " was found that has no other stationary point and that low levels do not leave";
        return c;
    }
    if (!levels.bounded) {
        c.evidence = "no level set around the equilibrium " + where + " is proved to be bounded";
        return c;
    }
    if (levels.region.value <= 0.0) {
        c.verdict = Verdict::fails;
        c.evidence = "the region of the model file does not contain the equilibrium " + where;
        c.witness.q = list_of(scope.equilibrium.q);
        return c;
    }
    std::string sides;
    for (const LevelDomain::Face& face : levels.domain.faces) {
        const Interval& x = levels.domain.box[static_cast<std::size_t>(face.coordinate)];
        sides += (sides.empty() ? "" : ", ") + model.coordinates[static_cast<std::size_t>(face.coordinate)] +
                 (face.upper ? " < " + number(x.hi) : " > " + number(x.lo));
    }
    c.verdict = Verdict::proved;
    c.evidence = "q_e: " + where + "; U: " + (sides.empty() ? "everything" : sides) +
                 (std::isfinite(U.value) ? ", Q < " + number(U.value) + ", a bounded set with no other stationary point"
                                         : "; no other stationary point, and Q grows without bound");
    if (!U.proved) c.evidence += "; there the budget of boxes was used up";
    return c;
}

}  // namespace saltus::stability
