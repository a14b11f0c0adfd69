// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/stability/certify/detail/stationary_point.hpp"

namespace saltus::stability {

/// How a closed contact or a slider moves: it sticks, or its slip velocity has the given sign.
enum class SlipState { sticks, slips_forwards, slips_backwards };

/// A motion that leaves an equilibrium p of the set ℰ around q_e and does not come back to the neighbourhood of ℰ. All
/// statements about it are proved by interval arithmetic (escaping_motion.cpp explains them).
struct EscapingMotion {
    proof::Box at;                    ///< contains p
    std::vector<SlipState> contacts;  ///< one for each contact that is closed at q_e, in the order of `closed`
    std::vector<SlipState> sliders;   ///< one for each slider
    std::vector<SlipState> clutches;  ///< one for each clutch: `sticks` if it is locked, otherwise it turns freely
    std::vector<int> closed;          ///< the position rows of the gaps that are closed at q_e
    proof::Interval rate;             ///< σ > 0 in 1/s: the motion grows like exp(σt)
    Vector direction;                 ///< the motion leaves along this direction, largest component 1
};

/// A motion that leaves ℰ, if one of the examined modes has it. All closed contacts and sliders stick, or some of them
/// slip with a constant direction; clutches are locked or turn freely. std::nullopt: none was found and proved, which
/// does not mean that ℰ is stable.
std::optional<EscapingMotion> escaping_motion(const proof::Enclosure& enclosure, const StationaryPoint& point,
                                              const StationaryBox& box);

/// "left sticks, right slips forwards"; empty without contacts and sliders.
std::string mode_text(const model::Mechanics& model, const EscapingMotion& motion);

}  // namespace saltus::stability
