// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "saltus/proof/laws.hpp"

namespace saltus::stability {

/// What `Accelerations::exclude` has to prove for all admissible forces and velocities.
enum class Claim {
    not_all_zero,    ///< the accelerations do not all vanish
    first_negative,  ///< the first acceleration is negative whenever the others vanish
};

/// The accelerations of some rows over a box of positions:
///     γ̇ = constant + (l_a·u)_a + (uᵀB_a u)_a + forces,
/// first of the requested gaps, then of the constraints with friction, whose accelerations vanish. The reactions of
/// constraints without friction are eliminated.
struct Accelerations {
    proof::IntervalVector constant;
    std::vector<proof::IntervalVector> linear;     ///< l_a, one for each row
    std::vector<proof::IntervalMatrix> quadratic;  ///< B_a, one symmetric matrix for each row
    proof::ForceSet forces;  ///< the effect of all contact forces on γ̇; its only load is `constant`
    proof::IntervalMatrix M;

    /// Upper bound of Σ d_a γ̇_a over all velocities of kinetic energy <= `kinetic` and all forces. The cones are not
    /// included: d must bound them (proof::propose_separation).
    double largest(const Vector& d, double kinetic) const;
    /// A direction d that proves the claim for all velocities of kinetic energy <= `kinetic`. std::nullopt: not proved.
    std::optional<Vector> exclude(double kinetic, Claim claim) const;
    /// Lower bound of the kinetic energy at which the first acceleration can reach 0 if no contact force acts: free
    /// flight, with sliders.
    double kinetic_to_open() const;
};

/// The question for `accelerations`.
struct AccelerationRequest {
    std::vector<int> gaps;      ///< position rows whose accelerations are wanted
    std::vector<int> pressing;  ///< position rows of the gaps whose contacts may exert forces
    /// The sign (1 or −1) of the reaction of each constraint with friction. Empty: friction of constraints is ignored
    /// and all constraints are eliminated.
    std::vector<int> signs;
    double kinetic = 0.0;            ///< bound of T, for forces and coefficients that depend on velocities
    std::vector<int> unloaded = {};  ///< position rows of the constraints with friction that exert no force
};

/// std::nullopt if M or G M⁻¹Gᵀ is not proved to be regular over the box.
std::optional<Accelerations> accelerations(const proof::Enclosure& enclosure, const proof::Box& q,
                                           const AccelerationRequest& request);

}  // namespace saltus::stability
