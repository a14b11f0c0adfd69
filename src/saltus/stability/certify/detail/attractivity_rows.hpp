// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/stability/certify/detail/attractivity_conditions.hpp"
#include "saltus/stability/certify/detail/level_set_equilibria.hpp"

namespace saltus::stability {

inline const char* const text_2 =
    "the equilibrium is a minimum of the total potential energy Q, the only stationary point of Q in U";
inline const char* const text_4 =
    "open gaps of I_C close: their accelerations are negative, friction anywhere in its cones";
inline const char* const text_8 = "the equilibrium set lies in the level set: max V on it is below rho*";

/// Rows of Theorem 1 that are read off the parts of the level set.
proof::Condition minimum_row(const model::Model& model, const Rest& rest, const RestBox& box, const LevelSet& levels);
/// `shown`: false where neither a neighbourhood in which gaps close was found nor a state in which one stays open.
proof::Condition closing_row(const model::Model& model, const Ground& ground, const LevelSet& levels, bool& shown);
proof::Condition level_row(const LevelSet& levels, const EquilibriumCover& cover, bool closing_shown);
proof::Condition invariance_row();

}  // namespace saltus::stability
