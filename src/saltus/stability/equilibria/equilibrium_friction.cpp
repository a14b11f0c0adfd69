// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/equilibrium_friction.hpp"

#include <algorithm>

#include "saltus/integrate/mode/active.hpp"
#include "saltus/sets/contensou.hpp"
#include "saltus/sets/ellipse.hpp"
#include "saltus/sets/rolling.hpp"

namespace saltus::stability {

namespace {

using Shape = FrictionBody::Shape;

/// The point of the ellipse with semi-axes a, b that is furthest along d. If all points are, then (a, 0) is taken.
void furthest_of_ellipse(double a, double b, const double* d, double* out) {
    const sets::Ellipse ellipse(a, b);
    ellipse.furthest(d, out);
    if (ellipse.support({d, 2}) == 0.0) out[0] = a;
}

double furthest_of_segment(double bound, double d) { return d < 0.0 ? -bound : bound; }

}  // namespace

FrictionBody friction_body(const model::Friction& f, std::span<const double> coefficients) {
    // A model is not admissible where a coefficient is negative; there is no friction there.
    const auto value = [&](model::Coefficient c) { return std::max(0.0, integrate::coefficient(coefficients, c)); };
    FrictionBody body;
    if (f.dimension == 0) return body;
    body.mu = body.mu_second = value(f.mu[0]);
    if (body.mu == 0.0 && f.law != model::FrictionLaw::orthotropic) return body;
    body.dimension = f.dimension;
    switch (f.law) {
        case model::FrictionLaw::none: return {};
        case model::FrictionLaw::coulomb: body.shape = f.dimension == 1 ? Shape::segment : Shape::disk; break;
        case model::FrictionLaw::orthotropic:
            body.mu_second = value(f.mu[1]);
            if (body.mu == 0.0 && body.mu_second == 0.0) return {};
            body.shape = Shape::ellipse;
            break;
        case model::FrictionLaw::contensou:
            body.shape = Shape::patch;
            body.radius = value(f.radius[0]);
            break;
        case model::FrictionLaw::rolling:
            body.shape = Shape::rolling;
            body.drilling = body.mu * value(f.radius[0]);
            body.rolling = body.mu * value(f.radius[1]);
            break;
    }
    return body;
}

double FrictionBody::support(std::span<const double> d) const {
    switch (shape) {
        case Shape::none: return 0.0;
        case Shape::segment: return mu * std::abs(d[0]);
        case Shape::disk:
        case Shape::ellipse: return sets::Ellipse(mu, mu_second).support(d);
        case Shape::patch: return sets::Contensou(mu, radius).support(d);
        case Shape::rolling: return sets::Rolling(mu, drilling, rolling).support(d);
    }
    return 0.0;
}

Vector FrictionBody::furthest(std::span<const double> d) const {
    Vector y = Vector::Zero(dimension);
    switch (shape) {
        case Shape::none: break;
        case Shape::segment: y(0) = furthest_of_segment(mu, d[0]); break;
        case Shape::disk:
        case Shape::ellipse: furthest_of_ellipse(mu, mu_second, d.data(), y.data()); break;
        case Shape::patch:
            if (sets::length(d.data(), 3) > 0.0)
                sets::Contensou(mu, radius).furthest(d, y.data());
            else
                y(0) = mu;
            break;
        case Shape::rolling:
            furthest_of_ellipse(mu, mu, d.data(), y.data());
            y(2) = furthest_of_segment(drilling, d[2]);
            furthest_of_ellipse(rolling, rolling, d.data() + 3, y.data() + 3);
            break;
    }
    return y;
}

bool FrictionBody::contains(std::span<const double> force, double load, double tolerance) const {
    const double size = load > 0.0 ? load : 0.0;
    switch (shape) {
        case Shape::none: break;
        case Shape::segment: return std::abs(force[0]) <= mu * size + tolerance;
        case Shape::disk: return sets::Disk(mu * size).contains(force, tolerance);
        case Shape::ellipse: return sets::Ellipse(mu * size, mu_second * size).contains(force, tolerance);
        case Shape::patch: return sets::Contensou(mu * size, radius).contains(force, tolerance);
        case Shape::rolling:
            return sets::Rolling(mu * size, drilling * size, rolling * size).contains(force, tolerance);
    }
    for (const double f : force)
        if (std::abs(f) > tolerance) return false;
    return true;
}

std::vector<Vector> FrictionBody::corners() const {
    std::vector<Vector> list;
    if (shape == Shape::none) return list;
    if (shape == Shape::segment) return {Vector::Constant(1, mu), Vector::Constant(1, -mu)};
    // The furthest points along all directions (±1, ..., ±1). For a product of bodies they combine the furthest points
    // of the factors in all ways.
    for (int mask = 0; mask < (1 << dimension); ++mask) {
        Vector d(dimension);
        for (int i = 0; i < dimension; ++i) d(i) = (mask >> i & 1) != 0 ? -1.0 : 1.0;
        list.push_back(furthest({d.data(), static_cast<std::size_t>(dimension)}));
    }
    return list;
}

}  // namespace saltus::stability
