// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

/// The Coulomb–Contensou body: the sliding force (2 components) and drilling moment (1) that dry friction can transmit
/// through a circular patch of radius R under uniform pressure. F = μ λ_N bounds the whole force. The support function
/// is the dissipation rate of the patch that slides with v and drills with ω:
///     σ(v, ω) = F/(πR²) ∫ ‖v + ω × r‖ dA
/// Pure sliding has force F and moment 0. Pure drilling has force 0 and moment (2/3) F R. For sliding with slow
/// drilling, κ = |ω|R/‖v‖ ≪ 1, the moment is F R κ/4 and the force is F (1 − κ²/8). For R = 0 the body is a disk. F,
/// R², F R, and R|m|/F for every moment m that is projected must be representable numbers.
struct Contensou {
    static constexpr int dimension = 3;
    double force = 0.0;   ///< F >= 0
    double radius = 0.0;  ///< R >= 0, a length

    Contensou() = default;
    SALTUS_SETS_DEVICE Contensou(double force_, double radius_) : force(force_), radius(radius_) {
        SALTUS_SETS_EXPECT(!(force_ < 0.0) && !(radius_ < 0.0));
    }
    /// The largest drilling moment, (2/3) F R.
    SALTUS_SETS_DEVICE double moment_limit() const { return 2.0 / 3.0 * force * radius; }

    bool contains(std::span<const double> x, double tolerance) const;
    void project(std::span<const double> x, double* out) const;
    double support(std::span<const double> d) const;
    /// The gradient of the support function: the point of the body that is farthest in the direction d. Zero for d = 0.
    void furthest(std::span<const double> d, double* out) const;
    /// The Hessian of the support function: the derivative of `furthest` with respect to d, 3 × 3, row-major. It does
    /// not exist for d = 0; zeros are written then.
    void furthest_derivative(std::span<const double> d, double* out) const;
    bool in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const;
};

static_assert(ConvexSet<Contensou>);

}  // namespace saltus::sets
