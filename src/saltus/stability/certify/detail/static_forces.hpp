// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/proof/laws.hpp"

namespace saltus::stability {

/// The forces on the model at rest over a box of positions, along the directions that the constraints leave free.
/// The load is −∇U. The contacts in `closed` (position rows) push without friction. Sliders and clutches are ignored.
/// std::nullopt if the rank of the constraints is not proved to be constant over the box.
std::optional<proof::ForceSet> frictionless_forces(const proof::Enclosure& enclosure, const proof::Box& q,
                                                   const std::vector<int>& closed);

/// The same with the load h(q, 0) and all friction, sliders and clutches. `signs`: the sign (1 or −1) of the reaction
/// of each constraint with friction; empty: friction of constraints is ignored.
std::optional<proof::ForceSet> frictional_forces(const proof::Enclosure& enclosure, const proof::Box& q,
                                                 const std::vector<int>& closed, const std::vector<int>& signs);

/// The same forces before those of constraints without friction are removed.
proof::ForceSet forces_with_constraints(const proof::Enclosure& enclosure, const proof::Box& q,
                                        const std::vector<int>& closed, const std::vector<int>& signs);

/// The rows of the constraints that are not proved to be without friction, and those of the others.
std::vector<int> frictional_constraints(const proof::Enclosure& enclosure);
std::vector<int> smooth_constraints(const proof::Enclosure& enclosure);

/// The k-th combination of signs 1, −1 of `count` reactions: bit j of k set means −1.
std::vector<int> signs_of(unsigned combination, std::size_t count);
/// The rows whose bit is set in the mask.
std::vector<int> subset(const std::vector<int>& rows, unsigned mask);

/// True if some further gaps of `rows` must be zero wherever the gaps of `closed` are zero: there are numbers y_k >= 0
/// (not all 0) and z_c with Σ_k y_k g_k + Σ_c z_c g_c = 0 exactly on the box, k over the gaps not in `closed`.
/// Then g_k >= 0 and g_c = 0 imply y_k g_k = 0. The position belongs to a larger set of closed gaps, which is tested by
/// itself.
bool implies_more_closed(const proof::Enclosure& enclosure, const proof::Box& q, const std::vector<int>& rows,
                         const std::vector<int>& closed);

}  // namespace saltus::stability
