// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/consistency_mesh.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "saltus/base/error.hpp"
#include "saltus/impact/consistency/detail/whole_region.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using Status = ConsistencyBoundary::Status;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// The region counts as flat if its extent in some direction is <= this times its size.
constexpr double flat = 1e-8;

/// Farther than any point of the region, relative to its size: the nearest point to such a target is an extreme one.
constexpr double far_away = 1e3;

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

}  // namespace

ConsistencyMesh consistency_mesh(const FrictionlessCollision& c, const Allowance& allowance, int subdivisions) {
    SALTUS_EXPECT(subdivisions >= 0 && subdivisions <= 7);
    ConsistencyMesh mesh;
    const WholeRegion whole = whole_region(c, allowance);
    mesh.status = whole.status;
    mesh.why = whole.why;
    if (whole.status != Status::described) return mesh;
    if (whole.frame.rank() != 3) {
        mesh.status = Status::other_dimension;
        mesh.why = "the contacts act in " + std::to_string(whole.frame.rank()) + " directions, not in three";
        return mesh;
    }
    std::optional<Vector> inside = interior_point(whole);
    if (!inside) {
        mesh.status = Status::empty;
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
    if (c.M.rows() == 3) mesh.volume /= whole.frame.cholesky.diagonal().prod();
    return mesh;
}

}  // namespace saltus::impact
