// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency_boundary.hpp"

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>

#include "saltus/base/error.hpp"
#include "saltus/impact/region.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using Point = Eigen::Vector2d;
using Status = ConsistencyBoundary::Status;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double two_pi = 2.0 * std::numbers::pi;
constexpr double touching = 64 * std::numeric_limits<double>::epsilon();

/// The region with every edge and every ball, and what each of them is.
struct WholeRegion {
    Status status = Status::invalid;
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

int edge_contact(const KineticFrame& f, const Vector& ray) {
    Index nearest = 0;
    double least = infinity;
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

// --- two dimensions ------------------------------------------------------------------------------------------

/// One curve's part of the boundary, in the frame.
struct Stretch {
    bool arc = false;
    Index curve = 0;              ///< row or centre
    double from = 0.0, to = 0.0;  ///< along the line, or angles
};

class Outline {
public:
    explicit Outline(const WholeRegion& whole) : r_(whole.region), near_(1e-10 * whole.size) {}

    std::vector<Stretch> stretches() {
        std::vector<Stretch> list;
        for (Index i = 0; i < r_.rows.rows(); ++i) line(i, list);
        for (Index k = 0; k < r_.centres.cols(); ++k)
            if (radius_squared(r_, k) > near_ * near_) circle(k, list);
        return list;
    }

    Point on_line(Index i, double t) const {
        const Point n = r_.rows.row(i).transpose();
        return r_.ends(i) * n + t * Point(-n.y(), n.x());
    }
    Point on_circle(Index k, double angle) const {
        return Point(r_.centres.col(k)) + std::sqrt(radius_squared(r_, k)) * Point(std::cos(angle), std::sin(angle));
    }
    Point at(const Stretch& s, double t) const { return s.arc ? on_circle(s.curve, t) : on_line(s.curve, t); }

private:
    bool inside(const Point& y, Index row_left_out, Index centre_left_out) const {
        for (Index i = 0; i < r_.rows.rows(); ++i)
            if (i != row_left_out && r_.rows.row(i).dot(y) < r_.ends(i) - near_) return false;
        for (Index k = 0; k < r_.centres.cols(); ++k) {
            if (k == centre_left_out) continue;
            const double radius = std::sqrt(std::max(0.0, radius_squared(r_, k)));
            if ((y - Point(r_.centres.col(k))).norm() > radius + near_) return false;
        }
        return true;
    }

    /// The row's line has one stretch at most: the set is convex.
    void line(Index i, std::vector<Stretch>& list) const {
        const Point n = r_.rows.row(i).transpose(), along(-n.y(), n.x()), foot = r_.ends(i) * n;
        double low = -infinity, high = infinity;
        for (Index j = 0; j < r_.rows.rows(); ++j) {
            if (j == i) continue;
            const double rate = r_.rows.row(j).dot(along), room = r_.rows.row(j).dot(foot) - r_.ends(j);
            if (std::abs(rate) <= 1e-12) {
                if (room < -near_) return;
            } else if (rate > 0.0) {
                low = std::max(low, -room / rate);
            } else {
                high = std::min(high, -room / rate);
            }
        }
        for (Index k = 0; k < r_.centres.cols(); ++k) {
            const Point from_centre = foot - Point(r_.centres.col(k));
            const double middle = -from_centre.dot(along);
            const double half = radius_squared(r_, k) - (from_centre + middle * along).squaredNorm();
            // A line that touches the circle has no stretch of it, whatever rounding makes of the root.
            if (half <= touching * radius_squared(r_, k)) return;
            low = std::max(low, middle - std::sqrt(half));
            high = std::min(high, middle + std::sqrt(half));
        }
        if (high - low > near_) list.push_back({false, i, low, high});
    }

    /// A circle may have several stretches: it is cut wherever another curve meets it, and each part is tried.
    void circle(Index k, std::vector<Stretch>& list) const {
        const Point c = r_.centres.col(k);
        const double radius = std::sqrt(radius_squared(r_, k));
        std::vector<double> cuts;
        const auto cut = [&](const Point& towards, double distance) {
            // Where the circle meets the line at `distance` from its centre, square to `towards`.
            if (std::abs(distance) >= radius) return;
            const double middle = std::atan2(towards.y(), towards.x()), half = std::acos(distance / radius);
            for (const double angle : {middle - half, middle + half})
                cuts.push_back(angle - two_pi * std::floor(angle / two_pi));
        };
        for (Index i = 0; i < r_.rows.rows(); ++i) {
            const Point n = r_.rows.row(i).transpose();
            cut(n, r_.ends(i) - n.dot(c));
        }
        for (Index j = 0; j < r_.centres.cols(); ++j) {
            const Point d = Point(r_.centres.col(j)) - c;
            const double length = d.norm();
            if (j == k || !(length > 0.0)) continue;
            cut(d / length, (length * length + radius * radius - radius_squared(r_, j)) / (2.0 * length));
        }
        std::sort(cuts.begin(), cuts.end());
        if (cuts.empty()) {
            if (inside(on_circle(k, 0.0), -1, k)) list.push_back({true, k, 0.0, two_pi});
            return;
        }
        std::vector<Stretch> parts;
        for (std::size_t i = 0; i < cuts.size(); ++i) {
            const double from = cuts[i], to = i + 1 < cuts.size() ? cuts[i + 1] : cuts[0] + two_pi;
            if ((to - from) * radius <= near_ || !inside(on_circle(k, 0.5 * (from + to)), -1, k)) continue;
            if (!parts.empty() && (from - parts.back().to) * radius <= near_)
                parts.back().to = to;
            else
                parts.push_back({true, k, from, to});
        }
        if (parts.size() > 1 && (parts.front().from + two_pi - parts.back().to) * radius <= near_) {
            parts.front().from = parts.back().from - two_pi;
            parts.pop_back();
        }
        list.insert(list.end(), parts.begin(), parts.end());
    }

    const Region& r_;
    double near_;
};

double cross(const Point& a, const Point& b) { return a.x() * b.y() - a.y() * b.x(); }

/// Counter-clockwise around a point inside.
void arrange(const Outline& outline, std::vector<Stretch>& list, const Point& inside) {
    for (Stretch& s : list)
        if (!s.arc && cross(outline.at(s, s.from) - inside, outline.at(s, s.to) - inside) < 0.0)
            std::swap(s.from, s.to);
    const auto angle = [&](const Stretch& s) {
        const Point d = outline.at(s, 0.5 * (s.from + s.to)) - inside;
        return std::atan2(d.y(), d.x());
    };
    std::sort(list.begin(), list.end(), [&](const Stretch& a, const Stretch& b) { return angle(a) < angle(b); });
}

/// ½∮ (y − o) × dy; of an arc around c with the angle Δφ: ½ (c − o) × (to − from) + ½ R²Δφ.
double area_of(const Outline& outline, const Region& r, const std::vector<Stretch>& list, const Point& o) {
    double area = 0.0;
    for (const Stretch& s : list) {
        const Point from = outline.at(s, s.from), to = outline.at(s, s.to);
        if (s.arc)
            area += 0.5 * cross(Point(r.centres.col(s.curve)) - o, to - from) +
                    0.5 * radius_squared(r, s.curve) * (s.to - s.from);
        else
            area += 0.5 * cross(from - o, to - o);
    }
    return area;
}

BoundaryPiece piece_of(const WholeRegion& whole, const Outline& outline, const Stretch& s) {
    const KineticFrame& f = whole.frame;
    BoundaryPiece piece;
    piece.from = f.velocity(outline.at(s, s.from));
    piece.to = f.velocity(outline.at(s, s.to));
    piece.arc = s.arc;
    if (!s.arc) {
        piece.bound = whole.rows[static_cast<std::size_t>(s.curve)].bound;
        piece.index = whole.rows[static_cast<std::size_t>(s.curve)].index;
        return piece;
    }
    piece.bound = Bound::ball;
    piece.index = static_cast<int>(s.curve);
    const double radius = std::sqrt(radius_squared(whole.region, s.curve));
    const auto upper = f.cholesky.transpose().triangularView<Eigen::Upper>();
    piece.centre = f.velocity(whole.region.centres.col(s.curve));
    piece.first = upper.solve(radius * f.basis.col(0));
    piece.second = upper.solve(radius * f.basis.col(1));
    piece.phi_from = s.from;
    piece.phi_to = s.to;
    return piece;
}

void single_point(const WholeRegion& whole, const Vector& near, ConsistencyBoundary& b) {
    const std::optional<Vector> y = nearest(whole.region, near);
    b.status = y ? Status::described : Status::empty;
    if (y)
        b.vertices.push_back(whole.frame.velocity(*y));
    else
        b.why = "every compatible velocity needs more contact work";
}

void describe_plane(const WholeRegion& whole, ConsistencyBoundary& b) {
    Outline outline(whole);
    std::vector<Stretch> list = outline.stretches();
    if (list.empty()) return single_point(whole, Vector::Zero(2), b);
    Point inside = Point::Zero();
    for (const Stretch& s : list)
        inside += (outline.at(s, s.from) + outline.at(s, 0.5 * (s.from + s.to)) + outline.at(s, s.to)) / 3.0;
    inside /= static_cast<double>(list.size());
    arrange(outline, list, inside);
    const double area = area_of(outline, whole.region, list, inside);
    b.status = Status::described;
    b.dimension = area > 1e-10 * whole.size * whole.size ? 2 : 1;
    // A segment may come twice, from a line and its opposite.
    if (b.dimension == 1) list.resize(1);
    for (const Stretch& s : list) {
        b.pieces.push_back(piece_of(whole, outline, s));
        if (list.size() > 1 || !s.arc || s.to - s.from < two_pi) b.vertices.push_back(b.pieces.back().from);
    }
    if (b.dimension == 1) b.vertices.push_back(b.pieces[0].to);
    if (b.dimension == 2 && whole.frame.cholesky.rows() == 2) b.area = area / whole.frame.cholesky.diagonal().prod();
}

void describe_line(const WholeRegion& whole, ConsistencyBoundary& b) {
    const Region& r = whole.region;
    double low = -infinity, high = infinity;
    for (Index i = 0; i < r.rows.rows(); ++i) {
        const double end = r.ends(i) / r.rows(i, 0);
        (r.rows(i, 0) > 0.0 ? low : high) = r.rows(i, 0) > 0.0 ? std::max(low, end) : std::min(high, end);
    }
    for (Index k = 0; k < r.centres.cols(); ++k) {
        const double radius = std::sqrt(std::max(0.0, radius_squared(r, k)));
        if (radius_squared(r, k) < 0.0) low = infinity;
        low = std::max(low, r.centres(0, k) - radius);
        high = std::min(high, r.centres(0, k) + radius);
    }
    if (high - low <= 1e-10 * whole.size)
        return single_point(whole, Vector::Constant(1, std::isfinite(low + high) ? 0.5 * (low + high) : 0.0), b);
    b.status = Status::described;
    b.dimension = 1;
    for (const double end : {low, high}) b.vertices.push_back(whole.frame.velocity(Vector::Constant(1, end)));
}

// --- three dimensions ----------------------------------------------------------------------------------------

/// How far one may go from y along the direction, and what stops it.
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

/// The mean of affinely independent points of the region, found as those farthest along directions that are square to
/// what is there; none when the region is flat.
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
            const std::optional<Vector> y = nearest(whole.region, *first + sign * 1e3 * whole.size * direction);
            if (y && (!farthest || std::abs(direction.dot(*y - *first)) > std::abs(direction.dot(*farthest - *first))))
                farthest = y;
        }
        if (!farthest) return std::nullopt;
        Vector step = *farthest - *first;
        step -= span * (span.transpose() * step).eval();
        if (step.norm() <= 1e-8 * whole.size) return std::nullopt;
        span.conservativeResize(n, k + 1);
        span.col(k) = step.normalized();
        sum += *farthest;
    }
    return sum / static_cast<double>(n + 1);
}

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
                        2.0) < 1e-9;
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

Vector BoundaryPiece::at(double s) const {
    if (!arc) return from + s * (to - from);
    const double phi = phi_from + s * (phi_to - phi_from);
    return centre + std::cos(phi) * first + std::sin(phi) * second;
}

ConsistencyBoundary consistency_boundary(const FrictionlessCollision& c, const Allowance& allowance) {
    ConsistencyBoundary b;
    const WholeRegion whole = whole_region(c, allowance);
    b.status = whole.status;
    b.why = whole.why;
    if (whole.status != Status::described) return b;
    switch (whole.frame.rank()) {
        case 0: single_point(whole, Vector(0), b); break;
        case 1: describe_line(whole, b); break;
        case 2: describe_plane(whole, b); break;
        default:
            b.status = Status::other_dimension;
            b.why = "the contacts act in " + std::to_string(whole.frame.rank()) + " directions, not in two";
    }
    return b;
}

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
    // Once for the middle, then from there.
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
