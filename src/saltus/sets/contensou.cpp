// SPDX-License-Identifier: Apache-2.0
#include "saltus/sets/contensou.hpp"

#include <algorithm>
#include <numbers>

#include "saltus/base/numbers.hpp"

// The support function. The patch turns about its instantaneous centre at the distance k R from the patch centre,
// k = ‖v‖/(|ω|R). A point at the distance r from there slides with the speed |ω| r. Hence
//     σ = F |ω| R I(k),   I(k) = mean distance from the points of the unit disk to a point at distance k.
// The boundary point with outward normal (v, ω) is the gradient of σ: force F φ(k) and moment F R ψ(k) with
//     φ = I',   ψ = I − k I',   ψ' = −k φ'.
// For k <= 1 (centre inside the patch), in polar coordinates about the centre, I = (4/3π) ∫₀^{π/2} (Δ³ + 3k² cos²α Δ)
// dα with Δ² = 1 − k² sin²α. In terms of the complete elliptic integrals K(k), E(k), with m = k²:
//     I = (4/9π) [(7 + m)E − 4(1 − m)K]                         I(0) = 2/3
//     φ = (4/3π) k A,   A = [(1 + m)E − (1 − m)K]/m             k A' = 3E − 2A
//     ψ = (4/9π) [(4 − 2m)E − (1 − m)K]
//     φ' = (4/3π) (3E − A)
// For k > 1 (centre outside) put κ = 1/k, n = κ², and use the integrals of modulus κ (the real parts of the reciprocal
// modulus transformation):
//     φ = (4/3π) A,     ψ = (4/9π) κ B,   B = [(4n − 2)E + (1 − n)(2 − 3n)K]/n²
//     dψ/dκ = (4/3π) D,   D = (2A − 3E)/n,   dφ/dκ = −κ dψ/dκ
// As κ → 0: φ = 1 − κ²/8, ψ = κ/4. The quotients A, B, D suffer cancellation for small moduli. The arithmetic-geometric
// mean gives K = π/2a and E = K (1 − m/2 − m² T) with T = Σ_{j>=1} 2^{j−1} c_j²/m²; with c₁ = m/4a₁ nothing cancels in
//     A = K [3/2 − m/2 − (1 + m) m T]   B = K [1 + (2 − 4m) T]   D = K [1/2 − (2 − m) T].
// For m > 1/2 the quotients themselves are accurate.

namespace saltus::sets {

namespace {

constexpr double four_thirds_pi = 4.0 / (3.0 * std::numbers::pi);

constexpr double modulus_one = 1e-17;  // 1 − k² below this: k = 1, where E = 1 and (1 − m) K = 0
constexpr double mean_converged =
    1e-9;  // c/a below this: the next change of the mean, of the order (c/a)², is below rounding

/// E, C = (1 − m) K and the quotients A, B, D above, for one modulus.
struct Integrals {
    double E, C, A, B, D;
};

/// The integrals of modulus 0 <= k <= 1 by the arithmetic-geometric mean.
Integrals integrals(double k) {
    const double m = k * k, complement = (1.0 - k) * (1.0 + k);
    if (complement < modulus_one) return {1.0, 0.0, 2.0 / m, (4.0 * m - 2.0) / (m * m), (4.0 / m - 3.0) / m};
    double b = std::sqrt(complement), a = 0.5 * (1.0 + b);
    b = std::sqrt(b);
    double c = 0.25 * m / a, term = 0.0625 / (a * a), T = term;
    while (c > mean_converged * a) {
        const double mean = 0.5 * (a + b), shrink = 0.25 * c / mean;
        b = std::sqrt(a * b);
        a = mean;
        c *= shrink;
        term *= 2.0 * shrink * shrink;
        T += term;
    }
    const double K = std::numbers::pi / (a + b);
    const double E = K * (1.0 - m * (0.5 + m * T)), C = complement * K;
    if (m <= 0.5)
        return {E, C, K * (1.5 - 0.5 * m - (1.0 + m) * m * T), K * (1.0 + (2.0 - 4.0 * m) * T),
                K * (0.5 - (2.0 - m) * T)};
    const double A = ((1.0 + m) * E - C) / m;
    return {E, C, A, ((4.0 * m - 2.0) * E + (2.0 - 3.0 * m) * C) / (m * m), (2.0 * A - 3.0 * E) / m};
}

/// A boundary point in the quarter plane: φ in units of F, ψ in units of F R. `slope` is dφ/dk if the instantaneous
/// centre is inside the patch, dψ/dκ if it is outside.
struct Boundary {
    double phi, psi, slope;
};

Boundary centre_inside(double k) {
    const Integrals e = integrals(k);
    return {four_thirds_pi * k * e.A, four_thirds_pi / 3.0 * ((4.0 - 2.0 * k * k) * e.E - e.C),
            four_thirds_pi * (3.0 * e.E - e.A)};
}

Boundary centre_outside(double kappa) {
    const Integrals e = integrals(kappa);
    return {four_thirds_pi * e.A, four_thirds_pi / 3.0 * kappa * e.B, four_thirds_pi * e.D};
}

/// A function value that is positive left of the root, its derivative, and the size of its rounding error.
struct Value {
    double value, slope, noise;
};

/// Newton's method in a bracket 0 < lo <= root <= hi. A step that leaves the bracket, or is longer than half of the
/// step before the last, is replaced by the geometric mean, because the root may be anywhere in many decades.
template <class F>
double root(F f, double lo, double hi) {
    constexpr int max_rounds = 200;  // evaluations of f at most
    double x = lo, step = hi - lo, step_before = step;
    for (int round = 0; round < max_rounds; ++round) {
        const Value at = f(x);
        if (!(std::abs(at.value) > at.noise)) break;
        (at.value > 0.0 ? lo : hi) = x;
        double next = x - at.value / at.slope;
        if (!(next > lo && next < hi) || std::abs(next - x) > 0.5 * step_before) next = std::sqrt(lo) * std::sqrt(hi);
        step_before = step;
        step = std::abs(next - x);
        x = next;
        if (step <= epsilon * x) break;
    }
    return x;
}

/// The projection in the quarter plane: whether the point is inside the body, and the boundary point that was found.
struct Nearest {
    bool inside;
    double phi, psi;
};

// The projection in the quarter plane, with f = ‖force‖/F and w = R |moment|/F, both >= 0, and ρ = R².
//
// The boundary point with normal (kR, 1) is the nearest one if the difference is parallel to that normal:
//     g(k) = (f − φ) − k (w − ρψ) = 0,     for k > 1, with κ = 1/k:  G(κ) = κ (f − φ) − (w − ρψ) = 0.
// g(0) = f >= 0 and G(0) = −w <= 0, so there is a root. At a root the two differences have the same sign. If both are
// positive, the point is outside and the root is the projection; it is the only root, because g falls beyond it, and
// before it g falls or both of its terms are positive. If both are negative, the point is inside. So one search answers
// both questions. The common sign is that of the sum of the differences, each weighted with its component of the
// normal. Brackets: φ <= k, ψ >= 0 give g(f/(1 + w)) >= 0; φ >= 0, ψ <= 8κ/9π give G(w/(f + 8ρ/9π)) <= 0.
Nearest nearest(double f, double w, double rho) {
    if (f == 0.0) return {w <= rho * (2.0 / 3.0), 0.0, 2.0 / 3.0};
    if (w == 0.0) return {f <= 1.0, 1.0, 0.0};
    // Necessary for a point inside. Tested by itself, so that rounding of one component does not hide the other.
    const bool within_limits = f <= 1.0 && w <= rho * (2.0 / 3.0);
    Boundary at{2.0 * four_thirds_pi, 2.0 / 3.0 * four_thirds_pi, 0.0};  // k = 1
    const double middle = (f - at.phi) - (w - rho * at.psi);
    if (middle <= 0.0) {
        const double k = root(
            [&](double k_) {
                at = centre_inside(k_);
                const double rest = w - rho * at.psi;
                return Value{(f - at.phi) - k_ * rest, -at.slope * (1.0 + k_ * k_ * rho) - rest,
                             4.0 * epsilon * (f + at.phi + k_ * (w + rho * at.psi))};
            },
            std::min(1.0, f / (1.0 + w)), 1.0);
        at = centre_inside(k);
        return {within_limits && (f - at.phi) * k * rho + (w - rho * at.psi) <= 0.0, at.phi, at.psi};
    } else {
        const double kappa = root(
            [&](double kappa_) {
                at = centre_outside(kappa_);
                const double ahead = f - at.phi;
                return Value{(w - rho * at.psi) - kappa_ * ahead, -ahead - (kappa_ * kappa_ + rho) * at.slope,
                             4.0 * epsilon * (w + rho * at.psi + kappa_ * (f + at.phi))};
            },
            std::min(1.0, w / (f + 8.0 / (9.0 * std::numbers::pi) * rho)), 1.0);
        at = centre_outside(kappa);
        return {within_limits && (f - at.phi) * rho + kappa * (w - rho * at.psi) <= 0.0, at.phi, at.psi};
    }
}

}  // namespace

bool Contensou::contains(std::span<const double> x, double tolerance) const {
    double p[3];
    project(x, p);
    for (int i = 0; i < 3; ++i) p[i] = x.data()[i] - p[i];
    return length(p, 3) <= tolerance;
}

void Contensou::project(std::span<const double> x, double* out) const {
    SALTUS_EXPECT(x.size() == 3);
    const double x1 = x[0], x2 = x[1], moment = x[2];
    const double slide = length(x1, x2), drill = std::abs(moment);
    if (slide != slide || drill != drill || force != force || radius != radius) {
        out[0] = out[1] = out[2] = nan;
        return;
    }
    if (force == 0.0) {
        out[0] = out[1] = out[2] = 0.0;
        return;
    }
    Nearest point{};
    if (radius == 0.0) {
        point = {slide <= force && drill == 0.0, std::min(slide / force, 1.0), 0.0};
    } else if (slide / force + 1.5 * (drill / force / radius) <= 1.0) {
        point.inside = true;  // below the chord between (F, 0) and (0, 2/3 F R): inside the convex body
    } else {
        point = nearest(slide / force, radius * (drill / force), radius * radius);
    }
    if (point.inside) {
        out[0] = x1;
        out[1] = x2;
        out[2] = moment;
        return;
    }
    const double kept = force * point.phi;
    out[0] = slide == 0.0 ? 0.0 : (x1 / slide) * kept;
    out[1] = slide == 0.0 ? 0.0 : (x2 / slide) * kept;
    out[2] = std::copysign(force * radius * point.psi, moment);
}

double Contensou::support(std::span<const double> d) const {
    SALTUS_EXPECT(d.size() == 3);
    const double v = length(d[0], d[1]), w = std::abs(d[2]) * radius;
    if (v == 0.0 && w == 0.0) return 0.0 * force;
    const Boundary at = v <= w ? centre_inside(v / w) : centre_outside(w / v);
    return force * (v * at.phi + w * at.psi);
}

bool Contensou::in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const {
    return is_normal<3>(*this, x, d, std::max(force, moment_limit()), tolerance);
}

void Contensou::furthest(std::span<const double> d, double* out) const {
    SALTUS_SETS_EXPECT(d.size() == 3);
    const double speed = length(d[0], d[1]), turn = std::abs(d[2]) * radius;
    out[0] = out[1] = out[2] = 0.0;
    if (speed == 0.0 && turn == 0.0) return;
    const Boundary b = speed <= turn ? centre_inside(speed / turn) : centre_outside(turn / speed);
    if (speed > 0.0) {
        out[0] = force * b.phi * (d[0] / speed);
        out[1] = force * b.phi * (d[1] / speed);
    }
    out[2] = std::copysign(force * radius * b.psi, d[2]);
}

void Contensou::furthest_derivative(std::span<const double> d, double* out) const {
    SALTUS_SETS_EXPECT(d.size() == 3);
    const double speed = length(d[0], d[1]), turn = std::abs(d[2]) * radius;
    std::fill_n(out, 9, 0.0);
    if (speed == 0.0 && turn == 0.0) return;
    const bool inside = speed <= turn;
    const Boundary b = inside ? centre_inside(speed / turn) : centre_outside(turn / speed);
    // φ and ψ depend on k = speed/turn with the derivatives φ' and ψ' = −k φ'; ∂k/∂speed = 1/turn, ∂k/∂turn = −k/turn.
    // In terms of κ = 1/k: dφ = −κ D dκ, dψ = D dκ, where D is the slope.
    double phi_speed, phi_turn, psi_turn;
    if (inside) {
        const double k = speed / turn;
        phi_speed = b.slope / turn, phi_turn = -b.slope * k / turn, psi_turn = b.slope * k * k / turn;
    } else {
        const double kappa = turn / speed;
        phi_speed = kappa * kappa * b.slope / speed, phi_turn = -kappa * b.slope / speed, psi_turn = b.slope / speed;
    }
    const double across = speed > 0.0 ? b.phi / speed : phi_speed;  // φ/speed → φ' at speed 0
    const double e[2] = {speed > 0.0 ? d[0] / speed : 1.0, speed > 0.0 ? d[1] / speed : 0.0};
    const double sense = std::copysign(1.0, d[2]);
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j)
            out[3 * i + j] = force * (phi_speed * e[i] * e[j] + across * ((i == j ? 1.0 : 0.0) - e[i] * e[j]));
        out[3 * i + 2] = out[6 + i] = speed > 0.0 ? force * radius * sense * phi_turn * e[i] : 0.0;
    }
    out[8] = force * radius * radius * psi_turn;
}

}  // namespace saltus::sets
