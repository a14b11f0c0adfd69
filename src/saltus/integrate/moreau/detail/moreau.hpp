// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/integrate/event/recording.hpp"
#include "saltus/integrate/simulate.hpp"

namespace saltus::integrate {

/// Moreau's time-stepping: velocities at the ends of the steps, forces and contacts at a point between them.
///     q_m = q + (1−θ)Δt u       M(u⁺ − u) = h Δt + WΛ       q⁺ = q_m + θΔt u⁺
/// M, h, W, χ are taken at (t + (1−θ)Δt, q_m, u). One problem gives all impulses of the step: of the contacts with
/// gap(q_m) <= 0, the constraints, sliders and clutches. θ = ½ is Moreau's midpoint rule; θ = 1 takes everything at the
/// beginning of the step. Explicit forces are stable for springs with ωΔt < 2 and dampers with cΔt/m < 2, whatever θ;
/// near that they become linearly implicit (moreau_implicit.hpp), with a warning.
///
/// Restitution is for contacts that were open in the step before and approach faster than 1.5 times what the smooth
/// motion makes of γ_N in one step. Slower ones are held as resting contacts are: bounces that the step does not
/// resolve would otherwise go on for ever. Newton's law is ξ = γ⁺ + Eγ⁻ in the step's problem; Poisson's and the energy
/// law decide the impact first, with all closed contacts (impact/collision.hpp), and the step goes on from its
/// velocity. First order in Δt through impacts and switches, second on smooth pieces whose forces do not depend on the
/// velocity.
///
/// Constraints are projected onto g = 0 after every step, to 1e-10. Gaps are not: a contact closes up to Δt times its
/// approach speed too deep, and rests there.
///
/// The result is `stepped`: one arc of straight steps, whose velocity jumps at the steps' beginnings and whose modes
/// are those at the end. `impact` events are at the beginning of the step that resolves them, where the velocity jumps;
/// `contact` says that a contact has come to rest without one, `lift_off` that a resting one moves away for three
/// steps. `forces` are Λ/Δt of the last step.
///
/// Adaptive: every step is made once and in two halves; where no contact opened, closed or bounced, the difference of
/// the two is kept below `tolerance`·(1 + |x|) by the choice of the step, at most `h`. Steps with such a change are
/// taken as they come: their error is of the order Δt whatever is estimated.
RecordedMotion run_moreau(const model::Model& model, const Moreau& method, const Options& options,
                          Record record = Record::no);

}  // namespace saltus::integrate
