// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/complementarity/detail/guess.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

constexpr double rounding = 1e-14;         // violations up to this share of max|z| or max|q| are rounding
constexpr double pivot_threshold = 1e-13;  // smallest pivot, relative to the largest entry of M
constexpr int short_column = 12;           // up to this length a plain loop is faster than add_columns
constexpr int few_unknowns = 8;            // up to this number eliminate_few is faster than eliminate

/// w += factor · column.
void add_column(int n, const double* __restrict column, double factor, double* __restrict w) {
    if (n > short_column) return add_columns(n, 1, column, &factor, w);
    for (int k = 0; k < n; ++k) w[k] += column[k] * factor;
}

/// Gauss elimination of an n × (n + 1) augmented matrix with row pivots, for few rows. False if a pivot is too small.
bool eliminate_few(double* A, int n, double smallest_pivot) {
    const int stride = n + 1;
    double* pivot = A;
    for (int k = 0; k < n; ++k, pivot += stride) {
        double *best = pivot, *row = pivot + stride;
        for (int i = k + 1; i < n; ++i, row += stride)
            if (std::abs(row[k]) > std::abs(best[k])) best = row;
        if (!(std::abs(best[k]) > smallest_pivot)) return false;
        if (best != pivot)
            for (int j = k; j <= n; ++j) std::swap(pivot[j], best[j]);
        const double over = 1.0 / pivot[k];
        row = pivot + stride;
        for (int i = k + 1; i < n; ++i, row += stride) {
            const double f = row[k] * over;
            if (f == 0.0) continue;
            for (int j = k + 1; j <= n; ++j) row[j] -= f * pivot[j];
        }
    }
    return true;
}

}  // namespace

Guess::Guess(const BoundedView& problem, double* numbers, int* integers)
    : p_(problem),
      w_(numbers),
      A_(numbers + problem.n),
      inner_(integers),
      smallest_pivot_(pivot_threshold * largest_of(problem.M, problem.n * problem.n)),
      q_size_(largest_of(problem.q, problem.n)) {}

double Guess::lower(int i) const { return p_.lower == nullptr ? 0.0 : p_.lower[i]; }
double Guess::upper(int i) const { return p_.upper == nullptr ? std::numeric_limits<double>::infinity() : p_.upper[i]; }

// With the inner unknowns I and the others F fixed at their bounds:  M_II z_I = −(q + M_IF z_F)_I.
bool Guess::solve(const Place* place, double* z) {
    const int n = p_.n;
    int count = 0;
    std::copy_n(p_.q, n, w_);
    for (int i = 0; i < n; ++i) {
        z[i] = place[i] == at_lower ? lower(i) : upper(i);
        if (place[i] == between)
            inner_[count++] = i;
        else if (z[i] != 0.0)
            add_column(n, p_.M + static_cast<std::ptrdiff_t>(i) * n, z[i], w_);
    }
    const int stride = count + 1;
    for (int b = 0; b < count; ++b) {
        const double* const column = p_.M + static_cast<std::ptrdiff_t>(inner_[b]) * n;
        for (int a = 0; a < count; ++a) A_[static_cast<std::ptrdiff_t>(a) * stride + b] = column[inner_[a]];
    }
    for (int a = 0; a < count; ++a) A_[static_cast<std::ptrdiff_t>(a) * stride + count] = -w_[inner_[a]];
    const bool regular = count <= few_unknowns ? eliminate_few(A_, count, smallest_pivot_)
                                               : eliminate(A_, count, stride, stride, count, count, smallest_pivot_);
    if (!regular) return false;
    for (int a = count - 1; a >= 0; --a) {
        const double* const row = A_ + static_cast<std::ptrdiff_t>(a) * stride;
        double sum = row[count];
        for (int b = a + 1; b < count; ++b) sum -= row[b] * z[inner_[b]];
        z[inner_[a]] = sum / row[a];
    }
    for (int a = 0; a < count; ++a) add_column(n, p_.M + static_cast<std::ptrdiff_t>(inner_[a]) * n, z[inner_[a]], w_);
    return true;
}

int Guess::move(const double* z, Place* place) {
    const double negligible_z = rounding * largest_of(z, p_.n), negligible_w = rounding * q_size_;
    int wrong = 0;
    for (int i = 0; i < p_.n; ++i) {
        Place better = place[i];
        if (place[i] == between)
            better = z[i] < lower(i) - negligible_z ? at_lower : z[i] > upper(i) + negligible_z ? at_upper : between;
        else if ((place[i] == at_lower ? w_[i] < -negligible_w : w_[i] > negligible_w) && lower(i) < upper(i))
            better = between;
        wrong += better != place[i] ? 1 : 0;
        place[i] = better;
    }
    return wrong;
}

}  // namespace saltus::solvers
