// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "saltus/impact/consistency/consistency_boundary.hpp"

namespace saltus::impact {

/// A triangle mesh of the boundary of the consistency set, if contact impulses act in three directions. From an
/// interior point, the directions of a subdivided icosahedron are followed to the boundary, exactly. The mesh is for
/// drawing: it rounds off the edges of the set.
struct ConsistencyMesh {
    ConsistencyBoundary::Status status = ConsistencyBoundary::Status::invalid;
    std::string why;  ///< the reason if it is not described
    std::vector<Vector> points;
    std::vector<std::array<int, 3>> triangles;  ///< indices of points, counter-clockwise seen from outside
    std::vector<Bound> bound;                   ///< what each point lies on
    std::vector<int> index;                     ///< the `index` of that bound (see Bound)
    Vector inside;                              ///< the interior point
    double volume = 0.0;                        ///< enclosed by the triangles; of velocities if n = 3
    /// Bounds of the volume of the set itself, up to rounding, in the units of `volume`. They come from a finer mesh:
    /// tetrahedra inside the set, and cones that planes of support cut off.
    double least_volume = 0.0, greatest_volume = 0.0;
};

/// Each subdivision splits every triangle into four: 20·4^subdivisions triangles, 0 <= subdivisions <= 7.
ConsistencyMesh consistency_mesh(const FrictionlessCollision& collision, const Allowance& allowance = {},
                                 int subdivisions = 4);

}  // namespace saltus::impact
