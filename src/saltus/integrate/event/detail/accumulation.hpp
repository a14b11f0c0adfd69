// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

namespace saltus::integrate {

/// Watches for impacts that come ever faster, contact by contact. Intervals that shrink by a constant factor R < 1,
/// over one impact or over a cycle of up to four, add up to a finite time: t_∞ = t_n + S R/(1 − R), S the last cycle.
class Accumulation {
public:
    struct Limit {
        double t;                   ///< t_∞
        int impacts;                ///< seen, since the sequence began
        std::vector<int> elements;  ///< that come to rest then
    };

    explicit Accumulation(std::size_t elements) : sequences_(elements) {}

    void clear();

    /// An impact of one element, with the largest speed at which contacts separate after it. The limit is given when
    /// the motion still to come, speed × remaining time, is below `negligible`. Impacts of many contacts need not come
    /// in a regular cycle: when the motion over the last twenty of one is below a hundred times that, the limit is now.
    /// Elements whose motion has become as small come to rest with it.
    std::optional<Limit> impact(double t, int element, double speed, double negligible);

private:
    struct Impact {
        double t, speed;
    };
    struct Sequence {
        std::vector<Impact> recent;
        int count = 0;
    };

    std::vector<Sequence> sequences_;
};

}  // namespace saltus::integrate
