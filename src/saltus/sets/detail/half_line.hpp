// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

/// The half-line ℝ⁺ or ℝ⁻, zero included. ℝ⁻ is the set C_N of a normal contact and of a one-way clutch.
struct HalfLine {
    enum class Side { negative, positive };

    static constexpr int dimension = 1;
    Side side = Side::positive;

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        return outward(x) <= tolerance;
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        *out = outward(x) > 0.0 ? 0.0 : x[0] + 0.0;
    }
    SALTUS_SETS_DEVICE double support(std::span<const double> d) const { return cone_support<1>(dual(), d); }
    SALTUS_SETS_DEVICE bool in_normal_cone(std::span<const double> x, std::span<const double> d,
                                           double tolerance) const {
        return is_normal<1>(*this, x, d, 0.0, tolerance);
    }
    SALTUS_SETS_DEVICE HalfLine dual() const { return *this; }

private:
    /// Signed distance from 0, positive outside.
    SALTUS_SETS_DEVICE double outward(std::span<const double> x) const {
        SALTUS_SETS_EXPECT(x.size() == 1);
        return side == Side::positive ? -x[0] : x[0];
    }
};

static_assert(ConvexCone<HalfLine>);

}  // namespace saltus::sets
