// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace saltus::integrate {

/// Order k of the product of two series, Σ_{j=first..k} a_j b_{k−j}.
inline double convolution(const double* a, const double* b, int k, int first = 0) {
    double sum = 0.0;
    for (int j = first; j <= k; ++j) sum += a[j] * b[k - j];
    return sum;
}

/// Σ_{k=first..last} |c_k| R^k: a bound of the polynomial on the disk |τ| <= R.
inline double size_on_disk(const double* c, int first, int last, double R) {
    double sum = 0.0;
    for (int k = last; k >= first; --k) sum = sum * R + std::abs(c[k]);
    for (int k = 0; k < first; ++k) sum *= R;
    return sum;
}

/// Σ_{k=0..order} c_k τ^k.
inline double value_at(const double* c, int order, double tau) {
    double value = c[order];
    for (int k = order - 1; k >= 0; --k) value = value * tau + c[k];
    return value;
}

}  // namespace saltus::integrate
