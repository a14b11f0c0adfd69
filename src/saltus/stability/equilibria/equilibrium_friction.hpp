// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/model/elements.hpp"

namespace saltus::stability {

/// The friction forces of one element under the normal load 1: a convex body C with C = −C. Under the load L the
/// friction forces are L·C. The numbers below are therefore ratios of friction force (or moment) to load.
struct FrictionBody {
    enum class Shape {
        none,     ///< C = {0}: no friction
        segment,  ///< planar Coulomb friction, |λ_T| <= μ
        disk,     ///< spatial isotropic Coulomb friction, ‖λ_T‖ <= μ
        ellipse,  ///< orthotropic friction with the semi-axes μ₁, μ₂
        patch,    ///< Coulomb–Contensou: sliding forces and the drilling moment of a disk-shaped contact patch
        rolling,  ///< product of a sliding disk, a drilling segment and a disk of rolling moments
    };
    Shape shape = Shape::none;
    int dimension = 0;                 ///< dimension of the friction force: 0, 1, 2, 3 (patch) or 5 (rolling)
    double mu = 0.0, mu_second = 0.0;  ///< semi-axes of the sliding forces, without unit
    double radius = 0.0;               ///< effective radius of the contact patch, a length
    double drilling = 0.0;             ///< largest drilling moment under the load 1, a length
    double rolling = 0.0;              ///< largest rolling moment under the load 1, a length

    bool operator==(const FrictionBody&) const = default;

    /// The body is C = {0}: the element has no friction.
    bool empty() const { return shape == Shape::none; }
    /// C has finitely many corners, so that a linear program describes it exactly.
    bool polyhedral() const { return shape == Shape::none || shape == Shape::segment; }

    /// Support function sup { ⟨d, y⟩ : y ∈ C }: the largest power that friction under the load 1 takes from the slip
    /// velocity d.
    double support(std::span<const double> d) const;
    /// A point y of C with ⟨d, y⟩ = support(d). If d = 0 then it is some point of the boundary of C.
    Vector furthest(std::span<const double> d) const;
    /// Whether `force` lies in load·C; a negative load counts as 0. `tolerance` is an absolute force.
    bool contains(std::span<const double> force, double load, double tolerance) const;

    /// Points of the boundary of C whose convex hull has 0 inside. They are all the corners of a polyhedral body, and
    /// the first corners of the inner approximation of another one.
    std::vector<Vector> corners() const;
};

/// The body of a friction law whose coefficients have the given values (`Model::layout().coefficients` numbers).
FrictionBody friction_body(const model::Friction& friction, std::span<const double> coefficients);

}  // namespace saltus::stability
