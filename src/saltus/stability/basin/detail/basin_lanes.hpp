// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "saltus/stability/basin/detail/basin_motion.hpp"

namespace saltus::stability {

/// A motion to be simulated.
struct Task {
    std::size_t number = 0;  ///< index of the motion in the record
    Start start;
    bool stop_when_captured = false;  ///< the motion ends when it enters the level set
};

/// Simulates motions by Moreau's time-stepping, several side by side in the lanes of a vector register
/// (integrate/moreau/moreau_lanes.hpp). A lane whose motion has ended takes the next one. The endings are those of
/// `by_moreau` up to rounding and do not depend on the other lanes. A motion that lanes cannot simulate (forces too
/// stiff, contact problem not solved) is simulated again by `by_moreau`.
/// `next` returns the tasks, and nothing when there are no more; `finish` receives each task with its ending.
void by_moreau_in_lanes(const model::Mechanics& model, const integrate::Moreau& method, const Decision& decision,
                        const std::function<std::optional<Task>()>& next,
                        const std::function<void(const Task&, const Ending&)>& finish);

}  // namespace saltus::stability
