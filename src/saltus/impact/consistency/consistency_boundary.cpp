// SPDX-License-Identifier: Apache-2.0
#include "saltus/impact/consistency/consistency_boundary.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "saltus/base/numbers.hpp"
#include "saltus/impact/consistency/detail/whole_region.hpp"

namespace saltus::impact {

namespace {

using Eigen::Index;
using Point = Eigen::Vector2d;
using BoundaryStatus = ConsistencyBoundary::Status;

constexpr double two_pi = 2.0 * std::numbers::pi;
constexpr double touching = 64 * std::numeric_limits<double>::epsilon();  // of the squared radius

/// Lengths below this times the size of the region count as zero; areas below it times the size squared.
constexpr double negligible_length = 1e-10;
constexpr double negligible_area = 1e-10;

/// Two unit normals are parallel if the sine of their angle is <= this.
constexpr double parallel = 1e-12;

/// A part of the boundary that lies on one line or circle, in the kinetic frame.
struct Stretch {
    bool arc = false;
    Index curve = 0;              ///< index of the row, or of the centre of an arc
    double from = 0.0, to = 0.0;  ///< positions along the line, or angles
};

/// The boundary of a region of two dimensions: half-planes and disks.
class Outline {
public:
    explicit Outline(const WholeRegion& whole) : r_(whole.region), near_(negligible_length * whole.size) {}

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

    /// The stretch of a row's line. There is at most one, because the set is convex.
    void line(Index i, std::vector<Stretch>& list) const {
        const Point n = r_.rows.row(i).transpose(), along(-n.y(), n.x()), foot = r_.ends(i) * n;
        double low = -infinity, high = infinity;
        for (Index j = 0; j < r_.rows.rows(); ++j) {
            if (j == i) continue;
            const double rate = r_.rows.row(j).dot(along), room = r_.rows.row(j).dot(foot) - r_.ends(j);
            if (std::abs(rate) <= parallel) {
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
            // A line that only touches the circle has no stretch inside; rounding must not give it one.
            if (half <= touching * radius_squared(r_, k)) return;
            low = std::max(low, middle - std::sqrt(half));
            high = std::min(high, middle + std::sqrt(half));
        }
        if (high - low > near_) list.push_back({false, i, low, high});
    }

    /// The stretches of a circle; there may be several. The circle is cut at every intersection with another curve, and
    /// the midpoint of each part is tested.
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

/// Orders the stretches counter-clockwise around an interior point.
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

/// The area by Green's theorem, ½∮ (y − o) × dy. An arc around c with the angle Δφ contributes
/// ½(c − o) × (to − from) + ½R²Δφ, because y = c + R(cos φ, sin φ).
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
    b.status = y ? BoundaryStatus::described : BoundaryStatus::empty;
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
    b.status = BoundaryStatus::described;
    b.dimension = area > negligible_area * whole.size * whole.size ? 2 : 1;
    // A flat set is a segment, which may be listed twice: by a line and by the opposite line.
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
    if (high - low <= negligible_length * whole.size)
        return single_point(whole, Vector::Constant(1, std::isfinite(low + high) ? 0.5 * (low + high) : 0.0), b);
    b.status = BoundaryStatus::described;
    b.dimension = 1;
    for (const double end : {low, high}) b.vertices.push_back(whole.frame.velocity(Vector::Constant(1, end)));
}

ConsistencyBoundary describe(const WholeRegion& whole) {
    ConsistencyBoundary b;
    b.status = whole.status;
    b.why = whole.why;
    if (whole.status != BoundaryStatus::described) return b;
    switch (whole.frame.rank()) {
        case 0: single_point(whole, Vector(0), b); break;
        case 1: describe_line(whole, b); break;
        case 2: describe_plane(whole, b); break;
        default:
            b.status = BoundaryStatus::other_dimension;
            b.why = "the contacts act in " + std::to_string(whole.frame.rank()) + " directions, not in two";
    }
    return b;
}

}  // namespace

Vector BoundaryPiece::at(double s) const {
    if (!arc) return from + s * (to - from);
    const double phi = phi_from + s * (phi_to - phi_from);
    return centre + std::cos(phi) * first + std::sin(phi) * second;
}

ConsistencyBoundary consistency_boundary(const FrictionlessCollision& c, const Allowance& allowance) {
    return describe(whole_region(c, allowance));
}

ConsistencyBoundary consistency_boundary(const FrictionalCollision& c, const Allowance& allowance) {
    const FrictionEdges edges(c);
    if (!edges.refused().empty() || !edges.exact()) {
        ConsistencyBoundary b;
        b.status = BoundaryStatus::other_dimension;
        b.why = edges.refused().empty()
                    ? "the friction cones are round: the set is tested and projected on, not described"
                    : edges.refused();
        return b;
    }
    ConsistencyBoundary b = describe(whole_region(edges.collision(), edges, allowance));
    for (BoundaryPiece& piece : b.pieces)
        if (piece.bound == Bound::impulse) piece.index = edges.contact_of(piece.index);
    return b;
}

Balls consistency_balls(const FrictionalCollision& c, const Allowance& allowance) {
    const FrictionEdges edges(c);
    Balls result;
    result.why = edges.refused().empty() ? "the friction cones are round" : edges.refused();
    if (!edges.refused().empty() || !edges.exact()) return result;
    result = consistency_balls(edges.collision(), allowance);
    for (Ball& ball : result.balls) {
        for (int& i : ball.contacts) i = edges.contact_of(i);
        ball.contacts.erase(std::unique(ball.contacts.begin(), ball.contacts.end()), ball.contacts.end());
    }
    return result;
}

}  // namespace saltus::impact
