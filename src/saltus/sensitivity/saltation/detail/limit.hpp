// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::sensitivity {

/// The derivative of the time at which impacts accumulate. With the last cycles S and S' of a geometric sequence
///     t_∞ = t_n + S²/(S' − S),
/// in which all times have the derivatives of their impacts.
class AccumulationLimits {
public:
    explicit AccumulationLimits(std::size_t elements) : impacts_(elements) {}

    void impact(int element, double t, std::size_t change);
    /// The changes that the limit depends on, with the derivatives of t_∞ by their times; empty where no cycle of up to
    /// four impacts gives the limit that the event has.
    std::vector<std::pair<std::size_t, double>> weights(const trajectory::Event& event) const;

private:
    struct Impact {
        double t;
        std::size_t change;
    };
    std::vector<std::vector<Impact>> impacts_;
};

}  // namespace saltus::sensitivity
