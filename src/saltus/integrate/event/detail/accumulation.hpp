// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/integrate/mode/thresholds.hpp"

namespace saltus::integrate {

/// Watches for accumulations of impacts (Zeno behaviour), contact by contact. If the intervals between impacts shrink
/// by a constant factor R < 1, over one impact or over a cycle of up to four, then their sum is finite:
///     t_∞ = t_n + S (R + R² + …) = t_n + S R/(1 − R),   S the duration of the last cycle.
/// Rounding errors of the impact times are added to it: forces that change with the remaining time, as in
/// models/accumulating-contacts.toml, can be integrated after the limit but not shortly before it.
class Accumulation {
public:
    struct Limit {
        double t;                   ///< t_∞, in s
        int impacts;                ///< seen since the sequence began
        std::vector<int> elements;  ///< contacts that come to rest then
        /// The intervals do not shrink by a constant factor: t is no limit of the sequence, only the time from which
        /// its motion is negligible.
        bool irregular = false;
    };

    explicit Accumulation(std::size_t elements) : sequences_(elements) {}

    /// Forgets all impacts.
    void clear();

    /// Adds an impact of one element at t. `speed` is the largest speed at which contacts separate after it, in m/s. If
    /// none separates then it is the speed of the approach: the contact comes again if it lifts off before, and impacts
    /// with lift-offs between them can accumulate, too ([Alscher] Definition 2.1). If it is zero then the sequence of
    /// the element ends. Returns the limit once the motion still to come, speed × remaining time, is below
    /// `negligible`, in m. Impacts of many contacts need not come in a regular cycle: if the motion over the last
    /// twenty impacts of one contact is below a hundred times `negligible`, then the limit is t. Other contacts whose
    /// motion has become as small come to rest with it.
    std::optional<Limit> impact(double t, int element, double speed, double negligible);

    /// See detail/resume_archive.hpp.
    template <class Archive>
    void remember(Archive& archive) {
        for (Sequence& s : sequences_) {
            if constexpr (Archive::writes)
                archive.count(s.recent.size());
            else
                s.recent.resize(archive.count(Thresholds::remembered_impacts));
            for (Impact& impact : s.recent) archive(impact.t, impact.speed);
            archive(s.count);
        }
    }

private:
    struct Impact {
        double t, speed;
    };
    struct Sequence {
        std::vector<Impact> recent;
        int count = 0;
    };

    /// `element` comes to rest at `limit`, together with all others whose last impact at most `span` before t was as
    /// small.
    Limit limit_at(double limit, double t, double span, int element, double negligible) const;

    std::vector<Sequence> sequences_;
};

}  // namespace saltus::integrate
