// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency/consistency_boundary.hpp"
#include "saltus/impact/consistency/detail/region.hpp"
#include "saltus/impact/work/detail/friction_edges.hpp"

namespace saltus::impact {

/// The region with every edge and every ball, and what each of them is.
struct WholeRegion {
    ConsistencyBoundary::Status status = ConsistencyBoundary::Status::invalid;
    std::string why;
    KineticFrame frame;
    Region region;
    struct Label {
        Bound bound;
        int index;
    };
    std::vector<Label> rows;  ///< of region.rows
    double size = 0.0;        ///< of velocities in it
};

WholeRegion whole_region(const FrictionlessCollision& collision, const Allowance& allowance);

/// Of planar friction, `collision` that of the edges of the cones. Impulses are labelled by edges.
WholeRegion whole_region(const FrictionlessCollision& collision, const FrictionEdges& edges,
                         const Allowance& allowance);

/// Of ball k of a region.
double radius_squared(const Region& region, Eigen::Index k);

}  // namespace saltus::impact
