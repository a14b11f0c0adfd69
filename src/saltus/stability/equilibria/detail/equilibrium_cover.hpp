// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/stability/equilibria/detail/equilibrium_manifold.hpp"

namespace saltus::stability {

/// A set of two or more dimensions by points on the manifold at about equal distances: each inside one is followed by
/// its neighbours along the tangent; where a neighbour is outside, the boundary between them is found as a root.
struct Cover {
    std::vector<RestPoint> inside;
    std::vector<Vector> boundary;
    Vector measure;             ///< unit of each coordinate: about half the width of the set
    double spacing = 0.0;       ///< of points, in these units
    std::vector<char> around;   ///< coordinates with a period that it goes all around
    std::vector<char> endless;  ///< coordinates along which it did not end
    bool complete = true;       ///< otherwise there were too many points
};

struct CoverOptions {
    std::vector<double> periods;
    std::size_t most = 1500;
    double furthest = 40.0;  ///< in 1 + |q_i|
};

Cover cover(RestingManifold& manifold, const RestPoint& from, const CoverOptions& options);

}  // namespace saltus::stability
