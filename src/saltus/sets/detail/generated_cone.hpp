// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/detail/polyhedral_cone.hpp"

namespace saltus::sets {

/// { Σ z_j a_j : z_j >= 0 }. The generators a_j, `dimension` numbers each, lie one after the other in memory that the
/// caller keeps; their lengths do not matter, zero ones add nothing. Dependent and opposite generators are fine; among
/// nearly dependent ones the answer is that of generators changed by rounding, which the cone may magnify.
struct GeneratedCone {
    int dimension = 0;
    std::span<const double> generators;

    GeneratedCone(int dimension_, std::span<const double> generators_);
    int count() const { return static_cast<int>(generators.size()) / dimension; }

    bool contains(std::span<const double> x, double tolerance) const;
    /// Nonnegative least squares by active sets; finite, at worst count × count small factorizations.
    void project(std::span<const double> x, double* out) const;
    double support(std::span<const double> d) const;
    bool in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const;
    PolyhedralCone dual() const { return {dimension, generators}; }
};

static_assert(ConvexCone<PolyhedralCone> && ConvexCone<GeneratedCone>);

}  // namespace saltus::sets
