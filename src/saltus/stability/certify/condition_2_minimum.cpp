// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 2: q_e is a local minimum of the total potential energy Q and 0 ∉ ∂Q(q) for all other q
// in 𝒰 (59). 𝒰 is the component of { Q < levels.stationary } around q_e.
//
// Proof: q_e exists in its box (Krawczyk's operator, stationary_box.cpp). The flood in level_set.cpp proves box by box
// that there is no other point with 0 ∈ ∂Q below the level (PositionTests::no_stationary_point). On the bounded closed
// component Q has a minimum; the minimum is a stationary point, so that it is q_e.
#include <cmath>

#include "saltus/model/model.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

Condition condition_2_minimum(const ConditionScope& scope, const LevelSet& levels) {
    Condition c{"2", condition_text::minimum, Verdict::proved, "", {}};
    const model::Model& model = scope.model();
    const LevelPart& U = levels.stationary;
    const std::string where = position_text(model, scope.equilibrium.q);
    if (!(U.value > 0.0)) {
        c.verdict = Verdict::fails;
        c.evidence = "Q has stationary points next to the equilibrium " + where;
        c.witness.q = U.at.size() > 0 ? list_of(U.at) : list_of(scope.equilibrium.q);
        c.witness.values.emplace_back("Q", U.value);
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
    c.evidence = "q_e: " + where + "; U: " + (sides.empty() ? "everything" : sides) +
                 (std::isfinite(U.value) ? "; the next stationary point has Q = " + number(U.value)
                                         : "; no other stationary point");
    if (!scope.box.proved() || !U.proved || !levels.bounded) c.verdict = Verdict::holds;
    if (!levels.bounded) c.evidence += "; it is not proved that Q grows without bound";
    if (!scope.box.proved()) c.evidence += "; the existence of q_e is not proved";
    if (!U.proved) c.evidence += "; proved below Q = " + number(U.verified) + ", where the budget of boxes was used up";
    return c;
}

}  // namespace saltus::stability
