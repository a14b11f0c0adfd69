// SPDX-License-Identifier: Apache-2.0
#include "saltus/proof/laws.hpp"

#include <algorithm>

namespace saltus::proof {

namespace {

/// factor · (row r), with 0 times an unbounded interval = 0.
IntervalVector scaled_row(const IntervalMatrix& rows, int r, const Interval& factor) {
    IntervalVector v;
    for (int j = 0; j < rows.cols(); ++j) {
        const Interval& x = rows(r, j);
        const bool zero = (x.lo == 0.0 && x.hi == 0.0) || (factor.lo == 0.0 && factor.hi == 0.0);
        v.push_back(zero ? Interval(0.0) : x * factor);
    }
    return v;
}

}  // namespace

Interval coefficient(const IntervalVector& coefficients, model::Coefficient c) {
    return c == model::no_coefficient ? Interval(0.0) : coefficients[static_cast<std::size_t>(c)];
}

/// The friction body λ_N C of each law as a sum of balls. A ball is a group of vectors: row times bound of the force
/// along that row.
///     Coulomb         the interval or disk of radius μ λ_N
///     orthotropic     the ellipse with half axes μ₁ λ_N and μ₂ λ_N
///     Contensou       a disk of radius μ λ_N for sliding, and a drilling moment of at most (2/3) r μ λ_N: that of a
///                     disk of radius r with uniform pressure that drills without sliding
///     rolling         a disk for sliding, r₁ μ λ_N for drilling, a disk of radius r₂ μ λ_N for rolling
/// There is no friction where a coefficient or a load is negative; a model is not admissible there.
Friction friction_of(const model::Friction& f, const IntervalMatrix& rows, const IntervalVector& coefficients,
                     const Interval& load) {
    Friction body;
    if (f.dimension == 0 || without_friction(f, coefficients)) return body;
    const auto not_negative = [](const Interval& x) { return Interval(std::max(0.0, x.lo), std::max(0.0, x.hi)); };
    const auto bound = [&](model::Coefficient c) {
        return not_negative(coefficient(coefficients, c)) * not_negative(load);
    };
    const Interval mu = bound(f.mu[0]);
    const auto group = [&](std::initializer_list<std::pair<int, Interval>> parts) {
        std::vector<IntervalVector> vectors;
        for (const auto& [k, factor] : parts) vectors.push_back(scaled_row(rows, f.first_row + k, factor));
        body.groups.push_back(std::move(vectors));
    };
    switch (f.law) {
        case model::FrictionLaw::none: break;
        case model::FrictionLaw::coulomb:
            if (f.dimension == 1)
                group({{0, mu}});
            else
                group({{0, mu}, {1, mu}});
            break;
        case model::FrictionLaw::orthotropic: group({{0, mu}, {1, bound(f.mu[1])}}); break;
        case model::FrictionLaw::contensou:
            group({{0, mu}, {1, mu}});
            group({{2, mu * coefficient(coefficients, f.radius[0]) * Interval(2.0) / Interval(3.0)}});
            break;
        case model::FrictionLaw::rolling:
            group({{0, mu}, {1, mu}});
            group({{2, mu * coefficient(coefficients, f.radius[0])}});
            group({{3, mu * coefficient(coefficients, f.radius[1])}, {4, mu * coefficient(coefficients, f.radius[1])}});
            break;
    }
    return body;
}

bool without_friction(const model::Friction& f, const IntervalVector& coefficients) {
    if (f.dimension == 0) return true;
    const Interval first = coefficient(coefficients, f.mu[0]), second = coefficient(coefficients, f.mu[1]);
    return first.lo == 0.0 && first.hi == 0.0 && second.lo == 0.0 && second.hi == 0.0;
}

bool with_friction(const model::Friction& f, const IntervalVector& coefficients) {
    if (f.dimension == 0 || !(coefficient(coefficients, f.mu[0]).lo > 0.0)) return false;
    return f.law != model::FrictionLaw::orthotropic || coefficient(coefficients, f.mu[1]).lo > 0.0;
}

}  // namespace saltus::proof
