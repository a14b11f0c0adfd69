// SPDX-License-Identifier: Apache-2.0
#include "saltus/stability/equilibria/detail/equilibrium_cover.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include "saltus/stability/equilibria/detail/equilibrium_algebra.hpp"
#include "saltus/stability/equilibria/detail/equilibrium_periods.hpp"

namespace saltus::stability {

namespace {

using Index = Eigen::Index;

class Filler {
public:
    Filler(RestingManifold& m, const RestPoint& from, const CoverOptions& o)
        : m_(m), o_(o), from_(from), most_(o.most) {
        out_.around.assign(static_cast<std::size_t>(m.size()), 0);
        out_.endless = out_.around;
        floor_ = m.inside(from.q).value > 1e-6 ? 0.0 : rest_tolerance;
    }

    Cover run() {
        const Matrix T = m_.tangent(from_);
        if (T.cols() > 3) most_ = std::min<std::size_t>(most_, 200);
        measure(T);
        out_.spacing = T.cols() == 2 ? 0.16 : T.cols() == 3 ? 0.4 : 0.9;
        add(from_);
        while (!queue_.empty()) {
            if (out_.inside.size() >= most_ || m_.tired()) {
                out_.complete = false;
                break;
            }
            const RestPoint p = out_.inside[queue_.front()];
            queue_.pop_front();
            spread(p);
        }
        return std::move(out_);
    }

private:
    bool is_inside(const Vector& q) { return m_.inside(q).value >= -floor_; }

    /// The point of the manifold near p + step, with its distance along the step fixed.
    bool reach(const RestPoint& p, const Vector& step, double part, RestPoint& out) {
        out = m_.at(p.q + part * step);  // with forces of its own, so that correction does not move it for theirs
        return m_.correct(out) && (out.q - p.q).cwiseQuotient(m_.unit(p.q)).norm() <=
                                      4.0 * part * step.cwiseQuotient(m_.unit(p.q)).norm() + 1e-12;
    }

    /// Between a point inside and one outside.
    Vector root(const RestPoint& p, const Vector& step) {
        double in = 0.0, out = 1.0, f_in = 0.0, f_out = 0.0, kept = 0.0;
        RestPoint at;
        Vector best = p.q;
        const auto value = [&](double part) {
            return reach(p, step, part, at) ? m_.inside(at.q).value + floor_ : -1.0;
        };
        f_in = value(0.0);
        f_out = value(1.0);
        for (int k = 0; k < 80 && out - in > 1e-13; ++k) {
            double x = 0.5 * (in + out);
            if (k % 3 != 2 && f_in > 0.0 && f_out < 0.0) x = in + (out - in) * f_in / (f_in - f_out);
            if (!(in < x && x < out)) x = 0.5 * (in + out);
            const double f = value(x);
            if (f >= 0.0) {
                in = x;
                f_in = f;
                best = at.q;
                if (kept > 0.0) f_out *= 0.5;
                kept = 1.0;
            } else {
                out = x;
                f_out = f;
                if (kept < 0.0) f_in *= 0.5;
                kept = -1.0;
            }
            if (std::abs(f) < 1e-15) return at.q;
        }
        return best;
    }

    /// Units from how far the set reaches along the tangents and back.
    void measure(const Matrix& T) {
        const Vector unit = m_.unit(from_.q);
        Vector width = Vector::Zero(m_.size());
        for (Index j = 0; j < T.cols(); ++j)
            for (const double side : {1.0, -1.0}) {
                RestPoint at = from_, next;
                double step = 1e-3, length = 0.0;
                Vector direction = side * T.col(j);
                while (length < 1.5) {
                    if (!reach(at, step * direction, 1.0, next) || !is_inside(next.q)) break;
                    length += step;
                    step = std::min(2.0 * step, 0.2);
                    direction = next.q - at.q;  // on along the manifold
                    direction /= direction.cwiseQuotient(unit).norm();
                    at = next;
                    width = width.cwiseMax((at.q - from_.q).cwiseAbs());
                }
                // The last step is a part of one: what is left counts as well.
                width = width.cwiseMax((step * T.col(j)).cwiseAbs() * 0.5);
            }
        const double widest = width.cwiseQuotient(unit).maxCoeff();
        out_.measure = width.cwiseMax(0.02 * widest * unit);
    }

    double distance(const Vector& a, const Vector& b) const { return (a - b).cwiseQuotient(out_.measure).norm(); }

    /// Whether a point is there already; one that is a copy says that the set goes around.
    bool taken(const Vector& q) {
        for (const RestPoint& p : out_.inside) {
            const Vector copy = nearest_copy(o_.periods, p.q, q);
            if (distance(m_.modulo(q), m_.modulo(copy)) > 0.6 * out_.spacing) continue;
            for (Index i = 0; i < q.size(); ++i)
                if (std::abs(copy(i) - p.q(i)) > 1e-9) out_.around[static_cast<std::size_t>(i)] = 1;
            return true;
        }
        return false;
    }

    void add(const RestPoint& p) {
        queue_.push_back(out_.inside.size());
        out_.inside.push_back(p);
    }

    void spread(const RestPoint& p) {
        const Matrix T = m_.tangent(p);
        // Orthonormal in the measure of the cover.
        const Matrix basis = out_.measure.asDiagonal() * range_of(out_.measure.cwiseInverse().asDiagonal() * T);
        for (Index j = 0; j < basis.cols(); ++j)
            for (const double side : {1.0, -1.0}) {
                const Vector step = side * out_.spacing * basis.col(j);
                RestPoint next;
                if (!reach(p, step, 1.0, next)) continue;
                bool far = false;
                for (Index i = 0; i < next.q.size(); ++i)
                    if (std::abs(next.q(i) - from_.q(i)) > o_.furthest * (1.0 + std::abs(from_.q(i)))) {
                        out_.endless[static_cast<std::size_t>(i)] = 1;
                        far = true;
                    }
                if (far || taken(next.q)) continue;
                if (is_inside(next.q))
                    add(next);
                else
                    out_.boundary.push_back(root(p, step));
            }
    }

    RestingManifold& m_;
    const CoverOptions& o_;
    const RestPoint& from_;
    std::size_t most_;
    Cover out_;
    std::deque<std::size_t> queue_;
    double floor_ = 0.0;
};

}  // namespace

Cover cover(RestingManifold& manifold, const RestPoint& from, const CoverOptions& options) {
    return Filler(manifold, from, options).run();
}

}  // namespace saltus::stability
