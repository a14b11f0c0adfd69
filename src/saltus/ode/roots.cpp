// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/roots.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/numbers.hpp"

namespace saltus::ode {

namespace {

// The search has three layers:
//   examine   divides [a, b] into pieces and interpolates s on each by a Chebyshev series. A piece is settled if its
//             series shows that s has no zero or is monotone there, or if the series is as accurate as s itself. In
//             the last case the extrema of the series are added to the samples. The settled points contain a point on
//             each side of every zero.
//   walk      goes through these points in ascending order and notices crossings and touches.
//   refine    shrinks the bracket of a root to rounding.
//
// The bracket of an event needs a guaranteed sign on either side and the direction of the crossing. README.md says why
// other searches for zeros in the code base are not built on this one.

constexpr int degree = 8;  // of the Chebyshev series of a piece
constexpr int samples = degree + 1;
constexpr double between_samples = 0.53;    // where s is checked against the series, on [−1, 1]; between two samples
constexpr int max_depth = 20;               // halvings of [a, b]
constexpr int max_depth_at_gap = 6;         // halvings to locate where s ceases to be finite
constexpr double extremum_accuracy = 1e-9;  // of an extremum on [−1, 1]; the error of s there is its square
constexpr int max_zero_rounds = 60;

struct Point {
    double t, s;
};

int sign(double x) { return (x > 0.0) - (x < 0.0); }

// cos(π k/8)
constexpr double cosine(int k) {
    constexpr double quarter[] = {1.0, 0.92387953251128674, 0.70710678118654752, 0.38268343236508977, 0.0};
    k %= 16;
    if (k > 8) k = 16 - k;
    return k <= 4 ? quarter[k] : -quarter[8 - k];
}

// Discrete cosine transform: c_k = Σ_j transform[k][j] · (value at cos(π j/8)) are the coefficients of the interpolant.
constexpr auto transform = [] {
    std::array<std::array<double, samples>, samples> a{};
    for (int k = 0; k <= degree; ++k)
        for (int j = 0; j <= degree; ++j) {
            const double end = j == 0 || j == degree ? 0.5 : 1.0, order = k == 0 || k == degree ? 1.0 : 2.0;
            a[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)] = end * order / degree * cosine(j * k);
        }
    return a;
}();

// A Chebyshev series Σ c_k T_k(x) on [−1, 1].
struct Series {
    std::array<double, samples> c{};
    int order = degree;

    // Clenshaw's recurrence.
    double operator()(double x) const {
        double b1 = 0.0, b2 = 0.0;
        for (int k = order; k >= 1; --k) {
            const double b = c[static_cast<std::size_t>(k)] + 2.0 * x * b1 - b2;
            b2 = b1;
            b1 = b;
        }
        return c[0] + x * b1 - b2;
    }

    // From T'_{k+1}/(k+1) − T'_{k−1}/(k−1) = 2 T_k: d_k = d_{k+2} + 2 (k + 1) c_{k+1}, and half of that for k = 0.
    Series derivative() const {
        Series d;
        d.order = order - 1;
        double next = 0.0, after = 0.0;  // d_{k+1}, d_{k+2}
        for (int k = order - 1; k >= 0; --k) {
            const double value = after + 2.0 * (k + 1) * c[static_cast<std::size_t>(k) + 1];
            after = next;
            next = value;
            d.c[static_cast<std::size_t>(k)] = value;
        }
        d.c[0] *= 0.5;
        return d;
    }

    // The series without its last terms, as many as add up to at most `least`.
    Series trimmed(double least) const {
        Series p = *this;
        for (double sum = 0.0; p.order > 0; --p.order) {
            sum += std::abs(p.c[static_cast<std::size_t>(p.order)]);
            if (sum > least) break;
        }
        return p;
    }

    // Upper bound of |p(x) − c_0|, because |T_k| <= 1.
    double variation() const {
        double sum = 0.0;
        for (int k = 1; k <= order; ++k) sum += std::abs(c[static_cast<std::size_t>(k)]);
        return sum;
    }
};

// The interpolant of values at the points cos(π j/8).
Series interpolate(const std::array<double, samples>& values) {
    Series p;
    for (std::size_t k = 0; k < samples; ++k)
        for (std::size_t j = 0; j < samples; ++j) p.c[k] += transform[k][j] * values[j];
    return p;
}

// The zero of p on [lo, hi], where p is monotone with opposite signs at the ends. Newton's method; it bisects if a step
// leaves the bracket.
double zero_between(const Series& p, const Series& slope, double lo, double hi, int sign_at_hi) {
    double x = 0.5 * (lo + hi);
    for (int round = 0; round < max_zero_rounds; ++round) {
        const double value = p(x);
        (sign(value) == sign_at_hi ? hi : lo) = x;
        double next = x - value / slope(x);
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (std::abs(next - x) < extremum_accuracy) return next;
        x = next;
    }
    return x;
}

// The sign changes of p in (−1, 1), ascending; returns their number. Between two sign changes of its derivative p is
// monotone, so it has at most one; the derivative is treated by recursion.
int sign_changes(const Series& p, std::array<double, degree>& at) {
    if (p.order <= 0 || std::abs(p.c[0]) > p.variation()) return 0;
    if (p.order == 1) {
        at[0] = -p.c[0] / p.c[1];
        return std::abs(at[0]) < 1.0 ? 1 : 0;
    }
    std::array<double, degree> turns;
    const Series slope = p.derivative();
    const int n = sign_changes(slope, turns);
    int count = 0;
    double left = -1.0;
    int side = sign(p(left));
    for (int i = 0; i <= n; ++i) {
        const double right = i < n ? turns[static_cast<std::size_t>(i)] : 1.0;
        const int next = sign(p(right));
        if (side * next < 0) at[static_cast<std::size_t>(count++)] = zero_between(p, slope, left, right, next);
        left = right;
        side = next;
    }
    return count;
}

/// One search on [a, b].
class RootFinder {
public:
    RootFinder(FunctionRef<double(double)> s, double a, double b, const RootSearch& search, std::vector<Root>& roots)
        : s_(s),
          options_(search),
          roots_(roots),
          a_(a),
          b_(b),
          width_(4.0 * epsilon * std::max(std::abs(a), std::abs(b))) {}

    RootStatus run() {
        start_ = at(a_);
        examine(start_, at(b_), 0);
        end();
        return status_;
    }

private:
    Point at(double t) {
        ++evaluations_;
        return {t, s_(t)};
    }

    // --- examine: pieces of [a, b] ---------------------------------------------------------------------------

    // Examines one piece. Returns false if s is not finite from some point of it on.
    bool examine(const Point& lo, const Point& hi, int depth) {
        std::array<Point, samples> point;
        std::array<double, samples> value;
        const double middle = 0.5 * (lo.t + hi.t), half = 0.5 * (hi.t - lo.t);
        bool finite = true;
        double largest = 0.0;
        for (int j = 0; j < samples; ++j) {
            const std::size_t k = static_cast<std::size_t>(j), opposite = static_cast<std::size_t>(degree - j);
            point[k] = j == 0 ? lo : j == degree ? hi : at(middle - half * cosine(j));
            value[opposite] = point[k].s;
            if (std::isfinite(point[k].s))
                largest = std::max(largest, std::abs(point[k].s));
            else
                finite = false;
        }
        if (depth == 0) zero_ = std::max(options_.zero, 8.0 * epsilon * largest);
        const bool long_enough = half > 16.0 * width_;  // the samples are distinct numbers
        const bool divisible = depth < max_depth && long_enough && evaluations_ < options_.max_evaluations;
        if (!finite) return examine_gap(point, divisible && depth < max_depth_at_gap, depth);

        const Series p = interpolate(value), slope = p.derivative();
        // The truncation error of the series, estimated by its last terms, and by one more evaluation of s between two
        // samples, where an oscillation that vanishes at all samples would show. A NaN there makes the comparisons
        // below false, so the piece is halved.
        double rest = 4.0 * std::max(std::abs(p.c[degree - 1]), std::abs(p.c[degree]));
        const double surprise = 4.0 * std::abs(at(middle + half * between_samples).s - p(between_samples));
        if (!(surprise <= rest)) rest = surprise;
        const bool far = std::abs(p.c[0]) - p.variation() > rest + zero_;
        // The rest begins with T_9, whose derivative is at most 9² = 81. `rest` contains a factor of 4, so 32 rest is
        // more than 81 times the last coefficient.
        const bool monotone = std::abs(slope.c[0]) - slope.variation() > 32.0 * rest;
        if (far || monotone) {
            for (const Point& q : point) walk(q);
            return true;
        }
        const bool resolved = rest <= 16.0 * zero_;  // noise of the size zero_ can make the estimate this large
        if (!resolved && divisible) return halve(point, depth);
        if (!resolved && long_enough) status_ = RootStatus::unresolved;
        walk_with_extrema(point, p.trimmed(0.25 * zero_).derivative(), middle, half);
        return true;
    }

    bool halve(const std::array<Point, samples>& point, int depth) {
        const Point& middle = point[degree / 2];
        return examine(point.front(), middle, depth + 1) && examine(middle, point.back(), depth + 1);
    }

    // A piece on which s is not finite everywhere: halve it to approach that place, or walk up to it.
    bool examine_gap(const std::array<Point, samples>& point, bool divisible, int depth) {
        if (divisible) return halve(point, depth);
        for (const Point& q : point) {
            if (!std::isfinite(q.s)) break;
            walk(q);
        }
        status_ = RootStatus::non_finite;
        return false;
    }

    // Walks through the samples and the extrema of the series, in ascending order.
    void walk_with_extrema(const std::array<Point, samples>& point, const Series& slope, double middle, double half) {
        std::array<double, degree> extremum;
        const int n = sign_changes(slope, extremum);
        int i = 0;
        for (const Point& q : point) {
            for (; i < n && middle + half * extremum[static_cast<std::size_t>(i)] < q.t; ++i) {
                const Point e = at(middle + half * extremum[static_cast<std::size_t>(i)]);
                if (std::isfinite(e.s)) walk(e);
            }
            walk(q);
        }
    }

    // --- walk: from points in ascending order to roots -------------------------------------------------------

    // |s| <= band() counts as zero.
    double band() const { return beyond_ == 0 && !options_.start_counts ? std::max(zero_, options_.leave) : zero_; }

    // A point outside the band ends a visit to the band: a crossing if the side has changed, else a touch.
    void walk(const Point& p) {
        const int side = std::abs(p.s) > band() ? sign(p.s) : 0;
        if (side == 0) {
            if (!within_ || std::abs(p.s) < std::abs(nearest_.s)) nearest_ = p;
            if (p.s != 0.0 && sign(p.s) == options_.side) {
                expected_ = p;
                was_expected_ = true;
            }
            within_ = true;
            last_ = p;
            return;
        }
        if (beyond_ == 0 && within_)
            leave_start(p, side);
        else if (beyond_ == -side)
            roots_.push_back(crossing(outer_, p));
        else if (within_)
            roots_.push_back({nearest_.t, 0, edge(outer_, nearest_.t), edge(p, nearest_.t)});
        beyond_ = side;
        outer_ = p;
        within_ = false;
    }

    // s was in the band from a on and leaves it at p for the first time.
    void leave_start(const Point& p, int side) {
        if (options_.start_counts) {
            if (sign(start_.s) == -side)
                roots_.push_back(crossing(start_, p));
            else
                roots_.push_back({nearest_.t, start_.s == 0.0 ? side : 0, a_, edge(p, nearest_.t)});
        } else if (options_.side == -side) {
            roots_.push_back(was_expected_ ? crossing(expected_, p) : Root{a_, side, a_, edge(p, a_)});
        }
    }

    // The end of [a, b], if s is in the band there.
    void end() {
        if (!within_) return;
        if (beyond_ == 0) {
            if (options_.start_counts) roots_.push_back({a_, 0, a_, last_.t});
        } else if (sign(last_.s) == -beyond_) {
            roots_.push_back(crossing(outer_, last_));
        } else {
            const bool arriving = nearest_.t == last_.t || last_.s == 0.0;
            roots_.push_back({nearest_.t, arriving ? -beyond_ : 0, edge(outer_, nearest_.t), last_.t});
        }
    }

    // --- refine: brackets to rounding ------------------------------------------------------------------------

    // Chandrupatla's method for a crossing between two points of opposite signs. a is the newest point, b the point of
    // the opposite sign, c the point given up last. The next point is a + part (b − a). With ξ = (a−b)/(c−b) in t and
    // φ = (a−b)/(c−b) in s, inverse quadratic interpolation through a, b, c is monotone if φ² < ξ and (1−φ)² < 1−ξ;
    // then it is used, otherwise the bracket is halved. The new point stays at least width_/2 away from both ends.
    Root crossing(const Point& left, const Point& right) {
        const int direction = sign(right.s);
        Point a = right, b = left, c = right;
        double part = 0.5;
        while (std::abs(b.t - a.t) > width_) {
            const Point m = at(a.t + part * (b.t - a.t));
            if (!std::isfinite(m.s)) {
                status_ = RootStatus::non_finite;
                break;
            }
            if (m.s == 0.0) {
                const Point& l = a.t < b.t ? a : b;
                const Point& r = a.t < b.t ? b : a;
                return {m.t, direction, beside(m.t, l), beside(m.t, r)};
            }
            if (sign(m.s) == sign(a.s)) {
                c = a;
            } else {
                c = b;
                b = a;
            }
            a = m;
            const double xi = (a.t - b.t) / (c.t - b.t), phi = (a.s - b.s) / (c.s - b.s);
            part = 0.5;
            if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)
                part = a.s / (b.s - a.s) * (c.s / (b.s - c.s)) +
                       (c.t - a.t) / (b.t - a.t) * (a.s / (c.s - a.s)) * (b.s / (c.s - b.s));
            const double least = std::min(0.5, 0.5 * width_ / std::abs(b.t - a.t));
            part = std::clamp(part, least, 1.0 - least);
        }
        return {std::abs(a.s) < std::abs(b.s) ? a.t : b.t, direction, std::min(a.t, b.t), std::max(a.t, b.t)};
    }

    // The first place from an exact zero towards `far` where s has the sign of `far`.
    double beside(double zero, const Point& far) {
        for (double step = 0.5 * width_;; step *= 2.0) {
            const double t = far.t > zero ? zero + step : zero - step;
            if (std::abs(t - zero) >= std::abs(far.t - zero)) return far.t;
            if (sign(at(t).s) == sign(far.s)) return t;
        }
    }

    // The edge of the band, by bisection between `outer`, which is outside, and the place `within`.
    double edge(const Point& outer, double within) {
        const double limit = band();
        double beyond = outer.t;
        while (std::abs(beyond - within) > width_) {
            const double middle = 0.5 * (beyond + within);
            if (middle == beyond || middle == within) break;
            const double s = at(middle).s;
            (std::abs(s) > limit && sign(s) == sign(outer.s) ? beyond : within) = middle;
        }
        return beyond;
    }

    FunctionRef<double(double)> s_;
    const RootSearch& options_;
    std::vector<Root>& roots_;
    double a_, b_, width_, zero_ = 0.0;
    Point start_{};
    int evaluations_ = 0;
    RootStatus status_ = RootStatus::complete;

    // The state of `walk`.
    int beyond_ = 0;             // sign of s at the last point outside the band; 0: there was none yet
    Point outer_{};              // that point
    bool within_ = false;        // points inside the band have followed it
    Point nearest_{}, last_{};   // of these: the one of least |s|, and the last
    Point expected_{};           // the last of these with the sign RootSearch::side
    bool was_expected_ = false;  // expected_ exists
};

}  // namespace

std::string_view to_string(RootStatus status) {
    switch (status) {
        case RootStatus::complete: return "complete";
        case RootStatus::unresolved: return "unresolved";
        case RootStatus::non_finite: return "non_finite";
    }
    return "?";
}

RootStatus find_roots(FunctionRef<double(double)> s, double a, double b, const RootSearch& search,
                      std::vector<Root>& roots) {
    SALTUS_EXPECT(a < b && std::isfinite(a) && std::isfinite(b));
    SALTUS_EXPECT(search.zero >= 0.0 && search.leave >= 0.0);
    roots.clear();
    return RootFinder(s, a, b, search, roots).run();
}

}  // namespace saltus::ode
