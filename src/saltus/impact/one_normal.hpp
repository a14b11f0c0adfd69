// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <optional>

namespace saltus::impact {

/// The impulse of one frictionless contact that approaches, by Newton's law.
struct NormalImpulse {
    double Lambda;    ///< in N s, > 0
    double residual;  ///< |D Λ + q|/|q| with q = (1 + e) γ⁻, as of the contact problem
};

/// From γ⁺ = −e γ⁻ and γ⁺ = γ⁻ + D Λ follows Λ = −(1 + e) γ⁻/D. Empty if the contact does not approach, if the residual
/// is above the tolerance, and for numbers so large or small that their products might overflow.
inline std::optional<NormalImpulse> normal_impulse(double D, double gamma_minus, double e, double tolerance) {
    constexpr double small = 1e-100, large = 1e100;  // products and quotients of two such numbers are finite and not 0
    const double q = (1.0 + e) * gamma_minus;
    if (!(D > small && D < large && q < -small && q > -large && e >= 0.0)) return {};
    const double Lambda = -q / D, residual = std::abs(D * Lambda + q) / -q;
    if (residual > tolerance) return {};
    return NormalImpulse{Lambda, residual};
}

}  // namespace saltus::impact
