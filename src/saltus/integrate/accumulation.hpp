// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace saltus::integrate {

/// Watches for impacts that come ever faster. Intervals that shrink by a constant factor R < 1, over one impact or over
/// a cycle of up to four, add up to a finite time: t_∞ = t_n + S R/(1 − R), S the last cycle.
class Accumulation {
public:
    struct Limit {
        double t;                   ///< t_∞
        int impacts;                ///< seen, since the sequence began
        std::vector<int> elements;  ///< that take part in it
    };

    void clear();

    /// An impact of some elements, with the largest speed of separation after it. The limit is given when the motion
    /// still to come, speed × remaining time, is below `negligible`.
    std::optional<Limit> impact(double t, const std::vector<int>& elements, double speed, double negligible);

private:
    struct Impact {
        double t, speed;
        std::vector<int> elements;
    };
    std::vector<Impact> recent_;  // the last few
    long count_ = 0;
};

}  // namespace saltus::integrate
