// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

namespace saltus::stability {

/// A one-dimensional equilibrium set: the connected curve of equilibria through a point.
struct Curve {
    struct Sample {
        RestPoint point;
        Vector tangent;      ///< unit vector, with q_i in units of 1 + |q_i|
        double depth = 0.0;  ///< RestingManifold::depth
    };
    enum class End {
        boundary,         ///< a force leaves its cone or a gap closes
        singular,         ///< no step of any length continues the curve
        infinite_forces,  ///< the forces grow without bound; the end is extrapolated to where they would be infinite
        unbounded,        ///< the curve is longer than CurveOptions::furthest
    };
    std::vector<Sample> samples;  ///< in order along the curve; the first and the last are the ends
    bool closed = false;          ///< the curve returns to its start, or to a copy shifted by whole periods
    Vector turn;                  ///< if closed: the shift to that copy; zero if it is the start itself
    End first = End::boundary, last = End::boundary;
    /// Equilibria on the manifold that belong to other sets: the curve leaves the set between them and the start.
    std::vector<Vector> beyond;
};

/// Lengths are in units of 1 + |q_i|.
struct CurveOptions {
    double step = 1e-3;      ///< length of the first step
    double longest = 0.05;   ///< largest length of a step
    double furthest = 60.0;  ///< a longer curve counts as unbounded
    std::vector<double> periods;
};

/// Follows the curve of equilibria through `from` in both directions. The result has no samples if the manifold is not
/// a curve at `from`.
Curve trace(RestingManifold& manifold, const RestPoint& from, const CurveOptions& options);

/// Least and greatest value of a coordinate.
struct Extent {
    double lower, upper;
};
/// The extent of the curve along a coordinate. Extrema between samples are located by search.
Extent extent_of(RestingManifold& manifold, const Curve& curve, Eigen::Index coordinate);

}  // namespace saltus::stability
