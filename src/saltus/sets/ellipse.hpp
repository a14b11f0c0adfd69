// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

/// { (x₁/a)² + (x₂/b)² <= 1 }. The friction forces of an orthotropic contact: a = μ₁ λ_N, b = μ₂ λ_N. If a semi-axis is
/// 0 the set is a segment. Projections are accurate relative to max(‖x‖, a, b). Quotients of coordinates and semi-axes
/// must not exceed 1e300.
struct Ellipse {
    static constexpr int dimension = 2;
    double a = 0.0, b = 0.0;  ///< semi-axes >= 0, in the unit of x

    Ellipse() = default;
    SALTUS_SETS_DEVICE Ellipse(double a_, double b_) : a(a_), b(b_) { SALTUS_SETS_EXPECT(!(a_ < 0.0) && !(b_ < 0.0)); }

    bool contains(std::span<const double> x, double tolerance) const;
    void project(std::span<const double> x, double* out) const;
    /// √((a d₁)² + (b d₂)²)
    SALTUS_SETS_DEVICE double support(std::span<const double> d) const {
        SALTUS_SETS_EXPECT(d.size() == 2);
        return length(a * d[0], b * d[1]);
    }
    /// A point of the set that is furthest along d. With A = diag(a, b) the set is A times the unit disk, so the point
    /// is A²d/‖Ad‖, the gradient of the support function. If Ad = 0 then every point is furthest, and the centre is
    /// taken.
    SALTUS_SETS_DEVICE void furthest(const double* d, double* out) const {
        const double size = length(a * d[0], b * d[1]);
        out[0] = size > 0.0 ? a * (a * d[0] / size) : 0.0;
        out[1] = size > 0.0 ? b * (b * d[1] / size) : 0.0;
    }
    bool in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const;
};

static_assert(ConvexSet<Ellipse>);

}  // namespace saltus::sets
