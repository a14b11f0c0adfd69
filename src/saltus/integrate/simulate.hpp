// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <variant>

#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

struct Recording;

/// Event-driven: smooth arcs to tolerance, events located, impacts and modes solved.
struct EventDriven {
    double rtol = 1e-9, atol = 1e-12;
    bool implicit =
        false;  ///< Radau instead of the explicit method, from the start; otherwise where it turns out stiff
    bool keep_arcs = true;             ///< dense output; without it only events and the end
    double contact_tolerance = 1e-10;  ///< residual of every contact problem
    long max_events = 100000000;
};

/// Moreau's time-stepping.
struct Moreau {
    double h = 1e-3;
    double theta = 0.5;     ///< 0.5: midpoint
    bool implicit = false;  ///< forces, from the start; otherwise where they turn out stiff for constant steps
    bool adaptive = false;
    double tolerance = 1e-6;  ///< of adaptive steps
    bool keep_arcs = true;
    double contact_tolerance = 1e-10;
};

/// Contact forces k·penetration + d·rate from the model's [penalty], switching located, friction with the force at
/// hand.
struct Penalty {
    double rtol = 1e-9, atol = 1e-12;
    bool implicit = false;
    bool keep_arcs = true;
    double stiffness = 1.0;  ///< factor on every k, for studies of convergence
};

using Method = std::variant<EventDriven, Moreau, Penalty>;

/// What to do where an impact creates energy: say it, end the run, or go on with the nearest velocities that create
/// none (event-driven alone).
enum class EnergyRule { report, stop, repair };

struct Options {
    double t_end = 1.0;
    std::optional<trajectory::State> start;  ///< otherwise the model's initial state at t = 0
    EnergyRule energy = EnergyRule::report;
    std::function<bool()> interrupted;       ///< asked now and then; true ends the run with what there is
    std::function<void(double t)> progress;  ///< told now and then
    Recording* recording = nullptr;          ///< filled by the event-driven methods, for derivatives
};

/// The motion of a model. Numerical failures are a status of the result.
trajectory::Trajectory simulate(const model::Model& model, const Method& method, const Options& options);

}  // namespace saltus::integrate
