// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/integrate/simulate.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

/// Motions that repeat: what a system does in the long run.
namespace saltus::orbit {

/// Which periodic motion is looked for, and from where.
struct Options {
    /// Period of the excitation, in s. Required for models that depend on time; without it the system is autonomous and
    /// its period is found.
    std::optional<double> period;
    int multiple = 1;  ///< the orbit repeats after this many periods, or after this many returns to the section
    std::string
        section;  ///< autonomous systems: an expression of the state that is zero once in a return; "": automatic
    std::string symmetry;  ///< "x = -x": the second half of the orbit is the image of the first; "": none
    std::optional<trajectory::State> guess;  ///< default: the model's initial state
    double settle = 0.0;                     ///< the guess is the end of a motion of this length from the start, in s
    double search_time = 0.0;  ///< autonomous systems: how long a return is waited for, in s; 0: as long as `settle`
    integrate::EventDriven method = accurate();
    int max_iterations = 30;  ///< of Newton's method
    std::function<bool()> interrupted;

    /// Tolerances at which multipliers have about ten digits.
    static integrate::EventDriven accurate() {
        integrate::EventDriven m;
        m.rtol = 1e-12;
        m.atol = 1e-14;
        return m;
    }
};

/// The outcome of a search for an orbit.
enum class Status {
    converged,
    no_orbit,     ///< Newton's method found none; Orbit::reason says why
    rests,        ///< the motion comes to rest instead
    violates,     ///< a periodic motion whose gaps are violated
    interrupted,  ///< ended by the caller
};
/// The name of a status in files.
const char* to_string(Status status);

/// Whether small disturbances of an orbit die out.
enum class Stability { stable, unstable, undecided };

/// What one element of the model does in one period.
struct ElementAverage {
    std::string name;
    trajectory::ElementKind kind = trajectory::ElementKind::contact;
    double dissipated = 0.0;  ///< energy that its forces and impulses take out, in J
    double supplied = 0.0;    ///< energy that it brings in because it moves (tables, belts), in J
    /// Mean forces in N, impacts included: (∫ λ dt + Σ Λ)/T, normal and tangential.
    double force = 0.0;
    std::vector<double> friction;
    double impulse = 0.0;  ///< Σ Λ_N of all impacts, in N s
};

/// What one jump of the model does in one period.
struct JumpAverage {
    std::string name;
    int count = 0;            ///< how often it happens
    double dissipated = 0.0;  ///< energy that it takes out, in J
    double supplied = 0.0;    ///< energy that it brings in, in J
};

/// Averages and energies of one period.
struct Averages {
    trajectory::LyapunovBalance energy;    ///< balance of T + U
    std::vector<ElementAverage> elements;  ///< in the order of Trajectory::elements
    std::vector<JumpAverage> jumps;        ///< those that happen, in the order of their first time
    bool forces_known = false;             ///< false: the modes of the motion are not known; all mean forces are 0
};

/// A periodic motion and what is known about it.
struct Orbit {
    Status status = Status::no_orbit;
    std::string reason;   ///< why there is none; empty if converged
    double period = 0.0;  ///< period of the whole orbit, in s
    int multiple = 1;
    double residual = 0.0;  ///< largest |x(T) − x(0)| of a component, relative to its largest magnitude on the orbit
    std::vector<double> residuals;  ///< residuals of all iterations
    trajectory::State state;        ///< at t = 0 of the period (excited systems) or on the section
    double phase = 0.0;  ///< phase of the first impact, or else of the first event: 2π t/period of the excitation
    trajectory::Trajectory motion;                  ///< one period, from `state` on
    std::vector<std::complex<double>> multipliers;  ///< largest modulus first; values below rounding are exactly 0
    std::vector<std::complex<double>>
        multipliers_full;  ///< with a symmetry: of the whole orbit; `multipliers` are those of half of it
    std::optional<double> trivial_error;  ///< autonomous systems: |1 − the multiplier that must be 1|
    Stability stability = Stability::undecided;
    int unstable_count = 0;  ///< multipliers outside the unit circle
    /// Positions that nothing depends on and that do not return, such as the height of a toy that climbs down a pole,
    /// and how far they move in a period.
    std::vector<std::pair<std::string, double>> drift;
    /// Orbits that were found in parts: the start of each part. Disturbances grow so much in a whole period that one
    /// motion from `state` does not close. Empty: found in one part.
    std::vector<trajectory::State> parts;
    std::vector<std::string> remarks;  ///< about multipliers that are not known, and other limits of the statement
    std::optional<Averages> averages;  ///< set by the caller, from `averages_of`
    /// The status is `violates`, and the motion has only been found with its order of events held fixed: the simulation
    /// from its start takes another course. There is no `motion`, and there are no multipliers.
    bool inadmissible = false;
    bool converged() const { return status == Status::converged || (status == Status::violates && !inadmissible); }
};

/// An orbit as a curve for pictures: states at times of one period.
struct OrbitCurve {
    struct Mark {
        std::size_t index = 0;  ///< index of the entry after the event
        std::string kind;
        std::vector<std::string> elements;
        bool operator==(const Mark&) const = default;
    };
    std::vector<double> t;               ///< in s; at an event there are two entries, before and after it
    std::vector<std::vector<double>> x;  ///< (q, u) at each time
    std::vector<Mark> events;
    bool operator==(const OrbitCurve&) const = default;
};
/// The curve of a motion, with `samples` >= 1 equal intervals of time.
OrbitCurve curve_of(const trajectory::Trajectory& motion, int samples);

/// Finds a periodic orbit near the guess by Newton's method on the return map. The derivative of the map is exact: it
/// goes through all arcs and events (sensitivity). Every motion in it is simulated, so that the orbit obeys all contact
/// laws. Throws Error if the options do not fit the model.
Orbit find_orbit(const model::Model& model, const Options& options);

/// The averages of an orbit that was found. One period is simulated once more.
Averages averages_of(const model::Model& model, const Options& options, const Orbit& orbit);

}  // namespace saltus::orbit
