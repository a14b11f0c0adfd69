// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/polynomial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::ode {

namespace {

/// Coefficients b_j of a polynomial in Bernstein's basis on an interval. The polynomial lies between the smallest and
/// the largest b_j, its ends are b_0 and b_n, and it has no more zeros inside than the b_j have changes of sign
/// (Descartes' rule in this basis).
using Bernstein = std::array<double, max_degree + 1>;

/// Intervals of [0, 1] are halved at most this number of times: the width is then a few units in the last place of 1.
constexpr int max_halvings = 50;
/// Safeguarded Newton iterations for a zero inside a bracket. Bisection alone would need 53.
constexpr int max_refinements = 100;
/// A place that is further before a zero than this, in widths of the zero, is another place.
constexpr double separate_widths = 16.0;

struct Interval {
    double low, high;
};

/// Two neighbours, which one instruction adds.
using Pair = double __attribute__((vector_size(16)));
inline Pair load(const double* x) {
    Pair p;
    std::memcpy(&p, x, sizeof p);
    return p;
}
inline void store(double* x, Pair p) { std::memcpy(x, &p, sizeof p); }

std::span<const double> without_leading_zeros(std::span<const double> c) {
    while (c.size() > 1 && c.back() == 0.0) c = c.first(c.size() - 1);
    return c;
}

/// θ^i = Σ_j C(j, i)/C(n, i) B_j(θ), so that b_j = Σ_i C(j, i) c_i/C(n, i). The sums with C(j, i) are those of Pascal's
/// triangle: adding neighbours n times.
Bernstein to_bernstein(std::span<const double> c) {
    const int degree = static_cast<int>(c.size()) - 1;
    Bernstein b;
    double binomial = 1.0;
    for (int i = 0; i <= degree; ++i) {
        b[ix(i)] = c[ix(i)] / binomial;
        binomial = binomial * (degree - i) / (i + 1);
    }
    // Each sum reads values of the round before, so that two can be made at once, from the end backwards.
    for (int round = 1; round <= degree; ++round) {
        int j = degree;
        for (; j > round; j -= 2) store(&b[ix(j - 1)], load(&b[ix(j - 1)]) + load(&b[ix(j - 2)]));
        if (j == round) b[ix(j)] += b[ix(j - 1)];
    }
    return b;
}

/// Σ c_k θ^k is at least this on [0, 1]: the minimum of the terms up to θ², and the negative ones of the others.
double lower_bound(std::span<const double> c) {
    if (c.size() == 1) return c[0];
    double lowest = std::min(c[1], 0.0);
    if (c.size() > 2) {
        const bool dips = c[1] < 0.0 && c[2] > -0.5 * c[1];
        lowest = dips ? -0.25 * c[1] * c[1] / c[2] : std::min(c[1] + c[2], 0.0);
    }
    for (std::size_t k = 3; k < c.size(); ++k) lowest += std::min(c[k], 0.0);
    return c[0] + lowest;
}

/// Whether bounds of the derivatives show that the polynomial falls, or bends downwards, everywhere on [0, 1]. It is
/// then positive up to one crossing if it starts at a positive value, or bends downwards and starts at zero and rises.
struct Shape {
    bool falls, bends_down;
};
Shape shape_of(std::span<const double> c) {
    if (c.size() < 2) return {false, false};
    // Upper bounds of the first and the second derivative, and the sizes that their rounding errors are relative to.
    double slope = c[1], bend = 0.0, slope_size = std::abs(c[1]), bend_size = 0.0;
    for (std::size_t k = 2; k < c.size(); ++k) {
        const auto order = static_cast<double>(k);
        const double first = order * c[k], second = (order - 1.0) * first;
        slope += std::max(first, 0.0);
        slope_size += std::abs(first);
        bend += k == 2 ? second : std::max(second, 0.0);
        bend_size += std::abs(second);
    }
    const double rounding = std::numeric_limits<double>::epsilon() * static_cast<double>(c.size());
    return {slope < -rounding * slope_size, bend < -rounding * bend_size};
}

/// Whether a polynomial of this shape is positive from its start up to its only crossing, if it has one; also after
/// `lowered`, or `lowered`·θ if it starts at zero, has been subtracted.
bool starts_above(std::span<const double> c, Shape shape, double lowered) {
    const bool from_zero = shape.bends_down && c[0] >= 0.0 && c[1] > 2.0 * lowered;
    return from_zero || ((shape.falls || shape.bends_down) && c[0] > 2.0 * lowered);
}

/// Searches for the first crossing of a polynomial on [0, 1]. `c` has no leading zeros, and `noise` includes the
/// rounding errors of the evaluation.
class CrossingSearch {
public:
    CrossingSearch(std::span<const double> c, double noise)
        : c_(c), degree_(static_cast<int>(c.size()) - 1), noise_(noise) {}

    std::optional<Crossing> on_unit_interval(const Bernstein& b) const { return search(b, {0.0, 1.0}, 0); }

    /// The crossing of a polynomial that has one zero at most where it is not rising, is not negative at 0, and is
    /// certainly negative at 1, where its value is `end`. The first approximation is the zero of the parabola with the
    /// same value and slope at 0 and the same value at 1.
    Crossing only_one(double end) const {
        const double bend = end - c_[0] - c_[1], root = std::sqrt(c_[1] * c_[1] - 4.0 * bend * c_[0]);
        const double start = c_[1] >= 0.0 ? -0.5 * (c_[1] + root) / bend : 2.0 * c_[0] / (root - c_[1]);
        return behind(zero_between(0.0, 1.0, 0.0, start > 0.0 && start < 1.0 ? start : 0.5), 1.0);
    }

    /// Whether the coefficients change sign once, from + to −: there is one zero at most.
    bool falls_once(const Bernstein& b) const {
        bool negative = false;
        for (int j = 0; j <= degree_; ++j) {
            if (b[ix(j)] > 0.0 && negative) return false;
            negative = negative || b[ix(j)] < 0.0;
        }
        return true;
    }

private:
    std::optional<Crossing> search(const Bernstein& b, Interval on, int depth) const {
        double lowest = b[0];
        for (int j = 1; j <= degree_; ++j) lowest = std::min(lowest, b[ix(j)]);
        if (lowest >= -noise_) return {};
        if (b[0] < -noise_) return Crossing{on.low, on.low};
        if (depth == max_halvings) return Crossing{on.low, on.high};
        if (b[ix(degree_)] < -noise_ && falls_once(b)) return refine(b, on);
        // De Casteljau's algorithm halves the interval.
        Bernstein left, right;
        std::copy_n(b.begin(), degree_ + 1, right.begin());
        for (int k = 0; k <= degree_; ++k) {
            left[ix(k)] = right[0];
            int j = 0;
            for (; j + 1 < degree_ - k; j += 2)
                store(&right[ix(j)], 0.5 * (load(&right[ix(j)]) + load(&right[ix(j + 1)])));
            if (j < degree_ - k) right[ix(j)] = 0.5 * (right[ix(j)] + right[ix(j + 1)]);
        }
        const double middle = 0.5 * (on.low + on.high);
        if (auto found = search(left, {on.low, middle}, depth + 1)) return found;
        return search(right, {middle, on.high}, depth + 1);
    }

    /// A polynomial and its derivative.
    struct Value {
        double value, slope;
    };
    Value at(double x) const {
        double value = c_[ix(degree_)], slope = 0.0;
        for (int k = degree_ - 1; k >= 0; --k) {
            slope = slope * x + value;
            value = value * x + c_[ix(k)];
        }
        return {value, slope};
    }

    /// The zero of s + shift between low, where it is not negative, and high, where it is negative. The iteration
    /// starts at x.
    double zero_between(double low, double high, double shift, double x) const {
        for (int round = 0; round < max_refinements; ++round) {
            const Value s = at(x);
            const double value = s.value + shift, correction = value / s.slope;
            (value >= 0.0 ? low : high) = x;
            double next = x - correction;
            const bool inside = next > low && next < high;
            if (std::abs(correction) <= std::numeric_limits<double>::epsilon() * x) return inside ? next : x;
            if (!inside) next = 0.5 * (low + high);
            if (!(next > low && next < high)) break;
            x = next;
        }
        return x;
    }

    /// Where the control polygon of b, a first approximation of the polynomial, passes through zero. The coefficients
    /// fall once.
    double polygon_zero(const Bernstein& b, Interval on) const {
        int j = 1;
        while (j < degree_ && b[ix(j)] >= 0.0) ++j;
        const double before = std::max(b[ix(j - 1)], 0.0), place = j - 1 + before / (before - b[ix(j)]);
        return on.low + (on.high - on.low) * place / degree_;
    }

    /// The crossing on an interval where the coefficients fall once. A zero at its start, from where the polynomial
    /// rises, is not the crossing.
    Crossing refine(const Bernstein& b, Interval on) const {
        const double* const first = std::find_if(b.begin(), b.begin() + degree_ + 1, [](double v) { return v != 0.0; });
        return behind(*first > 0.0 ? zero_between(on.low, on.high, 0.0, polygon_zero(b, on)) : on.low, on.high);
    }

    /// The crossing with this zero. The polynomial is certainly negative at `high`.
    Crossing behind(double zero, double high) const {
        const Value s = at(zero);
        if (s.value < -noise_) return {zero, zero};
        double start = zero - (s.value + noise_) / s.slope;
        if (!(start > zero && start < high)) start = 0.5 * (zero + high);
        return {zero, std::max(zero, zero_between(zero, high, noise_, start))};
    }

    std::span<const double> c_;
    int degree_;
    double noise_;
};

}  // namespace

double evaluation_noise(std::span<const double> c) {
    c = without_leading_zeros(c);
    double sum = 0.0;
    for (const double value : c) sum += std::abs(value);
    return std::numeric_limits<double>::epsilon() * static_cast<double>(c.size()) * sum;
}

double polynomial(std::span<const double> c, double theta) {
    double value = 0.0;
    for (std::size_t k = c.size(); k-- > 0;) value = value * theta + c[k];
    return value;
}

std::optional<Crossing> first_crossing(std::span<const double> c, double noise) {
    SALTUS_EXPECT(!c.empty() && c.size() <= max_degree + 1);
    c = without_leading_zeros(c);
    noise += evaluation_noise(c);
    if (lower_bound(c) >= -noise) return {};
    const CrossingSearch search(c, noise);
    if (const Shape shape = shape_of(c); starts_above(c, shape, 0.0)) {
        const double end = polynomial(c, 1.0);
        if (end >= -noise) return {};
        return search.only_one(end);
    }
    return search.on_unit_interval(to_bernstein(c));
}

namespace {

/// The same as first_possible_crossing for a polynomial that is positive up to its only crossing, if there is one.
/// `decided` is false if rounding errors leave open whether there is one, or where.
struct SimpleAnswer {
    bool decided = false;
    std::optional<PossibleCrossing> found;
};
SimpleAnswer simple_crossing(std::span<const double> c, double noise, double rounding) {
    if (!starts_above(c, shape_of(c), 2.0 * rounding)) return {};
    const double end = polynomial(c, 1.0);
    if (end >= 2.0 * rounding) return {true, {}};
    if (end >= -(noise + rounding)) return {rounding <= noise, {}};
    const Crossing at = CrossingSearch(c, noise + rounding).only_one(end);
    if (rounding <= noise) return {true, PossibleCrossing{at, false, false}};
    const double before = std::max(at.theta - separate_widths * (at.after - at.theta), 0.0);
    const double lowered = c[0] > 4.0 * rounding ? 2.0 * rounding : 2.0 * rounding * before;
    return {polynomial(c, before) >= lowered, PossibleCrossing{at, true, false}};
}

}  // namespace

std::optional<PossibleCrossing> first_possible_crossing(std::span<const double> all, double noise) {
    SALTUS_EXPECT(!all.empty() && all.size() <= max_degree + 1);
    const std::span<const double> c = without_leading_zeros(all);
    const double rounding = evaluation_noise(c);
    if (lower_bound(c) > 2.0 * rounding) return {};
    // A polynomial that starts at zero or above it and exceeds 2·rounding·θ from there on.
    if (c.size() > 1 && c[0] >= 0.0 && lower_bound(c.subspan(1)) > 2.0 * rounding) return {};
    if (const SimpleAnswer simple = simple_crossing(c, noise, rounding); simple.decided) return simple.found;
    const CrossingSearch search(c, noise + rounding);
    const Bernstein b = to_bernstein(c);
    const std::optional<Crossing> certain = search.on_unit_interval(b);
    std::optional<PossibleCrossing> found;
    if (certain) found = {*certain, rounding > noise, false};
    if (rounding <= noise || c.size() < 2) return found;
    // The polynomial minus 2·rounding is below whatever rounding can hide. A zero at the start stays where it is:
    // 2·rounding·θ is subtracted then. Bernstein's coefficients of 1 are 1, those of θ are j/n.
    const auto degree = static_cast<double>(c.size() - 1);
    const bool starts_at_zero = c[0] <= 4.0 * rounding;
    Bernstein lowered;
    bool all_positive = true;
    for (std::size_t j = 0; j < c.size(); ++j) {
        lowered[j] = b[j] - 2.0 * rounding * (starts_at_zero ? static_cast<double>(j) / degree : 1.0);
        all_positive = all_positive && lowered[j] >= 0.0;
    }
    if (all_positive) return found;
    std::array<double, max_degree + 1> shifted;
    std::copy(c.begin(), c.end(), shifted.begin());
    shifted[starts_at_zero ? 1 : 0] -= 2.0 * rounding;
    const std::span<const double> below(shifted.data(), c.size());
    const double same_from = certain ? certain->theta - separate_widths * (certain->after - certain->theta) : 1.0;
    // If the lowered polynomial has one zero at most, and is positive where the crossing begins, then that zero is
    // the crossing.
    const CrossingSearch search_below(below, noise + evaluation_noise(below));
    if (certain && search_below.falls_once(lowered) && polynomial(below, std::max(same_from, 0.0)) >= 0.0) return found;
    const std::optional<Crossing> possible = search_below.on_unit_interval(lowered);
    if (!possible || possible->theta == 0.0) return found;
    if (certain && possible->theta > same_from) return found;
    return PossibleCrossing{*possible, true, true};
}

}  // namespace saltus::ode
