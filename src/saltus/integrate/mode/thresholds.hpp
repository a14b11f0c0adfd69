// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

namespace saltus::integrate {

/// All thresholds of the event-driven and of the penalty method. Each entry states the quantity, its unit, the
/// inequality that it enters, the reason for its value, and what happens if it is too small or too large.
///
/// An entry without a unit is a ratio to a scale. A scale is the size that rounding errors are relative to:
/// - length scale of a gap or of a constraint function: 1 + Σ|W_i q_i| over its row (Dynamics::position_scale), in the
///   unit of the gap;
/// - speed scale of a row: 1 + Σ|W_i u_i| over the row (model::row_scale), in the unit of the row's velocity;
/// - acceleration scale: the largest single contribution to an acceleration, in the unit of u̇
///   (Dynamics::acceleration_scale);
/// - free relative acceleration of a row: its γ̇ without contact forces, in the unit of γ̇;
/// - force scale: the largest of |h_i| and |λ_k| at the start of an arc, in the unit of these.
/// Models are expected in SI units, with lengths and speeds that are not many orders of magnitude below 1.
struct Thresholds {
    /// Relative rounding error of double precision, 2.2e-16.
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
    /// Force scale or acceleration that replaces zero, in the unit of what it replaces: max(scale, smallest_scale).
    /// With a scale of zero, a quantity that is zero would not be "below the threshold". Every number of a model is
    /// larger, so that the value decides nothing else. Much smaller: underflow to zero. Much larger: small models lose
    /// their scale.
    static constexpr double smallest_scale = 1e-300;

    // --- which contacts are closed when a mode ends (EventRun::possible_contacts) ---

    /// A rigid contact counts as closed if gap <= closed_gap · length scale and γ_N <= opening_speed. The value is far
    /// above rounding, because initial conditions are rounded to the digits that the user wrote. Too small: contacts
    /// that touch by the initial conditions are missed. Too large: contacts close at a distance, and the projection
    /// moves the body.
    static constexpr double closed_gap = 1e-10;
    /// The same where an event was found. Smaller, because gaps are known to rounding there, and contacts that close
    /// 1e-11 s later are separate events. Too small: contacts that close together by symmetry strike one by one.
    static constexpr double closed_gap_at_event = 1e-12;
    /// Largest opening speed of a contact that counts as closed, in m/s: γ_N <= opening_speed. A free clutch can lock
    /// under the same inequality. The value is above the rounding error of velocities. Too small: a contact that rests
    /// with a rounding error is left out. Too large: slow lift-offs are undone.
    static constexpr double opening_speed = 1e-9;
    /// A contact with a spring (penalty method) is pressed if gap < −pressed_gap · length scale, whatever its velocity.
    /// The value is above the rounding error of a gap, about epsilon. Too small: a rounding error closes a contact that
    /// has just opened. Too large: a contact that is slightly pressed has no force.
    static constexpr double pressed_gap = 1e-14;
    /// A contact with a spring is also pressed if gap <= touched_gap · length scale, and if it was pressed before or
    /// approaches. An event is located to rounding only, so that the gap at an event is not exactly zero. Too small: a
    /// contact that closes at its event is left open, and penetrates without a force. Too large: contacts close at a
    /// distance.
    static constexpr double touched_gap = 1e-12;

    // --- impacts (ModeChange::strike, EventRun::strike) ---

    /// A contact that was closed causes an impact if γ_N < −closed_approach_speed, in m/s. Velocities in closed
    /// contacts are zero up to rounding and projection. Too small: rounding errors cause impacts again and again. Too
    /// large: slow impacts are missed, and the projection removes their velocity without an impact.
    static constexpr double closed_approach_speed = 1e-11;
    /// A contact that was open causes an impact if γ_N < −open_approach_speed, in m/s. The value is smaller than
    /// closed_approach_speed, because the velocity of an open contact comes from the motion and not from rounding. Too
    /// small: a contact that only touches collides by rounding. Too large: slow impacts, for instance the late ones of
    /// an accumulation, are missed.
    static constexpr double open_approach_speed = 1e-14;
    /// The solver of the impact problem is asked for residual <= impact_tolerance_ratio · contact tolerance. The result
    /// is accepted if residual <= contact tolerance. The ratio is below 1, because errors of successive impacts add up.
    /// Too small: the solver works at the limit of rounding and needs more iterations. Too large: impacts add an error
    /// of the size of the contact tolerance each.
    static constexpr double impact_tolerance_ratio = 1e-2;
    /// A contact problem whose solver did not converge is accepted if its relative residual < usable_residual. The
    /// value is far above contact tolerances and far below what can be seen in a motion. Too small: runs end although
    /// the reactions are good enough. Too large: the reactions violate the contact law visibly.
    static constexpr double usable_residual = 1e-6;
    /// A contact is open after an impact if γ_N⁺ > separation_ratio · max|γ_N⁻|, the largest normal speed before it.
    /// The value is above the error of the contact solver, impact_tolerance_ratio · 1e-10. Too small: errors of the
    /// solver open contacts that rest. Too large: small rebounds are lost.
    static constexpr double separation_ratio = 1e-9;
    /// In a jam without a collision (Painlevé), velocities |γ| < jam_zero_velocity, in m/s, are set to zero, because
    /// the impulse acts through contacts at rest. The value is above closed_approach_speed. Too small: a rounding error
    /// of γ_N > 0 opens the contact, and no impulse is found. Too large: slow slip counts as stick.
    static constexpr double jam_zero_velocity = 1e-10;
    /// Friction coefficients are multiplied by these factors, one after the other, until the jam has a nonzero impulse.
    /// At the edge of the Painlevé region, where the contact force grows without bound, the impulse exists only for a
    /// slightly larger μ. The integrator stops up to near_painleve before that edge, so that the last factor is above
    /// 1/(1 − near_painleve) = 1.053. A last factor that is too small: no impulse is found, and the run fails. Too
    /// large: the impulse obeys another friction law than that of the model.
    static constexpr double jam_friction_factors[] = {1.0, 1.0 + 1e-6, 1.001, 1.06};

    // --- corners of gaps, constraints and slip velocities (run_corner.cpp) ---

    /// The velocity of a row has jumped at a corner of its formula if |γ| > max(corner_speed, rtol) · speed scale in a
    /// row that the mode holds, or if slip runs backwards by as much. The value is above the drift of a step. Too
    /// small: drift is taken for corners. Too large: small corners are passed without an impact, and the projection
    /// takes the energy γ²/2 out of the motion.
    static constexpr double corner_speed = 1e-8;
    /// The run fails after this number of corners within slow_advance · (duration of the run): a body rests in a corner
    /// that one formula describes, and each of its sides pushes it to the other. Too small: quick motions over many
    /// corners fail. Too large: time is lost.
    static constexpr int max_corners = 200;

    // --- stick or slip (stick_slip.cpp) ---

    /// A friction part slips already if |γ_T| > slip_speed · speed scale. Otherwise accelerations decide. The value is
    /// above the rounding error of velocities. Too small: rounding decides the direction of slip. Too large: slow slip
    /// is stopped.
    static constexpr double slip_speed = 1e-9;
    /// A friction part that sticks begins to slip if |γ̇_T| > stick_acceleration · (largest free relative
    /// acceleration). The value is above the error of the contact solver, 1e-10. Too small: sticking parts slip by the
    /// solver's error. Too large: slow starts are missed until the reserve event finds them.
    static constexpr double stick_acceleration = 5e-10;
    /// A contact without a force stays closed if γ̇_N <= stay_acceleration · (largest free relative acceleration). Such
    /// a contact moves with the body, so that γ̇_N is zero up to rounding. Too small: contacts that touch without a
    /// force open and close again. Too large: slow lift-offs begin late, when the force event finds them.
    static constexpr double stay_acceleration = 1e-11;
    /// It stays closed, too, if γ̇_N <= acceleration_rounding · (largest free acceleration of a coordinate), in the unit
    /// of u̇: bodies that fall together. Too small: their contacts open and close again at one time. Too large: slow
    /// lift-offs begin late.
    static constexpr double acceleration_rounding = 16.0 * epsilon;
    /// If the component of slip in a plane along its old direction is zero, then slip has come to rest if |γ_T| <
    /// rest_speed, in m/s. Otherwise slip has only turned by a right angle. The component is known to rounding, but the
    /// component across it may be an error of the integration. Too small: slip at rest continues in a direction of
    /// rounding errors. Too large: slow slip that turns sharply is stopped.
    static constexpr double rest_speed = 1e-6;
    /// After a step, the direction of slip in a plane follows the velocity if |γ_T| > follow_speed, in m/s. Below it
    /// the old direction is kept. Too small: the direction follows rounding errors. Too large: slow slip that turns is
    /// found to have stopped, because its component along the old direction becomes zero.
    static constexpr double follow_speed = 1e-9;
    /// The friction force in a plane acts along γ_T + direction_speed · d, in m/s, with the direction d of the mode.
    /// This avoids 0/0, and the force has a derivative at γ_T = 0, which implicit steps need where slip begins. d
    /// follows the velocity, so that the sum has its direction. Where slip begins, friction across it balances the
    /// forces whatever the value is; only the velocity across differs, by direction_speed times the angle by which the
    /// direction has turned. Too small: rounding errors of velocities, 1e-16 of the speed of a belt, change the
    /// direction, and slip that begins needs steps below the rounding of the time. Too large: the direction of slow
    /// slip that turns is wrong.
    static constexpr double direction_speed = 1e-10;
    /// A slip velocity is rounding if |γ_T| <= rounding_speed, in m/s: what an impact leaves of a velocity of 1 m/s
    /// that it stops. Too small: the direction in which slip begins follows rounding errors, and derivatives there are
    /// wrong. Too large: the force jumps when |γ_T| passes the value.
    static constexpr double rounding_speed = 1e-14;
    /// Slip in a plane that the integrator cannot follow has come to rest if |γ_T| <= stalled_slip · speed scale. Its
    /// direction turns ever faster there. Too small: the run fails with an underflow of the step size. Too large: slip
    /// is stopped although the underflow has another reason.
    static constexpr double stalled_slip = 1e-8;
    /// Stalled slip counts as at rest only if (time since the mode began) > young_arc · (time since the run began).
    /// Slip that has just begun is slow, too, and must not be stopped. Too small: a part that breaks loose is stopped
    /// again. Too large: slip that comes to rest soon after an event makes the run fail.
    static constexpr double young_arc = 1e-6;

    /// Orthotropic friction acts along one axis alone if its smaller coefficient <= flat_ellipse · (the larger one).
    /// The friction force that this neglects is below the tolerances of a run. Too small: the force turns so fast
    /// across the weak axis that no step follows it. Too large: a force that matters is neglected.
    static constexpr double flat_ellipse = 1e-10;

    // --- what was decided must hold (EventRun::contradicted) ---

    /// A contact that was released must not approach, and a part that broke loose must not be pushed back. The decision
    /// is undone if γ̇ < −decision_acceleration · decision_scale · (largest acceleration scale so far). The product,
    /// 1e-9, is above the error of accelerations near an event. Too small: rounding undoes lift-offs, and they repeat
    /// at the same time. Too large: released contacts penetrate.
    static constexpr double decision_acceleration = 1e-7;
    /// Second factor of that inequality: the part of the largest acceleration scale so far that is typical of the
    /// motion. Too small or too large: see decision_acceleration.
    static constexpr double decision_scale = 1e-2;
    /// Attempts to choose a mode at one event: attempt < max_decision_attempts. Each further attempt settles at least
    /// one contact or friction part. Too small: the last choice is kept although it contradicts the accelerations. Too
    /// large: time is lost when decisions undo each other in a cycle.
    static constexpr int max_decision_attempts = 6;
    /// Solutions of the contact problem of accelerations for one choice of mode: attempt < max_sign_attempts. A further
    /// one is needed if a constraint with slipping friction has the other sign of its reaction than was assumed. Each
    /// turn corrects at least one sign. Too small: the sign is wrong, and the reaction event turns it later. Too large:
    /// time is lost when the signs of several constraints alternate.
    static constexpr int max_sign_attempts = 4;

    // --- events (watch.cpp) ---

    /// Rounding error of a gap or velocity: |s| <= position_noise · length or speed scale counts as zero. Each of the
    /// few terms of s has an error of about epsilon. Too small: rounding errors are found as events. Too large: a gap
    /// that closes and opens within the value is taken as a touch.
    static constexpr double position_noise = 4 * epsilon;
    /// Rounding error of a force: |s| <= force_noise · force scale counts as zero. It is larger than position_noise,
    /// because forces come out of a linear system. Too small: events are found in rounding errors. Too large: forces
    /// that change sign slowly are found late.
    static constexpr double force_noise = 1e-13;
    /// A gap that starts at zero has left zero if s > position_leave · length scale. Until then, its zero is that of
    /// the event before and no new event. The value is above position_noise. Too small: the event before is found
    /// again. Too large: the next impact of a low bounce is missed.
    static constexpr double position_leave = 64.0 * epsilon;
    /// A velocity or force that starts at zero has left zero if s > force_leave · scale. The value is above
    /// force_noise. Too small: the event before is found again. Too large: slip that stops soon after it began is found
    /// late.
    static constexpr double force_leave = 1e-11;
    /// A gap starts an arc at zero if s <= gap_at_start · length scale. The value is above closed_gap, so that every
    /// contact that could have been closed belongs to it. Too small: a contact that has just opened is found to close
    /// again. Too large: an impact that follows within the value is missed.
    static constexpr double gap_at_start = 1e-9;
    /// A velocity or force starts an arc at zero if |s| <= value_at_start · scale. The value is above the error of the
    /// contact solver, 1e-10. Too small: the event before is found again at the start of the arc. Too large: an event
    /// that follows soon is missed.
    static constexpr double value_at_start = 1e-8;
    /// A force or reserve s < −violated_force · force scale at the start of an arc violates its law: the mode ends at
    /// once. The value is that of usable_residual. Too small: the error of the contact solver ends modes. Too large:
    /// closed contacts pull.
    static constexpr double violated_force = 1e-6;
    /// A mode is not valid if a reaction is outside the set of its law by more than inadmissible_force · force scale
    /// after a step (Watcher::worst_reaction). The run then fails. The value is above the errors of sampled events; a
    /// force that starts at that bound moves on. Too small: errors of the integration end runs. Too large: motions that
    /// violate their laws are "completed".
    static constexpr double inadmissible_force = 1e-3;
    /// Slip, or a free clutch, runs against its direction if s < −astray_speed · speed scale without a zero before.
    /// That occurs if other decisions at the same time were against it. Too small: velocities that start near zero end
    /// their arcs. Too large: friction drives the slip for a visible time instead of braking it.
    static constexpr double astray_speed = 1e-4;
    /// The time at which s = −astray_speed · speed scale is found to the error astray_accuracy of that speed. The time
    /// need not be exact, because no law is met there. Too small: more evaluations. Too large: the event comes late.
    static constexpr double astray_accuracy = 0.01;
    /// Zeros with t <= t_first + simultaneous_time · max(1, |t_first|), in s, are one event. The value is above the
    /// accuracy of the location of zeros. Too small: a symmetric model has two events one rounding error apart. Too
    /// large: successive events are treated as simultaneous.
    static constexpr double simultaneous_time = 1e-12;
    /// A force or reserve with s <= simultaneous_force · (force_noise · force scale) at the first zero belongs to the
    /// event, even if its own zero is later. Ratio, above 1 because several rounding errors add up. Too small: contacts
    /// that lose their force together open one after the other. Too large: contacts with a small force open too early.
    static constexpr double simultaneous_force = 64.0;
    /// Evaluations of one quantity in the search for its zeros on one step: n <= max_root_evaluations. A smooth
    /// quantity needs a small part of it. Too small: zeros are missed, and the run warns. Too large: noisy quantities
    /// cost much time.
    static constexpr int max_root_evaluations = 500;
    /// Relative residual of the contact problem that decides whether a redundant mode still holds: residual <=
    /// hold_residual. It is below hold_acceleration, the threshold that is compared with the result. Too small: the
    /// solver does not converge. Too large: the solver's error ends the mode.
    static constexpr double hold_residual = 1e-12;
    /// A redundant mode holds if all |γ̇| <= hold_acceleration · acceleration scale under the best admissible
    /// reactions. The value is above hold_residual. Too small: the mode is said to end although nothing moves. Too
    /// large: the release of a group of contacts is found late.
    static constexpr double hold_acceleration = 1e-9;
    /// The threshold hold_acceleration is multiplied by this factor if the mode was said to end and nothing changed:
    /// then it was below the solver's error. Too small: more changes of mode without effect. Too large: the threshold
    /// becomes coarse at once.
    static constexpr double hold_acceleration_growth = 10.0;
    /// The run fails if the loosened threshold exceeds this value: the mode does not hold, and none follows it. Too
    /// small: errors of the solver end runs. Too large: contacts hold although no admissible forces hold them.
    static constexpr double largest_hold_acceleration = 1e-5;
    /// The loosened threshold is multiplied by this factor at each later event, down to hold_acceleration. Too small:
    /// the mode is said to end again and again. Too near 1: the threshold stays coarse for many events.
    static constexpr double hold_acceleration_decay = 0.5;

    // --- redundant equations (Dynamics, EventRun::coarsen) ---

    /// Rows of equations at an angle <= least_redundancy, in rad, are dependent (row_rank). The matrix K = A M⁻¹ F
    /// contains the angle squared, and 1e-14 is the smallest ratio of pivots that can be told from rounding. Too small:
    /// K is numerically singular. Too large: independent contacts count as one, and reactions are not unique.
    static constexpr double least_redundancy = 1e-7;
    /// Taylor series of redundant equations: the equations agree if the accelerations that no reactions fit are <=
    /// redundant_fit · acceleration scale, and the distribution of the reactions has no effect on the motion if its
    /// effect is as small. The value is above least_redundancy squared and rounding errors. Too small: rounding errors
    /// end the series, and events are sampled. Too large: equations that become independent are noticed late.
    static constexpr double redundant_fit = 1e-9;
    /// A distribution of redundant reactions is kept if its least margin is >= comfortable_margin · force scale;
    /// otherwise the one with the largest margin is found. Too small: more steps, because some margin soon ends them.
    /// Too large: a linear program for each step.
    static constexpr double comfortable_margin = 1e-2;
    /// Redundant reactions are inside their sets if the least margin is > least_margin · force scale. Otherwise the
    /// group of contacts comes loose. The value is above the errors of the linear program. Too small: rounding errors
    /// hide the release. Too large: the release is found early.
    static constexpr double least_margin = 1e-12;
    /// The curved sets of friction in a plane are replaced by tangents until the least margin is known to tangent_error
    /// · force scale, at most max_tangent_rounds times. Each round solves a linear program and takes the error to about
    /// its square. Too small an error: rounding errors of the linear program ask for more tangents. Too large: forces
    /// that are slightly outside of their sets hold the group.
    static constexpr double tangent_error = 1e-13;
    static constexpr int max_tangent_rounds = 40;
    /// Times that the accelerations of a redundant mode are corrected by what is left of its equations: n <=
    /// refinements. Each one removes all but a rounding error. Too small: bodies at rest creep on long steps. Too
    /// large: no effect.
    static constexpr int refinements = 2;
    /// A condition belongs to those that leave no margin if its multiplier in the linear program is > least_weight. The
    /// multipliers add up to 1. Too small: rounding errors count. Too large: a contact that opens or slips is
    /// overlooked and does so in the next change of mode.
    static constexpr double least_weight = 1e-6;
    /// EventRun::coarsen multiplies that angle by redundancy_growth if the motion does not advance. Too small: more
    /// changes of mode until the motion advances. Too large: more equations than necessary count as dependent.
    static constexpr double redundancy_growth = 10.0;
    /// The angle is multiplied by redundancy_decay at each later event, down to least_redundancy. Too small: equations
    /// become independent again too early, and the motion stalls again. Too near 1: it stays coarse for many events.
    static constexpr double redundancy_decay = 0.5;
    /// Short steps make the angle grow only while angle < max_redundancy, in rad. (Changes of mode at one time make it
    /// grow without this bound, at most max_changes_at_one_time / changes_until_coarser times.) Too small: nearly
    /// dependent equations keep the steps short. Too large: contacts that are clearly different count as one.
    static constexpr double max_redundancy = 1e-3;

    // --- a run that does not advance (EventRun::integrate, EventRun::limit_changes_at_one_time) ---

    /// The run fails if changes of mode at one time > max_changes_at_one_time. A change with an impact counts
    /// 1/impacts_per_change: rows of balls collide hundreds of times within 1e-16 s, and come to rest. Too small: long
    /// sequences of impacts at one time fail. Too large: a cycle of modes costs much time before the run fails.
    static constexpr int max_changes_at_one_time = 100;
    static constexpr int impacts_per_change = 10;
    /// Each time this number of further changes has happened at one time, the angle of dependent equations grows
    /// (coarsen). It is a fraction of max_changes_at_one_time, so that several angles are tried. Too small: regular
    /// sequences of impacts make the equations coarse. Too large: the run fails before the angle is large enough.
    static constexpr int changes_until_coarser = 20;
    /// A step is tiny if its length < tiny_step · (longest step of the arc). Too small: an integrator that stalls is
    /// not noticed. Too large: steps near a fast but regular event count as stalled.
    static constexpr double tiny_step = 1e-8;
    /// Consecutive tiny steps > max_tiny_steps count as an underflow of the step size. Too small: regular motions with
    /// a short fast phase are ended. Too large: time is lost before the run changes the mode or fails.
    static constexpr int max_tiny_steps = 300;
    /// A step is slow if its length < slow_step · (duration of the run). At that length a run would need 1e7 steps. Too
    /// small: runs that crawl are not noticed. Too large: fast but regular motions make equations coarse.
    static constexpr double slow_step = 1e-7;
    /// After slow_steps >= max_slow_steps consecutive ones, nearly dependent equations count as dependent: they cause
    /// fast motions of negligible amplitude. Too small: a short fast phase makes equations coarse. Too large: time is
    /// lost.
    static constexpr int max_slow_steps = 300;
    /// Steps of an arc between two checks of the advance: steps >= steps_between_checks. Too small: a short fast phase
    /// is taken for a stop. Too large: a motion that is stuck is noticed late.
    static constexpr int steps_between_checks = 5000;
    /// The run fails if the time advanced by less than slow_advance · (duration of the run) between two checks, and if
    /// an expression of the model jumps here (jump_zero). At that rate a run would need 5e7 steps. Too small: motions
    /// that are stuck in a jump go on for very long. Too large: motions that are only slow fail.
    static constexpr double slow_advance = 1e-4;
    /// A compared quantity s of an expression is zero, so that the expression jumps here, if |s| <= jump_zero ·
    /// Σ|∂s/∂x_i · size of x_i|, x = (t, q, u). Too small: the reason of the stop is not reported. Too large: a jump
    /// elsewhere is reported as the reason.
    static constexpr double jump_zero = 1e-8;
    /// Sliding friction has nearly cancelled what holds a contact if w_N·M⁻¹(w_N − w_T∇σ) < near_painleve · w_N·M⁻¹w_N.
    /// The contact force grows without bound as the left side goes to zero. The inequality is tested only if the
    /// integrator finds no step. Too small: the run fails where it could jam. Too large: contacts jam by an impulse
    /// although the stop has another reason.
    static constexpr double near_painleve = 0.05;

    // --- accumulation of impacts (accumulation.cpp) ---

    /// Impacts of one contact that are remembered. It must be >= 4 · longest_cycle + 1 and >= irregular_impacts + 1.
    /// Too small: long cycles and irregular sequences are never recognised. Too large: only memory.
    static constexpr std::size_t remembered_impacts = 24;
    /// Longest cycle, in impacts of one contact, over which intervals may shrink by a constant factor: p <=
    /// longest_cycle. Too small: accumulations of several contacts are found late, as irregular ones. Too large: chance
    /// agreements are taken for cycles.
    static constexpr int longest_cycle = 4;
    /// The factors R of three successive cycles agree if they differ by <= ratio_scatter · R. The factor becomes
    /// constant only in the limit. Too small: accumulations are found late, after many impacts. Too large: t_∞ is
    /// extrapolated from a sequence that is not geometric.
    static constexpr double ratio_scatter = 1e-2;
    /// The factor must be R <= slowest_ratio. The error of the extrapolated limit, S R/(1 − R), grows without bound as
    /// R → 1. Too small: accumulations with restitution near 1 are not recognised. Too large: rounding errors of R make
    /// a wrong limit.
    static constexpr double slowest_ratio = 0.999;
    /// Bodies that fall back between their impacts, with an acceleration a and intervals s, have speeds of about a s:
    /// the speeds shrink as the intervals do. A sequence comes to rest if (largest speed of a cycle) <= (1 +
    /// slowing_scatter) · R · (the same of the cycle before). The value is above ratio_scatter, which R has. Too small:
    /// the impacts of sequences that come to rest are computed one by one (EventRun::strike_until_rest). Too large:
    /// speeds that are not small are removed at once.
    static constexpr double slowing_scatter = 5e-2;
    /// Impacts that come ever faster without slowing down as fast are continued at fixed positions until all speeds are
    /// <= slow_closing_speed · (the largest one at the start), or until max_closing_impacts of them. Too small a speed:
    /// more impacts, and rounding errors of velocities, 1e-16, keep contacts in motion. Too large: the impulse that
    /// ends the sequence can be seen. Too few impacts: slow sequences end the run. Too many: time is lost.
    static constexpr double slow_closing_speed = 1e-12;
    static constexpr int max_closing_impacts = 20000;
    /// The speeds of such impacts are compared over closing_window impacts. They do not slow down if (largest speed of
    /// a window) > closing_progress · (largest speed of the window before): at this rate all impacts that are allowed
    /// would leave 0.96 of the speed. Too small a window: a cycle that is slower at times counts as slowing down. Too
    /// large: jams are found late. Too small a progress: slow sequences count as jams.
    static constexpr int closing_window = 500;
    static constexpr double closing_progress = 0.999;
    /// The sequence goes on at fixed positions for at most this multiple of the time up to its limit. Too small:
    /// sequences whose ratio is not yet constant are computed with positions that change. Too large: positions change
    /// by more than negligible_motion while they count as fixed.
    static constexpr double closing_time_factor = 100.0;
    /// Number of impacts over which a sequence without a regular cycle is judged, an even number: the duration of the
    /// last half is compared with that of the half before. Too small: a pause in an irregular motion counts as its end.
    /// Too large: the run computes many impacts of no size.
    static constexpr int irregular_impacts = 20;
    /// An irregular sequence that does not shrink (its ratio is above slowest_ratio) ends if (largest speed) ·
    /// (duration of the last irregular_impacts impacts) <= unending_motion · negligible motion. The run is then
    /// `inaccurate`. It is below 1, because a sequence that shrinks slowly seems to grow at times. A sequence that
    /// grows (ratio > 1/slowest_ratio) is followed. Too small: slow sequences take long. Too large: sequences that have
    /// a limit are said to have none.
    static constexpr double unending_motion = 0.1;
    /// A sequence ends, whether it shrinks or not, if that product <= rounding_motion · negligible motion, which is the
    /// size of rounding errors of gaps. Too small: a run computes rounding errors without end. Too large: sequences
    /// that do not end are said to end.
    static constexpr double rounding_motion = 1e-3;
    /// An interval between impacts is known if it is >= resolved_interval · epsilon · |t|, in s. Too small: intervals
    /// of one or two units in the last place agree by chance. Too large: accumulations late in a long run are found
    /// late.
    static constexpr double resolved_interval = 16.0;
    /// If something else happens before the limit of an accumulation then its impacts are computed further, unless the
    /// motion that they still make is <= least_motion · negligible motion. The next bounce is then up to fifty times
    /// lower, which is near the rounding error of gaps (position_leave). Too small: rounding errors decide about
    /// impacts. Too large: contacts are at rest already when another one strikes.
    static constexpr double least_motion = 0.1;
    /// Another contact comes to rest with an accumulation if (its last speed) · (time since its last impact or to the
    /// limit) <= companion_factor · negligible motion. It is above 1, because contacts of one cycle strike at different
    /// speeds. Too small: contacts of one body come to rest one after the other. Too large: visible motion is cut off.
    static constexpr double companion_factor = 100.0;
    /// The run fails if max_quiet_changes changes of mode without an impact follow within quiet_change_span · (duration
    /// of the run): at that rate it would have 1e8 events, as many as are allowed by default. Too small or too large:
    /// fast motions fail, or time is lost.
    static constexpr int max_quiet_changes = 1000;
    static constexpr double quiet_change_span = 1e-5;
    /// The run fails after this number of irregular sequences within slow_advance · (duration of the run). Too small:
    /// many bodies that come to rest one after the other make the run fail. Too large: time is lost.
    static constexpr int max_irregular_limits = 50;
    /// At the limit of an accumulation, another contact comes to rest with the accumulating one only if more than this
    /// number of its impacts are remembered. Too small: a contact that struck by chance is held. Too large: contacts of
    /// one body come to rest one after the other.
    static constexpr std::size_t companion_impacts = 3;
    /// Motion below max(negligible_motion, atol) · (1 + largest |q_i|), in the unit of the coordinates, is not
    /// resolved. The value is the default of atol. Too small: the run computes impacts below rounding. Too large:
    /// visible motion is cut off.
    static constexpr double negligible_motion = 1e-12;

    // --- integration and projection ---

    /// Tolerances of one step are step_tolerance_ratio · (those of the run), because errors of many steps add up. Too
    /// small: steps are shorter than necessary. Too large: the error of the run exceeds its tolerance.
    static constexpr double step_tolerance_ratio = 1e-2;
    /// The relative tolerance of a step is max(…, least_step_tolerance). Too small: rounding errors, about 1e-15, are
    /// taken for the error of the method, and steps underflow. Too large: a small rtol has no effect.
    static constexpr double least_step_tolerance = 1e-14;
    /// An explicit step of a large system (see below) is taken back if the last term of its polynomial contributes more
    /// than max_dense_error tolerances of a step, and tried again with the part blurred_step_part of its length, at
    /// most max_blurred_steps times in a row. Smooth motions seldom have more, also at the edge of stability; rounding
    /// errors that a stiff force multiplies have up to 1e6. Too small: steps are shortened without need. Too large:
    /// states within a step, and times of events, are less accurate than the tolerance.
    static constexpr double max_dense_error = 300.0;
    static constexpr double blurred_step_part = 0.25;
    static constexpr int max_blurred_steps = 4;
    /// A step on which a formula changes unseen (EventRun::jumps_over_a_change) is taken back and shortened at most so
    /// many times in a row. Each time its length becomes at most 1 − 2^-24 of what it was, and usually a small part.
    /// Too small: narrow pulses in long steps are passed. Too large: a formula that changes on every scale, such as
    /// sin(1/x) near 0, stops the run.
    static constexpr int max_shortened_steps = 40;
    /// An implicit step is taken back if slip in a plane becomes faster than max_speed_growth times its speed at the
    /// last Jacobian (EventRun::outgrows_jacobian); the next trial has at least the part least_step_part of its length.
    /// Too small: slip that begins needs many steps. Too large: the direction of slip follows the forces too slowly.
    static constexpr double max_speed_growth = 3.0;
    static constexpr double least_step_part = 1e-6;
    /// Up to this number of coordinates the linear systems of implicit steps have dense matrices, beyond it sparse ones
    /// (mode/sparse_stages.hpp). A wrong value costs time only.
    static constexpr int max_dense_coordinates = 24;
    /// In a system with more coordinates implicit steps are tried after steps_before_trial explicit steps of an arc, in
    /// every system after as many steps that stability may have limited (twice as many after each trial that failed),
    /// if at least steps_worth_a_trial more of the present length remain to the end of the run. After trial_steps they
    /// stay if on average each is at least implicit_gain times as long as an explicit one: it costs about as much as
    /// four explicit steps. Wrong values cost time only.
    static constexpr int steps_before_trial = 40;
    static constexpr int steps_worth_a_trial = 100;
    static constexpr int trial_steps = 15;
    static constexpr double implicit_gain = 4.0;
    /// The projection of positions has converged if |g| <= projected · length scale for all equations. The value is
    /// about two rounding errors. Too small: a further round that changes nothing. Too large: drift stays in the state.
    static constexpr double projected = 4e-16;
    /// The projection is not repeated if |g| < nearly_projected · length scale before a correction: it converges
    /// quadratically, so that the result is exact to rounding. Too small: a further round that changes nothing. Too
    /// large: the square of the value stays as an error.
    static constexpr double nearly_projected = 1e-14;
    /// The projection has failed if |g| > projection_failure · length scale in the last round. The value allows for
    /// rows that rounding makes slightly contradictory. Too small: runs with badly scaled constraints fail. Too large:
    /// violated constraints go unnoticed.
    static constexpr double projection_failure = 1e-10;
    /// Rounds of the projection of positions: round < max_projection_rounds. Quadratic convergence needs two or three.
    /// Too small: the projection of a large drift fails. Too large: time is lost before a failure is reported.
    static constexpr int max_projection_rounds = 8;
    /// A velocity that the next mode forbids may be projected away if |γ| <= max(projected_speed, rtol) · speed
    /// scale (EventRun::may_project). It is above rest_speed, initial_tolerance of the model and the drift of a step.
    /// Too small: slip in a plane that has come to rest makes runs fail. Too large: a mode that stops a motion without
    /// an impulse goes unnoticed.
    static constexpr double projected_speed = 1e-4;
    /// Rounds of the projection of velocities. The equations are linear, so that the first round solves them and the
    /// second removes its rounding errors. 1: rounding errors of badly scaled rows stay. More than 2: no effect.
    static constexpr int velocity_projection_rounds = 2;
    /// Upper end of the bisection for the factor s by which the force of a friction patch can grow: 0 <= s <=
    /// max_patch_growth. For larger s the reserve (1 − 1/s) μ λ_N is μ λ_N up to 0.1 %. Too small: the reserve of small
    /// forces is visibly too low. Too large: more bisections are needed.
    static constexpr double max_patch_growth = 1e3;
    /// Halvings of that interval; 1e3 · 2⁻⁶⁰ is about 1e-15, the rounding error of s. Too small: the reserve is a
    /// staircase, and its zero is inaccurate. Too large: no effect.
    static constexpr int patch_bisections = 60;
    /// Lower bound of s in the reserve: max(s, least_patch_growth), so that 1/s stays finite. A force this far outside
    /// of its set violates its law anyway. Too small: the reserve overflows. Too large: the size of a violation is cut.
    static constexpr double least_patch_growth = 1e-6;
    /// In place of 1/μ if μ = 0, in 1: any force along that axis is outside of the ellipse, and the reserve is
    /// negative. Too small: small forces along the axis without friction pass. Too large: overflow to infinity.
    static constexpr double infinite_slope = 1e300;

    // --- arcs as Taylor series (run_series.cpp) ---

    /// Size of the last terms of a series, relative to the tolerance of the run.
    static constexpr double series_tolerance_ratio = 0.02;
    /// Orders of the series. Below the least order the steps are short for the cost of an event search; above the
    /// largest one rounding errors of the last coefficients decide the step.
    static constexpr int least_series_order = 6;
    static constexpr int max_series_order = 28;
    /// A step is left to another method if its last terms would allow only series_giving_up · (longest step of the
    /// arc), as for slip in a plane that comes to rest, or if only so small a part of it can be proved to be valid. Too
    /// large: arcs near a singularity lose the certainty of their events. Too small: many steps are spent in front of a
    /// singularity.
    static constexpr double series_giving_up = 1e-6;
    /// A step looks stiff if the fastest motion of the last coefficients, A e^(λτ), has an amplitude below
    /// stiff_amplitude tolerances and limits the step all the same. After max_stiff_series_steps such steps, one after
    /// the other, the methods for stiff motions take over. Too large: motions that are not stiff lose the certainty of
    /// their events. Too small: stiff motions take very many steps.
    static constexpr double stiff_amplitude = 10.0;
    static constexpr int max_stiff_series_steps = 20;
    /// A stiff motion stays on series if (steps of the present length to the end of the run) · (coordinates) <=
    /// cheap_series_work: its events stay certain, and another method hardly gains time. A step takes about 3 µs per
    /// coordinate, so that this is a tenth of a second. Too large: stiff motions take long. Too small: they lose the
    /// certainty of their events for nothing.
    static constexpr double cheap_series_work = 3e4;
    /// Slip in a plane is straight if the velocity across its first direction is <= straight_slip times the velocity,
    /// on the whole step. It is then followed up to its end; otherwise its direction has a singularity there, which
    /// limits the steps. The value is above rounding errors. Too small: more steps before a sphere begins to roll. Too
    /// large: slip that turns at the last moment seems straight.
    static constexpr double straight_slip = 1e-10;
    /// The time of an event is sharp if it is known to sharp_event · max(1, |t|), in s. If rounding errors of a long
    /// step make it less sharp, then the series is expanded again event_approach times that uncertainty before it.
    static constexpr double sharp_event = 1e-13;
    static constexpr double event_approach = 1e3;
    /// A zero within early_zero · (length of the step) is first searched on a shorter part of the same step.
    static constexpr double early_zero = 0.25;
    /// If rounding errors of a long step do not tell whether a quantity touches zero or crosses it, then the series is
    /// expanded again at touch_approach times the distance before it, until that distance is below nearest_touch times
    /// the step.
    static constexpr double touch_approach = 0.01;
    static constexpr double nearest_touch = 1e-3;
    /// Watched quantities are searched up to beyond_switch · max(1, |t|) after a switch, in s: slip that ends where abs
    /// of its velocity switches is certainly negative only behind the zero.
    static constexpr double beyond_switch = 1e-11;
    /// An event at the time of a switch is taken at least switch_nudge · max(1, |t|) later, in s, so that rounding
    /// errors of the switching function do not lead other evaluations to the old branch.
    static constexpr double switch_nudge = 16.0 * epsilon;
    /// Other methods pass the jump of an expression by a straight line over step_over_switch · max(1, |t|), in s. Their
    /// steps underflow a few neighbouring numbers before the jump. Too small: the line ends before the jump. Too large:
    /// the error of the line, its length times the jump of the rate, is no longer rounding.
    static constexpr double step_over_switch = 256.0 * epsilon;
    /// So many changes of sides at one time, per switch: the motion keeps to the jump of an expression.
    static constexpr int max_switches_at_one_time = 4;

    // --- reports ---

    /// Number of warnings of one run that are kept; later ones are dropped. Too small: warnings are lost. Too large: a
    /// run that warns at each event fills the report.
    static constexpr std::size_t max_warnings = 100;
    /// Steps between two calls of Options::interrupted and Options::progress. Too small: the calls cost time. Too
    /// large: an interruption is obeyed late.
    static constexpr int steps_between_calls = 64;
    /// The error of the energy balance is relative to max(largest energy seen, least_energy), in J. Too small: the
    /// rounding error of a model without energy looks like a large relative error. Too large: errors of small models,
    /// below it in J, look small.
    static constexpr double least_energy = 1e-12;
    /// Contact tolerance of the penalty method, a relative residual; it is the default of EventDriven. The contact
    /// problems of this method contain no unilateral contacts, because contacts are springs. Too small: the solver does
    /// not converge. Too large: sticking parts slip by the solver's error (stick_acceleration).
    static constexpr double penalty_contact_tolerance = 1e-10;
    /// The penalty method fails if the number of events > penalty_max_events; it is the default of EventDriven. Too
    /// small: long runs fail, because the method resolves no accumulation and has many events. Too large: an endless
    /// run is not ended.
    static constexpr long penalty_max_events = 100000000;
};

}  // namespace saltus::integrate
