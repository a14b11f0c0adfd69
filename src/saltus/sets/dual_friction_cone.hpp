// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/friction_cone.hpp"

namespace saltus::sets {

/// K* = { (n, t) : μ ‖t‖ <= n }, the dual of FrictionCone. For μ = 0 it is the half-space n >= 0. (It is not written as
/// the friction cone of 1/μ, because μ may be 0.)
///
/// The projection in the half-plane (n, τ = ‖t‖ >= 0):
///     μ τ <= n               x is inside
///     τ <= −μ n, n <= 0      x is in the polar cone −K; the nearest point is the apex
///     otherwise              onto the edge (μ, 1): τ' = (τ + μ n)/(1 + μ²), n' = μ τ'
template <int Size>
struct DualFrictionCone {
    static_assert(Size == 2 || Size == 3);
    static constexpr int dimension = Size;
    double mu = 0.0;  ///< friction coefficient >= 0

    DualFrictionCone() = default;
    SALTUS_SETS_DEVICE explicit DualFrictionCone(double mu_) : mu(mu_) { SALTUS_SETS_EXPECT(!(mu_ < 0.0)); }

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        return mu * tangential_length<Size>(x) - x[0] <= tolerance * length(1.0, mu) && x[0] >= -tolerance;
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        const double n = x[0], tau = tangential_length<Size>(x);
        double normal = n, ratio = 1.0;
        if (!(mu * tau <= n)) {
            if (tau + mu * n <= 0.0 && n <= 0.0) {
                normal = ratio = 0.0;
            } else {
                const double kept = (tau + mu * n) / (1.0 + mu * mu);
                normal = mu * kept;
                ratio = tau == 0.0 ? 1.0 : kept / tau;
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
    SALTUS_SETS_DEVICE FrictionCone<Size> dual() const { return FrictionCone<Size>(mu); }
};

static_assert(ConvexCone<FrictionCone<2>> && ConvexCone<FrictionCone<3>>);
static_assert(ConvexCone<DualFrictionCone<2>> && ConvexCone<DualFrictionCone<3>>);

}  // namespace saltus::sets
