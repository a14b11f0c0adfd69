// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "saltus/integrate/mode/dynamics.hpp"
#include "saltus/integrate/mode/hold.hpp"
#include "saltus/integrate/mode/mode_series.hpp"
#include "saltus/integrate/mode/thresholds.hpp"
#include "saltus/ode/dense.hpp"
#include "saltus/ode/polynomial.hpp"
#include "saltus/ode/roots.hpp"

namespace saltus::integrate {

class StepEnclosure;

/// A quantity s(t) that is positive as long as the mode holds. Its zero is an event.
struct Watch {
    enum class What {
        gap,        ///< gap of an open contact
        depth,      ///< penetration of a contact with a spring
        spring,     ///< force of the spring and damper of a contact; minus that force while they would pull
        force,      ///< normal force of a closed contact, reaction of a locked clutch
        slip,       ///< velocity of a slipping part along its direction of slip
        reserve,    ///< how much the force of a sticking part can still grow (Dynamics::reserve)
        reaction,   ///< reaction of a constraint with slipping friction, times its sign
        clutch,     ///< velocity of a free clutch
        hold,       ///< all closed contacts and sticking parts together, if their reactions are not unique: positive as
                    ///< long as some admissible reactions hold them
        condition,  ///< condition of a contact while it exists; minus the condition while it does not
        trigger,    ///< `when` of a jump of the model, times its side; `element` is the number of the jump
        jump,       ///< quantity that an expression of the model compares; only in recordings, `element` is its number
    };
    What what;
    int element;    ///< number of the element; -1 for `hold`
    int part = -1;  ///< number of the friction part, for `slip` and `reserve`
    /// The quantity starts at zero because of the event before. Its zero does not count until it has left zero.
    bool starts_at_zero = false;
};

/// What to write instead of expressions that jump.
inline constexpr const char* instead_of_jumps =
    "write dry friction as friction of a contact or as a slider, not with sign or if";

/// A zero of a watched quantity.
struct Found {
    double t, left, right;  ///< the zero, and a window around it at whose ends the signs are certain
    int watch;              ///< number in Watcher::watches()
    bool astray = false;    ///< a velocity that runs against its direction at `t` although no zero was found
    /// On a Taylor series: `t` and `right` as times since the start of the step, in s. They are exact where t is large.
    double tau = 0.0, tau_right = 0.0;
    bool rounded = false, touch = false;  ///< on a Taylor series: see ode::PossibleCrossing
};

/// The value of a quantity in the mode of the dynamics, at the state of the last evaluation: Dynamics::evaluate for
/// forces, evaluate_terms for others. Not for `hold` and `jump`, which are 0.
double watched_value(const Dynamics& dynamics, const Watch& watch);

/// Looks for the first zero of any watched quantity on a step. All quantities at one time come from one evaluation.
class Watcher {
public:
    explicit Watcher(Dynamics& dynamics) : d_(dynamics) {}
    /// Becomes as it was made, for another run.
    void reset();

    /// Collects the quantities to watch in the mode of the dynamics; `x` is the state at the start of the arc.
    void begin(double t, const double* x);
    /// The same if the mode has not changed since the last call of `begin`, and only gaps are watched. The terms of the
    /// dynamics must belong to the positions in x.
    void begin_again(double t, const double* x);
    /// Watches nothing on the next arc.
    void begin_without_watches();

    /// The first zero from + to −, with all others at the same time up to rounding. Empty if the step has no
    /// event.
    /// On a step of a method without Taylor series the quantities are known at samples. With an `enclosure`, which must
    /// have begun the step, gaps, velocities and conditions that are negative between samples are found too.
    const std::vector<Found>& search(const ode::Dense& step, StepEnclosure* enclosure = nullptr);

    /// The same on the step of length h of a Taylor series. Every quantity is a polynomial there, whose first zero is
    /// found with certainty (ode::first_crossing). A touch is a zero that may only be due to rounding errors of the
    /// polynomial on the step.
    enum class Touches { report, ignore };
    const std::vector<Found>& search(const ModeSeries& series, double h, Touches touches);

    /// A search notes which quantities have left zero on its step. `remember_zeros` before a search and `restore_zeros`
    /// after it make the search have no effect on later ones.
    void remember_zeros();
    void restore_zeros();

    /// An estimate of the time of the first event, in s since the start of the series, from its first terms. Infinite
    /// if they show none. It may be wrong, and serves to choose the order of the series.
    double estimate(const ModeSeries& series);

    /// Whether all quantities other than those in `found` are clearly positive at the time tau of the events, or later
    /// on the step of length h of the series. Otherwise one of them may have reached zero, at the same time or before,
    /// and sinks so slowly that only a longer step shows it.
    bool others_are_positive(const ModeSeries& series, std::span<const Found> found, double tau, double h);

    /// How far the reactions of a redundant mode, as the series distributes them, stay admissible on the step of length
    /// h: the first zero of a normal force or friction reserve, in s since the start of the step; h if there is none.
    double admissible_until(const ModeSeries& series, double h);

    /// Forces that the mode needs at its start and that its laws do not allow, found at that time. They occur if rows
    /// are so nearly dependent that the choice of the mode could not tell.
    const std::vector<Found>& violated() const { return violated_; }

    /// A reaction that lies outside the set of its law.
    struct Inadmissible {
        double excess = 0.0;  ///< how far it is outside, relative to the force scale; <= 0 inside
        int element = -1;     ///< the element of the worst reaction; -1 if there is none
    };
    /// The worst reaction of the mode at a state: a contact or clutch that pulls, or friction that sticks with a force
    /// outside its set. Redundant reactions are
    /// made admissible first. If the best ones leave accelerations, then these count, relative to their scale.
    Inadmissible worst_reaction(double t, const double* x);

    const std::vector<Watch>& watches() const { return watches_; }
    /// Whether the motion depends on how the reactions of the redundant mode are distributed.
    bool motion_depends_on_distribution() const { return motion_depends_; }
    /// Whether it depends on it, and the distribution that moves it violated its laws at the start of the arc.
    bool inadmissible_distribution() const { return inadmissible_distribution_; }
    /// The forces and reserves of a redundant mode that are zero at this state, up to rounding.
    std::vector<Watch> exhausted(double t, const double* x);
    /// How a redundant mode that ends at this state comes loose: by the accelerations of a short time later, if it held
    /// until then. At its end they are as small as the errors of the solver. Empty if they stay small.
    ModeSeries::Release release_soon(double t, const double* x);
    bool unresolved = false;  ///< some search was not completed: events may have been missed
    /// A redundant mode holds if no relative acceleration exceeds this part of the acceleration scale.
    double hold_tolerance = Thresholds::hold_acceleration;
    /// Makes the reactions of the dynamics admissible: those of least norm if they are, otherwise others. If the motion
    /// depends on their distribution, then they stay as they are. Call it after Dynamics::evaluate in a redundant mode.
    /// Returns the largest relative acceleration that they leave: zero if the mode holds.
    double allow_reactions();
    /// The same for a report. The reactions depend on the state alone, and not on those that were found before it: they
    /// are the admissible ones of least norm, which change continuously along a motion. If there are many rows or if
    /// this program is not solved, then they are some admissible ones.
    void settle_reactions();
    /// Whether the contacts of a redundant mode can also let go where they can still hold: the contact problem of the
    /// accelerations has a solution that moves beside one that holds. The motion is then not unique. It examines the
    /// state at which the mode ends, or any other.
    bool can_also_let_go(double t, const double* x);

private:
    void collect_watches();
    void measure(double t, const double* x);
    void measure_start(double t, const double* x, double forces);
    std::vector<ode::Root>& roots_of(std::size_t watch, double from, double to, bool start_counts);
    void search_forces(const ode::Dense& step);
    void search_between_samples(const ode::Dense& step, StepEnclosure& enclosure);
    void search_astray(const ode::Dense& step);
    void find_mode_that_never_held();
    struct Polynomial {
        double c[ode::max_degree + 1];  // in θ = τ/h
        int size = 0;
        double noise = 0.0;
    };
    const double* powers_of(double h);
    std::size_t polynomials(const ModeSeries& series, const Watch& watch, double noise, double h,
                            int most = ode::max_degree + 1);
    std::size_t reserve_polynomials(const ModeSeries& series, const Watch& watch, int most);
    struct WatchCrossing {
        ode::PossibleCrossing found;
        bool astray;
    };
    std::optional<WatchCrossing> crossing(std::size_t watch, std::size_t count, Touches touches);
    template <class ValueAtFirst>
    void keep_simultaneous(ValueAtFirst value_at_first);
    double velocity_scale(const Watch& watch, std::span<const double> u) const;
    double value(const Watch& watch);
    void pose_hold_problem();
    bool least_norm_is_admissible();
    void set_reactions(const std::vector<double>& r);
    double find_reactions();
    double hold_margin();
    double holding_reserve();
    const std::vector<double>& sample(double t);

    Dynamics& d_;
    std::vector<Watch> watches_;
    std::vector<Watch> held_;  // forces and reserves that `hold` stands for
    double held_noise_ = 0.0;  // rounding errors of these, in N
    bool motion_depends_ = false,
         inadmissible_distribution_ = false;  // the accelerations depend on how the redundant reactions are distributed
    std::vector<char> remembered_zeros_;      // Watch::starts_at_zero of each quantity
    std::vector<double> zero_;                // |s| <= zero_ is rounding
    std::vector<double> leave_;               // s > leave_ has left zero
    std::vector<double> depth_;               // max(0, −s) at the start of the arc
    bool needs_forces_ = false, needs_velocities_ = false;
    const ode::Dense* step_ = nullptr;
    std::vector<double> times_, x_;            // times at which the quantities are known on this step
    std::vector<std::vector<double>> values_;  // all quantities at these times
    std::size_t samples_ = 0;                  // how many of them belong to this step
    std::vector<ode::Root> roots_;
    Polynomial polynomials_[2];                // of one quantity; the reserve of a sticking part can have two
    double powers_[ode::max_degree + 1] = {};  // powers_of
    std::vector<Found> found_, violated_;
    HoldProblem hold_;
    solvers::Workspace workspace_;
    solvers::Solution solution_;
    std::vector<double> holding_;  // reactions that hold although solution_ moves
};

}  // namespace saltus::integrate
