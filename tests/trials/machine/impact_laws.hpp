// SPDX-License-Identifier: Apache-2.0
//
// Outcomes of impact laws by enumeration of all cases: Poisson's law without friction for a few contacts, and with
// planar friction for one; the energy law without friction.
#pragma once

#include <optional>

#include "machine/model.hpp"

namespace trials {

/// Velocities after an impact of the contacts in `closed`, which all have the same law, "poisson" or "energy". Nothing
/// if the case is not supported, or if the law has no outcome.
std::optional<Vector> velocities_after(const Mechanics& mechanics, const Point& before,
                                       const std::vector<std::size_t>& closed);

}  // namespace trials
