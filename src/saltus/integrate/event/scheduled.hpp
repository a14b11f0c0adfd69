// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"

/// Motions whose order of events is given, and whose events happen at given times.
///
/// A simulation finds the time of an event from a condition s = 0. The state after the event then depends on the state
/// before it through 1/ṡ, which has no bound near grazing. Here the times are given. Each mode is continued smoothly up
/// to its end, also where its inequalities are violated: a gap may be negative, a closed contact may pull. The state
/// after an event is thus a smooth function of the state before it and of the time. Whoever looks for a motion solves
/// s = 0 for the times, with the other equations (orbit/detail/shooting.hpp).
namespace saltus::integrate {

struct RunTools;

/// One event of an order of events.
struct ScheduledEvent {
    /// What happens at its time, one change after the other. The conditions of the event are `found` of the first one.
    std::vector<RecordedChange> changes;
    /// The event is the limit of an accumulation of impacts. Its time follows from those of three impacts: with the
    /// numbers a, b, c of these events, t = t_a + S²/(S' − S), where S = t_a − t_b and S' = t_b − t_c.
    bool limit = false;
    std::size_t a = 0, b = 0, c = 0;

    const SystemMode& mode_before() const { return changes.front().mode_before; }
    const SystemMode& mode_after() const { return changes.back().mode_after; }
};

/// The order of the events of a motion.
struct EventOrder {
    RecordedMode first;                  ///< mode in which the motion begins
    std::vector<ScheduledEvent> events;  ///< one after the other
    std::vector<double> times;           ///< times of the events in the motion that the order was read from, in s
    std::string refusal;                 ///< why events of this motion cannot happen at other times; empty if they can
};

/// Reads the order of events of a recorded motion of the event-driven method.
EventOrder order_of(const model::Mechanics& model, const RecordedMotion& recorded);

/// One stage of a scheduled motion: an event, and the arc after it.
struct ScheduledStage {
    double t = 0.0, t_end = 0.0;  ///< times of the event and of the end of the arc
    /// The changes of mode at the event, with the states before and after. Empty without an event.
    std::vector<RecordedChange> changes;
    RecordedMode mode;              ///< mode of the arc
    ShortVector<double, 8> start;   ///< state (q, u, …) at the start of the arc
    std::vector<RecordedArc> arcs;  ///< empty if the stage has no duration
    ShortVector<double, 8> end;     ///< (q, u, …) at the end
};

/// A recorded motion as stages: one from the start, and one for each event of its order, order_of(model, recorded). The
/// arcs of the recording are moved into them.
std::vector<ScheduledStage> stages_of(RecordedMotion& recorded, const EventOrder& order);

/// A quantity that a law requires to be positive or zero.
struct LawMargin {
    enum class What {
        gap,      ///< of an open contact: its least value
        force,    ///< force of a closed contact or a locked clutch
        slip,     ///< velocity along the direction of slip
        turn,     ///< acceleration along the direction of slip, where slip begins at zero
        reserve,  ///< of friction that sticks
        arrival,  ///< rate at which a velocity of slip or a reserve falls to zero, where that ends the stage
        opening,  ///< rate at which a force falls to zero, where that ends the stage
        clutch,   ///< velocity of a free clutch
        impulse,  ///< normal impulse of a contact that takes part in an impact
        friction,  ///< of an impact: reserve of friction that sticks, or γ_T⁺ + e_T γ_T⁻ along its direction of slip
        apart,     ///< of an impact: velocity γ_N⁺ + e_N γ_N⁻ of a contact without impulse
        duration,  ///< duration of a stage
    };
    What what;
    int element = -1;  ///< number of the element; -1 for a duration
    double t = 0.0;    ///< time at which the quantity is least
    double value = 0.0;
    double largest = 0.0;  ///< its largest magnitude, which tells what is rounding

    std::string text(const std::vector<trajectory::Element>& elements) const;  ///< how it is violated, in words
};

/// Runs of one model through stages. One object per thread. The model must stay in its place.
class ScheduledRun {
public:
    ScheduledRun(const model::Mechanics& model, const EventDriven& method);
    ~ScheduledRun();
    ScheduledRun(ScheduledRun&&) noexcept;
    ScheduledRun& operator=(ScheduledRun&&) noexcept;

    /// Begins a motion from `from` to `to`. Times of stages lie between them.
    void begin(double from, double to);
    /// Applies an event to the state x = (q, u) at the time t, and follows the motion in the mode after it up to the
    /// time `end`. If `end` < t, as behind the point at which two events meet, then the motion is continued backwards
    /// in a straight line, and the stage has no arcs. Without an event (null) the stage begins in `mode` at x. In both
    /// cases the state is moved onto the closed contacts and constraints of the mode first. False if that is not
    /// possible; `failure` says why.
    bool stage(const ScheduledEvent* event, const SystemMode& mode, double t, std::span<const double> x, double end,
               ScheduledStage& out);
    const std::string& failure() const { return failure_; }

    /// Quantities that must not be negative on a stage, with their least values: gaps of open contacts, forces of
    /// closed ones, velocities of slip, reserves of stick, and impulses of the impacts at its start. Those that are
    /// zero because of the event at the start or at the end (`next`; null: none) are left out.
    std::vector<LawMargin> margins(const ScheduledStage& stage, const ScheduledEvent* event,
                                   const ScheduledEvent* next);

    /// The event at which an open contact of a mode touches its obstacle at the state x = (q, u) at t, as the limit of
    /// an impact whose speed goes to zero. `speed` is the magnitude of the velocities of the motion. The mode is the
    /// same before and after the event. No changes if there is no such impact.
    ScheduledEvent grazing(int contact, const SystemMode& mode, double t, std::span<const double> x, double speed);

    /// The value s of a condition at the state x = (q, u), in the mode before its event.
    double condition(const Watch& watch, const SystemMode& mode, double t, std::span<const double> x);

private:
    struct State;
    std::unique_ptr<State> state_;
    std::string failure_;
};

}  // namespace saltus::integrate
