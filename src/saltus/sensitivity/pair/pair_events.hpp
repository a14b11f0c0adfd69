// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::sensitivity {

/// The kinds of events that the theorems know, and all others.
enum class PairEventKind { collision, lift_off, other };

/// An event of one motion, as the theorems see it.
struct PairEvent {
    PairEventKind kind = PairEventKind::other;
    trajectory::EventKind original = trajectory::EventKind::impact;  ///< the kind in the trajectory
    double t = 0.0;
    std::vector<int> contacts;  ///< contacts that close (collision) or open (lift-off), ascending
    std::size_t number = 0;     ///< index in the motion's events
};

/// The events of a motion after its start, in order of time. Impulses in contacts that were closed already are no
/// collision.
std::vector<PairEvent> pair_events(const trajectory::Trajectory& motion, int contacts);

/// The contacts that are closed immediately before a time, or immediately after it.
std::vector<int> closed_before(const trajectory::Trajectory& motion, int contacts, double t);
std::vector<int> closed_after(const trajectory::Trajectory& motion, int contacts, double t);

/// One event that both motions have.
struct EventPair {
    PairEventKind kind = PairEventKind::collision;
    std::vector<int> contacts;
    double c_bar = 0.0, c_hat = 0.0;         ///< time in the nominal and in the perturbed motion
    std::size_t nominal = 0, perturbed = 0;  ///< indices in the motions' events

    double c_min() const { return c_bar < c_hat ? c_bar : c_hat; }
    double c_max() const { return c_bar < c_hat ? c_hat : c_bar; }
};

/// A time interval with at most one event of both motions in its interior; or, if `reason` is not empty, the rest of
/// the motions, on which they cannot be compared event by event.
struct PairInterval {
    double begin = 0.0, end = 0.0;
    std::optional<EventPair> event;
    std::string reason;
};

/// Cuts the time that both motions have in common. A cut lies half-way between an event of both motions and the next
/// event of either. Events match in order if their kinds and contacts agree. At most `max_events` events are matched.
std::vector<PairInterval> pair_intervals(const trajectory::Trajectory& nominal, const trajectory::Trajectory& perturbed,
                                         int contacts, std::size_t max_events = 200);

}  // namespace saltus::sensitivity
