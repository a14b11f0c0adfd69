// SPDX-License-Identifier: Apache-2.0
#include "machine/friction.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace trials {

using Kind = FrictionLaw::Kind;

std::size_t FrictionLaw::directions() const {
    switch (kind) {
        case Kind::none: return 0;
        case Kind::planar: return 1;
        case Kind::contensou: return 3;
        case Kind::rolling: return 5;
        default: return 2;
    }
}

std::vector<FrictionLaw::Part> FrictionLaw::parts() const {
    if (kind == Kind::none) return {};
    if (kind == Kind::rolling) return {{0, 2}, {2, 1}, {3, 2}};
    if (kind == Kind::orthotropic && (mu[0] == 0.0) != (mu[1] == 0.0)) return {{mu[0] == 0.0 ? 1U : 0U, 1}};
    return {{0, directions()}};
}

namespace {

/// ∫ f over [a, b] by the substitution x = tanh(π/2 sinh s), which tolerates singular slopes at the ends.
double integral(double a, double b, const std::function<double(double)>& f) {
    constexpr int half_count = 24;  // nodes on each side; the error is below 1e-10 for the integrands of this file
    constexpr double spacing = 0.125;
    double result = 0.0;
    for (int k = -half_count; k <= half_count; ++k) {
        const double s = spacing * k, inner = std::numbers::pi / 2 * std::sinh(s);
        const double weight = spacing * std::numbers::pi / 2 * std::cosh(s) / (std::cosh(inner) * std::cosh(inner));
        result += weight * f((a + b) / 2 + (b - a) / 2 * std::tanh(inner));
    }
    return result * (b - a) / 2;
}

/// Mean of ∂|v e + a e_θ|/∂v over a circle: (1/(πv)) ((v − a) K + (v + a) E), k = 2√(va)/(v + a). For small r = v/a the
/// two terms cancel; there the series (r/2)(1 + r²/8 + 3r⁴/64 + …) of (r/2)·₂F₁(½, ½; 2; r²) is used.
double circle_slope(double v, double a) {
    if (v == 0.0) return 0.0;
    if (a == 0.0) return 1.0;
    constexpr double small_ratio = 0.01;  // the next term of the series is 25 r⁶/1024
    if (const double r = v / a; r < small_ratio) return r / 2 * (1.0 + r * r / 8 * (1.0 + 0.375 * r * r));
    const double k = std::min(2.0 * std::sqrt(v * a) / (v + a), 1.0 - 1e-16);
    return ((v - a) * std::comp_ellint_1(k) + (v + a) * std::comp_ellint_2(k)) / (std::numbers::pi * v);
}

/// Sliding force and drilling moment (per radius) of a round patch with uniform pressure and friction 1.
/// v: sliding speed, w: drilling speed times the radius; both >= 0. Rings of radius ρ R have the sliding speeds
/// v e + ρ w e_θ, so that the means over the patch are 2 ∫ ρ (mean over the ring) dρ.
struct PatchForce {
    double sliding = 0.0, drilling = 0.0;
};

PatchForce patch_force(double v, double w) {
    if (v == 0.0 && w == 0.0) return {};
    const double kink = w > v ? v / w : 1.0;  // the ring on which one point does not slide
    const auto over_patch = [&](const std::function<double(double)>& f) {
        return integral(0.0, kink, f) + (kink < 1.0 ? integral(kink, 1.0, f) : 0.0);
    };
    return {over_patch([&](double rho) { return 2.0 * rho * circle_slope(v, rho * w); }),
            over_patch([&](double rho) { return 2.0 * rho * rho * circle_slope(rho * w, v); })};
}

Vector farthest_of_patch(std::span<const double> slip, double mu, double radius) {
    const double v = std::hypot(slip[0], slip[1]), w = std::abs(slip[2]) * radius;
    const PatchForce force = patch_force(v, w);
    Vector result(3, 0.0);
    if (v > 0.0) result[0] = mu * force.sliding * slip[0] / v, result[1] = mu * force.sliding * slip[1] / v;
    result[2] = std::copysign(mu * radius * force.drilling, slip[2]);
    return result;
}

/// The point of size·(disk × interval × disk) that is farthest in the direction `slip`.
Vector farthest_of_rolling(std::span<const double> slip, double mu, double drilling, double rolling) {
    const double v = std::hypot(slip[0], slip[1]), w = std::hypot(slip[3], slip[4]);
    Vector result(5, 0.0);
    for (const std::size_t i : {0U, 1U})
        if (v > 0.0) result[i] = mu * slip[i] / v;
    if (slip[2] != 0.0) result[2] = std::copysign(mu * drilling, slip[2]);
    for (const std::size_t i : {3U, 4U})
        if (w > 0.0) result[i] = mu * rolling * slip[i] / w;
    return result;
}

}  // namespace

Vector FrictionLaw::farthest(std::span<const double> slip) const {
    Vector result(directions(), 0.0);
    const double length = norm(slip);
    if (length == 0.0) return result;
    switch (kind) {
        case Kind::none: break;
        case Kind::planar: result[0] = std::copysign(mu[0], slip[0]); break;
        case Kind::isotropic:
            for (std::size_t i = 0; i < 2; ++i) result[i] = mu[0] * slip[i] / length;
            break;
        case Kind::orthotropic: {
            const double power = std::hypot(mu[0] * slip[0], mu[1] * slip[1]);
            for (std::size_t i = 0; i < 2 && power > 0.0; ++i) result[i] = mu[i] * mu[i] * slip[i] / power;
            break;
        }
        case Kind::contensou: return farthest_of_patch(slip, mu[0], radius);
        case Kind::rolling: return farthest_of_rolling(slip, mu[0], radius, rolling_radius);
    }
    return result;
}

double FrictionLaw::support(std::span<const double> slip) const { return dot(farthest(slip), slip); }

double FrictionLaw::excess(std::span<const double> force, double normal_force) const {
    const double size = std::max(normal_force, 0.0);
    double worst = 0.0;
    const auto consider = [&](const Vector& d) {
        if (const double length = norm(d); length > 0.0)
            worst = std::max(worst, (dot(force, d) - size * support(d)) / length);
    };
    if (kind == Kind::none) return 0.0;
    if (kind == Kind::planar) {
        consider({1.0});
        consider({-1.0});
        return worst;
    }
    if (kind == Kind::rolling) {
        consider({force[0], force[1], 0.0, 0.0, 0.0});
        consider({0.0, 0.0, force[2], 0.0, 0.0});
        consider({0.0, 0.0, 0.0, force[3], force[4]});
        return worst;
    }
    constexpr int count = 400;
    const double along = std::atan2(force[1], force[0]);
    for (int i = 0; i <= count; ++i) {
        const double angle = 2.0 * std::numbers::pi * i / count;
        if (kind == Kind::contensou) {
            // By symmetry the farthest direction has the direction of the sliding force.
            const double drill = std::sin(angle) / radius;
            consider({std::cos(angle) * std::cos(along), std::cos(angle) * std::sin(along), drill});
        } else {
            consider({std::cos(angle), std::sin(angle)});
        }
    }
    return worst;
}

namespace {

/// Nearest point of the ellipse (x/a)² + (y/b)² <= 1: x_i = a_i² p_i/(a_i² + s), with s >= 0 by bisection.
Vector project_to_ellipse(std::span<const double> p, double a, double b) {
    const auto at = [&](double s) {
        return Vector{a > 0.0 ? a * a * p[0] / (a * a + s) : 0.0, b > 0.0 ? b * b * p[1] / (b * b + s) : 0.0};
    };
    const auto level = [&](const Vector& x) {
        return (a > 0.0 ? x[0] * x[0] / (a * a) : 0.0) + (b > 0.0 ? x[1] * x[1] / (b * b) : 0.0);
    };
    if (level(at(0.0)) <= 1.0) return at(0.0);
    double low = 0.0, high = std::max(a, b) * norm(p);
    for (int i = 0; i < 80; ++i) (level(at((low + high) / 2)) > 1.0 ? low : high) = (low + high) / 2;
    return at((low + high) / 2);
}

}  // namespace

Vector FrictionLaw::project(std::span<const double> force, double size) const {
    if (kind == Kind::none) return {};
    if (kind == Kind::planar) return {std::clamp(force[0], -mu[0] * size, mu[0] * size)};
    if (kind == Kind::orthotropic) return project_to_ellipse(force, mu[0] * size, mu[1] * size);
    const auto disk = [&](double x, double y, double radius_of_disk) {
        const double length = std::hypot(x, y), scale = length > radius_of_disk ? radius_of_disk / length : 1.0;
        return Vector{x * scale, y * scale};
    };
    Vector result = disk(force[0], force[1], mu[0] * size);
    if (kind != Kind::rolling) return result;
    result.push_back(std::clamp(force[2], -mu[0] * radius * size, mu[0] * radius * size));
    const Vector rolled = disk(force[3], force[4], mu[0] * rolling_radius * size);
    result.insert(result.end(), rolled.begin(), rolled.end());
    return result;
}

}  // namespace trials
