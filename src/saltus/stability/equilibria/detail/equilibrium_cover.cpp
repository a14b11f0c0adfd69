// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_cover.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>

#include "saltus/stability/equilibria/detail/boundary_bracket.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

// Lengths of the cover are in units of Cover::measure unless they are said to be in 1 + |q_i|.
constexpr std::size_t max_points_above_three_dimensions = 200;
constexpr double spacing_in_two_dimensions = 0.16, spacing_in_three = 0.4, spacing_in_more = 0.9;
constexpr double same_point = 0.6;  ///< a point nearer than this part of the spacing to another one is not added

/// A step may end at most this many times its own length away from its start, plus `shortest_step` (in 1 + |q_i|).
constexpr double longest_reach = 4.0, shortest_step = 1e-12;
/// The width of the set is measured by steps that begin with first_probe and double up to longest_probe, as far as
/// probe_length (all in 1 + |q_i|).
constexpr double first_probe = 1e-3, longest_probe = 0.2, probe_length = 1.5;
/// The width along each coordinate counts as at least this part of the largest one.
constexpr double least_relative_width = 0.02;
/// A point of the boundary is located if |depth| < boundary_depth, or to this part of the step.
constexpr double boundary_depth = 1e-15, boundary_part = 1e-13;
constexpr int max_boundary_steps = 80;
/// If a copy differs by more than this from the point, it is another copy and the set goes around.
constexpr double other_copy = 1e-9;

class Filler {
public:
    Filler(RestingManifold& m, const RestPoint& from, const CoverOptions& o)
        : m_(m), o_(o), from_(from), max_points_(o.max_points) {
        out_.around.assign(static_cast<std::size_t>(m.size()), 0);
        out_.endless = out_.around;
        depth_tolerance_ = m.depth(from.q) > significant_depth ? 0.0 : rest_tolerance;
    }

    Cover run() {
        const Matrix T = m_.tangent(from_);
        if (T.cols() > 3) max_points_ = std::min(max_points_, max_points_above_three_dimensions);
        measure(T);
        out_.spacing = T.cols() == 2 ? spacing_in_two_dimensions : T.cols() == 3 ? spacing_in_three : spacing_in_more;
        add(from_);
        while (!queue_.empty()) {
            if (out_.points.size() >= max_points_ || m_.must_stop()) {
                out_.complete = false;
                break;
            }
            const RestPoint p = out_.points[queue_.front()];
            queue_.pop_front();
            spread(p);
        }
        return std::move(out_);
    }

private:
    bool is_inside(const Vector& q) { return m_.depth(q) >= -depth_tolerance_; }

    /// The point of the manifold near p + part · step, or nothing if the correction fails or leads too far away.
    std::optional<RestPoint> reach(const RestPoint& p, const Vector& step, double part) {
        RestPoint out = m_.at(p.q + part * step);  // starts with the forces there, so that q need not move for them
        if (!m_.correct(out)) return {};
        const double length = (out.q - p.q).cwiseQuotient(m_.unit(p.q)).norm();
        if (!(length <= longest_reach * part * step.cwiseQuotient(m_.unit(p.q)).norm() + shortest_step)) return {};
        return out;
    }

    /// The point of the boundary between p, which is inside, and p + step, which is outside.
    Vector boundary_point(const RestPoint& p, const Vector& step) {
        std::optional<RestPoint> at;
        Vector best = p.q;
        const auto value = [&](double part) {
            at = reach(p, step, part);
            return at ? m_.depth(at->q) + depth_tolerance_ : -1.0;
        };
        const double f_in = value(0.0), f_out = value(1.0);
        BoundaryBracket bracket{0.0, 1.0, f_in, f_out};
        for (int k = 0; k < max_boundary_steps && bracket.out - bracket.in > boundary_part; ++k) {
            const double x = bracket.propose(k);
            const double f = value(x);
            bracket.update(x, f);
            if (f >= 0.0) best = at->q;
            if (std::abs(f) < boundary_depth) return at->q;
        }
        return best;
    }

    /// Sets the units of length: the width of the set along each coordinate, found by probing along the tangents.
    void measure(const Matrix& T) {
        const Vector unit = m_.unit(from_.q);
        Vector width = Vector::Zero(m_.size());
        for (Index j = 0; j < T.cols(); ++j)
            for (const double side : {1.0, -1.0}) {
                RestPoint at = from_;
                double step = first_probe, length = 0.0;
                Vector direction = side * T.col(j);
                while (length < probe_length) {
                    const std::optional<RestPoint> next = reach(at, step * direction, 1.0);
                    if (!next || !is_inside(next->q)) break;
                    length += step;
                    step = std::min(2.0 * step, longest_probe);
                    direction = next->q - at.q;  // follow the manifold
                    direction /= direction.cwiseQuotient(unit).norm();
                    at = *next;
                    width = width.cwiseMax((at.q - from_.q).cwiseAbs());
                }
                // The boundary lies somewhere in the step that failed: half of it is added.
                width = width.cwiseMax((step * T.col(j)).cwiseAbs() * 0.5);
            }
        const double widest = width.cwiseQuotient(unit).maxCoeff();
        out_.measure = width.cwiseMax(least_relative_width * widest * unit);
    }

    double distance(const Vector& a, const Vector& b) const { return (a - b).cwiseQuotient(out_.measure).norm(); }

    /// Whether a point near q is known. If it is a copy of q by whole periods then the set goes around: `around` is
    /// set.
    bool taken(const Vector& q) {
        for (const RestPoint& p : out_.points) {
            const Vector copy = nearest_copy(o_.periods, p.q, q);
            if (distance(m_.modulo(q), m_.modulo(copy)) > same_point * out_.spacing) continue;
            for (Index i = 0; i < q.size(); ++i)
                if (std::abs(copy(i) - p.q(i)) > other_copy) out_.around[static_cast<std::size_t>(i)] = 1;
            return true;
        }
        return false;
    }

    void add(const RestPoint& p) {
        queue_.push_back(out_.points.size());
        out_.points.push_back(p);
    }

    /// Visits the neighbours of p along the tangents.
    void spread(const RestPoint& p) {
        const Matrix T = m_.tangent(p);
        // Tangents that are orthonormal in the units of the cover.
        const Matrix basis = out_.measure.asDiagonal() * range_of(out_.measure.cwiseInverse().asDiagonal() * T);
        for (Index j = 0; j < basis.cols(); ++j)
            for (const double side : {1.0, -1.0}) {
                const Vector step = side * out_.spacing * basis.col(j);
                const std::optional<RestPoint> next = reach(p, step, 1.0);
                if (!next) continue;
                bool far = false;
                for (Index i = 0; i < next->q.size(); ++i)
                    if (std::abs(next->q(i) - from_.q(i)) > o_.furthest * (1.0 + std::abs(from_.q(i)))) {
                        out_.endless[static_cast<std::size_t>(i)] = 1;
                        far = true;
                    }
                if (far || taken(next->q)) continue;
                if (is_inside(next->q))
                    add(*next);
                else
                    out_.boundary.push_back(boundary_point(p, step));
            }
    }

    RestingManifold& m_;
    const CoverOptions& o_;
    const RestPoint& from_;
    std::size_t max_points_;
    Cover out_;
    std::deque<std::size_t> queue_;  ///< indices of points whose neighbours are to be visited
    /// A point is inside if depth >= −depth_tolerance_. The tolerance is > 0 only for sets whose depth is 0 everywhere.
    double depth_tolerance_ = 0.0;
};

}  // namespace

Cover cover(RestingManifold& manifold, const RestPoint& from, const CoverOptions& options) {
    return Filler(manifold, from, options).run();
}

}  // namespace saltus::stability
