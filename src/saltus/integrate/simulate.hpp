// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <variant>

#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

/// Event-driven integration: smooth arcs to a tolerance, events located, impacts and modes solved for.
struct EventDriven {
    double rtol = 1e-9;     ///< relative tolerance of the run, > 0
    double atol = 1e-12;    ///< absolute tolerance of the run, in the units of the coordinates, > 0
    bool implicit = false;  ///< Radau from the start; otherwise only if the motion turns out to be stiff
    bool series = true;     ///< Taylor series where the system has them and is not stiff; else order 8
    /// No step is longer, in s, > 0. It limits what steps that search for events at samples can jump over.
    double max_step = std::numeric_limits<double>::infinity();
    bool keep_arcs = true;             ///< keep dense output; without it only events and both ends are kept
    double contact_tolerance = 1e-10;  ///< residual of every contact problem, relative
    long max_events = 100000000;       ///< the run fails beyond it
};

/// Which contacts get restitution in a step of time-stepping, ξ = γ⁺ + e γ⁻ (moreau/README.md).
enum class Restitution {
    impacts,  ///< in a step with an impact all closed contacts; in other steps none, closed contacts are held
    literal,  ///< in every step all closed contacts
};

/// Moreau's time-stepping.
struct Moreau {
    double h = 1e-3;          ///< step size, in s; the largest one if adaptive
    double theta = 0.5;       ///< point of evaluation within a step; 0.5: midpoint
    bool implicit = false;    ///< implicit forces from the start; otherwise only if they are stiff for h
    bool adaptive = false;    ///< choose the step size by an error estimate
    double tolerance = 1e-6;  ///< error of one adaptive step, relative to 1 + |x|
    Restitution restitution = Restitution::impacts;
    bool keep_arcs = true;             ///< see EventDriven
    double contact_tolerance = 1e-10;  ///< see EventDriven
};

/// Penalty method: the contact force is k·penetration + d·rate, with k and d of the model's [penalty]. Contact and
/// separation are located as events. Friction is bounded by the present contact force.
struct Penalty {
    double rtol = 1e-9, atol = 1e-12;                           ///< see EventDriven
    bool implicit = false;                                      ///< see EventDriven
    bool series = true;                                         ///< see EventDriven
    double max_step = std::numeric_limits<double>::infinity();  ///< see EventDriven
    bool keep_arcs = true;                                      ///< see EventDriven
    double stiffness = 1.0;                                     ///< factor on every k, for studies of convergence
};

using Method = std::variant<EventDriven, Moreau, Penalty>;

/// What to do if an impact creates energy.
enum class EnergyRule {
    report,  ///< warn
    stop,    ///< end the run with Status::energy_created
    repair,  ///< continue with the nearest velocities that create none; event-driven method only
};

struct Options {
    double t_end = 1.0;                      ///< end of the motion, in s
    std::optional<trajectory::State> start;  ///< default: the model's initial state at t = 0
    EnergyRule energy = EnergyRule::report;
    /// Event-driven method: compute trajectory::Event::rate_jumps at each lift-off. It costs two linearisations each.
    bool rate_jumps = false;
    std::function<bool()> interrupted;       ///< called now and then; if it returns true, then the run ends there
    std::function<void(double t)> progress;  ///< called now and then with the time that was reached
};

/// The motion of a model. Numerical failures are a status of the result.
trajectory::Trajectory simulate(const model::Mechanics& model, const Method& method, const Options& options);

struct RecordedMotion;
/// The same motion together with what derivatives and energy balances need of it (event/recording.hpp).
RecordedMotion simulate_recorded(const model::Mechanics& model, const Method& method, const Options& options);

}  // namespace saltus::integrate
