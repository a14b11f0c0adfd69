// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/rolling_cone.hpp"

namespace saltus::sets {

/// K* = { (n, t, d, m) : n >= μ ‖t‖ + μ_D |d| + μ_R ‖m‖ }, the dual of RollingCone.
///
/// Moreau's decomposition gives the projection P_{K*}(x) = x + P_K(−x). Let s be the normal component of P_K(−x). Then
/// n' = n + s, and each part is shortened by μ_j s, at most to 0.
template <int Size>
struct DualRollingCone : RollingCoefficients<Size> {
    using Base = RollingCoefficients<Size>;
    using Base::Base;
    static constexpr int dimension = Size;

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        double p[Size];
        project(x, p);
        for (int i = 0; i < Size; ++i) p[i] = x.data()[i] - p[i];
        return length(p, Size) <= tolerance;
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        double tau[Base::parts], coefficients[Base::parts];
        this->lengths(x, tau);
        const double* p = x.data();
        double sum = 0.0;
        for (int j = 0; j < Base::parts; ++j) {
            coefficients[j] = this->coefficient(j);
            sum += coefficients[j] * tau[j];
        }
        const double s = sum <= p[0] ? 0.0 : rolling_normal<Base::parts>(-p[0], tau, coefficients);
        for (int j = 0; j < Base::parts; ++j) {
            const double cut = coefficients[j] * s;
            const double ratio = tau[j] <= cut ? 0.0 : cut == 0.0 ? 1.0 : (tau[j] - cut) / tau[j];
            for (int i = Base::begin(j); i < Base::end(j); ++i) out[i] = ratio == 0.0 ? 0.0 : p[i] * ratio;
        }
        out[0] = p[0] + s < 0.0 ? 0.0 : p[0] + s;
    }
    SALTUS_SETS_DEVICE double support(std::span<const double> d) const { return cone_support<Size>(dual(), d); }
    SALTUS_SETS_DEVICE bool in_normal_cone(std::span<const double> x, std::span<const double> d,
                                           double tolerance) const {
        return is_normal<Size>(*this, x, d, 0.0, tolerance);
    }
    SALTUS_SETS_DEVICE RollingCone<Size> dual() const {
        RollingCone<Size> result;
        static_cast<Base&>(result) = *this;
        return result;
    }
};

static_assert(ConvexCone<RollingCone<4>> && ConvexCone<RollingCone<5>> && ConvexCone<RollingCone<6>>);
static_assert(ConvexCone<DualRollingCone<4>> && ConvexCone<DualRollingCone<5>> && ConvexCone<DualRollingCone<6>>);

}  // namespace saltus::sets
