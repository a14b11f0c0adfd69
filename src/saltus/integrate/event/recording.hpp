// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "saltus/base/short_vector.hpp"
#include "saltus/impact/collision.hpp"
#include "saltus/integrate/event/watch.hpp"
#include "saltus/integrate/mode/mode.hpp"
#include "saltus/ode/dense.hpp"
#include "saltus/solvers/friction/friction.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::integrate {

class Dynamics;

/// A mode in a recording. Many records have the same mode; its copies share one value that does not change.
class RecordedMode {
public:
    RecordedMode() : mode_(empty()) {}
    RecordedMode(SystemMode mode) : mode_(std::make_shared<const SystemMode>(std::move(mode))) {}

    operator const SystemMode&() const { return *mode_; }
    const SystemMode* operator->() const { return mode_.get(); }

private:
    static const std::shared_ptr<const SystemMode>& empty() {
        static const auto none = std::make_shared<const SystemMode>();
        return none;
    }

    std::shared_ptr<const SystemMode> mode_;
};

/// A smooth arc as it was integrated.
struct RecordedArc {
    double t_begin = 0.0, t_end = 0.0;
    RecordedMode mode;              ///< mode at the start of the arc; directions of slip in planes turn during it
    bool implicit = false;          ///< integrated by the implicit method
    std::vector<ode::Dense> steps;  ///< one after the other; the last may reach beyond t_end
    /// Reactions on the steps that are Taylor series, which are the first ones of the arc: λ of the rows that hold, in
    /// the order of Dynamics::equation_rows. Empty if no row holds.
    std::vector<ode::Dense> reactions{};
    /// One constant step with u = 0 (EventRun::rest_until_end): the mode holds as many independent rows as the model
    /// has coordinates, and nothing depends on the time.
    bool rests = false;
};

/// What one row of an impact does.
enum class RowDecision : signed char {
    separates,   ///< Λ = 0
    holds,       ///< γ⁺ = 0, or γ_T⁺ + e_T γ_T⁻ = 0: a constraint, a contact at rest, friction that sticks
    restitutes,  ///< γ_N⁺ + e_N γ_N⁻ = 0
    slips_up,    ///< friction along a line slips with γ_T⁺ + e_T γ_T⁻ > 0
    slips_down,  ///< … < 0
};

/// An impact as it was solved: rows of the model in blocks, with a law for each block.
struct RecordedImpact {
    bool jam = false;                                   ///< an impulse where no force exists (Painlevé)
    bool repaired = false;                              ///< the velocities are not those of the law
    impact::ImpactLaw law = impact::ImpactLaw::newton;  ///< impact law that all contacts followed
    ShortVector<int, 4> rows;                           ///< numbers of the model's rows that take part
    ShortVector<int, 4> start;                          ///< first row of each block, then the number of rows
    ShortVector<int, 4> owner;                          ///< element of each block
    ShortVector<solvers::Law, 1> laws;                  ///< contact law of each block
    ShortVector<double, 4> e, Lambda;                   ///< restitution and impulse of the rows; empty for a jam
    ShortVector<double, 4> u_minus, u_plus;
    ShortVector<double, 4> compression;  ///< Λ of the inelastic collision, if the law has one (Poisson, energy)
    ShortVector<char, 4> held;           ///< per block: Λ_N of Poisson's expansion is e times that of compression
    /// Per row, if the contact modes are given and do not follow from the impulses (scheduled.hpp); otherwise empty.
    ShortVector<RowDecision, 4> decided;
};

/// What happened between two arcs.
struct RecordedChange {
    double t = 0.0;
    /// Time from the stored state `before` to the change, in s, >= 0. It is positive where an expression of the model
    /// jumps: the two states then lie on both sides of the jump.
    double earlier = 0.0;
    bool first = false;  ///< the change is at the start of the motion, or right after an accumulation
    /// The change has no time of its own: the mode just entered could not hold. Its time varies as that of the change
    /// before.
    bool unavoidable = false;
    bool corner = false;  ///< the velocity of a row jumps here, because its formula has a corner
    int jump = -1;        ///< number of the jump of the model that resets the state here; -1: none
    /// An impact follows at the same time as the next change. `mode_after` lasts no time, and says only which contacts
    /// were closed: nothing is known of its friction, and no velocity is removed in it.
    bool impact_follows = false;
    std::vector<Watch> found;  ///< quantities that came to zero
    RecordedMode mode_before, mode_after;
    ShortVector<double, 8> before, after;  ///< states (q, u, …)
    std::vector<RecordedImpact> impacts;
    std::vector<int> rest;        ///< contacts in which impacts accumulate here
    double limit = 0.0;           ///< time at which the accumulation ends
    std::size_t events_from = 0;  ///< the events of the trajectory that belong to the change: from this number …
    std::size_t events_to = 0;    ///< … to before this one
    bool failed = false;          ///< the run ended here
    /// A warning says that the motion up to here is one of several that the laws allow: contacts share a load.
    bool one_of_several = false;
};

/// What one step of time-stepping did to V = T + U, in J. The works are those of impulses that act all through the
/// step.
struct StepWorks {
    double damping = 0.0, friction = 0.0, impact_friction = 0.0, impact_restitution = 0.0;  ///< taken out
    double applied = 0.0, driven = 0.0;                                                     ///< brought in
};

/// The end of a step of time-stepping, or the start of the motion.
struct RecordedStep {
    double t = 0.0;
    double V = 0.0;     ///< T + U, in J
    double size = 0.0;  ///< max(|T|, |U|), in J: rounding errors of V are relative to it
    StepWorks works{};
};

using RecordedPiece = std::variant<RecordedArc, RecordedChange>;

/// A motion with everything that its derivatives need. The event-driven and the penalty method record arcs and changes.
/// Time-stepping, which does not resolve events, records only what its steps did to the energy.
struct Recording {
    bool compliant = false;             ///< penalty method
    double stiffness = 1.0;             ///< factor on its springs
    std::vector<RecordedPiece> pieces;  ///< in order of time
    std::vector<RecordedStep> steps{};  ///< steps of time-stepping; empty for the other methods
};

/// Whether a run keeps a recording. A recording costs memory for every step.
enum class Record { no, yes };

/// A motion and its recording.
struct RecordedMotion {
    trajectory::Trajectory motion;
    Recording recording;  ///< empty with Record::no
    /// The equations of motion that the run used, for whoever computes derivatives of the motion: to make them costs as
    /// much as a short motion. Call `reset` before use. Null if the run keeps none (time-stepping, Record::no).
    std::shared_ptr<Dynamics> dynamics{};
};

}  // namespace saltus::integrate
