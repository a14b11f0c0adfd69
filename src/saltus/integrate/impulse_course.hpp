// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "saltus/integrate/course.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Where a state lies relative to the events at its time.
enum class Side {
    before,   ///< the end of the arc before the events
    between,  ///< between changes of the state at one time, such as a jump and the impact that follows it
    after,    ///< the beginning of the arc after the events
};
/// Whether the positions or the velocities after an event differ from those before it.
bool changes_state(const trajectory::Event& event);

/// Calls take(t, side, q, u) for the states before and after each of the events at one time, in order. `start` is the
/// time at which the motion begins. No motion lasts in a state that an earlier event at this time has set, or that a
/// later one changes: no mode was chosen there, so that its side is `between`.
template <class Take>
void for_each_state_of(std::span<const trajectory::Event> events, double start, Take take) {
    std::size_t first = events.size(), last = 0;  // that change the state
    for (std::size_t k = 0; k < events.size(); ++k) {
        if (!changes_state(events[k])) continue;
        first = std::min(first, k);
        last = k;
    }
    const bool any = first < events.size();
    for (std::size_t k = 0; k < events.size(); ++k) {
        const trajectory::Event& e = events[k];
        const bool begins_here = any && e.t <= start;  // no arc ends in the state before the first change
        take(e.t,
             k <= first && !begins_here ? Side::before
             : any && k > last          ? Side::after
                                        : Side::between,
             e.q, e.u_minus);
        take(e.t,
             !any || k >= last           ? Side::after
             : k < first && !begins_here ? Side::before
                                         : Side::between,
             e.q_plus.empty() ? e.q : e.q_plus, e.u_plus);
    }
}

inline constexpr std::size_t no_arc = static_cast<std::size_t>(-1);
/// Calls take(events) for the events at each time.
template <class Take>
void for_each_time_of_events(std::span<const trajectory::Event> events, Take take) {
    for (std::size_t from = 0; from < events.size();) {
        std::size_t to = from + 1;
        while (to < events.size() && events[to].t == events[from].t) ++to;
        take(events.subspan(from, to - from));
        from = to;
    }
}
/// The side of the first state of a motion: `between` if an event at the same time changes it.
Side side_of_start(const trajectory::Trajectory& motion);

/// The arc of a motion that contains t; at an event, the one before or after it. no_arc if the motion has none. Between
/// the events at one time there is no arc; the result is then the one before.
std::size_t arc_at(const trajectory::Trajectory& motion, double t, Side side);

/// The normal impulses of elements since the start of a stored motion,
///     Λ(t) = ∫ λ_N dt + Σ Λ_N of the impacts up to t.
/// This is the multiplier λ(t) of Tornambè's equations (10) with λ(0) = 0. The arcs of the motion must have been kept;
/// time-stepping has no modes, and its impulses are NaN.
class ImpulseCourse {
public:
    /// `elements` are numbers in Trajectory::elements. Model and motion must outlive the object.
    ImpulseCourse(const model::Mechanics& model, const trajectory::Trajectory& motion, std::vector<int> elements);

    /// One number for each element.
    std::vector<double> at(double t, Side side);

private:
    void enter(std::size_t arc);
    void add_forces(std::size_t arc, std::size_t step, double from, double to, std::vector<double>& sum);
    std::vector<double> accumulated(const trajectory::Event& event) const;

    const model::Mechanics& model_;
    const trajectory::Trajectory& motion_;
    Course course_;
    std::vector<int> elements_;
    std::vector<std::vector<double>> step_begin_;  ///< ∫ λ_N dt at the beginning of each step, in order of time
    std::vector<std::size_t> first_of_arc_;        ///< index in step_begin_ of the first step of each arc
    std::vector<std::pair<double, std::vector<double>>> jumps_;  ///< time of an event, impulses of all up to it
    std::size_t entered_ = no_arc;
};

}  // namespace saltus::integrate
