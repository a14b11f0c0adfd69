// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "saltus/integrate/mode/dynamics.hpp"

namespace saltus::integrate {

/// Where stick turns into slip, and slip into stick.
///
/// A friction part sticks while γ_T = 0 and its force lies inside its set, |λ_T| <= μ λ_N for Coulomb's law. It slips
/// along d while γ_T ≠ 0, with λ_T = −μ λ_N d. [Leine] (52)–(57), [Alscher] (15)–(17)
///
/// - Stick ends at the zero of the reserve μ λ_N − |λ_T| (Watch::What::reserve). The part then slips along the normal
///   of its set: break_loose().
/// - Slip ends at the zero of the velocity along d (Watch::What::slip). The part is then undecided: comes_to_rest().
/// - At every change of mode, velocities decide for parts that move: decide_by_velocity(). The accelerations decide for
///   the others: stick_or_slip().

/// What the event that ended the mode says about a friction part.
enum class FrictionEvent : char {
    none,
    breaks_loose,  ///< the friction force has reached the boundary of its set: the part slips
    at_rest,       ///< the slip velocity has come to zero: stick or slip is undecided
};

/// The direction in which a sticking part breaks loose, after Dynamics::evaluate. The friction force is continuous
/// there, so that slip begins along the normal of the set at minus the force: against the force for a disk. Zero if
/// there is no force.
SlipDirection break_loose(const Dynamics& dynamics, int part);

/// Whether slip whose velocity along its direction is zero has come to rest. Slip in a plane may only have turned by a
/// right angle. After Dynamics::evaluate_terms.
bool comes_to_rest(const Dynamics& dynamics, int part);

/// What the velocities decide about a friction part.
struct VelocityDecision {
    FrictionMode mode;  ///< if not `decided`, it sticks until the accelerations have been solved for
    bool decided;       ///< the part slips; otherwise the accelerations decide
};

/// Parts that move slip along their velocity. Parts that break loose slip along the direction of `before`. Parts
/// without friction slip. All others are undecided. `u` are the velocities of the last Dynamics::evaluate_terms.
VelocityDecision decide_by_velocity(const Dynamics& dynamics, int part, std::span<const double> u, FrictionEvent event,
                                    const FrictionMode& before);

/// Stick turns into slip here: an undecided part begins to slip along its relative acceleration γ̇_T, which the contact
/// problem of the accelerations has solved for, if |γ̇_T| > `negligible`, in m/s². Otherwise it sticks.
FrictionMode stick_or_slip(const FrictionMode& before, std::span<const double> acceleration, double negligible);

}  // namespace saltus::integrate
