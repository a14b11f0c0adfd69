// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "saltus/ode/dense.hpp"

namespace saltus::trajectory {

/// What carries a reaction: the contacts of a model, its constraints, sliders and clutches, in this order.
enum class ElementKind { contact, constraint, slider, clutch };

struct Element {
    ElementKind kind = ElementKind::contact;
    std::string name;
    int tangential = 0;  ///< components of friction
};

/// What an element does on an arc.
enum class Mode : char {
    open,    ///< no reaction
    closed,  ///< holds without friction: a frictionless contact, a constraint, a locked clutch
    stick,
    slip,
    pressed,  ///< a penalised contact that penetrates; with friction it sticks or slips
};

enum class EventKind { impact, contact, lift_off, stick, slip, reversal, accumulation, painleve };
std::string_view to_string(EventKind kind);

/// A force or an impulse of one element.
struct Reaction {
    int element = 0;
    double N = 0.0;
    std::vector<double> T;
};

/// What the contacts did to the energy at an impact, besides Event::work: T⁺ − T⁻ = work + obstacle_work.
struct EnergyAudit {
    double tangential = 0.0;     ///< the part of friction in the work
    double obstacle_work = 0.0;  ///< −Σ χΛ, what moving obstacles did
    double created = 0.0;        ///< by the contacts, with any impulses that lead to these velocities
    double prevented = 0.0;      ///< would have been created; the velocities were repaired
    int element = -1;            ///< to blame
    std::string law;             ///< its law and coefficients
};

/// Something that happens at one time. Positions are continuous; velocities jump where impulses act.
struct Event {
    EventKind kind = EventKind::impact;
    double t = 0.0;
    double t_left = 0.0, t_right = 0.0;  ///< the window it was found in
    std::vector<int> elements;           ///< that take part
    std::vector<double> q, u_minus, u_plus;
    std::vector<Reaction> impulses;
    double work = 0.0;  ///< of the contacts: Σ ½(γ⁺ + γ⁻)·Λ
    double energy_before = 0.0, energy_after = 0.0;
    int impacts = 0;      ///< of an accumulation: seen before it was passed
    std::string note;     ///< what else is to be said
    EnergyAudit audit{};  ///< of impulses
};

/// A smooth piece of the motion: steps one after the other, each a polynomial of (q, u), and what the elements did.
struct Arc {
    double t_begin = 0.0, t_end = 0.0;
    std::vector<ode::Dense> steps;  ///< the first 2n components are q and u
    std::vector<Mode> modes;        ///< of the elements
};

struct State {
    double t = 0.0;
    std::vector<double> q, u;
};

enum class Status {
    completed,
    interrupted,     ///< by the caller; everything up to there is kept
    failed,          ///< numerically: `reason` says how
    energy_created,  ///< an impact created energy, and the run was to end there
};
std::string_view to_string(Status status);

/// Kinetic and potential energy, and what was done to their sum on the way.
struct EnergyBalance {
    double initial = 0.0, final = 0.0;
    double work = 0.0;           ///< of applied forces, damping, reactions and impulses together
    double balance_error = 0.0;  ///< |final − initial − work| of the largest energy seen
};

struct Violation {
    double gap = 0.0;         ///< deepest penetration of a rigid contact
    double constraint = 0.0;  ///< largest |g|
};

struct Statistics {
    long steps = 0, rejected = 0, evaluations = 0, contact_solves = 0, projections = 0;
    double worst_contact_residual = 0.0;
    double seconds = 0.0;
};

/// A motion: the same value from every method of integration.
struct Trajectory {
    std::string model, method, version, options;  ///< provenance
    std::string model_hash;
    bool stepped = false;  ///< by time-stepping: events are not resolved
    std::vector<std::string> coordinates;
    std::vector<Element> elements;
    std::vector<Arc> arcs;  ///< in order of time, without gaps
    std::vector<Event> events;
    State start, end;
    std::vector<Reaction> forces;  ///< at the end
    Status status = Status::completed;
    std::string reason;
    std::vector<std::string> warnings;
    EnergyBalance energy;
    Violation violation;
    Statistics statistics;

    /// The state with the velocity before, or after, what happens at t; t within the motion.
    State left(double t) const;
    State right(double t) const;
};

}  // namespace saltus::trajectory
