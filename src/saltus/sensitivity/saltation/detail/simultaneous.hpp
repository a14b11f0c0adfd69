// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sensitivity/saltation/detail/saltation.hpp"

namespace saltus::sensitivity {

/// Drifts of the events of a change that fall together, one a column, where their order does not matter; `whole` has
/// the change's map and drift, f = (u, u̇) before it. Empty where the order matters, or may. With R_k of one event
/// alone, and f_k after it alone, it does not if
///     R_a R_b = R_b R_a,   R f⁻ − R_b f_a − R_a f_b + f_ab = 0,   s_b R_a = s_b and s_b f_a = s_b f⁻,
/// and then drift_k = Π_{j≠k} R_j (R_k f⁻ − f_k).
Matrix separate_drifts(Tangent& tangent, const integrate::RecordedChange& change, const Saltation& whole,
                       const Vector& f);

}  // namespace saltus::sensitivity
