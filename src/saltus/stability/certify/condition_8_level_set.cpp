// SPDX-License-Identifier: Apache-2.0
//
// [Leine] Theorem 1, condition 8: the equilibrium set ℰ lies in { V < ρ* }, where ρ* is the largest level with
// { V < ρ* } ⊂ 𝒱 ∩ 𝒬 (62). On ℰ the velocity is 0 and V = Q, so that the condition is max Q over ℰ < ρ*.
//
// Proof: cover.highest is an upper bound of Q over a cover of ℰ by boxes (level_set_equilibria.cpp);
// levels.rho_verified is a lower bound of ρ* (level_set.cpp). Condition 8 is proved if cover.highest <
// levels.rho_verified and the cover is bounded. Corollary 3 needs the same condition, although it is not printed there
// (docs/papers.md).
#include <algorithm>
#include <cmath>

#include "saltus/model/model.hpp"
#include "saltus/model/support.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"
#include "saltus/stability/certify/detail/wording.hpp"
#include "saltus/stability/equilibria/equilibrium_point.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// A computed position is an equilibrium if its margin (EquilibriumPoint::margin) is above −boundary_margin: the
/// witness lies on the boundary of the set, where the margin is 0 up to rounding. Contacts are closed up to
/// closed_tolerance.
constexpr double boundary_margin = 1e-6, closed_tolerance = 1e-6;

/// The position is an equilibrium with V >= ρ*, by the statics of the model itself.
bool is_outside_equilibrium(const ConditionScope& scope, const std::vector<double>& q, double rho) {
    if (!model::unsupported(scope.model(), model::Analysis::equilibrium_sets).empty()) return false;
    RestingModel resting(scope.model());
    const EquilibriumPoint p = equilibrium_at(resting, vector_of(q), {false, closed_tolerance});
    const double V = expr::midpoint(scope.set.level(point_box(q)));
    return p.admissible && (p.is_equilibrium || p.margin > -boundary_margin) &&
           V >= rho * (1.0 - boundary_margin) - boundary_margin * std::fabs(V);
}

/// "x in [-1, 1], y in [0, 0]": the hull of the connected pieces.
std::string extent_text(const model::Model& model, const EquilibriumCover& cover) {
    std::string text;
    for (std::size_t k = 0; k < model.coordinates.size(); ++k) {
        double lo = Interval::infinity, hi = -Interval::infinity;
        for (const EquilibriumCover::Piece& p : cover.pieces)
            if (p.connected) lo = std::min(lo, p.box[k].lo), hi = std::max(hi, p.box[k].hi);
        if (!(lo <= hi)) return "";
        text += (text.empty() ? "" : ", ") + model.coordinates[k] + " in [" + number(lo) + ", " + number(hi) + "]";
    }
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
    c.evidence = "max V on E = " + number(cover.highest) +
                 ", rho* = " + (std::isfinite(levels.rho) ? number(levels.rho) : "inf");
    if (cover.highest < levels.rho_verified && cover.bounded) {
        c.verdict = Verdict::proved;
        const std::string extent = extent_text(scope.model(), cover);
        if (!extent.empty()) c.evidence += "; all equilibria below rho* have " + extent;
        return c;
    }
    if (!cover.bounded) c.evidence += "; the equilibrium set is not proved to be bounded";
    if (cover.highest_box.empty()) return c;
    const std::vector<double> q = centre(cover.highest_box);
    if (!is_outside_equilibrium(scope, q, levels.rho)) {
        c.evidence += "; no equilibrium above rho* was found";
        return c;
    }
    c.verdict = Verdict::fails;
    c.witness.q = q;
    c.witness.u.assign(q.size(), 0.0);
    c.witness.values = {{"V", cover.highest}, {"rho*", levels.rho}};
    return c;
}

}  // namespace saltus::stability
