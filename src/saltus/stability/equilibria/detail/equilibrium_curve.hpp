// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

namespace saltus::stability {

/// A curve of equilibria through a point, by continuation with steps that are corrected onto the manifold; where the
/// forces leave their cones or a gap closes the end is found as a root.
struct Curve {
    struct Sample {
        RestPoint point;
        Vector tangent;  ///< in the measure of the manifold
        double inside = 0.0;
    };
    enum class End {
        boundary,
        singular,         ///< no step leads on
        infinite_forces,  ///< the forces grow without bound; the end is where they would be infinite
        unbounded,
    };
    std::vector<Sample> samples;  ///< in order; the first and the last are the ends
    bool closed = false;          ///< comes back to where it began, or to a copy of it
    Vector turn;                  ///< the shift to that copy; zero where it is the same point
    End first = End::boundary, last = End::boundary;
    std::vector<Vector> beyond;  ///< equilibria on the other side of gaps that were seen: other sets
};

struct CurveOptions {
    double step = 1e-3, longest = 0.05;  ///< in the measure of the manifold
    double furthest = 60.0;              ///< length after which it counts as unbounded
    std::vector<double> periods;
};

Curve trace(RestingManifold& manifold, const RestPoint& from, const CurveOptions& options);

/// Largest and smallest value of a coordinate on the curve, between samples too.
struct Extent {
    double lower, upper;
};
Extent extent_of(RestingManifold& manifold, const Curve& curve, Eigen::Index coordinate);

}  // namespace saltus::stability
