// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

namespace saltus::sensitivity {

/// An event with a smaller transversality is grazing: its quantity s touches zero instead of passing through it, and δt
/// does not exist. (A gap with this transversality would have turned back at a depth of 1e-14 of the positions.)
inline constexpr double transversality_margin = 1e-7;

/// The linearisation of the condition s(t, x, p) = 0 that fixes the time of an event.
struct EventCondition {
    integrate::Watch watch;       ///< which quantity s is
    Eigen::RowVectorXd s;         ///< (s_t, s_q, s_u, s_p), in the columns of Tangent
    double rate = 0.0;            ///< ṡ = s_t + s_x f⁻ along the motion before the event
    double transversality = 0.0;  ///< |ṡ| relative to the largest value that its terms could give, in [0, 1]
    double second_rate = 0.0;     ///< s̈ of a gap
    /// For a gap: the depth ṡ²/(2|s̈|) at which it would turn back, relative to the largest gap on the arc before.
    double relative_depth = 1.0;
};

/// A gap with a smaller relative depth is grazing. The motion of the arc is known to about this accuracy, so that the
/// impact itself is not certain. A bouncing ball has a relative depth of 1, also if its jumps are minute.
inline constexpr double relative_depth_margin = 1e-12;

/// The linearisation of a mode change. For a direction δ = (0, δx⁻, δp) and the shift δt = −s·δ/ṡ of the event time,
///     δx⁺ = map·δ + drift·δt,     drift = R_x f⁻ + R_t − f⁺.
/// δx⁻ and δx⁺ are taken at the same fixed time. So the saltation matrix is Ξ = map_x − drift s_x/ṡ. The derivation is
/// in saltation.cpp; [Alscher] has the case of one contact.
struct Saltation {
    bool exists = true;
    std::string why_not;                 ///< if the derivative does not exist
    std::vector<EventCondition> events;  ///< conditions that became zero together
    bool inherited = false;  ///< no condition of its own: δt is that of the previous change (0 at the start)
    bool untimed = false;    ///< δt does not exist because the reactions are not unique
    Matrix map;              ///< (R_t, R_q, R_u, R_p), 2n × columns of Tangent
    Vector drift;            ///< 2n
    bool smooth = false;     ///< the drift is zero, so δt has no effect on the state
    /// If several events happen together and their order does not matter: the drift of each event, one per column, and
    /// δx⁺ = map·δ + Σ drift_k δt_k. Otherwise empty, and all events must have the same δt.
    Matrix drifts;
    std::vector<Condition> conditions;

    void clear();  ///< becomes a saltation without events and conditions; map and drift keep their memory
};

/// The linearised conditions of a change at its state before, whatever values they have there. Empty if the equations
/// of motion are singular.
std::vector<EventCondition> conditions_of(Tangent& tangent, const integrate::RecordedChange& change);

/// The numbers of the friction parts that stick although their force is at its bound, in the mode and at the state of
/// the last Dynamics::evaluate.
std::vector<int> parts_at_the_edge(const integrate::Dynamics& dynamics);

/// δx⁺ for a direction (columns of Tangent) if the time of the change moves by dt. If the saltation has separate drifts
/// then each event uses its own δt instead.
Vector passed(const Saltation& s, const Eigen::RowVectorXd& direction, double dt);

/// Linearises a mode change. `before` is the piece of the motion that precedes the change; nullptr at the start. An
/// impact at the start has the time at which its contacts close.
Saltation saltation(Tangent& tangent, const integrate::RecordedChange& change, const integrate::RecordedPiece* before);
/// The same. `out` becomes the result; the memory of what it was before is used again.
void saltation(Tangent& tangent, const integrate::RecordedChange& change, const integrate::RecordedPiece* before,
               Saltation& out);

}  // namespace saltus::sensitivity
