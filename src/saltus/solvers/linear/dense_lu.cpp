// SPDX-License-Identifier: Apache-2.0
#include "saltus/solvers/linear/dense_lu.hpp"

#include <algorithm>
#include <cmath>

#include "saltus/base/linalg.hpp"
#include "saltus/solvers/linear/detail/panel.hpp"

namespace saltus::solvers {

namespace {

/// Up to this length of a row the plain loop is faster than a call of subtract_panel.
constexpr int short_row = 48;

}  // namespace

void DenseLU::clear(int n) {
    n_ = n;
    const auto size = static_cast<std::size_t>(n);
    values_.assign(size * size, 0.0);
    pivot_.resize(size);
}

bool DenseLU::factorise() {
    const int n = n_;
    double* const A = values_.data();
    for (int k = 0; k < n; ++k) {
        int best = k;
        for (int i = k + 1; i < n; ++i)
            if (std::abs(A[i * n + k]) > std::abs(A[best * n + k])) best = i;
        pivot_[static_cast<std::size_t>(k)] = best;
        if (!(std::abs(A[best * n + k]) > 0.0) || !std::isfinite(A[best * n + k])) return false;
        if (best != k) std::swap_ranges(A + k * n, A + (k + 1) * n, A + best * n);
        const double f = 1.0 / A[k * n + k];
        const int width = n - k - 1;
        for (int i = k + 1; i < n; ++i) {
            const double l = A[i * n + k];
            if (l == 0.0) continue;
            A[i * n + k] = l * f;
            if (width > short_row)
                subtract_panel(1, 1, width, A + i * n + k, 1, A + k * n + k + 1, n, A + i * n + k + 1, n);
            else
                for (int j = 1; j <= width; ++j) A[i * n + k + j] -= l * f * A[k * n + k + j];
        }
    }
    // A NaN outside the pivot columns may have been multiplied by zero rows only, so it is looked for at the end.
    return std::all_of(A, A + static_cast<std::size_t>(n) * static_cast<std::size_t>(n),
                       [](double x) { return std::isfinite(x); });
}

void DenseLU::solve(std::span<const double> b, std::span<double> x) const {
    const int n = n_;
    const double* const A = values_.data();
    std::copy(b.begin(), b.end(), x.begin());
    for (int i = 0; i < n; ++i)
        if (const int p = pivot_[static_cast<std::size_t>(i)]; p != i)
            std::swap(x[static_cast<std::size_t>(i)], x[static_cast<std::size_t>(p)]);
    for (int i = 0; i < n; ++i) {
        double sum = x[static_cast<std::size_t>(i)];
        for (int j = 0; j < i; ++j) sum -= A[i * n + j] * x[static_cast<std::size_t>(j)];
        x[static_cast<std::size_t>(i)] = sum;
    }
    for (int i = n - 1; i >= 0; --i) {
        double sum = x[static_cast<std::size_t>(i)];
        for (int j = i + 1; j < n; ++j) sum -= A[i * n + j] * x[static_cast<std::size_t>(j)];
        x[static_cast<std::size_t>(i)] = sum / A[i * n + i];
    }
}

}  // namespace saltus::solvers
