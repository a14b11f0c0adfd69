// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/roots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"

namespace saltus::ode {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr int degree = 8;
constexpr int samples = degree + 1;
constexpr double between_samples = 0.53;
constexpr int deepest = 20;          // halvings of [a, b]
constexpr int deepest_at_a_gap = 6;  // … to find out where s ceases to be finite

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

// c_k = Σ_j transform[k][j] · value at cos(π j/8) interpolates there.
constexpr auto transform = [] {
    std::array<std::array<double, samples>, samples> a{};
    for (int k = 0; k <= degree; ++k)
        for (int j = 0; j <= degree; ++j) {
            const double end = j == 0 || j == degree ? 0.5 : 1.0, order = k == 0 || k == degree ? 1.0 : 2.0;
            a[static_cast<std::size_t>(k)][static_cast<std::size_t>(j)] = end * order / degree * cosine(j * k);
        }
    return a;
}();

// Σ c_k T_k(x) on [−1, 1].
struct Series {
    std::array<double, samples> c{};
    int order = degree;

    double operator()(double x) const {
        double b1 = 0.0, b2 = 0.0;
        for (int k = order; k >= 1; --k) {
            const double b = c[static_cast<std::size_t>(k)] + 2.0 * x * b1 - b2;
            b2 = b1;
            b1 = b;
        }
        return c[0] + x * b1 - b2;
    }

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

    // Without the last terms, as many as add up to no more than `least`.
    Series trimmed(double least) const {
        Series p = *this;
        for (double sum = 0.0; p.order > 0; --p.order) {
            sum += std::abs(p.c[static_cast<std::size_t>(p.order)]);
            if (sum > least) break;
        }
        return p;
    }

    // What all but the constant can add up to.
    double variation() const {
        double sum = 0.0;
        for (int k = 1; k <= order; ++k) sum += std::abs(c[static_cast<std::size_t>(k)]);
        return sum;
    }
};

// Interpolates values at the points cos(π j/8).
Series interpolate(const std::array<double, samples>& values) {
    Series p;
    for (std::size_t k = 0; k < samples; ++k)
        for (std::size_t j = 0; j < samples; ++j) p.c[k] += transform[k][j] * values[j];
    return p;
}

// Where p, monotone on [lo, hi] and of opposite signs at the ends, vanishes: Newton's method, halving where it leads
// out. An extremum of s is known well enough when the square of its error is lost to rounding.
double zero_between(const Series& p, const Series& slope, double lo, double hi, int sign_at_hi) {
    double x = 0.5 * (lo + hi);
    for (int round = 0; round < 60; ++round) {
        const double value = p(x);
        (sign(value) == sign_at_hi ? hi : lo) = x;
        double next = x - value / slope(x);
        if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
        if (std::abs(next - x) < 1e-9) return next;
        x = next;
    }
    return x;
}

// Where p changes sign in (−1, 1), ascending: once at most between two sign changes of its derivative. Returns how
// many.
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

class Search {
public:
    Search(FunctionRef<double(double)> s, double a, double b, const RootSearch& search, std::vector<Root>& roots)
        : s_(s),
          search_(search),
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

    // --- looking: from pieces of [a, b] to points that leave out no zero
    // ----------------------------------------------

    // False: s is not finite from here on.
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
        if (depth == 0) zero_ = std::max(search_.zero, 8.0 * epsilon * largest);
        const bool divisible = depth < deepest && half > 16.0 * width_ && evaluations_ < search_.most_evaluations;
        if (!finite) return examine_gap(point, divisible && depth < deepest_at_a_gap, depth);

        const Series p = interpolate(value), slope = p.derivative();
        // What the series cut off may amount to: by its last terms, and by one more look at s where a wave that the
        // samples do not see would show. A NaN there settles nothing, so that the piece is halved.
        double rest = 4.0 * std::max(std::abs(p.c[degree - 1]), std::abs(p.c[degree]));
        const double surprise = 4.0 * std::abs(at(middle + half * between_samples).s - p(between_samples));
        if (!(surprise <= rest)) rest = surprise;
        const bool far = std::abs(p.c[0]) - p.variation() > rest + zero_;
        // d/dx of the rest, which begins with T_9: 9² at the ends
        const bool monotone = std::abs(slope.c[0]) - slope.variation() > 32.0 * rest;
        if (far || monotone) {
            for (const Point& q : point) walk(q);
            return true;
        }
        const bool resolved = rest <= 16.0 * zero_;  // what noise of the size of zero_ can look like
        if (!resolved && divisible) return halve(point, depth);
        if (!resolved && half > 16.0 * width_) status_ = RootStatus::unresolved;
        walk_with_extrema(point, p.trimmed(0.25 * zero_).derivative(), middle, half);
        return true;
    }

    bool halve(const std::array<Point, samples>& point, int depth) {
        const Point& middle = point[degree / 2];
        return examine(point.front(), middle, depth + 1) && examine(middle, point.back(), depth + 1);
    }

    bool examine_gap(const std::array<Point, samples>& point, bool divisible, int depth) {
        if (divisible) return halve(point, depth);
        for (const Point& q : point) {
            if (!std::isfinite(q.s)) break;
            walk(q);
        }
        status_ = RootStatus::non_finite;
        return false;
    }

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

    // --- walking: from points in ascending order to roots ---------------------------------------------------------

    // Beyond which s is not 0.
    double band() const { return beyond_ == 0 && !search_.start_counts ? std::max(zero_, search_.leave) : zero_; }

    void walk(const Point& p) {
        const int side = std::abs(p.s) > band() ? sign(p.s) : 0;
        if (side == 0) {
            if (!within_ || std::abs(p.s) < std::abs(nearest_.s)) nearest_ = p;
            if (p.s != 0.0 && sign(p.s) == search_.side) {
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

    void leave_start(const Point& p, int side) {
        if (search_.start_counts) {
            if (sign(start_.s) == -side)
                roots_.push_back(crossing(start_, p));
            else
                roots_.push_back({nearest_.t, start_.s == 0.0 ? side : 0, a_, edge(p, nearest_.t)});
        } else if (search_.side == -side) {
            roots_.push_back(was_expected_ ? crossing(expected_, p) : Root{a_, side, a_, edge(p, a_)});
        }
    }

    // The step ends within the band.
    void end() {
        if (!within_) return;
        if (beyond_ == 0) {
            if (search_.start_counts) roots_.push_back({a_, 0, a_, last_.t});
        } else if (sign(last_.s) == -beyond_) {
            roots_.push_back(crossing(outer_, last_));
        } else {
            const bool arriving = nearest_.t == last_.t || last_.s == 0.0;
            roots_.push_back({nearest_.t, arriving ? -beyond_ : 0, edge(outer_, nearest_.t), last_.t});
        }
    }

    // --- refining ---------------------------------------------------------------------------------------------

    // Chandrupatla's method: inverse quadratic interpolation where the last three points suggest that it works, halving
    // otherwise. s has opposite signs at the two ends.
    Root crossing(const Point& left, const Point& right) {
        const int direction = sign(right.s);
        Point a = right, b = left, c = right;  // newest, its opposite, the one given up last
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

    // From an exact zero towards `far`: the first place with the sign it has there.
    double beside(double zero, const Point& far) {
        for (double step = 0.5 * width_;; step *= 2.0) {
            const double t = far.t > zero ? zero + step : zero - step;
            if (std::abs(t - zero) >= std::abs(far.t - zero)) return far.t;
            if (sign(at(t).s) == sign(far.s)) return t;
        }
    }

    // Between `outer`, beyond the band, and a place within: how far it is still beyond.
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
    const RootSearch& search_;
    std::vector<Root>& roots_;
    double a_, b_, width_, zero_ = 0.0;
    Point start_{};
    int evaluations_ = 0;
    RootStatus status_ = RootStatus::complete;

    int beyond_ = 0;       // sign of s at the last point beyond the band; 0: none yet
    Point outer_{};        // that point
    bool within_ = false;  // points within the band have followed
    Point nearest_{}, last_{};
    Point expected_{};  // the last one with the sign that s is expected to leave a with
    bool was_expected_ = false;
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
    return Search(s, a, b, search, roots).run();
}

}  // namespace saltus::ode
