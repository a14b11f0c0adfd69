// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 8: the equilibrium set ℰ lies in { V < ρ* }, where ρ* is the largest level with
// { V < ρ* } ⊂ 𝒱 ∩ 𝒬 (62). On ℰ the velocity is 0 and V = Q, so that the condition is max Q over ℰ < ρ*.
//
// Proof: cover.highest is an upper bound of Q over a cover of ℰ by boxes (level_set_equilibria.cpp);
// levels.rho_verified is a lower bound of ρ* (level_set.cpp). Condition 8 is proved if cover.highest <
// levels.rho_verified and the cover is bounded. If ρ* is infinite and all equilibria form one convex set, the condition
// holds for unbounded sets too (clutches). Corollary 3 needs the same condition, although it is not printed there
// (docs/papers.md).
#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/witnesses.hpp"
#include "saltus/stability/certify/detail/wording.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// A side of the hull of ℰ that is longer than this, in units of 1 + |q|, counts as a dimension of ℰ. Shorter ones are
/// errors of the enclosure of a point.
constexpr double least_extent = 1e-6;
/// The bound of V over the cover is called the maximum if V of the witness is at most this fraction below it.
constexpr double sharp_bound = 0.01;

/// "x in [-1, 1], y in [0, 0]": the hull of the connected pieces. Touching boxes do not show that ℰ is connected: a
/// strip in which friction cannot hold may be narrower than the boxes. The theorem does not need it, because ℰ is the
/// set of all equilibria below ρ*, but a reader of "the equilibrium set" must know it. In two or more dimensions even
/// the search for equilibrium sets leaves such strips undecided, so that the text says it.
std::string extent_text(const model::Mechanics& model, const EquilibriumCover& cover) {
    std::string text;
    int dimensions = 0;
    for (std::size_t k = 0; k < model.coordinates.size(); ++k) {
        double lo = Interval::infinity, hi = -Interval::infinity;
        for (const EquilibriumCover::Piece& p : cover.pieces)
            if (p.connected) lo = std::min(lo, p.box[k].lo), hi = std::max(hi, p.box[k].hi);
        if (!(lo <= hi)) return "";
        if (hi - lo > least_extent * (1.0 + std::max(std::abs(lo), std::abs(hi)))) ++dimensions;
        text += (text.empty() ? "" : ", ") + range_text(model.coordinates[k], lo, hi);
    }
    if (dimensions > 1) text += "; E is the set of all of them, whether connected or not";
    return text;
}

}  // namespace

Condition condition_8_level_set(const ConditionScope& scope, const LevelSet& levels, const EquilibriumCover& cover) {
    Condition c{"8", condition_text::level_set, Verdict::not_examined, "", {}};
    if (!cover.covers) {
        c.evidence = "there are too many combinations of gaps and reactions to search all equilibria";
        return c;
    }
    if (!(levels.rho_verified > 0.0)) {
        c.evidence = "there is no level rho* > 0 to compare with";
        return c;
    }
    if (cover.convex && levels.rho_verified == Interval::infinity) {
        // Every motion stays in a bounded set { V <= c }, and every equilibrium in it belongs to ℰ. V need not be
        // bounded on ℰ.
        c.verdict = Verdict::proved;
        c.evidence = "all equilibria form one convex set, bounded or not; rho* = inf, so that it lies in the level set";
        return c;
    }
    const std::string level = ", rho* = " + (std::isfinite(levels.rho) ? number(levels.rho) : "inf");
    c.evidence = "max V on E = " + number(cover.highest) + level;
    if (cover.highest < levels.rho_verified && cover.bounded) {
        c.verdict = Verdict::proved;
        const std::string extent = extent_text(scope.model(), cover);
        if (!extent.empty()) c.evidence += "; all equilibria below rho* have " + extent;
        return c;
    }
    if (!cover.bounded) c.evidence += "; the equilibrium set is not proved to be bounded";
    if (cover.highest_box.empty()) return c;
    c.witness = high_equilibrium(scope, cover, levels.rho);
    if (c.witness.q.empty()) {
        c.evidence += "; no equilibrium above rho* was found that is connected with q_e";
        return c;
    }
    c.verdict = Verdict::fails;
    // The boxes of the cover may be coarse, or reach to another set: then their bound is far above the witness.
    for (const auto& [name, V] : c.witness.values)
        if (name == "V" && V < (1.0 - sharp_bound) * cover.highest)
            c.evidence = "max V on E is between " + number(V) + " and " + number(cover.highest) + level;
    c.witness.values.emplace_back("rho*", levels.rho);
    return c;
}

}  // namespace saltus::stability
