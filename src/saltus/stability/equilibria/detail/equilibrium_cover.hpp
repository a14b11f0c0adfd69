// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

namespace saltus::stability {

/// An equilibrium set of two or more dimensions, described by points at about equal distances. The neighbours of each
/// point along the tangents of the manifold are visited in turn (breadth first). If a neighbour is outside the set then
/// the point of the boundary between the two is located.
struct Cover {
    std::vector<RestPoint> points;  ///< points of the set, at about equal distances
    std::vector<Vector> boundary;   ///< points of its boundary
    Vector measure;                 ///< unit of length of each coordinate: about half the width of the set
    double spacing = 0.0;           ///< distance of neighbouring points, in units of `measure`
    std::vector<char> around;       ///< flags of periodic coordinates along which the set covers a whole period
    std::vector<char> endless;      ///< flags of coordinates along which the set reaches CoverOptions::furthest
    bool complete = true;           ///< false: the limit of points or programs was reached first
};

struct CoverOptions {
    std::vector<double> periods;
    std::size_t max_points = 1500;
    double furthest = 40.0;  ///< distance from the start at which the search stops, in 1 + |q_i|
};

/// Covers the equilibrium set around `from`, a point of it.
Cover cover(RestingManifold& manifold, const RestPoint& from, const CoverOptions& options);

}  // namespace saltus::stability
