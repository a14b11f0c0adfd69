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
        double t = 0.0;             ///< t_∞, in s
        int impacts = 0;            ///< seen since the sequence began
        std::vector<int> elements;  ///< contacts that come to rest then
        enum class Kind {
            regular,    ///< the intervals shrink by a constant factor: t is the limit up to rounding errors
            estimated,  ///< they shrink, but not by a constant factor: t is uncertain by about t minus the last impact
            /// They do not shrink. The motion is below the resolution of the run, but it does not end: t is no limit.
            unending,
        };
        Kind kind = Kind::regular;
        double motion = 0.0;         ///< estimate of the way that is left out, in m; 0: regular
        double speed = 0.0;          ///< the largest speed after one of the last impacts, in m/s; 0: regular
        bool at_resolution = false;  ///< further impacts could not be told from rounding errors
        /// The speeds shrink at least as fast as the intervals, or are small: the contacts come to rest. Otherwise the
        /// intervals shrink because bodies close in on each other, and the impacts go on with speeds that are not
        /// small.
        bool slows_down = true;
    };

    /// What is too small to be followed.
    struct Negligible {
        double motion;              ///< way, in m
        double speed = 0.0;         ///< in m/s
        double acceleration = 0.0;  ///< the largest one of the motion, in m/s²
    };

    explicit Accumulation(std::size_t elements) : sequences_(elements) {}

    /// Forgets all impacts.
    void clear();

    /// Adds an impact of one element at t. `speed` is the largest speed at which contacts separate after it, in m/s. If
    /// none separates then it is the speed of the approach: the contact comes again if it lifts off before, and impacts
    /// with lift-offs between them can accumulate, too ([Alscher] Definition 2.1). If it is zero then the sequence of
    /// the element ends. Returns the limit once the motion still to come, speed × remaining time, is below
    /// `negligible.motion`. Impacts of many contacts need not come in a regular cycle. Then the time D of the last ten
    /// impacts of one contact is compared with the time D' of the ten before: with R = D/D' the remaining time is about
    /// D R/(1 − R). Contacts of different bodies can strike ever faster without coming to rest, for instance many beads
    /// that collide within 1e-12 s. Therefore such a sequence ends only when its speeds are small, too: below
    /// `negligible.speed`, or what the acceleration makes of them in the time D. Other contacts whose motion has become
    /// about as small come to rest with it.
    std::optional<Limit> impact(double t, int element, double speed, const Negligible& negligible);

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
    std::optional<Limit> irregular_limit(double t, int element, const Negligible& negligible) const;

    std::vector<Sequence> sequences_;
};

}  // namespace saltus::integrate
