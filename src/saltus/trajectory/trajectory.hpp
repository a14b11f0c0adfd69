// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/ode/dense.hpp"

namespace saltus::trajectory {

/// What carries a reaction: the contacts of a model, its constraints, sliders and clutches, in this order.
enum class ElementKind { contact, constraint, slider, clutch };

/// One element of the model that was integrated.
struct Element {
    ElementKind kind = ElementKind::contact;
    std::string name;
    int tangential = 0;  ///< number of friction components
};

/// What an element does on an arc.
enum class Mode : char {
    open,     ///< no reaction: an open contact, a free clutch
    closed,   ///< holds without friction: a frictionless contact, a constraint, a locked clutch
    stick,    ///< holds, and all its friction sticks
    slip,     ///< holds, and some of its friction slips
    pressed,  ///< a frictionless contact with a spring (penalty method) that penetrates
};

/// What happens at an event; docs/simulate.md explains each kind.
enum class EventKind { impact, contact, lift_off, stick, slip, reversal, accumulation, painleve, switched, jump };
/// The name of an event kind in files.
std::string_view to_string(EventKind kind);

/// The force (in N) or impulse (in N s) of one element.
struct Reaction {
    int element = 0;        ///< number in Trajectory::elements
    double N = 0.0;         ///< normal component; >= 0 for contacts
    std::vector<double> T;  ///< friction components
};

/// What an impact did to the energy besides Event::work, in J: T⁺ − T⁻ = work + obstacle_work.
struct EnergyAudit {
    double tangential = 0.0;     ///< the part of friction in the work
    double obstacle_work = 0.0;  ///< work of moving obstacles, −Σ χΛ
    double created = 0.0;        ///< energy that the contacts created, by whatever impulses lead to these velocities
    double prevented = 0.0;      ///< energy that would have been created; the velocities were repaired
    int element = -1;            ///< element that created most of it; -1: none
    std::string law;             ///< law and coefficients of that element, in words
};

/// Something that happens at one time. Positions are continuous, except at jumps of the model. Velocities jump if
/// impulses act, and at jumps of the model.
struct Event {
    EventKind kind = EventKind::impact;
    double t = 0.0;                      ///< in s
    double t_left = 0.0, t_right = 0.0;  ///< the window in which it was found, t_left <= t <= t_right
    std::vector<int> elements;           ///< elements that take part: numbers in Trajectory::elements
    std::vector<double> q, u_minus, u_plus;
    std::vector<double> q_plus;      ///< positions after a jump of the model; empty: q, they are continuous
    std::vector<Reaction> impulses;  ///< empty if no impulses act
    /// Lift-offs: λ̇⁺ − λ̇⁻ of every element that was closed before, in N/s. The forces themselves are continuous.
    /// Empty if it was not computed. [Alscher] (23)
    std::vector<Reaction> rate_jumps;
    double work = 0.0;                               ///< work of the contacts, Σ ½(γ⁺ + γ⁻)·Λ, in J
    double energy_before = 0.0, energy_after = 0.0;  ///< T + U, in J
    int impacts = 0;                                 ///< accumulations: number of impacts seen before the limit
    std::string note;                                ///< remarks on how it was solved; may be empty
    EnergyAudit audit{};                             ///< what the impulses did to the energy
};

/// A smooth piece of the motion: steps one after the other, each a polynomial of (q, u), and what the elements do.
struct Arc {
    double t_begin = 0.0, t_end = 0.0;
    std::vector<ode::Dense> steps;  ///< the first 2n components are q and u; the last step may reach beyond t_end
    std::vector<Mode> modes;        ///< mode of each element; empty if they are not known
};

/// Positions and velocities at one time.
struct State {
    double t = 0.0;
    std::vector<double> q, u;
};

/// How a run ended.
enum class Status {
    completed,       ///< it reached the end time
    interrupted,     ///< ended by the caller; everything up to that time is kept
    failed,          ///< ended for numerical reasons; Trajectory::reason says which
    energy_created,  ///< an impact created energy, and the options say that the run ends there
    /// It reached its end, but measured errors are larger than the tolerances explain: see Trajectory::inaccuracy.
    inaccurate,
};
/// The name of a status in files.
std::string_view to_string(Status status);

/// What the method promises about events, in files: "events certain" or "events sampled".
std::string_view guarantee_text(bool events_certain);

/// T + U at both ends, in J, and the work that was done on the way.
struct EnergyBalance {
    double initial = 0.0, final = 0.0;
    double work = 0.0;   ///< work of applied forces, damping, reactions, impulses and jumps together, in J
    double jumps = 0.0;  ///< the part of jumps of the model ([[jump]]) in `work`: changes of T + U, in J
    /// Largest |T + U − initial − work so far| at the points where it was measured (docs/simulate.md: at the ends of
    /// steps that are Taylor series, inside other steps), relative to the largest energy seen.
    double balance_error = 0.0;
};

/// How far the motion violates the constraints of positions.
struct Violation {
    double gap = 0.0;         ///< deepest penetration of a rigid contact, >= 0
    double constraint = 0.0;  ///< largest |g|, and |γ| of velocity constraints
};

/// An error that was measured at points that the method did not choose, and that its tolerances do not explain.
struct Inaccuracy {
    double since = 0.0;  ///< first time at which the error was too large, in s
    std::string what;    ///< what was measured, such as "the gap of contact 'floor'"; empty: no error is too large
    double error = 0.0, allowed = 0.0;  ///< largest error, and what the tolerances explain, in the same unit
    std::string remedy;                 ///< what a user can do
    bool found() const { return !what.empty(); }
};

/// What the run cost.
struct Statistics {
    long steps = 0, rejected = 0, evaluations = 0, contact_solves = 0, projections = 0;
    double worst_contact_residual = 0.0;
    double seconds = 0.0;  ///< wall-clock time
};

/// A motion: the same value from every method of integration.
struct Trajectory {
    std::string model, method, version, options;  ///< origin of the motion: names, version of Saltus, options
    std::string model_hash;
    bool stepped = false;  ///< made by time-stepping: events are not resolved
    /// Events were found from bounds of the watched quantities on every step, so that none can be missed. Otherwise
    /// they were found at samples, at least on some arcs: an event can be missed if a quantity passes through zero and
    /// back between two samples.
    bool events_certain = false;
    /// Whether the model determines the `forces` at the end; empty if that was not examined. If it does not, then
    /// redundant contacts, constraints or friction share a load, `forces` is one admissible distribution of it, and a
    /// warning names them.
    std::optional<bool> forces_unique;
    std::vector<std::string> coordinates;
    std::vector<Element> elements;
    std::vector<Arc> arcs;  ///< in order of time, without gaps; without steps if they were not kept
    std::vector<Event> events;
    State start, end;
    std::vector<Reaction> forces;  ///< reactions at the end of the motion
    Status status = Status::completed;
    std::string reason;  ///< why the run ended early or is inaccurate; empty if completed
    Inaccuracy inaccuracy;
    std::vector<std::string> warnings;
    EnergyBalance energy;
    Violation violation;
    Statistics statistics;

    /// Time number k of last + 1 equidistant times from the start to the end; rounding never leads past the end.
    double sample_time(int k, int last) const;
    /// The state at t with the velocity before, or after, the events at t. t must lie within [start.t, end.t].
    State left(double t) const;
    State right(double t) const;
};

}  // namespace saltus::trajectory
