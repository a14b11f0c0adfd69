// SPDX-License-Identifier: Apache-2.0
#include "saltus/ode/polynomial.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "saltus/base/error.hpp"
#include "saltus/base/index.hpp"

namespace saltus::ode {

namespace {

/// Coefficients b_j of a polynomial in Bernstein's basis on an interval. The polynomial lies between the smallest and
/// the largest b_j, its ends are b_0 and b_n, and it has no more zeros inside than the b_j have changes of sign
/// (Descartes' rule in this basis).
using Bernstein = std::array<double, max_degree + 1>;

/// Intervals are halved so often at most: the width is then a few units in the last place of 1.
constexpr int max_halvings = 50;
/// Safeguarded Newton iterations for a zero inside a bracket. Bisection alone would need 53.
constexpr int max_refinements = 100;

struct Interval {
    double low, high;
};

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
    for (int round = 1; round <= degree; ++round)
        for (int j = degree; j >= round; --j) b[ix(j)] += b[ix(j - 1)];
    return b;
}

/// Σ c_k θ^k is at least this on [0, 1].
double lower_bound(std::span<const double> c) {
    double lowest = c[0];
    for (std::size_t k = 1; k < c.size(); ++k) lowest += std::min(c[k], 0.0);
    return lowest;
}

/// Searches for the first crossing of a polynomial on [0, 1]. `c` has no leading zeros, and `noise` includes the
/// rounding errors of the evaluation.
class CrossingSearch {
public:
    CrossingSearch(std::span<const double> c, double noise)
        : c_(c), degree_(static_cast<int>(c.size()) - 1), noise_(noise) {}

    std::optional<Crossing> on_unit_interval(const Bernstein& b) const { return search(b, {0.0, 1.0}, 0); }

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
            for (int j = 0; j < degree_ - k; ++j) right[ix(j)] = 0.5 * (right[ix(j)] + right[ix(j + 1)]);
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
            const double value = s.value + shift;
            (value >= 0.0 ? low : high) = x;
            double next = x - value / s.slope;
            if (!(next > low && next < high)) next = 0.5 * (low + high);
            if (next == x || !(next > low && next < high)) break;
            const bool done = std::abs(next - x) <= std::numeric_limits<double>::epsilon() * x;
            x = next;
            if (done) break;
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
        const double zero = *first > 0.0 ? zero_between(on.low, on.high, 0.0, polygon_zero(b, on)) : on.low;
        const Value s = at(zero);
        if (s.value < -noise_) return {zero, zero};
        double start = zero - (s.value + noise_) / s.slope;
        if (!(start > zero && start < on.high)) start = 0.5 * (zero + on.high);
        return {zero, std::max(zero, zero_between(zero, on.high, noise_, start))};
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
    return CrossingSearch(c, noise).on_unit_interval(to_bernstein(c));
}

std::optional<PossibleCrossing> first_possible_crossing(std::span<const double> all, double noise) {
    SALTUS_EXPECT(!all.empty() && all.size() <= max_degree + 1);
    const std::span<const double> c = without_leading_zeros(all);
    const double rounding = evaluation_noise(c);
    if (lower_bound(c) > 2.0 * rounding) return {};
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
    constexpr double separate = 16.0;  // in widths of the zero: then it is another place
    const double same_from = certain ? certain->theta - separate * (certain->after - certain->theta) : 1.0;
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
