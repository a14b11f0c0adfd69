// SPDX-License-Identifier: Apache-2.0
//
// Two kinds of motions without losses.
//
// On the loaded contacts. Let no element rub at q_e (no sliders, constraints and closed contacts without friction), let
// the smooth forces do no work, and let all closed gaps carry forces λ > 0. On the positions at which these gaps and
// the constraints are zero, q_e is a strict minimum of U (condition 2). If directions along them are left, motions of
// small energy on them stay near q_e; λ stays positive there, so that the gaps stay closed. They conserve V > 0 and do
// not approach q_e, which is an isolated equilibrium (its box is proved).
//
// Bouncing without loss. One gap is closed at q_e, with e_N = 1. Let its row w have one entry only, for the coordinate
// k. If over a piece of the line q_e + δ e_k the other coordinates are not coupled to it (M has no other entries in row
// k, the forces on the others vanish for velocities along e_k) and the slip of the contact is 0 along e_k, then motions
// along this line stay on it. The force on k closes the gap, does not depend on the velocity and has a potential; the
// impact turns the velocity round, without friction since nothing slips. The motion is periodic and keeps its energy.
// All these conditions are checked exactly, for the position q_e as reported.
#include "saltus/stability/certify/detail/motions/lossless_motion.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/model/mechanics.hpp"
#include "saltus/proof/laws.hpp"

namespace saltus::stability {

using namespace saltus::proof;

namespace {

/// The line is examined over this length and up to this speed, in the units of the coordinate.
constexpr double line_length = 1e-3, line_speed = 0.1;
/// The witness starts at most at this fraction of the line, and so low that its speed stays below this fraction of
/// line_speed.
constexpr double witness_fraction = 0.5;

bool is_zero(const Interval& x) { return x.defined && x.lo == 0.0 && x.hi == 0.0; }

/// The smooth forces f^nc vanish at rest and do no work at any state.
bool conservative(const Enclosure& e) {
    const Box all = whole_space(static_cast<std::size_t>(e.size()));
    if (!e.forces_vanish_at_rest || !e.linear_damping) return false;
    const IntervalMatrix S = symmetric_part(e.damping(all));
    for (int i = 0; i < S.rows(); ++i)
        for (int j = 0; j < S.cols(); ++j)
            if (!is_zero(S(i, j))) return false;
    return true;
}

std::optional<LosslessMotion> on_loaded_contacts(const ConditionScope& scope) {
    const Enclosure& e = scope.enclosure();
    const model::Mechanics& m = scope.model();
    const StationaryPoint& point = scope.equilibrium;
    const Box all = whole_space(static_cast<std::size_t>(e.size()));
    const IntervalVector coefficients = e.coefficients(all, all);
    if (!m.clutches.empty() || !conservative(e)) return std::nullopt;
    for (const model::Slider& s : m.sliders)
        if (!proof::without_friction(s.friction, coefficients)) return std::nullopt;
    for (const model::Constraint& c : m.constraints)
        if (!proof::without_friction(c.friction, coefficients)) return std::nullopt;
    for (const int r : point.closed)
        if (!proof::without_friction(m.contacts[static_cast<std::size_t>(r - e.constraints())].friction, coefficients))
            return std::nullopt;
    // enclose_equilibrium proves λ > 0 for the gaps of the support.
    const bool all_loaded = scope.box.support.size() == point.closed.size() + m.constraints.size();
    if (!all_loaded || !point.minimum || point.free_directions == 0) return std::nullopt;
    LosslessMotion motion;
    motion.text = point.closed.empty() ? "nothing dissipates energy next to the equilibrium: motions keep their V > 0"
                                       : "motions on the closed contacts, which do not rub, keep their V > 0";
    motion.witness.q = list_of(point.q);
    motion.witness.u = list_of(point.direction / point.direction.norm());
    return motion;
}

std::optional<LosslessMotion> bouncing(const ConditionScope& scope, const std::vector<double>& q_e) {
    const Enclosure& e = scope.enclosure();
    const model::Mechanics& m = scope.model();
    const std::vector<int>& closed = scope.equilibrium.closed;
    if (closed.size() != 1 || !m.constraints.empty() || !m.clutches.empty() || !e.linear_damping) return std::nullopt;
    const model::Contact& contact = m.contacts[static_cast<std::size_t>(closed.front() - e.constraints())];
    const Box all = whole_space(static_cast<std::size_t>(e.size()));
    const Interval e_n = coefficient(e.coefficients(all, all), contact.e_n);
    const bool newton = contact.impact == model::ImpactLaw::newton;
    if (!newton || !is_point(e_n) || e_n.lo != 1.0) return std::nullopt;
    // The gap must be exactly closed at q_e as reported.
    if (!is_zero(e.position_values(point_box(q_e))[static_cast<std::size_t>(closed.front())])) return std::nullopt;
    const int n = e.size();
    const IntervalMatrix at = e.row_matrix(point_box(q_e));
    int k = -1;
    for (int j = 0; j < n; ++j) {
        if (is_zero(at(closed.front(), j))) continue;
        if (k >= 0) return std::nullopt;
        k = j;
    }
    if (k < 0) return std::nullopt;
    const double sign = at(closed.front(), k).lo > 0.0 ? 1.0 : -1.0;
    const auto side = static_cast<std::size_t>(k);
    Box line = point_box(q_e), u(q_e.size(), Interval(0.0));
    const double end = q_e[side] + sign * line_length;
    line[side] = Interval(std::min(q_e[side], end), std::max(q_e[side], end));
    u[side] = Interval(-line_speed, line_speed);
    const IntervalMatrix rows = e.row_matrix(line), M = e.mass(line);
    const IntervalVector h = e.force(line, u), gaps = e.position_values(line);
    for (int j = 0; j < n; ++j) {
        if (j == k) continue;
        if (!is_zero(rows(closed.front(), j)) || !is_zero(M(k, j)) || !is_zero(h[static_cast<std::size_t>(j)]))
            return std::nullopt;
    }
    // Nothing slips or is damped along the line, and no other gap is touched.
    for (int r = 0; r < e.rows(); ++r)
        if (r >= e.positions() && !is_zero(rows(r, k))) return std::nullopt;
    for (int r = e.constraints(); r < e.positions(); ++r)
        if (r != closed.front() && !(gaps[static_cast<std::size_t>(r)].lo > 0.0)) return std::nullopt;
    const IntervalMatrix C = e.damping(line);
    for (int j = 0; j < n; ++j)
        if (!is_zero(C(j, k)) || !is_zero(C(k, j))) return std::nullopt;
    const Interval closing = Interval(sign) * h[side];
    if (!(closing.hi < 0.0) || !e.forces_vanish_at_rest) return std::nullopt;
    // v² = 2 a s bounds the speed at the impact after the height s, with the largest acceleration a.
    const double acceleration = -closing.lo / M(k, k).lo;
    if (!(M(k, k).lo > 0.0) || !std::isfinite(acceleration)) return std::nullopt;
    const double fastest = witness_fraction * line_speed;
    const double height = std::min(witness_fraction * line_length, fastest * fastest / (2.0 * acceleration));
    LosslessMotion motion;
    motion.text = "the motion from the witness bounces on '" + contact.name + "' for ever, without loss";
    motion.witness.q = q_e;
    motion.witness.q[side] = q_e[side] + sign * height;
    motion.witness.u.assign(q_e.size(), 0.0);
    return motion;
}

}  // namespace

std::optional<LosslessMotion> lossless_motion(const ConditionScope& scope) {
    if (!scope.equilibrium.found || !scope.box.proved() || !scope.model().autonomous || !scope.model().scleronomic)
        return std::nullopt;
    if (std::optional<LosslessMotion> motion = on_loaded_contacts(scope)) return motion;
    return bouncing(scope, position_of(scope.equilibrium, scope.box));
}

}  // namespace saltus::stability
