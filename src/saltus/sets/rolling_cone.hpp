// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

template <int Size>
struct DualRollingCone;

/// The coefficients of a contact with moments. Coefficients that the size does not have are 0. Order of the components:
///     Size 4: (N, T1, T2, D)    Size 5: (N, T1, T2, R1, R2)    Size 6: (N, T1, T2, D, R1, R2)
/// A part is a group of components with one bound: sliding T, drilling D, rolling R.
template <int Size>
struct RollingCoefficients {
    static_assert(Size == 4 || Size == 5 || Size == 6);
    static constexpr int parts = Size == 6 ? 3 : 2;
    double mu = 0.0;           ///< coefficient of sliding friction, >= 0, unit-free
    double mu_drilling = 0.0;  ///< >= 0, a length: drilling moment over normal force
    double mu_rolling = 0.0;   ///< >= 0, a length: rolling moment over normal force

    RollingCoefficients() = default;
    /// `second` is the drilling coefficient for size 4 and the rolling coefficient for size 5.
    SALTUS_SETS_DEVICE RollingCoefficients(double sliding, double second) requires(Size < 6)
        : mu(sliding), mu_drilling(Size == 4 ? second : 0.0), mu_rolling(Size == 5 ? second : 0.0) {
        expect();
    }
    SALTUS_SETS_DEVICE RollingCoefficients(double sliding, double drilling, double rolling) requires(Size == 6)
        : mu(sliding), mu_drilling(drilling), mu_rolling(rolling) {
        expect();
    }

    /// The coefficient of a part; parts are numbered sliding, drilling, rolling, as far as the size has them.
    SALTUS_SETS_DEVICE double coefficient(int part) const {
        return part == 0 ? mu : (part == 1 && Size != 5) ? mu_drilling : mu_rolling;
    }
    /// First component of a part, and the one after its last.
    SALTUS_SETS_DEVICE static constexpr int begin(int part) { return part == 0 ? 1 : part == 1 ? 3 : 4; }
    SALTUS_SETS_DEVICE static constexpr int end(int part) { return part + 1 < parts ? begin(part + 1) : Size; }

    /// tau[j] = the length of part j of x.
    SALTUS_SETS_DEVICE void lengths(std::span<const double> x, double* tau) const {
        SALTUS_SETS_EXPECT(x.size() == Size);
        const double* p = x.data();
        tau[0] = length(p[1], p[2]);
        if constexpr (Size == 5) {
            tau[1] = length(p[3], p[4]);
        } else {
            tau[1] = std::abs(p[3]);
            if constexpr (Size == 6) tau[2] = length(p[4], p[5]);
        }
    }

private:
    SALTUS_SETS_DEVICE void expect() const {
        SALTUS_SETS_EXPECT(!(mu < 0.0) && !(mu_drilling < 0.0) && !(mu_rolling < 0.0));
    }
};

/// The normal component n' >= 0 of the projection of (n, τ_1, …) onto { τ_j <= μ_j n }. For a given n' the nearest τ_j'
/// is min(τ_j, μ_j n'). Setting the derivative of the squared distance to zero gives an increasing, piecewise linear
/// equation with breakpoints τ_j/μ_j:
///     n' − n − Σ μ_j (τ_j − μ_j n')₊ = 0.
/// With the set A of parts with τ_j > μ_j n' the solution is n' = (n + Σ_A μ_j τ_j)/(1 + Σ_A μ_j²). Parts are added to
/// A by falling breakpoint until the next one is within its bound. (Removing parts from the full set would be finite
/// too, but a part that is wrongly removed because of rounding changes n' by μ_j² times that rounding; one that is
/// wrongly added changes n' by less than that rounding.)
template <int parts>
SALTUS_SETS_DEVICE double rolling_normal(double n, const double* tau, const double* mu) {
    double breakpoint[parts];
    int order[parts];
    for (int j = 0; j < parts; ++j) {
        breakpoint[j] = mu[j] == 0.0 ? 0.0 : tau[j] / mu[j];
        int place = j;
        for (; place > 0 && breakpoint[order[place - 1]] < breakpoint[j]; --place) order[place] = order[place - 1];
        order[place] = j;
    }
    double sum = n, weight = 1.0;
    for (int i = 0; i < parts; ++i) {
        const int j = order[i];
        if (tau[j] * weight <= mu[j] * sum) break;
        sum += mu[j] * tau[j];
        weight += mu[j] * mu[j];
    }
    return sum <= 0.0 ? 0.0 : sum / weight;
}

/// K = { (n, t, d, m) : ‖t‖ <= μ n, |d| <= μ_D n, ‖m‖ <= μ_R n }: reactions of a contact with moments. Coefficients
/// must not exceed 1e150.
template <int Size>
struct RollingCone : RollingCoefficients<Size> {
    using Base = RollingCoefficients<Size>;
    using Base::Base;
    static constexpr int dimension = Size;

    SALTUS_SETS_DEVICE bool contains(std::span<const double> x, double tolerance) const {
        double tau[Base::parts];
        this->lengths(x, tau);
        bool inside = x.data()[0] >= -tolerance;
        for (int j = 0; j < Base::parts; ++j) {
            const double mu_j = this->coefficient(j);
            inside = inside && tau[j] - mu_j * x.data()[0] <= tolerance * length(1.0, mu_j);
        }
        return inside;
    }
    SALTUS_SETS_DEVICE void project(std::span<const double> x, double* out) const {
        double tau[Base::parts], coefficients[Base::parts];
        this->lengths(x, tau);
        const double* p = x.data();
        bool inside = p[0] >= 0.0;
        for (int j = 0; j < Base::parts; ++j) {
            coefficients[j] = this->coefficient(j);
            inside = inside && tau[j] <= coefficients[j] * p[0];
        }
        const double normal = inside ? p[0] : rolling_normal<Base::parts>(p[0], tau, coefficients);
        for (int j = 0; j < Base::parts; ++j) {
            const double bound = coefficients[j] * normal;
            const double ratio = tau[j] <= bound ? 1.0 : bound / tau[j];
            for (int i = Base::begin(j); i < Base::end(j); ++i) out[i] = ratio == 0.0 ? 0.0 : p[i] * ratio;
        }
        out[0] = normal;
    }
    SALTUS_SETS_DEVICE double support(std::span<const double> d) const { return cone_support<Size>(dual(), d); }
    SALTUS_SETS_DEVICE bool in_normal_cone(std::span<const double> x, std::span<const double> d,
                                           double tolerance) const {
        return is_normal<Size>(*this, x, d, 0.0, tolerance);
    }
    SALTUS_SETS_DEVICE DualRollingCone<Size> dual() const {
        DualRollingCone<Size> result;
        static_cast<Base&>(result) = *this;
        return result;
    }
};

}  // namespace saltus::sets

#include "saltus/sets/dual_rolling_cone.hpp"
