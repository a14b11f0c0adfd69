// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

/// The interval [lo, hi]: planar friction with [−μ λ_N, μ λ_N], drilling moments, relays. The bounds may be infinite.
struct Segment {
    static constexpr int dimension = 1;
    double lo = 0.0, hi = 0.0;  ///< lo <= hi

    Segment() = default;
    SALTUS_SETS_DEVICE Segment(double lower, double upper) : lo(lower), hi(upper) {
        SALTUS_SETS_EXPECT(!(lower > upper) && lower != infinity && upper != -infinity);
    }
    /// [−bound, bound]
    SALTUS_SETS_DEVICE static Segment symmetric(double bound) { return {-bound, bound}; }

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        SALTUS_SETS_EXPECT(x.size() == 1);
        return lo - x[0] <= tolerance && x[0] - hi <= tolerance;
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        SALTUS_SETS_EXPECT(x.size() == 1);
        const double nan_of_bounds = lo != lo ? lo : hi != hi ? hi : 0.0;
        *out = (x[0] < lo ? lo : x[0] > hi ? hi : x[0]) + nan_of_bounds;
    }
    SALTUS_SETS_DEVICE double support(std::span<const double> d) const {
        SALTUS_SETS_EXPECT(d.size() == 1);
        if (d[0] == 0.0) return 0.0;
        return d[0] > 0.0 ? d[0] * hi : d[0] * lo;
    }
    SALTUS_SETS_DEVICE bool in_normal_cone(std::span<const double> x, std::span<const double> d,
                                           double tolerance) const {
        return is_normal<1>(*this, x, d, size(), tolerance);
    }

private:
    /// The largest finite bound in absolute value.
    SALTUS_SETS_DEVICE double size() const {
        const double below = lo == -infinity ? 0.0 : std::abs(lo), above = hi == infinity ? 0.0 : std::abs(hi);
        return below > above ? below : above;
    }
};

static_assert(ConvexSet<Segment>);

}  // namespace saltus::sets
