// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Tolerances of Moreau's steps. The steps of one motion (moreau_step.cpp) and of eight motions side by side
/// (moreau_lanes.cpp) use the same values, so that both make the same decisions. s(x) = 1 + Σ|W_i x_i| of a row is the
/// size that its value at x is compared with (model::row_scale).
namespace saltus::integrate::moreau {

/// A contact with a positive gap counts as closed if gap <= closed_gap_ratio·s(q) and gap < largest_closed_gap. The
/// ratio covers rounding: a block at rest must not lose the floor by its last bit.
inline constexpr double closed_gap_ratio = 1e-12;
inline constexpr double largest_closed_gap = 1e-6;  // in units of the gap; a bound for very large coordinates

/// A contact that held in the step before stays closed while gap <= −hold_ratio·Δt·w·Δu, where w·Δu is the change of
/// γ_N by smooth forces in the step. Impulses are known to a tolerance only and lift the contact by as much.
inline constexpr double hold_ratio = 1e-3;

/// A contact is struck, with restitution, if γ_N < −resting_speed_ratio·(|change of γ_N by smooth forces| + Δt|ζ|) −
/// velocity_rounding_ratio·s(u). Slower contacts are held at rest: the step does not resolve their bounces, and
/// restitution would make them bounce for ever.
inline constexpr double resting_speed_ratio = 1.5;

/// Friction with mu_static sticks at the end of a step if |γ_T| <= stuck_slip_ratio·s(u): above the tolerance of the
/// solver, 1e-10. Too small: friction that sticks slides with μ in the next step. Too large: slow slip holds.
inline constexpr double stuck_slip_ratio = 1e-9;

/// A relative velocity below velocity_rounding_ratio·s(u) is rounding.
inline constexpr double velocity_rounding_ratio = 1e-12;

/// A constraint is fulfilled if |g| <= max(min(constraint_tolerance, constraint_ratio·s(q)), constraint_rounding·s(q)).
/// The last term is what rounding permits for large coordinates.
inline constexpr double constraint_tolerance = 5e-11;
inline constexpr double constraint_ratio = 1e-11;
inline constexpr double constraint_rounding = 1e-15;

/// Rounds of Newton's method in the projection onto the constraints. Each round gains a factor of the order Δt.
inline constexpr int max_projection_rounds = 30;

/// A row of the constraints is redundant if its distance to the span of the others is below this part of its length.
/// Rows that depend on each other exactly where all constraints hold do so only to about this ratio between such
/// states.
inline constexpr double dependent_row_ratio = 1e-7;

/// A contact problem that is not solved to its tolerance is used nevertheless if its relative residual is at most this;
/// beyond it the step fails.
inline constexpr double unusable_residual = 1e-4;

/// Up to so many constraints form one block of the contact problem, which is then solved exactly.
inline constexpr int max_constraints_in_one_block = 6;

}  // namespace saltus::integrate::moreau
