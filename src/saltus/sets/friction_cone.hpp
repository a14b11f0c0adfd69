// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

template <int Size>
struct DualFrictionCone;

/// K = { (n, t) : ‖t‖ <= μ n }, with t of Size − 1 components. μ = 0: the half-line n >= 0, t = 0. μ up to 1e150.
///
/// In the half-plane (n, τ = ‖t‖ >= 0), where the projection takes place:
///     τ <= μ n, n >= 0       inside
///     n + μ τ <= 0           in the polar cone; the nearest point is the apex
///     otherwise              onto the edge: n' = (n + μ τ)/(1 + μ²), τ' = μ n'
template <int Size>
struct FrictionCone {
    static_assert(Size == 2 || Size == 3);
    static constexpr int dimension = Size;
    double mu = 0.0;

    FrictionCone() = default;
    SALTUS_SETS_DEVICE explicit FrictionCone(double mu_) : mu(mu_) { SALTUS_SETS_EXPECT(!(mu_ < 0.0)); }

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        return tangential(x) - mu * x[0] <= tolerance * length(1.0, mu) && x[0] >= -tolerance;
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        const double n = x[0], tau = tangential(x);
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

private:
    SALTUS_SETS_DEVICE static double tangential(std::span<const double> x) {
        SALTUS_SETS_EXPECT(x.size() == Size);
        if constexpr (Size == 2) return std::abs(x[1]);
        return length(x.data()[1], x.data()[Size - 1]);
    }
};

}  // namespace saltus::sets

#include "saltus/sets/dual_friction_cone.hpp"
