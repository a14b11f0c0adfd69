// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstring>

namespace saltus::integrate {

/// Two numbers that one instruction adds or multiplies.
using Pair = double __attribute__((vector_size(16)));

inline Pair load_pair(const double* x) {
    Pair p;
    std::memcpy(&p, x, sizeof p);
    return p;
}
/// x[0], x[-1].
inline Pair load_pair_backwards(const double* x) {
    const Pair p = load_pair(x - 1);
    return __builtin_shufflevector(p, p, 1, 0);
}

/// Order k of the product of two series, Σ_{j=first..k} a_j b_{k−j}. Two partial sums, of even and odd numbers of
/// terms.
inline double convolution(const double* a, const double* b, int k, int first = 0) {
    a += first;
    b += k - first;
    int terms = k - first + 1;
    Pair sums{0.0, 0.0};
    for (; terms >= 4; terms -= 4) {
        sums += load_pair(a) * load_pair_backwards(b);
        sums += load_pair(a + 2) * load_pair_backwards(b - 2);
        a += 4;
        b -= 4;
    }
    if (terms >= 2) {
        sums += load_pair(a) * load_pair_backwards(b);
        a += 2;
        b -= 2;
    }
    const double sum = sums[0] + sums[1];
    return (terms & 1) != 0 ? sum + a[0] * b[0] : sum;
}

/// The same for the products of `a` with two other series.
struct TwoConvolutions {
    double first, second;
};
inline TwoConvolutions two_convolutions(const double* a, const double* b1, const double* b2, int k, int first = 0) {
    a += first;
    b1 += k - first;
    b2 += k - first;
    int terms = k - first + 1;
    Pair sums1{0.0, 0.0}, sums2{0.0, 0.0};
    for (; terms >= 2; terms -= 2) {
        const Pair pair = load_pair(a);
        sums1 += pair * load_pair_backwards(b1);
        sums2 += pair * load_pair_backwards(b2);
        a += 2;
        b1 -= 2;
        b2 -= 2;
    }
    TwoConvolutions sums{sums1[0] + sums1[1], sums2[0] + sums2[1]};
    if (terms != 0) {
        sums.first += a[0] * b1[0];
        sums.second += a[0] * b2[0];
    }
    return sums;
}

/// Order k of the square of a series. Each product of different coefficients occurs twice.
inline double square_order(const double* a, int k) {
    const int pairs = (k + 1) / 2;
    double sum = 0.0;
    for (int j = 0; j < pairs; ++j) sum += a[j] * a[k - j];
    sum *= 2.0;
    return k % 2 == 0 ? sum + a[k / 2] * a[k / 2] : sum;
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
