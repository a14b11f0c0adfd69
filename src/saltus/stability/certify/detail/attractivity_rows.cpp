// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/certify/detail/attractivity_rows.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/text.hpp"
#include "saltus/model/model.hpp"

namespace saltus::stability {

using namespace saltus::proof;

Condition minimum_row(const model::Model& model, const Rest& rest, const RestBox& box, const LevelSet& levels) {
    Condition c{"2", text_2, Verdict::proved, "", {}};
    const LevelPart& U = levels.stationary;
    std::string where = position_text(model, rest.q);
    if (!(U.value > 0.0)) {
        c.verdict = Verdict::fails;
        c.evidence = "Q has stationary points next to the equilibrium " + where;
        c.witness.q = U.at.size() > 0 ? list_of(U.at) : list_of(rest.q);
        c.witness.values.emplace_back("Q", U.value);
        return c;
    }
    if (levels.region.value <= 0.0) {
        c.verdict = Verdict::fails;
        c.evidence = "the region of the model file does not contain the equilibrium " + where;
        c.witness.q = list_of(rest.q);
        return c;
    }
    std::string sides;
    for (const Domain::Face& face : levels.domain.faces) {
        const Interval& x = levels.domain.box[static_cast<std::size_t>(face.coordinate)];
        sides += (sides.empty() ? "" : ", ") + model.coordinates[static_cast<std::size_t>(face.coordinate)] +
                 (face.upper ? " < " + number(x.hi) : " > " + number(x.lo));
    }
    c.evidence = "q_e: " + where + "; U: " + (sides.empty() ? "everything" : sides) +
                 (std::isfinite(U.value) ? "; the next stationary point has Q = " + number(U.value)
                                         : "; no other stationary point");
    if (!box.proved() || !U.proved || !levels.bounded) c.verdict = Verdict::holds;
    if (!levels.bounded) c.evidence += "; that Q grows beyond all bounds is not proved";
    if (!box.proved()) c.evidence += "; that q_e exists is not proved";
    if (!U.proved) c.evidence += "; proved below Q = " + number(U.verified) + ", then the budget ended";
    return c;
}

Condition closing_row(const model::Model& model, const Ground& ground, const LevelSet& levels, bool& shown) {
    Condition c{"4", text_4, Verdict::proved, "", {}};
    std::vector<std::string> names;
    for (const int r : levels.I_C)
        names.push_back(
            "'" + model.contacts[static_cast<std::size_t>(r - static_cast<int>(model.constraints.size()))].name + "'");
    if (levels.I_C.empty()) {
        c.evidence =
            "no gap is closed at the equilibrium: I_C is empty, and condition 5 asks for dissipation everywhere";
        return c;
    }
    const double level = std::min(levels.velocity.value, levels.closing.value);
    if (!(level > 0.0)) {
        c.witness =
            opening_witness(ground, levels.I_C, levels.closing.at.size() > 0 ? levels.closing.at : ground.rest.q);
        shown = c.witness.given();
        c.verdict = shown ? Verdict::fails : Verdict::assumed;
        c.evidence =
            shown ? "a gap of I_C = {" + listing(names) + "} stays open at the witness, however near the equilibrium"
                  : "not shown: no neighbourhood of the equilibrium was found in which the gaps of I_C close, and no "
                    "state in which one of them stays open";
        return c;
    }
    c.evidence = "I_C = {" + listing(names) + "}; V: T < " + number(levels.velocity.value) +
                 (std::isfinite(levels.closing.value) ? ", positions below Q = " + number(levels.closing.value) : "");
    if (!levels.velocity.proved || !levels.closing.proved) {
        c.verdict = Verdict::holds;
        c.evidence += "; the budget ended before the whole of it was proved";
    }
    return c;
}

Condition level_row(const LevelSet& levels, const EquilibriumCover& cover, bool closing_shown) {
    Condition c{"8", text_8, Verdict::proved, "", {}};
    c.evidence = "max V on E = " + number(cover.highest) +
                 ", rho* = " + (std::isfinite(levels.rho) ? number(levels.rho) : "inf");
    const bool below = cover.highest < levels.rho_verified || (std::isinf(levels.rho_verified) && cover.complete);
    if (below && cover.bounded) {
        if (!levels.foreign.proved) {
            c.verdict = Verdict::holds;
            c.evidence += cover.complete ? "; that there are no equilibria beyond is not proved"
                                         : " (from above; the budget ended before it was sharp)";
        }
        return c;
    }
    if (!cover.complete && levels.rho > 0.0) {
        c.verdict = Verdict::holds;
        c.evidence = "rho* = " + number(levels.rho) + "; the budget ended before the equilibrium set was bounded";
        return c;
    }
    if (!closing_shown || !cover.complete) {
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

Condition invariance_row() {
    return {"9",
            "limit sets in the level set are positively invariant",
            Verdict::assumed,
            "cannot be decided from the model; it holds where motions depend continuously on their start",
            {}};
}

}  // namespace saltus::stability
