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

/// Two numbers that one instruction adds or multiplies.
using Pair = double __attribute__((vector_size(16)));

/// Values of two polynomials at four points.
struct FourProducts {
    double product[4];
};

/// a(τ)·b(τ) at four points τ. Each value is that of value_at, to the bit; side by side they take a third of the time.
inline FourProducts products_at(const double* a, const double* b, int order, const double* tau) {
    const Pair t0{tau[0], tau[1]}, t1{tau[2], tau[3]};
    Pair a0{a[order], a[order]}, a1 = a0, b0{b[order], b[order]}, b1 = b0;
    for (int k = order - 1; k >= 0; --k) {
        const Pair next_a{a[k], a[k]}, next_b{b[k], b[k]};
        a0 = a0 * t0 + next_a;
        a1 = a1 * t1 + next_a;
        b0 = b0 * t0 + next_b;
        b1 = b1 * t1 + next_b;
    }
    a0 *= b0;
    a1 *= b1;
    return {{a0[0], a0[1], a1[0], a1[1]}};
}

}  // namespace saltus::integrate
