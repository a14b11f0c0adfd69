// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/detail/polyhedral_cone.hpp"

namespace saltus::sets {

/// { Σ z_j a_j : z_j >= 0 }. The generators a_j, `dimension` numbers each, are stored one after the other in memory of
/// the caller, which must outlive the cone. Their lengths do not matter, and zero generators have no effect. Dependent
/// and opposite generators are allowed. For nearly dependent ones the result is that of generators changed by rounding;
/// the cone may magnify that change.
struct GeneratedCone {
    int dimension = 0;
    std::span<const double> generators;

    GeneratedCone(int dimension_, std::span<const double> generators_);
    int count() const { return static_cast<int>(generators.size()) / dimension; }

    bool contains(std::span<const double> x, double tolerance) const;
    /// Nonnegative least squares by the active-set method; at most 10 (count + 1) exchanges.
    void project(std::span<const double> x, double* out) const;
    double support(std::span<const double> d) const;
    bool in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const;
    PolyhedralCone dual() const { return {dimension, generators}; }
};

static_assert(ConvexCone<PolyhedralCone> && ConvexCone<GeneratedCone>);

}  // namespace saltus::sets
