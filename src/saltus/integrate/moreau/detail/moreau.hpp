// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/resume.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// Moreau's time-stepping ([Moreau], [Jean]): velocities at the ends of the steps, forces and contacts at a point
/// between.
///     q_m = q + (1−θ)Δt u       M(u⁺ − u) = h Δt + WΛ       q⁺ = q_m + θΔt u⁺
/// M, h, W, χ are evaluated at (t + (1−θ)Δt, q_m, u). One problem gives all impulses of the step: of the contacts with
/// gap(q_m) <= 0, the constraints, sliders and clutches. θ = ½ is Moreau's midpoint rule; θ = 1 evaluates everything at
/// the beginning of the step. moreau_step.cpp has the derivation.
///
/// Order and stability. The method is of first order in Δt through impacts and switches, and of second order on smooth
/// pieces whose forces do not depend on the velocity. Explicit forces are stable for springs with ωΔt < 2 and dampers
/// with cΔt/m < 2, for every θ. Near these limits forces become linearly implicit (moreau_implicit.hpp), with a
/// warning.
///
/// Impacts. A contact is struck if it was open in the step before and approaches faster than 1.5 times the change of
/// γ_N by smooth motion in one step. A slower contact is held at rest, because the step does not resolve its bounces.
/// A contact that was closed is struck if γ_N jumps by as much between two steps, at a corner of its gap.
/// In a step in which some contact is struck, all closed contacts have restitution, also those that move apart:
/// Newton's law with the same e in all contacts dissipates, but with e = 0 in some of them it creates energy. The
/// literal law of the scheme has restitution in every step (Restitution::literal). Newton's law, ξ = γ⁺ + Eγ⁻, is part
/// of the step's problem. Poisson's law and the energy law solve the impact first, with all closed contacts
/// (impact/collision.hpp); the step continues from the velocity after it.
///
/// Constraints are projected onto g = 0 after every step, to 1e-10. Gaps are not projected: a contact can close up to
/// Δt times its approach speed too deep, and rests there.
///
/// The result is `stepped`: one arc of straight steps. The velocity jumps at the beginnings of steps; the arc's modes
/// are those at the end of the motion. An `impact` event is at the beginning of the step that resolves it. `contact`
/// means that a contact came to rest without an impact; `lift_off` means that a resting contact was open or moving away
/// for three steps. `forces` are Λ/Δt of the last step.
///
/// Contacts that share a load. A step finds one distribution of it. If friction slips that other admissible forces hold
/// then a warning says so.
///
/// Adaptive steps. Every step is made once as a whole and once in two halves. If no contact opened, closed or bounced,
/// the step is chosen so that the difference of the two is below `tolerance`·(1 + |x|), but at most `h`. A step in
/// which a contact changed is accepted without an estimate: its error is of the order Δt.
///
/// `method.h` must be positive and θ in [0, 1]. A step that fails ends the run with the status `failed`; the motion
/// before is kept.
RecordedMotion run_moreau(const model::Mechanics& model, const Moreau& method, const Options& options,
                          Record record = Record::no);

/// The same with a resume point, or continued from one (resume.hpp). Adaptive steps have none.
ResumableMotion run_resumable(const model::Mechanics& model, const Moreau& method, const Options& options,
                              Record record, const Continued* earlier, const MotionSink& sink = {});

}  // namespace saltus::integrate
