// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "saltus/base/numbers.hpp"

/// Rules for bounds on a complex disk. If an operand takes values c + w with |w| <= ρ on the disk |τ| <= R, then each
/// rule bounds |f(c + w) − f(c)|. It gives infinity unless f is analytic in the whole ball |w| <= ρ.
///
/// Each radius must be `enlarged` before it enters a rule. That covers the rounding in the rule that made it, and
/// differences such as |b0| − ρ in the rule that reads it.
namespace saltus::expr::disk {

inline constexpr double relative_margin = 1e-14;   ///< about 45 rounding errors
inline constexpr double absolute_margin = 1e-300;  ///< keeps a radius that underflows from becoming 0

/// Covers rounding errors. A NaN (0 times infinity, say) means that nothing is known.
inline double enlarged(double rho) { return rho >= 0.0 ? rho * (1.0 + relative_margin) + absolute_margin : infinity; }

/// (a0 + v)(b0 + w) − a0 b0 = a0 w + b0 v + v w. A factor that is the number 0 makes the product 0, however large the
/// other one is: a*cos(b*t) with a = 0 limits no step.
inline double product_radius(double a0, double rho_a, double b0, double rho_b) {
    if ((a0 == 0.0 && rho_a == 0.0) || (b0 == 0.0 && rho_b == 0.0)) return 0.0;
    return std::abs(a0) * rho_b + std::abs(b0) * rho_a + rho_a * rho_b;
}

/// (a0 + v)/(b0 + w) − a0/b0 = (v b0 − a0 w)/(b0 (b0 + w)).
inline double quotient_radius(double a0, double rho_a, double b0, double rho_b) {
    const double b = std::abs(b0);
    return rho_b < b ? (rho_a * b + std::abs(a0) * rho_b) / (b * (b - rho_b)) : infinity;
}

/// √(c + w) − √c = √c (√(1 + x) − 1) with x = w/c. All coefficients of √(1 + x) but the first have alternating signs,
/// so the sum of the absolute values is 1 − √(1 − |x|) = |x|/(1 + √(1 − |x|)).
inline double sqrt_radius(double c, double rho) {
    if (!(rho < c)) return infinity;
    const double x = rho / c;
    return std::sqrt(c) * x / (1.0 + std::sqrt(1.0 - x));
}

/// 1/√(c + w) − 1/√c = (1/√(1 + x) − 1)/√c with x = w/c. The sum of the absolute values of the coefficients of
/// 1/√(1 + x) but the first is 1/r − 1 with r = √(1 − |x|), and 1/r − 1 = |x|/(r (1 + r)).
inline double inverse_sqrt_radius(double c, double rho) {
    if (!(rho < c)) return infinity;
    const double x = rho / c, root = std::sqrt(1.0 - x);
    return x / (root * (1.0 + root) * std::sqrt(c));
}

}  // namespace saltus::expr::disk
