// SPDX-License-Identifier: Apache-2.0
#include "saltus/sets/ellipse.hpp"

#include <algorithm>

#include "saltus/base/numbers.hpp"

namespace saltus::sets {

namespace {

struct Point {
    double x, y;
};

// Semi-axis ratios below this have no representable square: β² < 1e-280.
constexpr double smallest_ratio = 1e-140;
constexpr int max_newton_steps = 100;  // five or six suffice

// The point of { x² + (y/β)² <= 1 }, 0 <= β <= 1, nearest to (p, q) in the first quadrant.
//
// If (p, q) is outside, the difference is normal to the ellipse: (p − x, q − y) = τ (x, y/β²) with τ > 0. Hence
// x = p/(1 + τ), y/β = βq/(τ + β²), and τ is the root of
//     φ(τ) = ‖(x, y/β)‖ = 1.
// All terms are positive, so nothing cancels, even for a very flat ellipse. φ falls from φ(0) > 1. 1/φ is concave and
// nearly linear (exactly, if one term dominates). Newton's method for 1/φ = 1, started left of the root, therefore
// stays left of it and converges quadratically. With φ' = −S/φ, S = x²/(1 + τ) + (y/β)²/(τ + β²), the step is
//     τ ← τ + (φ − 1) φ²/S.
// Start: at the root each of x and y/β alone is at most 1, which gives τ >= p − 1 and τ >= β(q − β).
Point project_quadrant(double beta, double p, double q) {
    if (beta < smallest_ratio) {  // a segment; its thickness is below the rounding of the result
        const double x = std::min(p, 1.0);
        return {x, std::min(q, beta * std::sqrt((1.0 - x) * (1.0 + x)))};
    }
    if (length(p, q / beta) <= 1.0) return {p, q};
    double tau = std::max({0.0, p - 1.0, beta * (q - beta)});
    Point u{p, q};
    for (int round = 0; round < max_newton_steps; ++round) {
        const double width = tau + beta * beta;
        u = {p / (1.0 + tau), beta * q / width};
        const double phi = length(u.x, u.y);
        const double next = tau + (phi - 1.0) * phi * phi / (u.x * u.x / (1.0 + tau) + u.y * u.y / width);
        if (phi - 1.0 <= epsilon || !(next > tau)) break;
        tau = next;
    }
    return {u.x, beta * u.y};
}

}  // namespace

bool Ellipse::contains(std::span<const double> x, double tolerance) const {
    double p[2];
    project(x, p);
    return length(x[0] - p[0], x[1] - p[1]) <= tolerance;
}

void Ellipse::project(std::span<const double> x, double* out) const {
    SALTUS_EXPECT(x.size() == 2);
    const double x1 = x[0], x2 = x[1];
    const double major = a >= b ? a : b, minor = a >= b ? b : a;
    if (x1 != x1 || x2 != x2 || a != a || b != b) {
        out[0] = out[1] = std::numeric_limits<double>::quiet_NaN();
        return;
    }
    if (major == 0.0) {
        out[0] = out[1] = 0.0;
        return;
    }
    const double along = std::abs(a >= b ? x1 : x2), across = std::abs(a >= b ? x2 : x1);
    const double p = along / major, q = across / major;
    Point nearest = project_quadrant(minor / major, p, q);
    // A coordinate that was not moved is returned exactly, without the rounding of the scaling.
    nearest.x = nearest.x == p ? along : nearest.x * major;
    nearest.y = nearest.y == q ? across : nearest.y * major;
    out[0] = std::copysign(a >= b ? nearest.x : nearest.y, x1);
    out[1] = std::copysign(a >= b ? nearest.y : nearest.x, x2);
}

bool Ellipse::in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const {
    return is_normal<2>(*this, x, d, std::max(a, b), tolerance);
}

}  // namespace saltus::sets
