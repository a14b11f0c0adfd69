// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_curve.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"

namespace saltus::stability {

namespace {

using Sample = Curve::Sample;
using Index = Eigen::Index;

class Tracer {
public:
    Tracer(RestingManifold& m, const CurveOptions& o) : m_(m), o_(o) {}

    /// The tangent at a point, turned along `like`; false where the manifold is no curve.
    bool look(Sample& s, const Vector& like) {
        const Matrix T = m_.tangent(s.point);
        if (T.cols() != 1) return false;
        s.tangent = T.col(0).cwiseQuotient(m_.unit(s.point.q));
        if (like.size() > 0 && s.tangent.dot(like) < 0.0) s.tangent = -s.tangent;
        s.inside = m_.inside(s.point.q).value;
        return true;
    }

    /// The point of the curve at this distance along the tangent of a sample.
    bool along(const Sample& from, double distance, RestPoint& out) {
        const Vector unit = m_.unit(from.point.q);
        out = m_.at(from.point.q + distance * from.tangent.cwiseProduct(unit));
        return m_.correct(out, RestingManifold::Slice{from.point.q, from.tangent.cwiseQuotient(unit), distance});
    }

    double inside_at(const Sample& from, double distance) {
        RestPoint p;
        return along(from, distance, p) ? m_.inside(p.q).value : -1.0;
    }

    /// The distance where it stops being an equilibrium, between one where it is and one where it is not.
    double root(const Sample& from, double in, double out) {
        double f_in = inside_at(from, in) + floor_, f_out = inside_at(from, out) + floor_;
        double kept = 0.0;
        for (int k = 0; k < 200 && std::abs(out - in) > 1e-15 * (1.0 + std::abs(in)); ++k) {
            // Illinois, and every third time the middle.
            double x = 0.5 * (in + out);
            if (k % 3 != 2 && f_in > 0.0 && f_out < 0.0) x = in + (out - in) * f_in / (f_in - f_out);
            if (!(std::min(in, out) < x && x < std::max(in, out))) x = 0.5 * (in + out);
            if (x == in || x == out) break;
            const double f = inside_at(from, x) + floor_;
            if (f >= 0.0) {
                in = x;
                f_in = f;
                if (kept > 0.0) f_out *= 0.5;
                kept = 1.0;
            } else {
                out = x;
                f_out = f;
                if (kept < 0.0) f_in *= 0.5;
                kept = -1.0;
            }
            if (f == 0.0) break;
        }
        return in;
    }

    /// Steps from the start in one direction; the samples without the start.
    std::vector<Sample> walk(const Sample& start, Curve::End& end, bool& closed, Vector& turn) {
        std::vector<Sample> list;
        Sample here = start;
        double step = o_.step, length = 0.0, size = m_.force_size(start.point.q);
        while (true) {
            Sample next;
            const bool fine = along(here, step, next.point) && look(next, here.tangent);
            if (!fine || next.tangent.dot(here.tangent) < 0.9) {
                step *= 0.5;
                if (step < 1e-9) {
                    end = Curve::End::singular;
                    return list;
                }
                continue;
            }
            if (next.inside < -floor_) {
                Sample last;
                end = Curve::End::boundary;
                if (!along(here, root(here, 0.0, step), last.point)) return list;
                if (!look(last, here.tangent)) last.tangent = here.tangent;  // where forces would be infinite
                if (m_.force_size(last.point.q) > 1e5) end = Curve::End::infinite_forces;
                list.push_back(std::move(last));
                return list;
            }
            if (!list.empty() && passes(here, step, start, turn)) {
                closed = true;
                return list;
            }
            const double next_size = m_.force_size(next.point.q);
            if (next_size > 1e5 && next_size > 1.01 * size) {
                // 1/force goes to zero like the distance.
                const double left = step * size / (next_size - size);
                Sample last = next;
                last.point.q += left * next.tangent.cwiseProduct(m_.unit(next.point.q));
                last.inside = 0.0;
                list.push_back(next);
                if (m_.close(last.point.q)) list.push_back(std::move(last));
                end = Curve::End::infinite_forces;
                return list;
            }
            size = next_size;
            list.push_back(next);
            here = std::move(next);
            length += step;
            // Not far beyond where forces would be infinite, on to the other side.
            if (size > 10.0) {
                step = std::min(step, 0.2 * o_.longest * 10.0 / size);
                continue;
            }
            step = std::min(1.5 * step, o_.longest);
            if (length > o_.furthest) {
                end = Curve::End::unbounded;
                return list;
            }
        }
    }

    /// Whether the start, or a copy of it, lies on the step that comes.
    bool passes(const Sample& here, double step, const Sample& start, Vector& turn) {
        const Vector unit = m_.unit(here.point.q);
        const Vector reached = here.point.q + step * here.tangent.cwiseProduct(unit);
        const Vector copy = nearest_copy(o_.periods, start.point.q, reached);
        const Vector to = (copy - here.point.q).cwiseQuotient(unit);
        const double along_it = to.dot(here.tangent);
        if (along_it < -1e-12 || along_it > step) return false;
        if ((to - along_it * here.tangent).norm() > 0.2 * step) return false;
        if (start.tangent.dot(here.tangent) < 0.5) return false;
        turn = copy - start.point.q;
        return true;
    }

    /// A dip of the margin between samples, to where it is least; the distance from the middle one. The margin has
    /// kinks, so that a second look with many samples follows where the first ends low.
    double least_between(const Sample& middle, double from, double to, double& value) {
        double at = golden(middle, from, to, value);
        if (value < -rest_tolerance || value > 0.1) return at;
        constexpr int parts = 24;
        double low = value, where = at;
        for (int k = 1; k < parts; ++k) {
            const double x = from + (to - from) * k / parts, f = inside_at(middle, x);
            if (f < low) {
                low = f;
                where = x;
            }
        }
        const double width = (to - from) / parts;
        double second = 0.0;
        const double again = golden(middle, std::max(from, where - width), std::min(to, where + width), second);
        if (second < value) {
            value = second;
            at = again;
        }
        return at;
    }

    double golden(const Sample& middle, double a, double b, double& value) {
        constexpr double ratio = 0.3819660112501051;
        double x = a + ratio * (b - a), y = b - ratio * (b - a);
        double fx = inside_at(middle, x), fy = inside_at(middle, y);
        for (int k = 0; k < 60 && b - a > 1e-12; ++k) {
            if (fx < fy) {
                b = y;
                y = x;
                fy = fx;
                x = a + ratio * (b - a);
                fx = inside_at(middle, x);
            } else {
                a = x;
                x = y;
                fx = fy;
                y = b - ratio * (b - a);
                fy = inside_at(middle, y);
            }
        }
        value = std::min(fx, fy);
        return fx < fy ? x : y;
    }

    double distance(const Sample& from, const Sample& to) const {
        return (to.point.q - from.point.q).cwiseQuotient(m_.unit(from.point.q)).dot(from.tangent);
    }

    void set_floor(double inside) { floor_ = inside > 1e-6 ? 0.0 : rest_tolerance; }
    double floor() const { return floor_; }

private:
    RestingManifold& m_;
    const CurveOptions& o_;
    double floor_ = 0.0;  // a set without an inside has margin 0 all over, up to rounding
};

/// Cuts the curve at a dip that leaves the set, keeping the side of the start; a closed curve opens there.
bool cut_at_dips(Tracer& tracer, Curve& c, std::size_t& start) {
    for (std::size_t k = 1; k + 1 < c.samples.size(); ++k) {
        const Sample& s = c.samples[k];
        if (s.inside > c.samples[k - 1].inside || s.inside > c.samples[k + 1].inside) continue;
        if (std::min(c.samples[k - 1].inside, c.samples[k + 1].inside) >= 1.0 - 1e-9 && s.inside >= 1.0 - 1e-9)
            continue;  // the margin's ceiling
        double value = 0.0;
        const double from = tracer.distance(s, c.samples[k - 1]), to = tracer.distance(s, c.samples[k + 1]);
        const double at = tracer.least_between(s, from, to, value);
        if (value >= -rest_tolerance) continue;
        // One part ends before the dip, another begins behind it.
        Sample end, begin;
        const bool fine =
            tracer.along(s, tracer.root(s, at < 0.0 ? from : 0.0, at), end.point) && tracer.look(end, s.tangent) &&
            tracer.along(s, tracer.root(s, at < 0.0 ? 0.0 : to, at), begin.point) && tracer.look(begin, s.tangent);
        if (!fine) continue;
        const auto cut = c.samples.begin() + static_cast<std::ptrdiff_t>(at < 0.0 ? k : k + 1);
        std::vector<Sample> before(c.samples.begin(), cut), behind(cut, c.samples.end());
        before.push_back(std::move(end));
        behind.insert(behind.begin(), std::move(begin));
        if (c.closed) {
            behind.pop_back();  // the start once more
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
    Sample start;
    start.point = from;
    if (!tracer.look(start, {})) return c;
    tracer.set_floor(start.inside);
    Vector turn = Vector::Zero(from.q.size());
    std::vector<Sample> ahead = tracer.walk(start, c.last, c.closed, turn), behind;
    if (!c.closed) {
        Sample back = start;
        back.tangent = -back.tangent;
        behind = tracer.walk(back, c.first, c.closed, turn);
        c.closed = false;
    }
    for (auto s = behind.rbegin(); s != behind.rend(); ++s) {
        s->tangent = -s->tangent;
        c.samples.push_back(*s);
    }
    std::size_t at = c.samples.size();
    c.samples.push_back(start);
    c.samples.insert(c.samples.end(), ahead.begin(), ahead.end());
    if (c.closed) {
        c.turn = turn;
        Sample again = start;  // a whole turn, so that nothing is missed between the last sample and the first
        again.point.q += turn;
        c.samples.push_back(std::move(again));
    }
    for (int cuts = 0; cuts < 20 && cut_at_dips(tracer, c, at);) ++cuts;
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
    for (std::size_t k = 1; k + 1 < curve.samples.size(); ++k) {
        const Sample& s = curve.samples[k];
        const double q = s.point.q(i), before = curve.samples[k - 1].point.q(i),
                     after = curve.samples[k + 1].point.q(i);
        for (const double side : {1.0, -1.0}) {
            if (side * q < side * before || side * q < side * after) continue;
            if (side > 0.0 ? q < e.upper - std::abs(after - before) - 1e-12
                           : q > e.lower + std::abs(after - before) + 1e-12)
                continue;
            double a = tracer.distance(s, curve.samples[k - 1]), b = tracer.distance(s, curve.samples[k + 1]);
            for (int round = 0; round < 80 && b - a > 1e-9; ++round) {
                const double x = a + 0.381966 * (b - a), y = b - 0.381966 * (b - a);
                RestPoint px, py;
                if (!tracer.along(s, x, px) || !tracer.along(s, y, py)) break;
                take(px.q(i));
                take(py.q(i));
                if (side * px.q(i) > side * py.q(i))
                    b = y;
                else
                    a = x;
            }
        }
    }
    return e;
}

}  // namespace saltus::stability
