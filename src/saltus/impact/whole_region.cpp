// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/whole_region.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus::impact {

namespace {

using Eigen::Index;
using Status = ConsistencyBoundary::Status;

int edge_contact(const KineticFrame& f, const Vector& ray) {
    Index nearest = 0;
    double least = std::numeric_limits<double>::infinity();
    for (Index i = 0; i < f.normals.cols(); ++i)
        if (const double off = std::abs(f.normals.col(i).dot(ray));
            f.normals.col(i).squaredNorm() > 0.0 && off < least) {
            least = off;
            nearest = i;
        }
    return static_cast<int>(nearest);
}

/// Two rows that say the same would give two pieces where there is one.
bool repeated(const Region& region, const Vector& row, double end, double size) {
    for (Index i = 0; i < region.rows.rows(); ++i)
        if ((region.rows.row(i).transpose() - row).norm() <= 1e-10 && std::abs(region.ends(i) - end) <= 1e-10 * size)
            return true;
    return false;
}

}  // namespace

WholeRegion whole_region(const FrictionlessCollision& c, const Allowance& allowance) {
    WholeRegion whole;
    whole.frame = kinetic_frame(c);
    if (!whole.frame.valid) {
        whole.why = whole.frame.why;
        return whole;
    }
    const KineticFrame& f = whole.frame;
    const VelocityPolyhedron P = velocity_polyhedron(c);
    whole.why = P.why;
    whole.status = P.status == VelocityPolyhedron::Status::empty       ? Status::empty
                   : P.status == VelocityPolyhedron::Status::too_large ? Status::too_large
                                                                       : Status::described;
    if (whole.status != Status::described) return whole;
    const Region kinematic = kinematic_region(f, allowance);
    whole.region = kinematic;
    whole.region.rows.resize(0, f.rank());
    whole.region.ends.resize(0);
    whole.size = std::max({1e-300, f.distance.size() == 0 ? 0.0 : f.distance.cwiseAbs().maxCoeff(),
                           P.corner_coordinates.size() == 0 ? 0.0 : P.corner_coordinates.cwiseAbs().maxCoeff(),
                           f.half_impulse.norm(), std::sqrt(std::abs(kinematic.level))});
    for (Index i = 0; i < f.normals.cols(); ++i) {
        if (f.normals.col(i).isZero(0.0)) continue;
        if (repeated(whole.region, f.normals.col(i), -f.distance(i), whole.size)) continue;
        whole.region.add_row(f.normals.col(i), -f.distance(i));
        whole.rows.push_back({Bound::contact, static_cast<int>(i)});
    }
    for (Index k = 0; k < P.ray_coordinates.cols(); ++k) {
        const Vector ray = P.ray_coordinates.col(k);
        if (repeated(whole.region, ray, 0.0, whole.size)) continue;
        whole.region.add_row(ray, 0.0);
        whole.rows.push_back({Bound::impulse, edge_contact(f, ray)});
    }
    for (Index k = 0; k < P.corner_coordinates.cols(); ++k)
        whole.region.add_centre(centre_of(f, allowance, P.corner_coordinates.col(k)));
    return whole;
}

double radius_squared(const Region& r, Index k) { return 2.0 * r.level + r.centres.col(k).squaredNorm(); }

}  // namespace saltus::impact
