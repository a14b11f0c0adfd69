// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "saltus/impact/consistency/consistency_boundary.hpp"

namespace saltus::impact {

/// Triangles on the boundary of the consistency set for three velocities, seen from a point inside: the directions of
/// a subdivided icosahedron, each followed to the boundary exactly. For drawing; edges of the set are not followed.
struct ConsistencyMesh {
    ConsistencyBoundary::Status status = ConsistencyBoundary::Status::invalid;
    std::string why;
    std::vector<Vector> points;
    std::vector<std::array<int, 3>> triangles;  ///< counter-clockwise from outside
    std::vector<Bound> bound;                   ///< of each point
    std::vector<int> index;                     ///< of each point's bound
    Vector inside;                              ///< the point it is seen from
    double volume = 0.0;                        ///< inside the triangles, for three velocities
};

ConsistencyMesh consistency_mesh(const FrictionlessCollision& collision, const Allowance& allowance = {},
                                 int subdivisions = 4);

}  // namespace saltus::impact
