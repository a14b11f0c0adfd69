// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "saltus/impact/collision.hpp"
#include "saltus/integrate/event/watch.hpp"
#include "saltus/integrate/mode/mode.hpp"
#include "saltus/ode/dense.hpp"
#include "saltus/solvers/friction/friction.hpp"

namespace saltus::integrate {

struct RecordedArc {
    double t_begin = 0.0, t_end = 0.0;
    SystemMode mode;
    bool implicit = false;
    std::vector<ode::Dense> steps;  ///< one after the other; the last may reach beyond t_end
};

/// An impact as it was solved: rows of the model in blocks with a law each.
struct RecordedImpact {
    bool jam = false;                                   ///< an impulse where no force exists
    bool repaired = false;                              ///< the velocities are not those of the law
    impact::ImpactLaw law = impact::ImpactLaw::newton;  ///< that all contacts followed
    std::vector<int> rows, start, owner;                ///< start: blocks + 1
    std::vector<solvers::Law> laws;
    std::vector<double> e, Lambda, u_minus, u_plus;
    std::vector<double> compression;  ///< Λ of the inelastic collision, where the law has one (Poisson, energy)
    std::vector<char> held;           ///< blocks: Λ_N of Poisson's expansion is e times that of compression
};

/// What happened between two arcs.
struct RecordedChange {
    double t = 0.0;
    double earlier = 0.0;  ///< by so much was `before`: an expression that jumps is to be seen on both sides
    bool first = false;    ///< at the start of the motion, or made by the change before
    bool unavoidable =
        false;  ///< the mode just chosen could not hold: it ends where it began, and has no time of its own
    std::vector<Watch> found;  ///< quantities that came to zero
    SystemMode mode_before, mode_after;
    std::vector<double> before, after;  ///< (q, u, …)
    std::vector<RecordedImpact> impacts;
    std::vector<int> rest;                       ///< contacts in which impacts accumulate, here
    double limit = 0.0;                          ///< of the accumulation
    std::size_t events_from = 0, events_to = 0;  ///< of the trajectory
    bool failed = false;
};

/// What a step of time-stepping did to V = T + U: works of the step, by the impulses that act all through it.
struct StepWorks {
    double damping = 0.0, friction = 0.0, impact_friction = 0.0, impact_restitution = 0.0;  ///< taken out
    double applied = 0.0, driven = 0.0;                                                     ///< brought in
};

/// The end of a step of time-stepping, or the start of the motion.
struct RecordedStep {
    double t = 0.0, V = 0.0, size = 0.0;  ///< size: of T and U
    StepWorks works{};
};

using RecordedPiece = std::variant<RecordedArc, RecordedChange>;

/// A motion with everything that its derivatives need; filled by the event-driven methods. Of time-stepping, where
/// events are not resolved, only what the steps did to the energy.
struct Recording {
    bool compliant = false;
    double stiffness = 1.0;
    std::vector<RecordedPiece> pieces;  ///< in order of time
    std::vector<RecordedStep> steps{};  ///< of time-stepping
};

}  // namespace saltus::integrate
