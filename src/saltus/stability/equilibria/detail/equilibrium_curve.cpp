// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_curve.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "saltus/stability/equilibria/detail/boundary_bracket.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"

namespace saltus::stability {

namespace {

using Sample = Curve::Sample;
using Index = Eigen::Index;

// Lengths are in units of 1 + |q_i|, depths are relative (RestingManifold::depth), forces relative to Statics::size.

// Steps of the continuation.
constexpr double shortest_curve_step = 1e-9;  ///< if a step must be shorter, the curve ends at a singular point
constexpr double least_cosine = 0.9;          ///< of the angle between the tangents before and after a step
constexpr double step_growth = 1.5;           ///< after each successful step
constexpr double large_forces = 10.0;         ///< from this force size on, steps shrink like 1/force:
constexpr double large_force_step = 0.2;      ///< step <= large_force_step · longest · large_forces/size
constexpr double infinite_force = 1e5;        ///< a larger force size that still grows counts as infinite
constexpr double growing_force = 1.01;        ///< the force grows if it is larger than this times the one before
/// A corrected point lies beside the predicted one by at most this part of the step. Newton's method can end on another
/// part of the curve, further away. With least_cosine the curve itself bends by at most a quarter of the step.
constexpr double most_beside = 0.5;
/// The depth in the middle of a step differs from the mean of both ends by at most this. Otherwise the step is too long
/// to see how the depth varies, and the curve may leave the set and come back in between.
constexpr double depth_resolution = 0.1;
constexpr double shortest_resolved_step = 1e-5;  ///< shorter steps may cross a kink or a jump of the depth

// Let a and b be the components of (start − here) along the tangent and across it, and s the length of the next step.
// The curve has returned to its start if −before_step <= a <= s, ‖b‖ <= beside_step · s, and the cosine between the
// tangents is at least least_return_cosine.
constexpr double before_step = 1e-12, beside_step = 0.2, least_return_cosine = 0.5;

// Roots and minima of the depth along the curve.
constexpr int max_root_steps = 200, max_golden_steps = 60, max_extremum_steps = 80, max_cuts = 20;
constexpr double root_accuracy = 1e-15;                     ///< relative to 1 + |distance|
constexpr double minimum_accuracy = 1e-12;                  ///< of the place of a minimum of the depth
constexpr double extremum_accuracy = 1e-9;                  ///< of the place of an extremum of a coordinate
constexpr double golden_section = 0.3819660112501051;       ///< (3 − √5)/2
constexpr double golden_section_of_coordinates = 0.381966;  ///< the same, rounded
constexpr double shallow_depth = 0.1;         ///< a minimum of the depth below this is searched a second time
constexpr double largest_depth = 1.0 - 1e-9;  ///< samples at least this deep are at the upper bound 1 of the margin

/// Pseudo-arclength continuation. From a sample with the unit tangent τ, a step of length s predicts q + s τ and
/// corrects it by Newton's method onto F(q, λ) = 0 within the hyperplane τ·(q' − q) = s. The step is halved if the
/// correction fails or the tangent turns too much. The boundary of the set is the root of the depth along the step.
class Tracer {
public:
    Tracer(RestingManifold& m, const CurveOptions& o) : m_(m), o_(o) {}

    /// The sample at a point of the curve, with the tangent on the side of `like` (if it is not empty). Nothing if the
    /// manifold is not one-dimensional there.
    std::optional<Sample> sample(const RestPoint& point, const Vector& like) {
        const Matrix T = m_.tangent(point);
        if (T.cols() != 1) return {};
        Sample s;
        s.point = point;
        s.tangent = T.col(0).cwiseQuotient(m_.unit(s.point.q));
        if (like.size() > 0 && s.tangent.dot(like) < 0.0) s.tangent = -s.tangent;
        s.depth = m_.depth(s.point.q);
        return s;
    }

    /// The point of the curve at this distance along the tangent of a sample; nothing if Newton's method fails.
    std::optional<RestPoint> point_at(const Sample& from, double distance) {
        const Vector unit = m_.unit(from.point.q);
        RestPoint out = m_.at(from.point.q + distance * from.tangent.cwiseProduct(unit));
        if (!m_.correct(out, RestingManifold::Slice{from.point.q, from.tangent.cwiseQuotient(unit), distance}))
            return {};
        return out;
    }
    std::optional<Sample> sample_at(const Sample& from, double distance) {
        const std::optional<RestPoint> p = point_at(from, distance);
        return p ? sample(*p, from.tangent) : std::optional<Sample>();
    }

    /// −1 if there is no such point.
    double depth_at(const Sample& from, double distance) {
        const std::optional<RestPoint> p = point_at(from, distance);
        return p ? m_.depth(p->q) : -1.0;
    }

    /// The distance at which the curve leaves the set, between `in`, which is in the set, and `out`, which is not. The
    /// result is on the inner side.
    double root(const Sample& from, double in, double out) {
        const double f_in = depth_at(from, in) + depth_tolerance_, f_out = depth_at(from, out) + depth_tolerance_;
        BoundaryBracket bracket{in, out, f_in, f_out};
        for (int k = 0;
             k < max_root_steps && std::abs(bracket.out - bracket.in) > root_accuracy * (1.0 + std::abs(bracket.in));
             ++k) {
            const double x = bracket.propose(k);
            if (x == bracket.in || x == bracket.out) break;
            const double f = depth_at(from, x) + depth_tolerance_;
            bracket.update(x, f);
            if (f == 0.0) break;
        }
        return bracket.in;
    }

    /// The part of the curve from the start in one direction.
    struct Walk {
        std::vector<Sample> samples;  ///< without the start
        Curve::End end = Curve::End::boundary;
        std::optional<Vector> turn;  ///< if the curve returned to the start: the shift to the copy of the start
    };
    Walk walk(const Sample& start) {
        Walk out;
        Sample here = start;
        double step = o_.step, length = 0.0, size = m_.force_size(start.point.q);
        while (true) {
            const std::optional<Sample> next = sample_at(here, step);
            if (!next || !follows(here, *next, step)) {
                step *= 0.5;
                if (step < shortest_curve_step) {
                    out.end = Curve::End::singular;
                    return out;
                }
                continue;
            }
            if (next->depth < -depth_tolerance_) {
                if (end_at_boundary(out, here, step)) return out;
                step *= 0.5;
                continue;
            }
            if (!resolves(here, *next, step)) {
                step *= 0.5;
                continue;
            }
            if (!out.samples.empty()) {
                out.turn = return_to(start, here, step);
                if (out.turn) return out;
            }
            const double next_size = m_.force_size(next->point.q);
            if (next_size > infinite_force && next_size > growing_force * size) {
                end_at_infinite_forces(out, *next, step * size / (next_size - size));
                return out;
            }
            size = next_size;
            out.samples.push_back(*next);
            here = *next;
            length += step;
            // Near a point of infinite forces long steps would pass to the other side of it.
            if (size > large_forces) {
                step = std::min(step, large_force_step * o_.longest * large_forces / size);
                continue;
            }
            step = std::min(step_growth * step, o_.longest);
            if (length > o_.furthest) {
                out.end = Curve::End::unbounded;
                return out;
            }
        }
    }

    struct Minimum {
        double at;     ///< distance from the sample
        double depth;  ///< there
    };
    /// The least depth between two distances from a sample, where neighbouring samples show a dip. The depth has kinks
    /// and may have several minima: if the first search ends at a small depth, a search with many samples follows.
    Minimum least_depth(const Sample& middle, double from, double to) {
        const Minimum first = golden_search(middle, from, to);
        if (first.depth < -rest_tolerance || first.depth > shallow_depth) return first;
        constexpr int parts = 24;
        double low = first.depth, where = first.at;
        for (int k = 1; k < parts; ++k) {
            const double x = from + (to - from) * k / parts, f = depth_at(middle, x);
            if (f < low) {
                low = f;
                where = x;
            }
        }
        const double width = (to - from) / parts;
        const Minimum second = golden_search(middle, std::max(from, where - width), std::min(to, where + width));
        return second.depth < first.depth ? second : first;
    }

    /// Distance of a sample along the tangent of another one.
    double distance(const Sample& from, const Sample& to) const {
        return (to.point.q - from.point.q).cwiseQuotient(m_.unit(from.point.q)).dot(from.tangent);
    }

    /// The start decides: a set whose depth vanishes there up to rounding has depth 0 everywhere.
    void set_depth_tolerance(double depth_of_start) {
        depth_tolerance_ = depth_of_start > significant_depth ? 0.0 : rest_tolerance;
    }

private:
    /// Whether `next` continues the curve from `here`, and is not on another part of it.
    bool follows(const Sample& here, const Sample& next, double step) const {
        const Vector to = (next.point.q - here.point.q).cwiseQuotient(m_.unit(here.point.q));
        return next.tangent.dot(here.tangent) >= least_cosine &&
               (to - to.dot(here.tangent) * here.tangent).norm() <= most_beside * step;
    }

    /// Whether the step from `here` to `next` shows how the depth varies between them.
    bool resolves(const Sample& here, const Sample& next, double step) {
        if (step < shortest_resolved_step) return true;
        const std::optional<Sample> middle = sample_at(here, 0.5 * step);
        return middle && follows(here, *middle, 0.5 * step) &&
               std::abs(middle->depth - 0.5 * (here.depth + next.depth)) <= depth_resolution;
    }

    /// The next step leaves the set: appends the point where it does. False if this is not known yet, because the step
    /// is too long: Newton's method may fail inside of it, where the set goes on. At the boundary the depth is zero; a
    /// depth that jumps ends the set as well, and very short steps show this.
    bool end_at_boundary(Walk& walk, const Sample& here, double step) {
        const std::optional<RestPoint> end = point_at(here, root(here, 0.0, step));
        const bool short_step = step < shortest_resolved_step;
        if (!end) return short_step;
        Sample last;
        last.point = *end;
        last.tangent = here.tangent;  // kept if the manifold is singular there, at infinite forces
        last.depth = m_.depth(end->q);
        if (const std::optional<Sample> s = sample(*end, here.tangent)) last = *s;
        const bool infinite = m_.force_size(last.point.q) > infinite_force;
        if (!short_step && !infinite && last.depth > significant_depth) return false;
        if (infinite) walk.end = Curve::End::infinite_forces;
        walk.samples.push_back(std::move(last));
        return true;
    }

    /// 1/force vanishes linearly with the distance to the point of infinite forces. With the sizes a < b at the ends of
    /// a step s, the remaining distance r fulfils a (s + r) = b r, hence r = s a/(b − a).
    void end_at_infinite_forces(Walk& walk, const Sample& next, double remaining) {
        Sample last = next;
        last.point.q += remaining * next.tangent.cwiseProduct(m_.unit(next.point.q));
        last.depth = 0.0;
        walk.samples.push_back(next);
        if (m_.close(last.point.q)) walk.samples.push_back(std::move(last));
        walk.end = Curve::End::infinite_forces;
    }

    /// If the start, or a copy of it by whole periods, lies on the next step: the shift from the start to that copy.
    std::optional<Vector> return_to(const Sample& start, const Sample& here, double step) {
        const Vector unit = m_.unit(here.point.q);
        const Vector reached = here.point.q + step * here.tangent.cwiseProduct(unit);
        const Vector copy = nearest_copy(o_.periods, start.point.q, reached);
        const Vector to = (copy - here.point.q).cwiseQuotient(unit);
        const double along_step = to.dot(here.tangent);
        if (along_step < -before_step || along_step > step) return {};
        if ((to - along_step * here.tangent).norm() > beside_step * step) return {};
        if (start.tangent.dot(here.tangent) < least_return_cosine) return {};
        return copy - start.point.q;
    }

    Minimum golden_search(const Sample& middle, double a, double b) {
        constexpr double ratio = golden_section;
        double x = a + ratio * (b - a), y = b - ratio * (b - a);
        double fx = depth_at(middle, x), fy = depth_at(middle, y);
        for (int k = 0; k < max_golden_steps && b - a > minimum_accuracy; ++k) {
            if (fx < fy) {
                b = y;
                y = x;
                fy = fx;
                x = a + ratio * (b - a);
                fx = depth_at(middle, x);
            } else {
                a = x;
                x = y;
                fx = fy;
                y = b - ratio * (b - a);
                fy = depth_at(middle, y);
            }
        }
        return {fx < fy ? x : y, std::min(fx, fy)};
    }

    RestingManifold& m_;
    const CurveOptions& o_;
    /// A point is in the set if depth >= −depth_tolerance_. The tolerance is > 0 only for sets whose depth is 0
    /// everywhere.
    double depth_tolerance_ = 0.0;
};

/// Samples may lie on both sides of a short part that is outside the set. If the depth has a minimum below zero between
/// samples then this function cuts the curve there: it keeps the side of the sample `start` (an index that it updates)
/// and opens a closed curve. Returns whether it cut.
bool cut_at_dip(Tracer& tracer, Curve& c, std::size_t& start) {
    for (std::size_t k = 1; k + 1 < c.samples.size(); ++k) {
        const Sample& s = c.samples[k];
        if (s.depth > c.samples[k - 1].depth || s.depth > c.samples[k + 1].depth) continue;
        if (std::min(c.samples[k - 1].depth, c.samples[k + 1].depth) >= largest_depth && s.depth >= largest_depth)
            continue;  // not a minimum: the margin is bounded by 1
        const double from = tracer.distance(s, c.samples[k - 1]), to = tracer.distance(s, c.samples[k + 1]);
        const auto [at, depth] = tracer.least_depth(s, from, to);
        if (depth >= -rest_tolerance) continue;
        // One part of the curve ends before the dip, another begins behind it.
        const std::optional<Sample> end = tracer.sample_at(s, tracer.root(s, at < 0.0 ? from : 0.0, at));
        if (!end) continue;
        const std::optional<Sample> begin = tracer.sample_at(s, tracer.root(s, at < 0.0 ? 0.0 : to, at));
        if (!begin) continue;
        const auto cut = c.samples.begin() + static_cast<std::ptrdiff_t>(at < 0.0 ? k : k + 1);
        std::vector<Sample> before(c.samples.begin(), cut), behind(cut, c.samples.end());
        before.push_back(*end);
        behind.insert(behind.begin(), *begin);
        if (c.closed) {
            behind.pop_back();  // the last sample repeats the start
            for (Sample& x : behind) x.point.q -= c.turn;
            start = behind.size();
            behind.insert(behind.end(), before.begin(), before.end());
            c.samples = std::move(behind);
            c.first = c.last = Curve::End::boundary;
            c.closed = false;
        } else if (start < before.size() - 1) {
            c.beyond.push_back(behind[behind.size() / 2].point.q);
            c.samples = std::move(before);
            c.last = Curve::End::boundary;
        } else {
            c.beyond.push_back(before[before.size() / 2].point.q);
            start -= before.size() - 2;
            c.samples = std::move(behind);
            c.first = Curve::End::boundary;
        }
        return true;
    }
    return false;
}

}  // namespace

Curve trace(RestingManifold& manifold, const RestPoint& from, const CurveOptions& options) {
    Curve c;
    Tracer tracer(manifold, options);
    const std::optional<Sample> start = tracer.sample(from, {});
    if (!start) return c;
    tracer.set_depth_tolerance(start->depth);
    const Tracer::Walk ahead = tracer.walk(*start);
    c.last = ahead.end;
    c.closed = ahead.turn.has_value();
    if (!c.closed) {
        Sample back = *start;
        back.tangent = -back.tangent;
        Tracer::Walk behind = tracer.walk(back);
        c.first = behind.end;
        for (auto s = behind.samples.rbegin(); s != behind.samples.rend(); ++s) {
            s->tangent = -s->tangent;
            c.samples.push_back(*s);
        }
    }
    std::size_t start_index = c.samples.size();
    c.samples.push_back(*start);
    c.samples.insert(c.samples.end(), ahead.samples.begin(), ahead.samples.end());
    if (c.closed) {
        c.turn = *ahead.turn;
        Sample again = *start;  // the whole turn, so that the part between the last sample and the first is covered
        again.point.q += c.turn;
        c.samples.push_back(std::move(again));
    }
    for (int cuts = 0; cuts < max_cuts && cut_at_dip(tracer, c, start_index);) ++cuts;
    return c;
}

Extent extent_of(RestingManifold& manifold, const Curve& curve, Index i) {
    CurveOptions options;
    Tracer tracer(manifold, options);
    Extent e{curve.samples[0].point.q(i), curve.samples[0].point.q(i)};
    const auto take = [&](double x) {
        e.lower = std::min(e.lower, x);
        e.upper = std::max(e.upper, x);
    };
    for (const Sample& s : curve.samples) take(s.point.q(i));
    // A coordinate has an extremum between two samples if it rises at one of them and falls at the other.
    for (std::size_t k = 0; k + 1 < curve.samples.size(); ++k) {
        const Sample &s = curve.samples[k], &next = curve.samples[k + 1];
        if (!(s.tangent(i) * next.tangent(i) < 0.0)) continue;
        const double side = s.tangent(i) > 0.0 ? 1.0 : -1.0;  // +1: the extremum is a maximum
        constexpr double ratio = golden_section_of_coordinates;
        double a = 0.0, b = tracer.distance(s, next);
        for (int round = 0; round < max_extremum_steps && b - a > extremum_accuracy; ++round) {
            const double x = a + ratio * (b - a), y = b - ratio * (b - a);
            const std::optional<RestPoint> px = tracer.point_at(s, x);
            if (!px) break;
            const std::optional<RestPoint> py = tracer.point_at(s, y);
            if (!py) break;
            take(px->q(i));
            take(py->q(i));
            if (side * px->q(i) > side * py->q(i))
                b = y;
            else
                a = x;
        }
    }
    return e;
}

}  // namespace saltus::stability
