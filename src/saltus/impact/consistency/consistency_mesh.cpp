// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/consistency_mesh.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <queue>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"
#include "saltus/impact/consistency/detail/whole_region.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using BoundaryStatus = ConsistencyBoundary::Status;

/// The region counts as flat if its extent in some direction is <= this times its size.
constexpr double flat = 1e-8;

/// Farther than any point of the region, relative to its size: the nearest point to such a target is an extreme one.
constexpr double far_away = 1e3;

/// The bounds of the volume are refined until they differ by at most this ratio, or until the number of triangles is
/// reached.
constexpr double volume_ratio = 1e-3;
constexpr std::size_t max_volume_triangles = 20000;

/// Tolerance of the edge length 2 of the icosahedron with corners (0, ±1, ±φ).
constexpr double edge_tolerance = 1e-9;

/// The distance from y to the boundary along a direction, and the bound that is reached there.
struct Reach {
    double length = infinity;
    Bound bound = Bound::contact;
    int index = -1;
};

Reach reach_of(const WholeRegion& whole, const Vector& y, const Vector& direction) {
    const Region& r = whole.region;
    Reach reach;
    for (Index i = 0; i < r.rows.rows(); ++i) {
        const double rate = r.rows.row(i).dot(direction);
        const double room = r.rows.row(i).dot(y) - r.ends(i);
        if (rate < 0.0 && room / -rate < reach.length)
            reach = {std::max(0.0, room / -rate), whole.rows[static_cast<std::size_t>(i)].bound,
                     whole.rows[static_cast<std::size_t>(i)].index};
    }
    for (Index k = 0; k < r.centres.cols(); ++k) {
        const Vector from_centre = y - r.centres.col(k);
        const double B = from_centre.dot(direction);
        const double C = from_centre.squaredNorm() - radius_squared(r, k);
        const double length = std::max(0.0, -B + std::sqrt(std::max(0.0, B * B - C)));
        if (length < reach.length) reach = {length, Bound::ball, static_cast<int>(k)};
    }
    return reach;
}

/// An interior point: the mean of n + 1 affinely independent points. Each new point is the farthest one along a
/// direction orthogonal to the span of the points before. None if the region is flat.
std::optional<Vector> interior_point(const WholeRegion& whole) {
    const Index n = whole.region.dimension();
    const std::optional<Vector> first = nearest(whole.region, Vector::Zero(n));
    if (!first) return std::nullopt;
    Matrix span(n, 0);
    Vector sum = *first;
    for (Index k = 0; k < n; ++k) {
        Matrix rest = Matrix::Identity(n, n) - span * span.transpose();
        Index best = 0;
        rest.colwise().norm().maxCoeff(&best);
        const Vector direction = rest.col(best).normalized();
        std::optional<Vector> farthest;
        for (const double sign : {1.0, -1.0}) {
            const std::optional<Vector> y = nearest(whole.region, *first + sign * far_away * whole.size * direction);
            if (y && (!farthest || std::abs(direction.dot(*y - *first)) > std::abs(direction.dot(*farthest - *first))))
                farthest = y;
        }
        if (!farthest) return std::nullopt;
        Vector step = *farthest - *first;
        step -= span * (span.transpose() * step).eval();
        if (step.norm() <= flat * whole.size) return std::nullopt;
        span.conservativeResize(n, k + 1);
        span.col(k) = step.normalized();
        sum += *farthest;
    }
    return sum / static_cast<double>(n + 1);
}

/// A triangulated unit sphere.
struct Sphere {
    std::vector<Eigen::Vector3d> directions;
    std::vector<std::array<int, 3>> triangles;
};

Sphere icosphere(int subdivisions) {
    Sphere s;
    const double g = std::numbers::phi;
    for (const double a : {-1.0, 1.0})
        for (const double b : {-g, g}) {
            s.directions.emplace_back(a, b, 0.0);
            s.directions.emplace_back(0.0, a, b);
            s.directions.emplace_back(b, 0.0, a);
        }
    // Faces: triples of corners at the edge length 2 from each other.
    const auto near = [&](int i, int j) {
        return std::abs((s.directions[static_cast<std::size_t>(i)] - s.directions[static_cast<std::size_t>(j)]).norm() -
                        2.0) < edge_tolerance;
    };
    for (int i = 0; i < 12; ++i)
        for (int j = i + 1; j < 12; ++j)
            for (int k = j + 1; k < 12; ++k)
                if (near(i, j) && near(j, k) && near(i, k)) {
                    const auto& a = s.directions[static_cast<std::size_t>(i)];
                    const auto& b = s.directions[static_cast<std::size_t>(j)];
                    const auto& c = s.directions[static_cast<std::size_t>(k)];
                    s.triangles.push_back(a.dot(b.cross(c)) > 0.0 ? std::array{i, j, k} : std::array{i, k, j});
                }
    for (auto& d : s.directions) d.normalize();
    for (int level = 0; level < subdivisions; ++level) {
        std::map<std::pair<int, int>, int> middles;
        const auto middle = [&](int i, int j) {
            const auto [at, fresh] = middles.try_emplace(std::minmax(i, j), static_cast<int>(s.directions.size()));
            if (fresh)
                s.directions.push_back(
                    (s.directions[static_cast<std::size_t>(i)] + s.directions[static_cast<std::size_t>(j)])
                        .normalized());
            return at->second;
        };
        std::vector<std::array<int, 3>> finer;
        for (const auto& [i, j, k] : s.triangles) {
            const int ij = middle(i, j), jk = middle(j, k), ki = middle(k, i);
            finer.insert(finer.end(), {{i, ij, ki}, {j, jk, ij}, {k, ki, jk}, {ij, jk, ki}});
        }
        s.triangles = std::move(finer);
    }
    return s;
}

/// A boundary point in a direction, relative to the interior point, with a plane of support: the set lies in
/// normal·x <= height.
struct SupportedPoint {
    Eigen::Vector3d direction, x, normal;
    double height = 0.0;
};

SupportedPoint supported_point(const WholeRegion& whole, const Vector& inside, const Eigen::Vector3d& direction) {
    const Region& r = whole.region;
    const Reach reach = reach_of(whole, inside, direction);
    SupportedPoint p{direction, reach.length * direction, Eigen::Vector3d::Zero(), 0.0};
    if (reach.bound == Bound::ball) {
        p.normal = inside + p.x - r.centres.col(reach.index);
        p.height = p.normal.dot(p.x);
        return p;
    }
    // `reach` knows the contact, not the row. The row with the least room along the direction is the one that it hit.
    double least = infinity;
    for (Index i = 0; i < r.rows.rows(); ++i) {
        const double rate = r.rows.row(i).dot(direction), room = r.rows.row(i).dot(inside) - r.ends(i);
        if (rate < 0.0 && room / -rate < least) {
            least = room / -rate;
            p.normal = -r.rows.row(i).transpose();
            p.height = room;
        }
    }
    return p;
}

/// The part of the set in the cone of three directions: bounds of its volume.
struct VolumePart {
    std::array<SupportedPoint, 3> corner;
    double least = 0.0, greatest = 0.0;
    bool operator<(const VolumePart& other) const { return greatest - least < other.greatest - other.least; }
};

/// The tetrahedron of the interior point and three boundary points lies in the convex set. A plane of support at one of
/// the points cuts off the cone at the lengths t_j = height/(normal·direction_j), and the set is on this side of it.
VolumePart volume_part(const SupportedPoint& a, const SupportedPoint& b, const SupportedPoint& c) {
    VolumePart part{{a, b, c}, a.x.dot(b.x.cross(c.x)) / 6.0, infinity};
    const double unit = a.direction.dot(b.direction.cross(c.direction)) / 6.0;
    for (const SupportedPoint& p : part.corner) {
        double product = unit;
        for (const SupportedPoint& q : part.corner) {
            const double rate = p.normal.dot(q.direction);
            product = rate > 0.0 ? product * (p.height / rate) : infinity;
        }
        part.greatest = std::min(part.greatest, product);
    }
    part.greatest = std::max(part.greatest, part.least);
    return part;
}

/// Bounds of the volume in the coordinates of the frame. The cone with the largest difference is split into four until
/// the sum of the differences is small.
void bound_volume(const WholeRegion& whole, const Vector& inside, ConsistencyMesh& mesh) {
    constexpr int first_subdivisions = 2;
    const Sphere sphere = icosphere(first_subdivisions);
    const auto point = [&](const Eigen::Vector3d& d) { return supported_point(whole, inside, d.normalized()); };
    std::priority_queue<VolumePart> parts;
    double least = 0.0, difference = 0.0;
    const auto add = [&](const VolumePart& part) {
        least += part.least;
        difference += part.greatest - part.least;
        parts.push(part);
    };
    for (const auto& [i, j, k] : sphere.triangles)
        add(volume_part(point(sphere.directions[static_cast<std::size_t>(i)]),
                        point(sphere.directions[static_cast<std::size_t>(j)]),
                        point(sphere.directions[static_cast<std::size_t>(k)])));
    // Infinite differences cannot be summed up while parts are replaced; they are split first.
    while (parts.size() < max_volume_triangles && !(difference <= volume_ratio * least)) {
        const VolumePart part = parts.top();
        parts.pop();
        least -= part.least;
        const auto& [a, b, c] = part.corner;
        const SupportedPoint ab = point(a.direction + b.direction), bc = point(b.direction + c.direction),
                             ca = point(c.direction + a.direction);
        const bool finite = std::isfinite(difference);
        if (finite) difference -= part.greatest - part.least;
        for (const VolumePart& piece :
             {volume_part(a, ab, ca), volume_part(b, bc, ab), volume_part(c, ca, bc), volume_part(ab, bc, ca)})
            add(piece);
        if (!finite && std::isfinite(parts.top().greatest)) {
            difference = 0.0;
            for (auto copy = parts; !copy.empty(); copy.pop()) difference += copy.top().greatest - copy.top().least;
        }
    }
    // Sum again, without the rounding errors of the differences above.
    mesh.least_volume = mesh.greatest_volume = 0.0;
    for (; !parts.empty(); parts.pop()) {
        mesh.least_volume += parts.top().least;
        mesh.greatest_volume += parts.top().greatest;
    }
}

}  // namespace

ConsistencyMesh consistency_mesh(const FrictionlessCollision& c, const Allowance& allowance, int subdivisions) {
    SALTUS_EXPECT(subdivisions >= 0 && subdivisions <= 7);
    ConsistencyMesh mesh;
    const WholeRegion whole = whole_region(c, allowance);
    mesh.status = whole.status;
    mesh.why = whole.why;
    if (whole.status != BoundaryStatus::described) return mesh;
    if (whole.frame.rank() != 3) {
        mesh.status = BoundaryStatus::other_dimension;
        mesh.why = "the contacts act in " + std::to_string(whole.frame.rank()) + " directions, not in three";
        return mesh;
    }
    std::optional<Vector> inside = interior_point(whole);
    if (!inside) {
        mesh.status = BoundaryStatus::empty;
        mesh.why = "the set has no interior";
        return mesh;
    }
    const Sphere sphere = icosphere(subdivisions);
    // The first pass only finds the middle of the boundary points; the mesh is seen from there.
    Vector middle = Vector::Zero(3);
    for (const auto& d : sphere.directions) middle += *inside + reach_of(whole, *inside, d).length * d;
    *inside = middle / static_cast<double>(sphere.directions.size());
    std::vector<Eigen::Vector3d> y;
    for (const auto& d : sphere.directions) {
        const Reach reach = reach_of(whole, *inside, d);
        y.emplace_back(*inside + reach.length * d);
        mesh.points.push_back(whole.frame.velocity(y.back()));
        mesh.bound.push_back(reach.bound);
        mesh.index.push_back(reach.index);
    }
    mesh.inside = whole.frame.velocity(*inside);
    mesh.triangles = sphere.triangles;
    for (const auto& [i, j, k] : mesh.triangles) {
        const Eigen::Vector3d o = *inside;
        const auto at = [&](int v) { return Eigen::Vector3d(y[static_cast<std::size_t>(v)] - o); };
        mesh.volume += at(i).dot(at(j).cross(at(k))) / 6.0;
    }
    bound_volume(whole, *inside, mesh);
    if (c.M.rows() == 3)
        for (double* const volume : {&mesh.volume, &mesh.least_volume, &mesh.greatest_volume})
            *volume /= whole.frame.cholesky.diagonal().prod();
    return mesh;
}

}  // namespace saltus::impact
