// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/impact/consistency/consistency_boundary.hpp"
#include "saltus/impact/consistency/detail/region.hpp"
#include "saltus/impact/work/detail/friction_edges.hpp"

namespace saltus::impact {

/// The consistency set with all of its edges and balls, and the origin of each of them.
struct WholeRegion {
    ConsistencyBoundary::Status status = ConsistencyBoundary::Status::invalid;
    std::string why;  ///< the reason if it is not described
    KineticFrame frame;
    Region region;
    struct Label {
        Bound bound;
        int index;
    };
    std::vector<Label> rows;  ///< origin of each row of region.rows
    double size = 0.0;        ///< largest velocity that occurs, in the M-norm; tolerances are relative to it
};

WholeRegion whole_region(const FrictionlessCollision& collision, const Allowance& allowance);

/// The same for planar friction. `collision` has the edges of the friction cones as its directions. The label of an
/// impulse has the number of the edge.
WholeRegion whole_region(const FrictionlessCollision& collision, const FrictionEdges& edges,
                         const Allowance& allowance);

/// Squared radius of ball k of a region; negative if the ball is empty.
double radius_squared(const Region& region, Eigen::Index k);

}  // namespace saltus::impact
