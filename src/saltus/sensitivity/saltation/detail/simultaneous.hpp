// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sensitivity/saltation/detail/saltation.hpp"

namespace saltus::sensitivity {

/// Drifts of the events of a change that happen at the same time, one per column, if their order does not matter.
/// Returns an empty matrix if the order matters, or if this cannot be decided. `whole` has the map and the drift of the
/// whole change; f = (u, u̇) before it.
///
/// Let R_k be the reset of event k alone and f_k the field after it alone, R = Π R_k. The order does not matter if
///     R_a R_b = R_b R_a,   R f⁻ − R_b f_a − R_a f_b + f_ab = 0,   s_b R_a = s_b and s_b f_a = s_b f⁻.
/// Then δx⁺ = R δx⁻ + Σ drift_k δt_k with drift_k = Π_{j≠k} R_j (R_k f⁻ − f_k). See simultaneous.cpp.
Matrix separate_drifts(Tangent& tangent, const integrate::RecordedChange& change, const Saltation& whole,
                       const Vector& f);

}  // namespace saltus::sensitivity
