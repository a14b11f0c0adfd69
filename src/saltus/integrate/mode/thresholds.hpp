// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <limits>

namespace saltus::integrate {

/// All thresholds of the event-driven and of the penalty method. Each entry states the inequality that it enters, its
/// unit, why it has this value, and what goes wrong if it is too small or too large.
///
/// "Scale" is a size that rounding errors are relative to:
/// - length scale of a gap: 1 + Σ|W_i q_i| over the row of the gap (Dynamics::position_scale);
/// - speed scale of a row: 1 + Σ|W_i u_i| over the row (model::row_scale);
/// - acceleration scale: the largest single contribution to an acceleration (Dynamics::acceleration_scale).
/// A number without a unit is a ratio to such a scale.
struct Thresholds {
    static constexpr double epsilon = std::numeric_limits<double>::epsilon();
    /// Replaces a zero in a denominator or in a scale. Smaller than every quantity of a model, so that it never
    /// decides.
    static constexpr double tiny = 1e-300;

    // --- which contacts are closed when a mode ends (EventRun::possible_contacts) ---

    /// A rigid contact counts as closed if gap <= closed_gap · length scale (and it does not open). Too small: contacts
    /// that touch by the initial conditions are missed. Too large: contacts close at a distance, and the projection
    /// moves the body.
    static constexpr double closed_gap = 1e-10;
    /// … and if its normal velocity <= opening_speed, in m/s. Also for clutches: they can lock if their velocity is not
    /// above it. Too small: a contact that rests with a rounding error is left out. Too large: slow lift-offs are
    /// undone.
    static constexpr double opening_speed = 1e-9;
    /// A contact with a spring (penalty method) is pressed if gap < −pressed_gap · length scale, whatever its velocity.
    /// Larger than the rounding error of a gap.
    static constexpr double pressed_gap = 1e-14;
    /// … or if gap <= touched_gap · length scale and it was pressed before or approaches. The event is located to
    /// rounding, so that the gap there is not exactly zero.
    static constexpr double touched_gap = 1e-12;

    // --- impacts (ModeChange::strike, EventRun::strike) ---

    /// A contact that was closed takes part in an impact as the cause if γ_N < −closed_approach_speed, in m/s.
    /// Velocities in closed contacts are zero up to rounding and projection. Too small: rounding causes impacts without
    /// end. Too large: slow impacts are missed, and the projection takes the velocity away.
    static constexpr double closed_approach_speed = 1e-11;
    /// The same for a contact that was open, in m/s. Smaller, because its velocity comes from the motion itself.
    static constexpr double open_approach_speed = 1e-14;
    /// The impact problem is first solved to this part of the contact tolerance: errors of impacts add up.
    static constexpr double impact_tolerance_ratio = 1e-2;
    /// A contact problem whose solver did not converge is accepted if its residual < usable_residual. Too small: runs
    /// end for nothing. Too large: the reactions violate the contact law visibly.
    static constexpr double usable_residual = 1e-6;
    /// After an impact a contact is open if γ_N⁺ > separation_ratio · (largest approach speed). Too small: rounding
    /// opens contacts that rest. Too large: small rebounds are lost.
    static constexpr double separation_ratio = 1e-9;
    /// When contacts jam without a collision (Painlevé), velocities |γ| < jam_zero_velocity, in m/s, count as zero: the
    /// impulse acts through contacts at rest.
    static constexpr double jam_zero_velocity = 1e-10;
    /// Friction coefficients are multiplied by these factors, one after the other, until the jam has a solution. At the
    /// edge of the Painlevé region, where the force grows without bound, the impulse exists only for slightly larger μ.
    static constexpr double jam_friction_factors[] = {1.0, 1.0 + 1e-6, 1.001, 1.06};
    /// A clutch that is free has been made to run backwards by an impact if its velocity < −struck_clutch · speed
    /// scale.
    static constexpr double struck_clutch = 1e-8;

    // --- stick or slip (stick_slip.cpp) ---

    /// A friction part slips already if |γ_T| > slip_speed · speed scale. Too small: rounding decides the direction of
    /// slip. Too large: slow slip is stopped.
    static constexpr double slip_speed = 1e-9;
    /// A friction part that sticks begins to slip if |γ̇_T| > stick_acceleration · (largest free relative
    /// acceleration). The error of the contact solver (1e-10) must be below it. Too small: sticking parts slip by the
    /// solver's error. Too large: slow starts are missed until the reserve event finds them.
    static constexpr double stick_acceleration = 5e-10;
    /// A contact without a force stays closed if γ̇_N <= stay_acceleration · (largest free relative acceleration).
    static constexpr double stay_acceleration = 1e-11;
    /// Slip in a plane whose component along its old direction is zero has come to rest if |γ_T| < rest_speed, in m/s.
    /// Otherwise it has only turned by a right angle.
    static constexpr double rest_speed = 1e-6;
    /// The direction of slip in a plane follows the velocity if |γ_T| > follow_speed, in m/s. Below it the direction is
    /// rounding.
    static constexpr double follow_speed = 1e-9;
    /// The friction force acts along the velocity if |γ_T| > direction_speed, in m/s, otherwise along the direction of
    /// the mode: 0/0 is avoided.
    static constexpr double direction_speed = 1e-14;
    /// Slip in a plane that the integrator cannot follow has come to rest if |γ_T| <= stalled_slip · speed scale: its
    /// direction turns ever faster there.
    static constexpr double stalled_slip = 1e-8;
    /// … and if the arc has lasted longer than young_arc · (time since the start). A younger arc has just begun to
    /// slip.
    static constexpr double young_arc = 1e-6;

    // --- what was decided must hold (EventRun::contradicted) ---

    /// A contact that was released must not approach, and a part that broke loose must not be pushed back: the decision
    /// is undone if γ̇ < −decision_acceleration · decision_scale · (largest acceleration so far). Too small: rounding
    /// undoes lift-offs and they repeat without end. Too large: contacts penetrate.
    static constexpr double decision_acceleration = 1e-7;
    static constexpr double decision_scale = 1e-2;
    /// So often are decisions undone at one event. Each attempt settles at least one contact or friction part.
    static constexpr int max_decision_attempts = 6;
    /// So often is the contact problem of accelerations solved again because a reaction of a constraint with friction
    /// has the other sign.
    static constexpr int max_sign_attempts = 4;

    // --- events (watch.cpp) ---

    /// Rounding error of a gap or velocity: values |s| <= position_noise · scale are zero.
    static constexpr double position_noise = 4 * epsilon;
    /// Rounding error of a force, relative to the largest force. Forces come out of a linear system. Too small: events
    /// are found in noise. Too large: forces that change sign slowly are found late.
    static constexpr double force_noise = 1e-13;
    /// A gap that starts at zero has left it if s > position_leave · length scale …
    static constexpr double position_leave = 64.0 * epsilon;
    /// … a velocity or force if s > force_leave · scale. Until then its zero is that of the event before.
    static constexpr double force_leave = 1e-11;
    /// At the start of an arc, a gap with s <= gap_at_start · length scale starts at zero.
    static constexpr double gap_at_start = 1e-9;
    /// The same for velocities and forces: |s| <= value_at_start · scale. Larger than the error of the contact solver.
    static constexpr double value_at_start = 1e-8;
    /// A force or reserve below −violated_force · (largest force) at the start of an arc violates its law: the mode
    /// ends at once. Too small: the error of the contact solver ends modes. Too large: contacts pull.
    static constexpr double violated_force = 1e-6;
    /// Slip, or a free clutch, that runs against its direction by more than astray_speed · speed scale has gone astray:
    /// other decisions at the same time were against it.
    static constexpr double astray_speed = 1e-4;
    /// The time at which it went astray is found to this part of that speed.
    static constexpr double astray_accuracy = 0.01;
    /// Zeros within simultaneous_time · max(1, |t|), in s, of the first one are one event.
    static constexpr double simultaneous_time = 1e-12;
    /// Forces that are below simultaneous_force · (their rounding error) at the first zero are zero there, too.
    static constexpr double simultaneous_force = 64.0;
    /// Evaluations for the zeros of one quantity on one step. More: the search is given up, and the run warns.
    static constexpr int max_root_evaluations = 500;
    /// Residual of the contact problem that decides whether a redundant mode still holds.
    static constexpr double hold_residual = 1e-12;
    /// A redundant mode holds if all |γ̇| <= hold_acceleration · acceleration scale. It is multiplied by
    /// hold_acceleration_growth if the mode was said to end and no contact moved: then it was below the solver's error.
    static constexpr double hold_acceleration = 1e-9;
    static constexpr double hold_acceleration_growth = 10.0;

    // --- redundant equations (Dynamics, EventRun::coarsen) ---

    /// Rows whose angle is below least_redundancy, in rad, are dependent. The matrix K = A M⁻¹ F contains the angle
    /// squared: 1e-14 is the smallest that can be told from rounding. Too small: K is singular. Too large: independent
    /// contacts count as one, and reactions are not unique.
    static constexpr double least_redundancy = 1e-7;
    /// The angle is multiplied by redundancy_growth while the motion does not advance …
    static constexpr double redundancy_growth = 10.0;
    /// … and by redundancy_decay at each later event, down to least_redundancy.
    static constexpr double redundancy_decay = 0.5;
    /// It does not grow beyond this angle, in rad, because steps are short.
    static constexpr double max_redundancy = 1e-3;

    // --- a run that does not advance (EventRun::integrate, EventRun::limit_changes_at_one_time) ---

    /// More changes of mode at one time end the run.
    static constexpr int max_changes_at_one_time = 100;
    /// After each so many of them, nearly dependent equations count as one.
    static constexpr int changes_until_coarser = 20;
    /// A step below tiny_step · (longest step of the arc) is tiny. More than max_tiny_steps of them, one after the
    /// other, count as an underflow of the step size.
    static constexpr double tiny_step = 1e-8;
    static constexpr int max_tiny_steps = 300;
    /// A step below slow_step · (duration of the run) is slow. After max_slow_steps of them, one after the other,
    /// nearly dependent equations count as one: they make fast motions of no size.
    static constexpr double slow_step = 1e-7;
    static constexpr int max_slow_steps = 300;
    /// After each so many steps of an arc, the run ends if the time has advanced by less than slow_advance · (duration)
    /// and an expression of the model jumps here.
    static constexpr int steps_between_checks = 5000;
    static constexpr double slow_advance = 1e-4;
    /// A compared quantity |s| <= jump_zero · Σ|∂s/∂x_i · size of x_i| is zero: the expression jumps here.
    static constexpr double jump_zero = 1e-8;
    /// Sliding friction has nearly cancelled what holds a contact if w_N·M⁻¹(w_N − w_T∇σ) < near_painleve · w_N·M⁻¹w_N.
    /// The contact force grows without bound as the left side goes to zero.
    static constexpr double near_painleve = 0.05;

    // --- accumulation of impacts (accumulation.cpp) ---

    /// Impacts of one contact that are remembered. At least 4 · longest_cycle + 1 and irregular_impacts + 1.
    static constexpr std::size_t remembered_impacts = 24;
    /// Intervals may shrink by a constant factor over a cycle of up to so many impacts.
    static constexpr int longest_cycle = 4;
    /// The factor R of two successive cycles may differ by this part of it.
    static constexpr double ratio_scatter = 1e-2;
    /// The factor must be R <= slowest_ratio. The error of the limit, S R/(1 − R), grows without bound as R → 1.
    static constexpr double slowest_ratio = 0.999;
    /// Impacts without a regular cycle: the limit is now if the motion over so many impacts is small enough …
    static constexpr int irregular_impacts = 20;
    /// … (largest speed) · (their duration) <= irregular_factor · negligible motion. Also the bound for other contacts
    /// that come to rest with it.
    static constexpr double irregular_factor = 100.0;
    /// Another contact comes to rest with it only if more than so many of its impacts are remembered.
    static constexpr std::size_t companion_impacts = 3;
    /// Motion below max(negligible_motion, atol) · (1 + largest |q|) is not resolved, in the unit of the coordinates.
    static constexpr double negligible_motion = 1e-12;

    // --- integration and projection ---

    /// Error of one step, relative to the tolerance of the run: errors of many steps add up.
    static constexpr double step_tolerance_ratio = 1e-2;
    /// The relative tolerance of a step is not below it: rounding.
    static constexpr double least_step_tolerance = 1e-14;
    /// Beyond this many coordinates the dense linear algebra of implicit steps costs more than short explicit ones.
    static constexpr int max_coordinates_for_implicit = 150;
    /// The projection of positions has converged if |g| <= projected · length scale for all equations, …
    static constexpr double projected = 4e-16;
    /// … is not repeated if |g| < nearly_projected · length scale before a correction, because it converges
    /// quadratically, …
    static constexpr double nearly_projected = 1e-14;
    /// … and has failed if |g| > projection_failure · length scale after max_projection_rounds rounds.
    static constexpr double projection_failure = 1e-10;
    static constexpr int max_projection_rounds = 8;
    /// Velocities are projected so often: the equations are linear, the second round removes rounding.
    static constexpr int velocity_projection_rounds = 2;
    /// The reserve of a friction patch: bisection for the factor by which the force can grow, between 0 and
    /// max_patch_growth, in patch_bisections halvings, and not below least_patch_growth.
    static constexpr double max_patch_growth = 1e3;
    static constexpr int patch_bisections = 60;
    static constexpr double least_patch_growth = 1e-6;
    /// In place of 1/μ if μ = 0: any force along that axis is outside of the ellipse.
    static constexpr double infinite_slope = 1e300;

    // --- reports ---

    /// Warnings of one run that are kept.
    static constexpr std::size_t max_warnings = 100;
    /// So many steps pass until Options::interrupted and Options::progress are called again.
    static constexpr int steps_between_calls = 64;
    /// The error of the energy balance is relative to the largest energy seen, at least this, in J.
    static constexpr double least_energy = 1e-12;
    /// Contact tolerance and number of events of the penalty method, which has no impacts and resolves no accumulation.
    static constexpr double penalty_contact_tolerance = 1e-10;
    static constexpr long penalty_max_events = 100000000;
};

}  // namespace saltus::integrate
