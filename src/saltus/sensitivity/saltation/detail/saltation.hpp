// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/sensitivity/saltation/detail/impact_map.hpp"

namespace saltus::sensitivity {

/// Below this the quantity whose zero is the event touches zero rather than passes through it: grazing. A gap with that
/// little would have turned back 1e-14 of its size further on.
inline constexpr double transversality_margin = 1e-7;

/// The condition s = 0 that fixes the time of a change.
struct EventCondition {
    integrate::Watch watch;
    Eigen::RowVectorXd s;         ///< ∂s, one a column
    double rate = 0.0;            ///< ṡ = s_t + s_x f⁻
    double transversality = 0.0;  ///< |ṡ| of the largest that it could be, in [0, 1]
};

/// A change of mode to first order. With δ = (0, δx⁻, δp) and the time's own δt = −s·δ/ṡ
///     δx⁺ = map·δ + drift δt,   drift = R_x f⁻ + R_t − f⁺,
/// both δx at the same time: the saltation matrix is map_x − drift s_x/ṡ. [Alscher] has the case of one contact.
struct Saltation {
    bool exists = true;
    std::string why_not;
    std::vector<EventCondition> events;  ///< that came to zero together
    bool inherited = false;              ///< no time of its own: δt is that of the change before (0 at the start)
    bool untimed = false;                ///< its time has no derivative: reactions are not unique
    Matrix map;                          ///< 2n × columns
    Vector drift;
    bool smooth = false;  ///< the drift is nothing: δt does not matter to the state
    /// Where several events fall together and their order does not matter, a drift for each, one a column: then
    /// δx⁺ = map·δ + Σ drift_k δt_k. Otherwise empty, and δt has to be the same for all.
    Matrix drifts;
    std::vector<Condition> conditions;
};

/// δx⁺ along a direction (columns of Tangent), where the time of the change moves by δt.
Vector passed(const Saltation& s, const Eigen::RowVectorXd& direction, double dt);

/// `before`: the piece of the motion that the change ends, none at the start. An impact at the start has the time at
/// which its contacts close.
Saltation saltation(Tangent& tangent, const integrate::RecordedChange& change, const integrate::RecordedPiece* before);

}  // namespace saltus::sensitivity
