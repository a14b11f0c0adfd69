// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/sets/set.hpp"

namespace saltus::sets {

struct GeneratedCone;

/// Sizes that fit the fixed workspace of a projection.
inline constexpr int max_cone_dimension = 64;
inline constexpr int max_cone_vectors = 128;

/// { x : ⟨a_i, x⟩ >= 0 }. The rows a_i, `dimension` numbers each, lie one after the other in memory that the caller
/// keeps; their lengths do not matter, zero rows say nothing. Dependent rows are fine.
struct PolyhedralCone {
    int dimension = 0;
    std::span<const double> rows;

    PolyhedralCone(int dimension_, std::span<const double> rows_);
    int count() const { return static_cast<int>(rows.size()) / dimension; }

    bool contains(std::span<const double> x, double tolerance) const;
    /// Moreau: x + P(−x), P onto the cone that the rows generate.
    void project(std::span<const double> x, double* out) const;
    double support(std::span<const double> d) const;
    bool in_normal_cone(std::span<const double> x, std::span<const double> d, double tolerance) const;
    GeneratedCone dual() const;
};

}  // namespace saltus::sets

#include "saltus/sets/detail/generated_cone.hpp"
