// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "saltus/integrate/detail/accuracy.hpp"
#include "saltus/integrate/event/detail/accumulation.hpp"
#include "saltus/integrate/event/detail/precise_sum.hpp"
#include "saltus/integrate/event/detail/rate_jumps.hpp"
#include "saltus/integrate/event/detail/run_tools.hpp"
#include "saltus/integrate/event/detail/step_enclosure.hpp"
#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/event/scheduled.hpp"
#include "saltus/integrate/mode/linearised.hpp"
#include "saltus/integrate/mode/sparse_stages.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/integrate/simulate.hpp"
#include "saltus/model/feedback.hpp"
#include "saltus/model/fwd.hpp"
#include "saltus/ode/explicit.hpp"
#include "saltus/ode/radau.hpp"

namespace saltus::integrate {

/// What the event-driven and the penalty method have in common.
struct RunSettings {
    double rtol, atol;  ///< relative and absolute tolerance of the whole run
    bool implicit;      ///< use the implicit integrator (ode::Radau) from the start
    bool series;        ///< integrate by Taylor series where the mode has them
    double max_step;    ///< no step is longer, in s
    bool keep_arcs;
    bool compliant;            ///< contacts are springs: penalty method
    double stiffness;          ///< factor on the springs
    double contact_tolerance;  ///< residual of contact problems
    long max_events;
    bool record;  ///< keep everything that derivatives of the motion need (RecordedMotion)
    /// The run follows given modes up to given times and looks for no events (scheduled.hpp).
    bool scheduled = false;
};

/// Why a smooth arc ended.
enum class ArcEnd {
    events,     ///< watched quantities came to zero
    violated,   ///< the mode needs forces at its start that its laws do not allow
    corner,     ///< the velocity of a row jumps, because its formula has a corner here
    same_mode,  ///< the mode continues as another arc: its equations became redundant, or the motion became stiff
    no_step,    ///< the integrator finds no step
    finished,   ///< the end of the run, an interruption or a failure
};

/// Counts the steps of an arc. EventRun uses the counts to notice that the motion does not advance.
struct Advance {
    double longest_step = 0.0;
    double checked_at = 0.0;  ///< time of the last check
    int tiny_steps = 0;       ///< consecutive steps that are tiny compared with longest_step (Thresholds::tiny_step)
    int slow_steps = 0;       ///< consecutive steps that are short compared with the run (Thresholds::slow_step)
    int steps = 0;            ///< number of steps since the last check

    /// Counts a step of this length. `duration` is the duration of the whole run.
    void step(double length, double duration);
};

/// After this number of steps an arc ends and continues as another arc, so that a resume point can be made and a
/// continued motion repeats no more steps. The number is several times Thresholds::steps_between_checks, so that these
/// checks are made.
inline constexpr int steps_between_resume_points = 4 * Thresholds::steps_between_checks;

/// One run of the event-driven or the penalty method: the state, the mode and the trajectory as it grows.
///     mode → equations of motion (Dynamics) → arc → first event (Watcher) → impact, next mode (ModeChange)
class EventRun {
public:
    /// `tools` must be new or reset, and made for this model and these settings. With `earlier` the run continues a
    /// motion (resume.hpp).
    EventRun(const model::Mechanics& model, const RunSettings& settings, const Options& options, RunTools& tools,
             const Continued* earlier = nullptr, const MotionSink& sink = {});
    /// Runs to the end. Call it once.
    RecordedMotion run();
    /// The same; take_motion gives the motion.
    void execute();
    trajectory::Trajectory&& take_motion() { return std::move(out_); }
    /// To be called before a run that will not be continued.
    void forgo_resume_points() { end_matters(); }
    /// After `run`.
    ResumePoint take_resume_point() { return std::move(resume_); }

    // Instead of `run`, with RunSettings::scheduled (run_schedule.cpp).
    /// Begins a motion of this length.
    void begin_schedule(double from, std::span<const double> x);
    /// Makes the changes of an event at the state x at t, which becomes the state after it. False if they are not
    /// possible.
    bool apply(const ScheduledEvent& event, double t, std::span<const double> x, std::vector<RecordedChange>& changes);
    /// Begins in a mode at the state x at t, which is moved onto the equations of the mode.
    bool enter(const SystemMode& mode, double t, std::span<const double> x);
    /// Follows the mode in force up to the time `end`.
    bool follow(double end, std::vector<RecordedArc>& arcs);
    /// The impact of an open contact of a mode that approaches its obstacle with the velocity `approach`, at the
    /// state x at t. False if there is none.
    bool graze(int contact, const SystemMode& mode, double t, std::span<const double> x, double approach,
               RecordedChange& out);
    std::span<const double> state() const { return x_; }  ///< (q, u, work)
    const std::string& reason() const { return out_.reason; }

private:
    bool strike_as(const RecordedImpact& like, RecordedImpact& out);
    bool strike_as_decided(const RecordedImpact& like, RecordedImpact& out);

    // The run (event_driven.cpp).
    void follow_to_end();
    void note_before_changes();
    void stop_inside_a_step();
    void end_just_before(double t);
    void start_at(const trajectory::State& state);
    ArcEnd arc();
    void begin_arc();
    void store_work();
    void note_ambiguity();
    void note_other_motion(double t, const double* x);
    void note_other_motions_on_series(double h);
    bool has_few_rows() const;
    void tell_other_motion(double t);
    bool friction_follows_reactions() const;
    void fail_without_distribution();
    template <class Stepper>
    ArcEnd integrate(Stepper& stepper, const ode::Problem& problem);
    bool asked_to_stop();
    void stop_at_event(double step_end, double next_step);
    bool stop_at_change_of_shape(double step_end, double next_step);
    bool stays_in_a_jump(double step_end, Advance& advance);
    bool accept_step(double t, std::span<const double> x);
    bool reactions_are_admissible(double t, const double* x);
    bool became_redundant(double next_step, Advance& advance);
    bool blurred(ode::Explicit& stepper);
    bool blurred(ode::Radau&) { return false; }
    template <class Stepper>
    bool jumps_over_a_change(Stepper& stepper, const ode::Problem& problem);
    void turning_speeds(double t, const double* x, std::vector<double>& speeds);
    bool slip_in_a_plane_begins();
    bool outgrows_jacobian(ode::Radau& stepper, const ode::Problem& problem);
    bool outgrows_jacobian(ode::Explicit&, const ode::Problem&) { return false; }
    bool changes_method(const ode::Explicit& stepper);
    bool changes_method(const ode::Radau& stepper);
    void become_implicit();
    bool can_be_implicit();

    // Control that samples (run_sample.cpp).
    void take_sample();
    double measured(std::size_t quantity);
    void add_forces(const ode::Dense& step, double until);
    void add_impulses(const std::vector<trajectory::Reaction>& impulses);
    bool sample_is_due() const;
    /// Whether the arc ends at the next sample and not at the end of the run.
    bool ends_at_sample() const { return next_sample_ < options_.t_end; }
    /// The end of the present stretch: the next sample, or the end of the run.
    double stretch_end() const { return ends_at_sample() ? next_sample_ : options_.t_end; }

    // Long runs (run_rest.cpp).
    bool stays_at_rest();
    void rest_until_end();
    bool steps_follow_without_end(int steps);
    double finite_step(double h);

    // Arcs as Taylor series (run_series.cpp).
    /// What a step by Taylor series led to.
    enum class SeriesStep {
        accepted,    ///< the state has advanced
        event,       ///< events were found
        corner,      ///< the velocity of a row jumps
        finished,    ///< the end of the run, or a failure
        redundant,   ///< the equations became dependent
        no_step,     ///< a contact force grows without bound (Painlevé): no method finds a step
        impossible,  ///< the series does not serve here: another method takes over on this arc
    };
    /// A zero of a switching function.
    struct SwitchCrossing {
        int number;
        double tau, tau_right;  ///< times since the start of the step, in s: the zero, and where the sign is certain
        bool rounded, touch;    ///< see ode::PossibleCrossing
    };
    std::optional<ArcEnd> integrate_series();
    bool begin_series();
    bool prepare_series();
    bool expand_series();
    bool can_have_low_order() const;
    bool reach_near_event();
    void learn_from_step(double h, int last);
    bool find_near_event();
    SeriesStep series_step(Advance& advance);
    std::optional<SwitchCrossing> nearest_switch(double& h);
    double behind(const SwitchCrossing& crossing) const;
    bool passes_a_tip(const SwitchCrossing& crossing);
    std::optional<SwitchCrossing> first_switch(double h, Watcher::Touches touches) const;
    /// How a zero on a step needs to be treated.
    enum class Zero {
        sharp,        ///< it is certain, and its time is as accurate as it can be
        blurred,      ///< a shorter step near it is more accurate
        unavoidable,  ///< it may be due to rounding, and no shorter step helps
    };
    template <class First>
    auto search(double& reach, First first);
    std::optional<Found> first_event(double& reach);
    template <class Z>
    Zero judge(const Z& zero, double h) const;
    template <class Z>
    bool approach(const Z& zero, Advance& advance);
    bool cross(const SwitchCrossing& crossing);
    bool becomes_stiff(double wish);
    void stop_at_series_event(double h);
    void stop_at_release();
    bool accept_series_step(double h, double t);
    double measure_series(double h);
    /// Whether normal forces below zero by rounding of the largest force are admissible.
    enum class FrictionLimit { rounded, strict };
    bool friction_is_admissible(double t, const double* x, FrictionLimit limit = FrictionLimit::rounded);
    model::Energy measure_balance();
    void keep_series(double until);
    void keep_reactions(double until);
    std::string held_by_a_jump();
    std::string held_by_uneven_friction() const;

    // Corners of gaps, constraints and slip velocities (run_corner.cpp).
    double corner_speed() const;
    double forbidden_velocity(double t, const double* x);
    bool stop_at_corner(double tau);
    double corner_on_step(double step_end);
    void stop_at_sampled_corner(double corner, double step_end, double next_step);
    bool stays_in_a_corner();
    bool steps_over_a_switch();
    void open_at_corner(Candidates& candidates);

    // Jumps of the model (run_jump.cpp).
    /// How the signs of `when` follow after a change of mode.
    enum class Sides {
        tracked,      ///< they stay, unless an impact has changed them
        from_values,  ///< they are those of the present state
    };
    bool jump_happens(int number, int side);
    void fail_ever_faster(int number);
    bool pass_triggers();
    void make_jump(const std::vector<int>& happen, const std::vector<Found>& found);
    std::string reset_refusal();
    SystemMode mode_after_jump();
    void split_record_before_impact(const Candidates& candidates);
    void renew_sides(Sides how);
    struct Rate {
        double value = 0.0, size = 0.0;
    };
    Rate trigger_rate(int number);

    // From one mode to the next (run_mode_change.cpp).
    enum class Cause {
        start,      ///< the motion begins
        rest,       ///< the limit of an accumulation was passed: its contacts are at rest
        event,      ///< events were found on the arc
        corner,     ///< the velocity of a row has jumped: closed contacts may strike or separate
        jump,       ///< a jump of the model has reset the state
        violation,  ///< the mode could not hold from its start
    };
    void change_mode(const std::vector<Found>& found, Cause cause);
    void enter_next_mode(const std::vector<Found>& found, Cause cause);
    bool limit_changes_at_one_time();
    bool find_existing_contacts(SystemMode& known, Cause cause, const std::vector<Found>& found);
    void possible_contacts(SystemMode& known, Candidates& candidates, Cause cause);
    void apply_events(const std::vector<Found>& found, Candidates& candidates, SystemMode& known);
    bool opens_at_a_tip(int contact) const;
    void let_go(const Watch& watch, Candidates& candidates, SystemMode& known);
    void apply_release(Candidates& candidates, SystemMode& known);
    struct Window {
        double left, right;  ///< times between which the event lies
    };
    enum class StrikeResult { nothing, struck, mode_entered, ended };
    void note_missing_restitution(const Strike& strike);
    StrikeResult strike(Candidates& candidates, const SystemMode& known, Window window);
    StrikeResult after_strike(const Strike& strike, double speed, const SystemMode& known);
    bool bounce(const std::vector<Found>& found, Cause cause);
    bool all_stay_open(const Candidates& candidates) const;
    void decide_clutches(const std::vector<double>& u_minus, Candidates& candidates);
    void resume_slip(Candidates& candidates) const;
    double open_separating_contacts(const std::vector<double>& u_minus, Candidates& candidates);
    double negligible_motion() const;
    std::optional<Accumulation::Limit> accumulation_after(const Strike& strike, double speed);
    bool changes_follow_without_end();
    bool impacts_follow_without_end(const Accumulation::Limit& limit);
    enum class Project { no, yes };
    bool choose(Candidates& candidates, const SystemMode& before, Window window, Project project = Project::yes);
    bool may_project();
    bool jam(const std::string& why, Candidates& candidates, Window window);
    void release_after_jam(Candidates& candidates);
    bool contradicted(SystemMode& mode, Candidates& candidates);
    double row_acceleration(int row) const;
    double slip_acceleration(int part, const SystemMode& mode) const;
    bool evaluate_a_moment_later();
    bool turn_released_slip(const SystemMode& mode, SystemMode& turned, Candidates& candidates);
    bool keeps_touching(int element, double rounding, SystemMode& turned, Candidates& candidates) const;
    bool pass_accumulation(const Accumulation::Limit& limit, const SystemMode& known);
    std::vector<signed char> event_switches(const SystemMode& mode) const;
    bool something_happens(double t, const std::vector<signed char>& switches);
    bool short_step(double h);
    void leave_mode_without_step(ode::StepStatus status);
    std::vector<Found> stalled_slip();
    bool jam_by_growing_force(Candidates& candidates, const SystemMode& before);
    void coarsen();

    // Impacts that come ever faster and need not slow down (run_closing.cpp).
    struct ClosingImpacts {
        enum class End {
            rests,      ///< the velocities of the contacts converge to zero
            separates,  ///< no contact approaches any more
            jams,       ///< the speeds do not go to zero
            fails,      ///< an impact has no outcome
        };
        End end = End::jams;
        std::vector<std::vector<int>> impacts;  ///< the contacts that are closed at each impact
        std::vector<int> elements;              ///< contacts that come to rest, or that jam
        std::string note;                       ///< why an impact has no outcome
    };
    ClosingImpacts closing_impacts(const Accumulation::Limit& limit, const Strike& last, const SystemMode& known,
                                   double motion);
    StrikeResult strike_until_rest(Accumulation::Limit& limit, const Strike& last, const SystemMode& known);

    // Points from which the run can be repeated to the bit (run_resume.cpp).
    template <class Archive>
    void remember(Archive& archive);
    void remember_start();
    void forget_history();
    void make_resume_point();
    void resume();
    void note_continued_start(const ode::Dense& step, double until);
    bool start_is_due(double until) const { return earlier_ != nullptr && !continued_ && until > earlier_->end; }
    void leave_out_earlier_motion();
    void leave_out_earlier_parts();
    void leave_out_earlier_recording(std::size_t events);
    /// The end of the run has influenced a decision, or may have: a longer run would go on otherwise.
    void end_matters() { end_mattered_ = true; }

    // What the run writes into its trajectory and its recording (run_record.cpp).
    void record_strike(const Strike& strike, trajectory::EventKind kind, Window window);
    trajectory::Event& next_event(trajectory::EventKind kind, Window window);
    void judge_creation(const std::string& why);
    void record_changes(const SystemMode& before, Window window);
    void record_switches(Window window);
    void record_change(trajectory::EventKind kind, int element, Window window);
    void record_rate_jumps(const SystemMode& before);
    struct PassedAccumulation {
        std::vector<double> before;   ///< state before the contacts came to rest
        std::vector<double> at_rest;  ///< state at the same time, at rest in the contacts
        double energy_before;         ///< T + U of the state `before`, in J
        double remaining;             ///< time to the limit, in s
    };
    void record_accumulation(const Accumulation::Limit& limit, const PassedAccumulation& passed);
    void open_record(const std::vector<Found>& found, Cause cause);
    const RecordedMode& recorded_mode();
    void record_impact(bool jam, const Strike& strike);
    void record_lone_impact(const Strike& strike);
    void close_record();
    enum class PartEnd { in_arc, end_of_motion };
    void hand_over_if_large(double until);
    void hand_over(double before, PartEnd end);
    /// Number of events since the start of the motion.
    std::size_t event_count() const { return events_handed_over_ + out_.events.size(); }
    void keep(const ode::Dense& step, double until);
    std::span<const double> measured_positions(double t, const double* x);
    void measure(double t, const double* x);
    void measure_dense(double until);
    trajectory::Mode mode_of(std::size_t element) const;
    void fail(std::string reason);
    void warn(const std::string& text);
    void note_left_out(const Accumulation::Limit& limit);
    void judge_left_out();
    void finish();
    void note_final_forces();
    double total_energy();
    std::string at_time() const;

    const model::Mechanics& model_;
    const RunSettings settings_;
    const Options& options_;
    Dynamics& d_;
    ModeChange& change_;
    Watcher& watcher_;
    Accumulation& accumulation_;
    AccuracyCheck accuracy_;
    std::optional<StepEnclosure> enclosure_;  // made when it is needed
    int shortened_steps_ = 0;                 // consecutive steps that jumps_over_a_change has taken back
    double step_limit_ = ode::no_limit;       // time that the next step must not pass, in s, because of it
    std::optional<ode::Explicit> explicit_;   // made when it is needed
    Linearised linearised_;
    std::optional<SparseStages> sparse_;   // linear systems of implicit steps, if the system is large
    std::optional<ode::Radau> implicit_;   // made when it is needed
    std::optional<RateJumps> rate_jumps_;  // made when it is needed
    bool stiff_ = false;                   // steps are implicit where that is possible
    bool implicit_arc_ = false;            // the present arc is integrated implicitly
    /// Implicit steps that are tried because explicit ones are many.
    struct Trial {
        double began;          ///< time, in s
        double explicit_step;  ///< length of the explicit steps before, in s
    };
    std::optional<Trial> trial_;  // in progress
    int failed_trials_ = 0;       // each one doubles the number of explicit steps before the next
    int method_steps_ = 0;        // steps of the present method on the present arc
    int blurred_steps_ = 0;       // consecutive steps that were taken back
    std::vector<double> jacobian_speeds_, start_speeds_, end_speeds_;  // of outgrows_jacobian
    ModeSeries& series_;
    ode::Tolerances tolerances_;       // of one step
    int series_order_, linear_order_;  // orders of series: in general, and if the mode is a linear system
    int mode_order_ = 0;               // the one for the mode of the arc
    ode::Tolerances near_tolerances_;  // of a step of low order
    double near_reach_ = 0.0;          // the expansion is of low order and serves up to this time after its start, in s
    bool near_proved_ = false;         // and was shown to be valid up to there
    bool series_off_ = false;          // the motion is stiff: series do not serve
    int stiff_series_steps_ = 0;       // consecutive steps that look stiff
    int switches_at_one_time_ = 0;     // changes of sides since the time advanced
    std::vector<char>& just_crossed_;  // per switch: it was crossed at the present time
    /// If switches were crossed at the present time t: the time in s after which all evaluations take the new branches.
    /// An event before t + nudge_ is taken at t + nudge_. 0 if no switch was crossed.
    double nudge_ = 0.0;
    bool sides_chosen_ = false;            // the last expansion began at a switch and has chosen a branch
    double series_limit_ = ode::no_limit;  // upper bound of the next step, in s
    double longest_series_step_ = 0.0;     // longest step of the arc by a series, in s
    long series_steps_ = 0;
    long arcs_without_series_ = 0;  // arcs that another method has integrated, at least in part

    const model::SampledLaw* sampled_;                              // the control, if it samples; otherwise null
    long sample_ = 0;                                               // number of the next sample
    double next_sample_ = std::numeric_limits<double>::infinity();  // its time, in s
    /// Normal impulses since the start, ∫ λ_N dt + Σ Λ_N, for each quantity of the law that is one; 0 for the others.
    /// Empty if the law measures no impulse.
    std::vector<double> impulses_;

    double t_ = 0.0;
    std::vector<double>& x_;                  // (q, u, work)
    double next_step_ = ode::automatic_step;  // proposal for the first step of the next arc
    ode::Dense dense_;                        // the last step
    std::vector<Found>& found_;               // the events that ended the last arc
    ode::StepStatus step_status_{};           // status of the last step
    SystemMode& known_;  // of the change of mode in progress: the mode that ends, with what events say about the next
    Candidates& candidates_;             // of the change of mode in progress
    SystemMode& turned_;                 // of choose
    std::vector<double>& state_inside_;  // of measure_series and measure_dense
    std::vector<char>& watched_;         // of begin_series
    model::Energy end_energy_;           // energy of the state at the event that ended the last arc, if it is known
    bool end_energy_known_ = false;
    bool mode_is_known_ = true;  // false if an interrupt has ended the run in the middle of changes
    bool mode_kept_ = false;     // the last change of mode has left the mode of the last arc in force (bounce)
    bool series_begun_ = false;  // begin_series has prepared the mode of the last arc
    std::vector<std::pair<int, bool>> switched_;    // contacts with a condition that switched, and whether they exist
    bool started_ = false;                          // the first mode has been entered
    bool has_conditions_ = false;                   // some contact has a condition
    std::vector<double> measured_positions_;        // memory of measured_positions
    std::vector<char> struck_without_restitution_;  // per contact: struck although its eN was not given
    ModeSeries::Release release_;                   // of the event that ended the last arc
    double last_release_ = std::numeric_limits<double>::quiet_NaN();  // time of the last end of a redundant mode
    double arc_began_ = 0.0;
    double mode_began_ = 0.0;           // time of the last change of mode; several arcs may follow in one mode
    double last_change_ = -1.0;         // time of the last change of mode
    int changes_at_one_time_ = 0;       // in units of 1/impacts_per_change
    bool struck_ = false;               // the last change of mode was an impact
    double corners_since_ = 0.0;        // time of the first corner that corners_ counts
    int corners_ = 0;                   // corners that follow each other closely
    double over_switches_since_ = 0.0;  // time of the first jump that over_switches_ counts
    int over_switches_ = 0;             // jumps that steps_over_a_switch has passed and that follow each other closely
    double quiet_since_ = 0.0;          // time of the first change that quiet_changes_ counts
    int quiet_changes_ = 0;             // changes of mode without an impact
    double irregular_since_ = 0.0;      // time of the first limit that irregular_limits_ counts
    int irregular_limits_ = 0;          // accumulations without a limit that follow each other closely
    /// Impacts that do not end and whose motion is below the resolution of the run.
    struct LeftOut {
        double since;       ///< time from which they are left out, in s
        std::string names;  ///< of the contacts
        double motion;      ///< by so much they move, in m
        double speed;       ///< the largest speed after one of them, in m/s
        double explained;   ///< speed that the tolerances explain, in m/s
    };
    std::optional<LeftOut> left_out_;  // the first ones that the tolerances do not explain, or the first ones
    bool coarsened_ = false;           // coarsen() was called at least once
    bool ambiguity_told_ = false;      // a warning says that the motion is not unique
    /// The motion before its changes at the time t; t is NaN if there were none.
    struct BeforeChanges {
        double t = std::numeric_limits<double>::quiet_NaN(), jumps = 0.0;
        std::vector<double> x;
        PreciseSum work;
        std::size_t events = 0, arcs = 0, pieces = 0;  ///< numbers of them
    };
    BeforeChanges before_;
    PreciseSum work_;  // of impacts and accumulations, and of arcs as far as x_ does not contain it
    double largest_acceleration_ = 0.0;
    long steps_since_start_ = 0;

    bool sides_known_ = false;        // the signs of `when` of all jumps are those of the motion
    std::vector<char> rises_surely_;  // per jump: `when` was zero at the last reset, and its rate gave its sign
    int jumped_ = -1;                 // the jump that was just made; -1: none
    double missed_ = 0.0;             // |when| of that jump before the reset
    bool jump_made_ = false;          // a jump has happened
    std::vector<double> last_jump_;   // per jump of the model: time at which it happened last, in s

    const Continued* earlier_;  // the motion that is continued; null: the motion begins with this run
    /// State of a continued motion at its start.
    struct ContinuedStart {
        trajectory::State state;
        double energy;  ///< T + U, in J
        double work;    ///< work since the earlier motion began, in J
    };
    std::optional<ContinuedStart> continued_;
    ResumePoint resume_;
    bool end_mattered_ = false;        // resume_ stays as it is
    bool resume_point_due_ = false;    // the last arc was so long that a resume point follows
    long arcs_begun_ = 0;              // since the start of the motion
    ode::Statistics forgotten_steps_;  // of implicit steppers that were replaced

    MotionSink sink_;  // empty: the trajectory keeps its events and arcs
    std::size_t events_handed_over_ = 0;
    std::size_t kept_bytes_ = 0;                    // of the steps since the last part
    bool handed_over_ = false;                      // a part was given to the sink
    bool earlier_left_out_ = false;                 // leave_out_earlier_parts was called
    std::vector<trajectory::Event>& spare_events_;  // memory of events that are no longer needed
    Recording recording_;
    RecordedMode recorded_mode_;                   // of the last record
    std::optional<RecordedChange> change_record_;  // record of the change of mode in progress
    trajectory::Trajectory out_;
    bool ended_ = false;
};

}  // namespace saltus::integrate
