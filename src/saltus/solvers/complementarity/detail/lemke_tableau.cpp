// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/lemke_tableau.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-12;        // below this share of its terms a difference is nothing
constexpr double nothing = 1e-14;         // on the right side, whose largest entry is about 1
constexpr double smallest_pivot = 1e-11;  // of the largest entry of its column

/// Bits without a pattern, the same everywhere.
constexpr std::uint64_t scatter(std::uint64_t k) {
    std::uint64_t bits = (k + 1) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
}
constexpr double one_to_two(std::uint64_t bits) { return 1.0 + static_cast<double>(bits >> 12) * 0x1p-52; }

/// The first ones at hand.
constexpr auto first_bits = [] {
    std::array<std::uint64_t, 128> bits{};
    for (std::size_t k = 0; k < bits.size(); ++k) bits[k] = scatter(k);
    return bits;
}();
constexpr auto first_ones_to_two = [] {
    std::array<double, 32> numbers{};
    for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = one_to_two(first_bits[k]);
    return numbers;
}();

std::uint64_t bits_of(int k) {
    const auto i = static_cast<std::size_t>(k);
    return i < first_bits.size() ? first_bits[i] : scatter(i);
}
double direction(int k) {
    const auto i = static_cast<std::size_t>(k);
    return i < first_ones_to_two.size() ? first_ones_to_two[i] : one_to_two(scatter(i));
}

/// −1, 0, 1: x is smaller than y, the same but for rounding, larger.
int compare(double x, double y) {
    return std::abs(x - y) <= rounding * std::max(std::abs(x), std::abs(y)) ? 0 : x < y ? -1 : 1;
}

/// The power of two at or below x, and one near 1/√x.
double power_of_two(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000U); }
double over_root(double x) { return 1.0 / power_of_two(std::sqrt(x)); }

/// The largest entry of each row and column of D M D together; true when they differ little.
bool sizes_of(int n, const double* M, const double* scale, double* size, double& most) {
    std::fill_n(size, n, 0.0);
    const double* column = M;
    for (int j = 0; j < n; ++j, column += n) {
        double largest = size[j];
        for (int i = 0; i < n; ++i) {
            const double entry = std::abs(column[i]) * scale[i] * scale[j];
            size[i] = size[i] < entry ? entry : size[i];
            largest = largest < entry ? entry : largest;
        }
        size[j] = std::max(size[j], largest);
    }
    double least = infinity;
    most = 0.0;
    for (int i = 0; i < n; ++i) {
        most = std::max(most, size[i]);
        if (size[i] > 0.0) least = std::min(least, size[i]);
    }
    return most <= 0x1p8 * least;
}

/// D with D M D of entries about 1 in each row and column.
void equilibrate(int n, const double* M, double* scale, double* size) {
    std::fill_n(scale, n, 1.0);
    double most = 0.0;
    bool even = sizes_of(n, M, scale, size, most);
    if (even && most > 0x1p-4 && most < 0x1p4) return;
    for (int round = 0; round < 3 && !even; ++round) {
        for (int i = 0; i < n; ++i)
            if (size[i] > 0.0) scale[i] *= over_root(size[i]);
        even = sizes_of(n, M, scale, size, most);
    }
    if (most > 0.0)
        for (int i = 0; i < n; ++i) scale[i] *= over_root(most);
}

}  // namespace

LemkeTableau::LemkeTableau(const Problem& p, double* numbers, int* integers)
    : n_(p.n),
      stride_(padded(p.n)),
      bounded_(p.upper != nullptr),
      T_(numbers),
      right_(column(n_ + 1)),
      tie_(column(n_ + 2)),
      scale_(column(n_ + 3)),
      upper_(scale_ + n_),
      basic_(integers),
      nonbasic_(basic_ + n_),
      where_(nonbasic_ + n_ + 1),
      turned_(where_ + 2 * n_ + 1) {
    equilibrate(n_, p.M, scale_, upper_);
    double size = 0.0;
    for (int i = 0; i < n_; ++i) size = std::max(size, std::abs(p.q[i]) * scale_[i]);
    if (size > 0.0) q_scale_ = power_of_two(size);
    const double over_q = 1.0 / q_scale_;
    const double* from = p.M;
    double *to = T_, *const cover = column(n_);
    for (int j = 0; j < n_; ++j, from += n_, to += stride_)
        for (int i = 0; i < n_; ++i) to[i] = from[i] * scale_[i] * scale_[j];
    for (int i = 0; i < n_; ++i) {
        cover[i] = p.covering == nullptr ? 1.0 : p.covering[i];
        tie_[i] = direction(i);
        right_[i] = p.q[i] * scale_[i] * over_q + p.perturbation * tie_[i];
        upper_[i] = bounded_ ? p.upper[i] / scale_[i] * over_q : infinity;
        basic_[i] = i;
        where_[i] = -1 - i;
        nonbasic_[i] = n_ + i;
        where_[n_ + i] = i;
        turned_[i] = 0;
    }
    nonbasic_[n_] = 2 * n_;
    where_[2 * n_] = n_;
    if (stride_ > n_)
        for (int j = 0; j < n_ + 3; ++j)
            for (int i = n_; i < stride_; ++i) column(j)[i] = 0.0;
}

/// Where z₀ enters: the row that needs most of it.
int LemkeTableau::first_row() const {
    int best = -1;
    double length = 0.0, second = 0.0;
    for (int i = 0; i < n_; ++i) {
        const double d = column(n_)[i];
        if (!(d > 0.0)) continue;
        const double x = right_[i] / d, y = tie_[i] / d;
        const int c = best < 0 ? -1 : compare(x, length);
        if (c > 0 || (c == 0 && y >= second)) continue;
        best = i, length = x, second = y;
    }
    return best;
}

/// How far the unknown of a column can rise, and what stops it: a basic unknown at 0 or at its upper bound, or its own.
LemkeTableau::Step LemkeTableau::longest_step(int c) const {
    const double* const slopes = column(c);
    double largest = 1.0;
    for (int i = 0; i < n_; ++i) largest = std::max(largest, std::abs(slopes[i]));
    const double threshold = smallest_pivot * largest;
    const int artificial = -1 - where_[2 * n_];
    Step best;
    best.length = is_z(nonbasic_[c]) ? upper_[nonbasic_[c] - n_] : infinity;
    double slope_of_best = 1.0;
    for (int i = 0; i < n_; ++i) {
        const double slope = slopes[i];
        if (std::abs(slope) <= threshold || (slope > 0.0 && !bounded_)) continue;
        double room = right_[i];
        if (slope > 0.0) {
            if (!is_z(basic_[i]) || upper_[basic_[i] - n_] == infinity) continue;
            const double bound = upper_[basic_[i] - n_];
            room = std::abs(room - bound) <= rounding * bound ? 0.0 : room - bound;
        }
        if (std::abs(room) <= nothing) room = 0.0;
        const double length = -room / slope;
        const int order = best.length == infinity ? -1 : compare(length, best.length);
        if (order > 0) continue;
        if (order == 0 && i != artificial) {  // z₀ leaves as soon as it can
            const double tie_of_best = best.row < 0 ? 0.0 : -tie_[best.row] / slope_of_best;
            if (best.row == artificial || -tie_[i] / slope >= tie_of_best) continue;
        }
        best = {i, slope > 0.0, length};
        slope_of_best = slope;
    }
    return best;
}

void LemkeTableau::turn_column(int c) {
    double* const own = column(c);
    for (int i = 0; i < n_; ++i) own[i] = -own[i];
}

/// z_i becomes upper − z_i, and w_i becomes −w_i; either may be basic.
void LemkeTableau::turn(int i) {
    for (const int variable : {i, n_ + i}) {
        const int at = where_[variable];
        if (at >= 0) {
            turn_column(at);
            continue;
        }
        for (int j = 0; j < n_ + 3; ++j) column(j)[-1 - at] = -column(j)[-1 - at];
        if (variable >= n_) right_[-1 - at] += upper_[i];
    }
    turned_[i] ^= 1;
    basis_ ^= bits_of(2 * n_ + 1 + i);
}

void LemkeTableau::pivot(int r, int c) {
    exchange(T_, stride_, n_ + 3, r, c, rounding);
    basis_ ^= bits_of(basic_[r]) ^ bits_of(nonbasic_[c]);
    std::swap(basic_[r], nonbasic_[c]);
    where_[basic_[r]] = -1 - r;
    where_[nonbasic_[c]] = c;
}

LemkeTableau::End LemkeTableau::run(int max_pivots) {
    Step step;
    step.row = first_row();
    if (step.row < 0 || right_[step.row] >= 0.0) return End::solution;
    int c = n_;
    // Brent: the basis after 1, 2, 4, … pivots is remembered, and one in a cycle meets it again.
    std::uint64_t remembered = 0;
    for (int until = 1; pivots_ < max_pivots;) {
        ++pivots_;
        const int leaving = step.row >= 0 ? basic_[step.row] : nonbasic_[c];
        if (step.row < 0) {  // the unknown that enters goes to its own upper bound
            const double* const own = column(c);
            for (int i = 0; i < n_; ++i) right_[i] += own[i] * step.length;
            turn(leaving - n_);
        } else {
            if (step.at_upper) turn(leaving - n_);
            pivot(step.row, c);
        }
        if (leaving == 2 * n_) return End::solution;
        if (pivots_ > 1 && basis_ == remembered) return End::cycle;
        if (pivots_ == until) {
            remembered = basis_;
            until *= 2;
        }
        c = where_[leaving < n_ ? leaving + n_ : leaving - n_];  // the complement enters
        step = longest_step(c);
        if (step.length == infinity) {
            ray_ = c;
            return End::ray;
        }
    }
    return End::limit;
}

Place LemkeTableau::place(int i) const { return where_[n_ + i] < 0 ? between : turned_[i] != 0 ? at_upper : at_lower; }

void LemkeTableau::solution(double* z) const {
    for (int i = 0; i < n_; ++i) {
        const double value = where_[n_ + i] < 0 ? std::clamp(right_[-1 - where_[n_ + i]], 0.0, upper_[i]) : 0.0;
        z[i] = (turned_[i] != 0 ? upper_[i] - value : value) * q_scale_ * scale_[i];
    }
}

void LemkeTableau::ray(double* y) const {
    std::fill_n(y, n_, 0.0);
    if (is_z(nonbasic_[ray_])) y[nonbasic_[ray_] - n_] = scale_[nonbasic_[ray_] - n_];
    for (int i = 0; i < n_; ++i)
        if (is_z(basic_[i])) y[basic_[i] - n_] = std::max(0.0, column(ray_)[i]) * scale_[basic_[i] - n_];
}

}  // namespace saltus::solvers
