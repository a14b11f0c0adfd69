// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

/// The Coulomb–Contensou body: sliding force (2) and drilling moment (1) that dry friction can transmit through a
/// circular patch of radius R under uniform pressure, with the bound F = μ λ_N on the whole force. Its support function
/// is the dissipation rate of the patch that slides with v and drills with ω:
///     σ(v, ω) = F/(πR²) ∫ ‖v + ω × r‖ dA
/// Pure sliding: force F, moment 0. Pure drilling: force 0, moment (2/3) F R. Between, a little drilling takes away
/// only ωR/(4‖v‖) of F R as moment and (ωR/‖v‖)²/8 of the force. R = 0: a disk.
/// F, R², F R, and R|m|/F for the moments m that are projected must be representable.
struct Contensou {
    static constexpr int dimension = 3;
    double force = 0.0;   ///< F
    double radius = 0.0;  ///< R

    Contensou() = default;
    SALTUS_SETS_DEVICE Contensou(double force_, double radius_) : force(force_), radius(radius_) {
        SALTUS_SETS_EXPECT(!(force_ < 0.0) && !(radius_ < 0.0));
    }
    SALTUS_SETS_DEVICE double moment_limit() const { return 2.0 / 3.0 * force * radius; }

    bool contains(std::span<const double> x, double tolerance) const;
    void project(std::span<const double> x, double* out) const;
    double support(std::span<const double> d) const;
    /// The gradient of the support function: the point of the body that is furthest in the direction d ≠ 0.
    void furthest(std::span<const double> d, double* out) const;
    /// Its derivative with respect to d, 3 × 3 row by row: the Hessian of the support function. d with sliding or with
    /// drilling; where both are 0 there is none.
    void furthest_derivative(std::span<const double> d, double* out) const;
    bool in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const;
};

static_assert(ConvexSet<Contensou>);

}  // namespace saltus::sets
