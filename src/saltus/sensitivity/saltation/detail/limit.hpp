// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::sensitivity {

/// A time as a linear combination of the times of mode changes: pairs (number of the change, weight). Its derivative is
/// δt = Σ weight · δt_change.
using TimeCombination = std::vector<std::pair<std::size_t, double>>;

/// The derivative of the time at which impacts accumulate. The event-driven method extrapolates this time from a
/// geometric sequence. With the length S of the last cycle of impacts and S' of the cycle before it,
///     t_∞ = t_n + S²/(S' − S),
/// and each time in this formula has the derivative of its impact.
class AccumulationLimits {
public:
    explicit AccumulationLimits(std::size_t elements) : impacts_(elements) {}

    /// Reports an impact of an element at time t that belongs to the mode change with number `change`.
    void impact(int element, double t, std::size_t change);
    /// t_∞ of an accumulation event by the impact times. Empty if no cycle of one to four impacts extrapolates to the
    /// time that the event has.
    TimeCombination weights(const trajectory::Event& event) const;

private:
    struct Impact {
        double t;
        std::size_t change;
    };
    std::vector<std::vector<Impact>> impacts_;  // the last ones of each element, oldest first
};

}  // namespace saltus::sensitivity
