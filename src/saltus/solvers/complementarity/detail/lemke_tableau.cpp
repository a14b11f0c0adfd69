// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/lemke_tableau.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "saltus/base/numbers.hpp"
#include "saltus/base/stop.hpp"
#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

constexpr double rounding = 1e-12;          // |x − y| <= rounding max(|x|, |y|) counts as equal
constexpr double negligible_right = 1e-14;  // |right-hand side| <= this counts as 0; its largest entry is about 1
constexpr double smallest_pivot = 1e-11;    // |pivot| must exceed this share of the largest entry of its column

// Equilibration: the scaling stops if the largest and the smallest row size differ by at most `even_ratio`, and does
// not begin if the largest is within [1/16, 16] as well.
constexpr double even_ratio = 0x1p8, smallest_size = 0x1p-4, largest_size = 0x1p4;
constexpr int equilibration_rounds = 3;

/// A hash of k (the finaliser of splitmix64): bits without a visible pattern, the same on every machine.
constexpr std::uint64_t scatter(std::uint64_t k) {
    std::uint64_t bits = (k + 1) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
}
/// A number in [1, 2) from the upper 52 bits.
constexpr double one_to_two(std::uint64_t bits) { return 1.0 + static_cast<double>(bits >> 12) * 0x1p-52; }

/// Tables for small k, computed at compile time.
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
/// Component k of the tie-breaking vector p.
double direction(int k) {
    const auto i = static_cast<std::size_t>(k);
    return i < first_ones_to_two.size() ? first_ones_to_two[i] : one_to_two(scatter(i));
}

/// −1 if x < y, 0 if they are equal up to rounding, 1 if x > y.
int compare(double x, double y) {
    return std::abs(x - y) <= rounding * std::max(std::abs(x), std::abs(y)) ? 0 : x < y ? -1 : 1;
}

/// The largest power of two that is at most x > 0: the exponent bits of x alone.
double power_of_two(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000U); }
/// A power of two near 1/√x.
double over_root(double x) { return 1.0 / power_of_two(std::sqrt(x)); }

struct Sizes {
    bool even;       // the sizes differ little
    double largest;  // of all entries
};

/// size_i: the largest entry of row i and column i of D M D together.
Sizes sizes_of(int n, const double* M, const double* scale, double* size) {
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
    double smallest = infinity, largest = 0.0;
    for (int i = 0; i < n; ++i) {
        largest = std::max(largest, size[i]);
        if (size[i] > 0.0) smallest = std::min(smallest, size[i]);
    }
    return {largest <= even_ratio * smallest, largest};
}

/// Powers of two D such that D M D has entries of about 1 in each row and column. `size` is scratch.
void equilibrate(int n, const double* M, double* scale, double* size) {
    std::fill_n(scale, n, 1.0);
    Sizes now = sizes_of(n, M, scale, size);
    if (now.even && now.largest > smallest_size && now.largest < largest_size) return;
    for (int round = 0; round < equilibration_rounds && !now.even; ++round) {
        for (int i = 0; i < n; ++i)
            if (size[i] > 0.0) scale[i] *= over_root(size[i]);
        now = sizes_of(n, M, scale, size);
    }
    if (now.largest > 0.0)
        for (int i = 0; i < n; ++i) scale[i] *= over_root(now.largest);
}

}  // namespace

// Scaled unknowns: with D = diag(scale) and Q = q_scale the problem D w/Q = (D M D)(D⁻¹ z/Q) + D q/Q + d z₀ has entries
// of about 1. Bounds are upper/(D Q). The first basis is w.
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

/// The row where z₀ enters: z₀ must lift w = q + d z₀ above zero, so the row with the least q_i/d_i blocks. Ties are
/// decided by p_i/d_i. -1 if no d_i is positive.
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

/// The ratio test: how far the unknown of column c can rise until a basic unknown reaches 0 (slope < 0) or its upper
/// bound (slope > 0), or until it reaches its own upper bound. Ties are decided by the derivative of the length along
/// p; z₀ leaves the basis as soon as it can, because the path then ends in a solution.
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
        if (std::abs(room) <= negligible_right) room = 0.0;
        const double length = -room / slope;
        const int order = best.length == infinity ? -1 : compare(length, best.length);
        if (order > 0) continue;
        if (order == 0 && i != artificial) {
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

/// Replaces z_i by upper_i − z_i and w_i by −w_i in the tableau, so that an unknown at its upper bound is at 0. Either
/// may be basic or not.
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

/// Exchanges the basic unknown of row r and the nonbasic one of column c.
void LemkeTableau::pivot(int r, int c) {
    exchange(T_, stride_, n_ + 3, r, c, rounding);
    basis_ ^= bits_of(basic_[r]) ^ bits_of(nonbasic_[c]);
    std::swap(basic_[r], nonbasic_[c]);
    where_[basic_[r]] = -1 - r;
    where_[nonbasic_[c]] = c;
}

// Complementary pivoting: if w_i leaves the basis, z_i enters next, and vice versa, so that w_i z_i = 0 holds for all i
// but one as long as z₀ > 0.
LemkeTableau::End LemkeTableau::run(int max_pivots) {
    Step step;
    step.row = first_row();
    if (step.row < 0 || right_[step.row] >= 0.0) return End::solution;
    int c = n_;
    // Brent's cycle detection: the fingerprint of the basis after 1, 2, 4, … pivots is kept; a cycle meets it again.
    std::uint64_t remembered = 0;
    for (int until = 1; pivots_ < max_pivots;) {
        ++pivots_;
        count_work(static_cast<double>(n_) * n_);
        const int leaving = step.row >= 0 ? basic_[step.row] : nonbasic_[c];
        if (step.row < 0) {  // the entering unknown goes to its own upper bound; the basis does not change
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
        c = where_[leaving < n_ ? leaving + n_ : leaving - n_];  // the complement of `leaving` enters
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

// Along the ray the entering unknown rises by 1 and the basic ones by its column.
void LemkeTableau::ray(double* y) const {
    std::fill_n(y, n_, 0.0);
    if (is_z(nonbasic_[ray_])) y[nonbasic_[ray_] - n_] = scale_[nonbasic_[ray_] - n_];
    for (int i = 0; i < n_; ++i)
        if (is_z(basic_[i])) y[basic_[i] - n_] = std::max(0.0, column(ray_)[i]) * scale_[basic_[i] - n_];
}

}  // namespace saltus::solvers
