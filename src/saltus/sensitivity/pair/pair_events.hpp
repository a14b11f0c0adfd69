// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::sensitivity {

enum class PairEventKind { collision, lift_off, other };

/// What happens to contacts at one time of a motion: those that open ones strike, or that leave.
struct PairEvent {
    PairEventKind kind = PairEventKind::other;
    trajectory::EventKind original = trajectory::EventKind::impact;
    double t = 0.0;
    std::vector<int> contacts;  ///< ascending
    std::size_t number = 0;     ///< among the motion's events
};

/// The events of a motion after its start, in order.
std::vector<PairEvent> pair_events(const trajectory::Trajectory& motion, int contacts);

/// Contacts that are closed just before, or just after, a time.
std::vector<int> closed_before(const trajectory::Trajectory& motion, int contacts, double t);
std::vector<int> closed_after(const trajectory::Trajectory& motion, int contacts, double t);

/// One event of both motions.
struct EventPair {
    PairEventKind kind = PairEventKind::collision;
    std::vector<int> contacts;
    double c_bar = 0.0, c_hat = 0.0;
    std::size_t nominal = 0, perturbed = 0;  ///< numbers among the motions' events

    double c_min() const { return c_bar < c_hat ? c_bar : c_hat; }
    double c_max() const { return c_bar < c_hat ? c_hat : c_bar; }
};

/// An interval of time with at most one event of both motions in its inside; or the rest, with the reason why the
/// motions cannot be compared event by event any more.
struct PairInterval {
    double begin = 0.0, end = 0.0;
    std::optional<EventPair> event;
    std::string reason;
};

/// Cuts the time common to both motions half-way between an event of both and the next of either. Events match in
/// order when their kinds and contacts agree.
std::vector<PairInterval> pair_intervals(const trajectory::Trajectory& nominal, const trajectory::Trajectory& perturbed,
                                         int contacts, std::size_t most = 200);

}  // namespace saltus::sensitivity
