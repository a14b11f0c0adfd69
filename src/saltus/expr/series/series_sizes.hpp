// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

// Sizes of truncated series on a step 0 <= τ <= h, and sums of products of series. All arrays are indexed by the order;
// `power` has h^k.

namespace saltus::expr {

/// Writes |c_k| h^k to size[k] for k = 0 … last. Returns the sum from k = 1 on, which bounds the change of the
/// polynomial Σ c_k τ^k on the step; |c_0| and the change together bound the polynomial.
double term_sizes(const double* c, int last, const double* power, double* size);

/// Writes Σ_(j=k..last) |c_j| h^j to sum[k] for k = 0 … last. Returns the sum from k = 1 on.
double term_sums(const double* c, int last, const double* power, double* sum);

/// A bound, on the step, of what the product of two truncated series has beyond the order N:
///     Σ_(i+j>N) |a_i b_j| h^(i+j) = Σ_i |a_i| h^i Σ_(j>N−i) |b_j| h^j.
/// `size` are the term_sizes of a up to its order last_a <= N + 1, `sum` the term_sums of b up to last_b <= N.
double product_tail(const double* size, int last_a, const double* sum, int last_b, int N);

/// One product in a linear equation whose coefficients are series: that of `series` with the unknown `column`, in the
/// equation `row`.
struct SeriesProduct {
    std::size_t row, column;
    const double* series;
};

/// Sums of products of known series c with unknowns x, which become known order by order. Four orders, from `first` on,
/// are summed side by side. Adds to them what the orders from <= j < until <= first + 3 of the unknowns contribute: to
/// sums[4 row + m], m = 0 … 3, for each product
///     Σ_(j=from..until−1) c_(first+m−j) x_j.
/// Order j of an unknown is unknowns[stride · column + j]. Sums of orders below j become useless, because coefficients
/// of negative orders are read, up to three: they must be readable. So must those up to the order first + 3 − from.
void add_products(std::span<const SeriesProduct> products, const double* unknowns, std::size_t stride, int from,
                  int until, int first, double* sums);

/// A lower and an upper bound.
struct SeriesRange {
    double low, high;
};

/// The range on the step of Σ_(k>=1) c_k τ^k: that of the first two terms, and the sizes of the others. `change` is the
/// result of term_sizes or term_sums.
inline SeriesRange change_range(const double* c, int last, const double* power, double change) {
    constexpr double rounding = 1e-14;  // relative error of the sum: more than 40 rounding errors
    const double c1 = last >= 1 ? c[1] * power[1] : 0.0, c2 = last >= 2 ? c[2] * power[2] : 0.0;
    double low = std::min(0.0, c1 + c2), high = std::max(0.0, c1 + c2);
    if (c1 * c2 < 0.0 && std::abs(c1) < 2.0 * std::abs(c2)) {  // c_1 θ + c_2 θ² turns at θ = −c_1/(2 c_2)
        const double extreme = -0.25 * c1 * c1 / c2;
        low = std::min(low, extreme);
        high = std::max(high, extreme);
    }
    const double others = std::max(0.0, change - std::abs(c1) - std::abs(c2)) + rounding * change;
    return {low - others, high + others};
}

/// A lower bound on the step of |Σ c_k τ^k|; 0 if the polynomial may vanish.
inline double least_size(const double* c, int last, const double* power, double change) {
    const SeriesRange range = change_range(c, last, power, change);
    return std::max(0.0, c[0] >= 0.0 ? c[0] + range.low : -c[0] - range.high);
}

}  // namespace saltus::expr
