// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

template <int Size>
struct DualFrictionCone;

/// ‖t‖ of x = (n, t) with Size components.
template <int Size>
SALTUS_SETS_DEVICE double tangential_length(std::span<const double> x) {
    SALTUS_SETS_EXPECT(x.size() == Size);
    if constexpr (Size == 2) return std::abs(x[1]);
    return length(x.data()[1], x.data()[Size - 1]);
}

/// The friction cone K = { (n, t) : ‖t‖ <= μ n }; t has Size − 1 components. For μ = 0 it is the half-line n >= 0, t =
/// 0. μ must not exceed 1e150.
///
/// The projection changes the length τ = ‖t‖ only, so it is a projection in the half-plane (n, τ >= 0):
///     τ <= μ n, n >= 0       x is inside
///     n + μ τ <= 0           x is in the polar cone; the nearest point is the apex
///     otherwise              onto the edge (1, μ): n' = (n + μ τ)/(1 + μ²), τ' = μ n'
template <int Size>
struct FrictionCone {
    static_assert(Size == 2 || Size == 3);
    static constexpr int dimension = Size;
    double mu = 0.0;  ///< friction coefficient >= 0

    FrictionCone() = default;
    SALTUS_SETS_DEVICE explicit FrictionCone(double mu_) : mu(mu_) { SALTUS_SETS_EXPECT(!(mu_ < 0.0)); }

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        return tangential_length<Size>(x) - mu * x[0] <= tolerance * length(1.0, mu) && x[0] >= -tolerance;
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        const double n = x[0], tau = tangential_length<Size>(x);
        double normal = n, ratio = 1.0;
        if (!(tau <= mu * n && n >= 0.0)) {
            if (n + mu * tau <= 0.0) {
                normal = ratio = 0.0;
            } else {
                normal = (n + mu * tau) / (1.0 + mu * mu);
                ratio = tau == 0.0 ? 1.0 : mu * normal / tau;
            }
        }
        out[0] = normal;
        for (int i = 1; i < Size; ++i) out[i] = ratio == 0.0 ? 0.0 : x.data()[i] * ratio;
    }
    SALTUS_SETS_DEVICE double support(std::span<const double> d) const { return cone_support<Size>(dual(), d); }
    SALTUS_SETS_DEVICE bool in_normal_cone(std::span<const double> x, std::span<const double> d,
                                           double tolerance) const {
        return is_normal<Size>(*this, x, d, 0.0, tolerance);
    }
    SALTUS_SETS_DEVICE DualFrictionCone<Size> dual() const { return DualFrictionCone<Size>(mu); }
};

}  // namespace saltus::sets

#include "saltus/sets/dual_friction_cone.hpp"
