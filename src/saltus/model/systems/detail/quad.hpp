// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace saltus::model {

/// Four numbers that undergo the same operations: those of four springs or four faces, side by side. Every operation is
/// two vector instructions, and the two do not wait for each other.
struct Quad {
    using Pair = double __attribute__((vector_size(16)));
    static constexpr int width = 4;

    Pair low{}, high{};

    Quad() = default;
    explicit Quad(double x) : low{x, x}, high{x, x} {}
    double operator[](int lane) const { return lane < 2 ? low[lane] : high[lane - 2]; }
    void set(int lane, double x) {
        if (lane < 2)
            low[lane] = x;
        else
            high[lane - 2] = x;
    }

    Quad& operator+=(const Quad& b) { return low += b.low, high += b.high, *this; }
    Quad& operator-=(const Quad& b) { return low -= b.low, high -= b.high, *this; }
    Quad& operator*=(const Quad& b) { return low *= b.low, high *= b.high, *this; }
    Quad& operator/=(const Quad& b) { return low /= b.low, high /= b.high, *this; }
};

inline Quad operator+(Quad a, const Quad& b) { return a += b; }
inline Quad operator-(Quad a, const Quad& b) { return a -= b; }
inline Quad operator*(Quad a, const Quad& b) { return a *= b; }
inline Quad operator/(Quad a, const Quad& b) { return a /= b; }

inline Quad sqrt(const Quad& a) {
    Quad r;
    for (int lane = 0; lane < Quad::width; ++lane) r.set(lane, std::sqrt(a[lane]));
    return r;
}

inline Quad abs(const Quad& a) {
    using Bits = long long __attribute__((vector_size(16)));
    constexpr long long but_sign = 0x7fffffffffffffff;
    const Bits mask{but_sign, but_sign};
    Quad r;
    r.low = reinterpret_cast<Quad::Pair>(reinterpret_cast<Bits>(a.low) & mask);
    r.high = reinterpret_cast<Quad::Pair>(reinterpret_cast<Bits>(a.high) & mask);
    return r;
}

/// Order k of the product of two series, Σ_{j=first..k} a_j b_{k−j}.
inline Quad convolution(const Quad* a, const Quad* b, int k, int first = 0) {
    Quad sum;
    for (int j = first; j <= k; ++j) sum += a[j] * b[k - j];
    return sum;
}

/// Order k of the square of a series: each product of two different orders counts twice.
inline Quad square_order(const Quad* a, int k) {
    Quad sum;
    for (int j = 0; 2 * j < k; ++j) sum += a[j] * a[k - j];
    sum += sum;
    if (k % 2 == 0) sum += a[k / 2] * a[k / 2];
    return sum;
}

}  // namespace saltus::model
