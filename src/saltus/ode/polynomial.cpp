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

class CrossingSearch {
public:
    CrossingSearch(std::span<const double> c, double noise)
        : c_(without_leading_zeros(c)),
          degree_(static_cast<int>(c_.size()) - 1),
          noise_(noise + evaluation_noise(c_)) {}

    std::optional<Crossing> run() const {
        double lowest = c_[0];
        for (std::size_t k = 1; k < c_.size(); ++k) lowest += std::min(c_[k], 0.0);
        if (lowest >= -noise_) return {};
        return search(to_bernstein(), {0.0, 1.0}, 0);
    }

private:
    // θ^i = Σ_j C(j, i)/C(n, i) B_j(θ), so that b_j = Σ_i C(j, i) c_i/C(n, i). The sums with C(j, i) are those of
    // Pascal's triangle: adding neighbours n times.
    Bernstein to_bernstein() const {
        Bernstein b;
        double binomial = 1.0;
        for (int i = 0; i <= degree_; ++i) {
            b[ix(i)] = c_[ix(i)] / binomial;
            binomial = binomial * (degree_ - i) / (i + 1);
        }
        for (int round = 1; round <= degree_; ++round)
            for (int j = degree_; j >= round; --j) b[ix(j)] += b[ix(j - 1)];
        return b;
    }

    std::optional<Crossing> search(const Bernstein& b, Interval on, int depth) const {
        const double lowest = *std::min_element(b.begin(), b.begin() + degree_ + 1);
        if (lowest >= -noise_) return {};
        if (b[0] < -noise_) return Crossing{on.low, on.low};
        if (depth == max_halvings) return Crossing{on.low, on.high};
        if (b[ix(degree_)] < -noise_ && falls_once(b)) return refine(b, on);
        // De Casteljau's algorithm halves the interval.
        Bernstein left, right = b;
        for (int k = 0; k <= degree_; ++k) {
            left[ix(k)] = right[0];
            for (int j = 0; j < degree_ - k; ++j) right[ix(j)] = 0.5 * (right[ix(j)] + right[ix(j + 1)]);
        }
        const double middle = 0.5 * (on.low + on.high);
        if (auto found = search(left, {on.low, middle}, depth + 1)) return found;
        return search(right, {middle, on.high}, depth + 1);
    }

    /// Whether the coefficients change sign once, from + to −.
    bool falls_once(const Bernstein& b) const {
        bool negative = false;
        for (int j = 0; j <= degree_; ++j) {
            if (b[ix(j)] > 0.0 && negative) return false;
            negative = negative || b[ix(j)] < 0.0;
        }
        return true;
    }

    /// The zero of s + shift between low, where it is not negative, and high, where it is negative.
    double zero_between(double low, double high, double shift) const {
        double x = 0.5 * (low + high);
        for (int round = 0; round < max_refinements; ++round) {
            double value = c_[ix(degree_)], slope = 0.0;
            for (int k = degree_ - 1; k >= 0; --k) {
                slope = slope * x + value;
                value = value * x + c_[ix(k)];
            }
            value += shift;
            (value >= 0.0 ? low : high) = x;
            double next = x - value / slope;
            if (!(next > low && next < high)) next = 0.5 * (low + high);
            if (next == x || !(next > low && next < high)) break;
            const bool done = std::abs(next - x) <= std::numeric_limits<double>::epsilon() * x;
            x = next;
            if (done) break;
        }
        return x;
    }

    /// The crossing on an interval where the coefficients fall once. A zero at its start, from where the polynomial
    /// rises, is not the crossing.
    Crossing refine(const Bernstein& b, Interval on) const {
        const double* const first = std::find_if(b.begin(), b.begin() + degree_ + 1, [](double v) { return v != 0.0; });
        const double zero = *first > 0.0 ? zero_between(on.low, on.high, 0.0) : on.low;
        const double after = polynomial(c_, zero) < -noise_ ? zero : zero_between(zero, on.high, noise_);
        return {zero, std::max(zero, after)};
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
    return CrossingSearch(c, noise).run();
}

std::optional<PossibleCrossing> first_possible_crossing(std::span<double> c, double noise) {
    const double rounding = evaluation_noise(c);
    double lowest = c[0] - 2.0 * rounding;
    for (std::size_t k = 1; k < c.size(); ++k) lowest += std::min(c[k], 0.0);
    if (lowest > 0.0) return {};
    const std::optional<Crossing> certain = first_crossing(c, noise);
    std::optional<PossibleCrossing> found;
    if (certain) found = {*certain, rounding > noise, false};
    if (rounding <= noise || c.size() < 2) return found;
    // The shifted polynomial is below whatever rounding can hide. A zero at the start stays where it is.
    double& shifted = c[0] <= 4.0 * rounding ? c[1] : c[0];
    const double kept = shifted;
    shifted -= 2.0 * rounding;
    const std::optional<Crossing> possible = first_crossing(c, noise);
    shifted = kept;
    if (!possible || possible->theta == 0.0) return found;
    constexpr double separate = 16.0;  // in widths of the zero: then it is another place
    if (certain && possible->theta > certain->theta - separate * (certain->after - certain->theta)) return found;
    return PossibleCrossing{*possible, true, true};
}

}  // namespace saltus::ode
