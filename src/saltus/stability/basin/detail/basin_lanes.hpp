// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "saltus/stability/basin/detail/basin_motion.hpp"

namespace saltus::stability {

/// A motion to be made.
struct Task {
    std::size_t number = 0;
    Start start;
    bool captured_counts = false;
};

/// Makes motions by Moreau's steps, eight at a time (integrate/moreau_lanes.hpp); a lane whose motion is decided takes
/// the next one. Endings are those of `by_moreau` to rounding, whatever the other lanes do. A motion that is not for
/// lanes after all (forces too stiff, a contact problem that was not solved) is made anew by itself.
/// `next` gives tasks as long as there are any; `finish` takes them back with their endings.
void by_moreau_in_lanes(const model::Model& model, const integrate::Moreau& method, const Decision& decision,
                        const std::function<std::optional<Task>()>& next,
                        const std::function<void(const Task&, const Ending&)>& finish);

}  // namespace saltus::stability
