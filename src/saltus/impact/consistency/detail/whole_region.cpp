// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/detail/whole_region.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace saltus::impact {

namespace {

using Eigen::Index;
using Status = ConsistencyBoundary::Status;

/// Rows are equal if their unit normals differ by at most this, and their ends by this times the size of the region.
constexpr double equal_rows = 1e-10;

/// Keeps the size positive for a collision at rest.
constexpr double tiny_size = 1e-300;

/// The contact whose impulse direction lies on the edge given by a ray of the dual cone: the one most orthogonal to it.
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

/// Whether the region has the row already. Two equal rows would give two boundary pieces in the place of one.
bool repeated(const Region& region, const Vector& row, double end, double size) {
    for (Index i = 0; i < region.rows.rows(); ++i)
        if ((region.rows.row(i).transpose() - row).norm() <= equal_rows &&
            std::abs(region.ends(i) - end) <= equal_rows * size)
            return true;
    return false;
}

WholeRegion with_rows(const FrictionlessCollision& c, KineticFrame frame, const ContactRows& contacts,
                      const Allowance& allowance) {
    WholeRegion whole;
    whole.frame = std::move(frame);
    const KineticFrame& f = whole.frame;
    const VelocityPolyhedron P = velocity_polyhedron(c);
    whole.why = P.why;
    whole.status = P.status == VelocityPolyhedron::Status::empty       ? Status::empty
                   : P.status == VelocityPolyhedron::Status::too_large ? Status::too_large
                                                                       : Status::described;
    if (whole.status == Status::empty && contacts.differ_from_frame) {
        whole.status = Status::other_dimension;
        whole.why = "the contacts can jam and absorb any amount of work: the set is unbounded";
    }
    if (whole.status != Status::described) return whole;
    const Region kinematic = kinematic_region(f, contacts, allowance);
    whole.region = kinematic;
    whole.region.rows.resize(0, f.rank());
    whole.region.ends.resize(0);
    whole.size = std::max({tiny_size, f.distance.size() == 0 ? 0.0 : f.distance.cwiseAbs().maxCoeff(),
                           P.corner_coordinates.size() == 0 ? 0.0 : P.corner_coordinates.cwiseAbs().maxCoeff(),
                           f.half_impulse.norm(), std::sqrt(std::abs(kinematic.level))});
    for (Index i = 0; i < contacts.normals.cols(); ++i) {
        if (contacts.normals.col(i).isZero(0.0)) continue;
        if (repeated(whole.region, contacts.normals.col(i), -contacts.distance(i), whole.size)) continue;
        whole.region.add_row(contacts.normals.col(i), -contacts.distance(i));
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

}  // namespace

WholeRegion whole_region(const FrictionlessCollision& c, const Allowance& allowance) {
    KineticFrame f = kinetic_frame(c);
    if (f.valid) {
        const ContactRows own{f.normals, f.distance};
        return with_rows(c, std::move(f), own, allowance);
    }
    WholeRegion whole;
    whole.why = f.why;
    return whole;
}

WholeRegion whole_region(const FrictionlessCollision& c, const FrictionEdges& edges, const Allowance& allowance) {
    KineticFrame f = kinetic_frame(c);
    if (f.valid) {
        const ContactRows rows = edges.normal_rows(f);
        return with_rows(c, std::move(f), rows, allowance);
    }
    WholeRegion whole;
    whole.why = f.why;
    return whole;
}

double radius_squared(const Region& r, Index k) { return 2.0 * r.level + r.centres.col(k).squaredNorm(); }

}  // namespace saltus::impact
