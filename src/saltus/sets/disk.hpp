// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

/// { x ∈ ℝ² : ‖x‖ <= radius }. The friction forces of an isotropic spatial contact: radius = μ λ_N.
struct Disk {
    static constexpr int dimension = 2;
    double radius = 0.0;  ///< >= 0, in the unit of x

    Disk() = default;
    SALTUS_SETS_DEVICE explicit Disk(double radius_) : radius(radius_) { SALTUS_SETS_EXPECT(!(radius_ < 0.0)); }

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        SALTUS_SETS_EXPECT(x.size() == 2);
        return length(x[0], x[1]) - radius <= tolerance;
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        SALTUS_SETS_EXPECT(x.size() == 2);
        const double a = x[0], b = x[1], r = length(a, b);
        if (r <= radius) {
            out[0] = a;
            out[1] = b;
        } else {  // not x · (radius / r), because that quotient may underflow
            out[0] = (a / r) * radius;
            out[1] = (b / r) * radius;
        }
    }
    SALTUS_SETS_DEVICE double support(std::span<const double> d) const {
        SALTUS_SETS_EXPECT(d.size() == 2);
        return length(d[0], d[1]) * radius;
    }
    SALTUS_SETS_DEVICE bool in_normal_cone(std::span<const double> x, std::span<const double> d,
                                           double tolerance) const {
        return is_normal<2>(*this, x, d, radius, tolerance);
    }
};

static_assert(ConvexSet<Disk>);

}  // namespace saltus::sets
