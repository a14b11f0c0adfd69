// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/proof/cover.hpp"
#include "saltus/proof/laws.hpp"
#include "saltus/stability/certify/detail/attractivity_rest.hpp"

namespace saltus::stability {

/// Forces on the model at rest over a box of positions, seen along the constraints that have no friction.
/// `closed`: position rows of gaps; `signs`: of the reaction of each constraint with friction.
struct StaticsOptions {
    bool friction = true;
    std::vector<int> signs;
};
std::optional<proof::ForceSet> statics(const proof::Enclosure& enclosure, const proof::Box& q,
                                       const std::vector<int>& closed, const StaticsOptions& options);

/// Constraints whose friction can act.
std::vector<int> frictional_constraints(const proof::Enclosure& enclosure);

/// Accelerations γ̇ = c + l·u + uᵀBu + D λ of some gaps over a box of positions, then of the constraints with friction,
/// whose accelerations vanish. Constraints without friction are eliminated.
struct Accelerations {
    proof::IntervalVector constant;
    std::vector<proof::IntervalVector> linear;
    std::vector<proof::IntervalMatrix> quadratic;
    proof::ForceSet forces;  ///< D; its loads are {constant}
    proof::IntervalMatrix M;

    /// Upper bound of Σ d_a γ̇_a over all forces and all velocities of kinetic energy <= `kinetic`, where d bounds the
    /// cones.
    double largest(const Vector& d, double kinetic) const;
    /// A d that proves that not all accelerations vanish; with `opening`, that the first is negative where the others
    /// vanish.
    std::optional<Vector> exclude(double kinetic, bool opening) const;
    /// Lower bound of the kinetic energy that γ̇ of the first gap needs to reach 0, where no other force acts on it.
    double kinetic_to_open() const;
};
/// `gaps`: position rows whose accelerations are wanted; `pressing`: those whose contacts may exert forces; `signs`: of
/// the reactions of constraints with friction; `kinetic`: bound of T where coefficients depend on velocities.
struct AccelerationRequest {
    std::vector<int> gaps, pressing, signs;
    double kinetic = 0.0;
    std::vector<int> unloaded = {};  ///< constraints with friction that exert no force
};
std::optional<Accelerations> accelerations(const proof::Enclosure& enclosure, const proof::Box& q,
                                           const AccelerationRequest& request);

/// What level searches ask of boxes of positions.
/// Gaps k of `rows` that are not in `closed`, and numbers y_k >= 0 and z with Σ y_k g_k + Σ z_c g_c = 0, to rounding:
/// where the latter are closed some of these are too, and the position belongs to a larger set.
bool implies_more(const proof::Enclosure& enclosure, const proof::Box& q, const std::vector<int>& rows,
                  const std::vector<int>& closed);

class PositionTests {
public:
    PositionTests(const proof::AdmissibleSet& set, const Rest& rest, const RestBox& box);

    const std::vector<double>& scale() const { return rest_.scale; }
    const proof::AdmissibleSet& set() const { return set_; }

    /// Condition 2: 0 ∉ ∂Q but at q_e.
    proof::BoxTest stationary(const proof::Box& q, double cap) const;
    /// No equilibrium of the model with friction.
    proof::BoxTest balanced(const proof::Box& q, double cap) const;
    /// Condition 4 with I_C: gaps in it that are open close, whatever else is closed, for velocities of kinetic energy
    /// at most `kinetic`.
    proof::BoxTest closing(const proof::Box& q, double cap, const std::vector<int>& I_C, double kinetic) const;
    /// The model file's region, as far as it speaks of positions alone, contains the box.
    proof::BoxTest in_region(const proof::Box& q) const;

    /// The subsets of gaps that `which` of a test stands for.
    static std::vector<int> subset(const std::vector<int>& rows, unsigned mask);

private:
    bool unique(const proof::Box& q, const std::vector<int>& closed) const;
    std::vector<int> with_constraints(const std::vector<int>& closed) const;
    const RestBox* support_among(const proof::Box& q, const std::vector<int>& rows) const;
    bool qualified(const proof::Box& q) const;

    const proof::AdmissibleSet& set_;
    const proof::Enclosure& enclosure_;
    const Rest& rest_;
    std::vector<RestBox> supports_;  // the equilibrium by every choice of contacts that determines it
    std::vector<int> frictional_;
};

}  // namespace saltus::stability
