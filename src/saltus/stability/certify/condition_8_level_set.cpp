// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 8: the equilibrium set ℰ lies in { V < ρ* }, where ρ* is the largest level with
// { V < ρ* } ⊂ 𝒱 ∩ 𝒬 (62). On ℰ the velocity is 0 and V = Q, so that the condition is max Q over ℰ < ρ*.
//
// Proof: cover.highest is an upper bound of Q over a cover of ℰ by boxes (level_set_equilibria.cpp);
// levels.rho_verified is a lower bound of ρ* (level_set.cpp). Condition 8 is proved if cover.highest <
// levels.rho_verified and the cover is bounded. Corollary 3 needs the same condition, although it is not printed there
// (docs/papers.md).
#include <cmath>

#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

Condition condition_8_level_set(const LevelSet& levels, const EquilibriumCover& cover, Verdict closing) {
    Condition c{"8", condition_text::level_set, Verdict::proved, "", {}};
    c.evidence = "max V on E = " + number(cover.highest) +
                 ", rho* = " + (std::isfinite(levels.rho) ? number(levels.rho) : "inf");
    const bool below = cover.highest < levels.rho_verified || (std::isinf(levels.rho_verified) && cover.complete);
    if (below && cover.bounded) {
        if (!levels.other_equilibria.proved) {
            c.verdict = Verdict::holds;
            c.evidence += cover.complete ? "; it is not proved that there are no equilibria above the examined levels"
                                         : "; max V is only an upper bound, because the budget of boxes was used up";
        }
        return c;
    }
    if (!cover.complete && levels.rho > 0.0) {
        c.verdict = Verdict::holds;
        c.evidence =
            "rho* = " + number(levels.rho) + "; the budget of boxes was used up before the equilibrium set was covered";
        return c;
    }
    if (closing == Verdict::assumed || !cover.complete) {
        c.evidence = "there is no level rho* > 0 to compare with";
        c.verdict = Verdict::assumed;
        return c;
    }
    c.verdict = Verdict::fails;
    if (!cover.bounded) c.evidence += "; the equilibrium set is not bounded";
    if (!cover.highest_box.empty()) {
        c.witness.q = centre(cover.highest_box);
        c.witness.u.assign(c.witness.q.size(), 0.0);
    }
    c.witness.values = {{"V", cover.highest}, {"rho*", levels.rho}};
    return c;
}

}  // namespace saltus::stability
