// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/lemke_tableau.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "saltus/solvers/panel.hpp"

namespace saltus::solvers {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double rounding = 1e-12;        // below this share of its terms a difference is nothing
constexpr double nothing = 1e-14;         // on the right side, whose largest entry is about 1
constexpr double smallest_pivot = 1e-11;  // of the largest entry of its column

/// Bits without a pattern, the same everywhere.
std::uint64_t scattered(int k) {
    std::uint64_t bits = (static_cast<std::uint64_t>(k) + 1) * 0x9e3779b97f4a7c15U;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
    return bits ^ (bits >> 31);
}

double between_one_and_two(int k) { return 1.0 + static_cast<double>(scattered(k) >> 12) * 0x1p-52; }

/// −1, 0, 1: x is smaller than y, the same but for rounding, larger.
int compare(double x, double y) {
    return std::abs(x - y) <= rounding * std::max(std::abs(x), std::abs(y)) ? 0 : x < y ? -1 : 1;
}

/// The power of two at or below x, and one near 1/√x.
double power_of_two(double x) { return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) & 0x7ff0000000000000U); }
double over_root(double x) { return 1.0 / power_of_two(std::sqrt(x)); }

/// D with D M D of entries about 1 in each row and column.
void equilibrate(int n, const double* M, double* scale, double* size) {
    std::fill_n(scale, n, 1.0);
    for (int round = 0; round < 3; ++round) {
        std::fill_n(size, n, 0.0);
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const double entry = std::abs(M[static_cast<std::ptrdiff_t>(j) * n + i]) * scale[i] * scale[j];
                size[i] = std::max(size[i], entry);
                size[j] = std::max(size[j], entry);
            }
        double most = 0.0, least = infinity;
        for (int i = 0; i < n; ++i)
            if (size[i] > 0.0) most = std::max(most, size[i]), least = std::min(least, size[i]);
        if (!(most > 0.0)) return;
        const bool even = most < 0x1p6 * least;  // then one factor is enough
        for (int i = 0; i < n; ++i)
            if (even || size[i] > 0.0) scale[i] *= over_root(even ? most : size[i]);
        if (even) return;
    }
}

}  // namespace

LemkeTableau::LemkeTableau(const Problem& p, double* numbers, int* integers)
    : n_(p.n),
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
    for (int j = 0; j < n_; ++j) {
        const double* const from = p.M + static_cast<std::ptrdiff_t>(j) * n_;
        double* const to = column(j);
        for (int i = 0; i < n_; ++i) to[i] = from[i] * scale_[i] * scale_[j];
    }
    for (int i = 0; i < n_; ++i) {
        column(n_)[i] = p.covering == nullptr ? 1.0 : p.covering[i];
        tie_[i] = between_one_and_two(i);
        right_[i] = p.q[i] * scale_[i] / q_scale_ + p.perturbation * tie_[i];
        upper_[i] = p.upper == nullptr ? infinity : p.upper[i] / (scale_[i] * q_scale_);
        basic_[i] = i;
        where_[i] = -1 - i;
        turned_[i] = 0;
    }
    for (int j = 0; j <= n_; ++j) {
        nonbasic_[j] = n_ + j;
        where_[n_ + j] = j;
    }
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
    const double threshold = smallest_pivot * std::max(1.0, largest_of(slopes, n_));
    const int artificial = -1 - where_[2 * n_];
    Step best;
    best.length = is_z(nonbasic_[c]) ? upper_[nonbasic_[c] - n_] : infinity;
    for (int i = 0; i < n_; ++i) {
        const double slope = slopes[i];
        if (std::abs(slope) <= threshold) continue;
        double room = right_[i];
        if (slope > 0.0) {
            if (!is_z(basic_[i]) || upper_[basic_[i] - n_] == infinity) continue;
            const double bound = upper_[basic_[i] - n_];
            room = std::abs(room - bound) <= rounding * bound ? 0.0 : room - bound;
        }
        if (std::abs(room) <= nothing) room = 0.0;
        const Step step{i, slope > 0.0, -room / slope, -tie_[i] / slope};
        const int order = best.length == infinity ? -1 : compare(step.length, best.length);
        // z₀ leaves as soon as it can.
        if (order < 0 || (order == 0 && (i == artificial || (best.row != artificial && step.tie < best.tie))))
            best = step;
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
    basis_ ^= scattered(2 * n_ + 1 + i);
}

void LemkeTableau::pivot(int r, int c) {
    exchange(T_, n_, n_ + 3, r, c, rounding);
    basis_ ^= scattered(basic_[r]) ^ scattered(nonbasic_[c]);
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
