// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 4: there is a set I_C of gaps and a neighbourhood 𝒱 of the equilibrium set such that
// γ̇_Ni < 0 for every open gap i of I_C, for all states in 𝒱. An open gap of I_C then cannot stay open: an impact
// follows, which takes energy.
//
// Proof: 𝒱 = { Q < levels.closing } × { T < levels.velocity }. level_set.cpp finds both numbers.
// PositionTests::gaps_close proves γ̇ < 0 on every box, for every combination of the other gaps closed and all friction
// forces in their cones (gap_accelerations.cpp, with the term Ẇᵀu). If no such neighbourhood is found, a
// witness is searched: a state in which some gap of I_C has γ̇ >= 0.
#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

Condition condition_4_closing_gaps(const ConditionScope& scope, const LevelSet& levels) {
    const model::Mechanics& model = scope.model();
    Condition c{"4", condition_text::closing_gaps, Verdict::proved, "", {}};
    std::vector<std::string> names;
    for (const int r : levels.I_C)
        names.push_back(
            "'" + model.contacts[static_cast<std::size_t>(r - static_cast<int>(model.constraints.size()))].name + "'");
    if (levels.I_C.empty()) {
        c.evidence =
            "no gap is closed at the equilibrium: I_C is empty, and condition 5 requires dissipation everywhere";
        return c;
    }
    if (!(levels.stationary.verified > 0.0)) {
        c.verdict = Verdict::not_examined;
        c.evidence = "there is no level set in which the gaps could be examined";
        return c;
    }
    const double level = std::min(levels.velocity.verified, levels.closing.verified);
    if (!(level > 0.0)) {
        c.witness =
            opening_witness(scope, levels.I_C, levels.closing.at.size() > 0 ? levels.closing.at : scope.equilibrium.q);
        const bool refuted = c.witness.given();
        c.verdict = refuted ? Verdict::fails : Verdict::not_examined;
        c.evidence =
            refuted ? "a gap of I_C = {" + listing(names) + "} stays open at the witness, however near the equilibrium"
                    : "no neighbourhood of the equilibrium was found in which the gaps of I_C close, and no state in "
                      "which one of them stays open";
        return c;
    }
    c.evidence = "I_C = {" + listing(names) + "}; V: T < " + number(levels.velocity.value) +
                 (std::isfinite(levels.closing.value) ? ", positions below Q = " + number(levels.closing.value) : "");
    return c;
}

}  // namespace saltus::stability
