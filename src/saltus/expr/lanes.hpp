// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace saltus::expr {

/// Eight numbers that undergo the same operations: one value of each of eight states, side by side. The compiler turns
/// every operation into a few vector instructions. Lane k of a result depends only on lane k of the operands and has
/// the same bits as the evaluation with `double`.
struct alignas(64) Lanes {  // 64 bytes: one cache line, and one vector of the widest instruction set
    static constexpr std::size_t width = 8;
    std::array<double, width> v;

    Lanes() = default;                       ///< uninitialised
    explicit Lanes(double x) { v.fill(x); }  ///< sets every lane to x
    double& operator[](std::size_t k) { return v[k]; }
    double operator[](std::size_t k) const { return v[k]; }
};

/// Applies a function of numbers lane by lane.
template <class F>
inline Lanes map(const Lanes& a, F f) {
    Lanes r;
    for (std::size_t k = 0; k < Lanes::width; ++k) r.v[k] = f(a.v[k]);
    return r;
}

template <class F>
inline Lanes map(const Lanes& a, const Lanes& b, F f) {
    Lanes r;
    for (std::size_t k = 0; k < Lanes::width; ++k) r.v[k] = f(a.v[k], b.v[k]);
    return r;
}

inline Lanes operator+(const Lanes& a, const Lanes& b) {
    return map(a, b, [](double x, double y) { return x + y; });
}
inline Lanes operator-(const Lanes& a, const Lanes& b) {
    return map(a, b, [](double x, double y) { return x - y; });
}
inline Lanes operator*(const Lanes& a, const Lanes& b) {
    return map(a, b, [](double x, double y) { return x * y; });
}
inline Lanes operator/(const Lanes& a, const Lanes& b) {
    return map(a, b, [](double x, double y) { return x / y; });
}
inline Lanes operator-(const Lanes& a) {
    return map(a, [](double x) { return -x; });
}

/// a in the lanes in which c is not 0, otherwise b.
inline Lanes select(const Lanes& c, const Lanes& a, const Lanes& b) {
    Lanes r;
    for (std::size_t k = 0; k < Lanes::width; ++k) r.v[k] = c.v[k] != 0.0 ? a.v[k] : b.v[k];
    return r;
}
/// Writes the sine to `s` and the cosine to `c`. glibc computes both in one call with the bits of sin and cos.
inline void sine_and_cosine(const Lanes& angle, Lanes& s, Lanes& c) {
    for (std::size_t k = 0; k < Lanes::width; ++k) ::sincos(angle.v[k], &s.v[k], &c.v[k]);
}

inline Lanes sqrt(const Lanes& a) {
    return map(a, [](double x) { return std::sqrt(x); });
}
inline Lanes exp(const Lanes& a) {
    return map(a, [](double x) { return std::exp(x); });
}
inline Lanes log(const Lanes& a) {
    return map(a, [](double x) { return std::log(x); });
}
inline Lanes sin(const Lanes& a) {
    return map(a, [](double x) { return std::sin(x); });
}
inline Lanes cos(const Lanes& a) {
    return map(a, [](double x) { return std::cos(x); });
}
inline Lanes tan(const Lanes& a) {
    return map(a, [](double x) { return std::tan(x); });
}
inline Lanes asin(const Lanes& a) {
    return map(a, [](double x) { return std::asin(x); });
}
inline Lanes acos(const Lanes& a) {
    return map(a, [](double x) { return std::acos(x); });
}
inline Lanes atan(const Lanes& a) {
    return map(a, [](double x) { return std::atan(x); });
}
inline Lanes sinh(const Lanes& a) {
    return map(a, [](double x) { return std::sinh(x); });
}
inline Lanes cosh(const Lanes& a) {
    return map(a, [](double x) { return std::cosh(x); });
}
inline Lanes tanh(const Lanes& a) {
    return map(a, [](double x) { return std::tanh(x); });
}
inline Lanes abs(const Lanes& a) {
    return map(a, [](double x) { return std::abs(x); });
}
inline Lanes pow(const Lanes& a, const Lanes& b) {
    return map(a, b, [](double x, double y) { return std::pow(x, y); });
}
inline Lanes atan2(const Lanes& a, const Lanes& b) {
    return map(a, b, [](double x, double y) { return std::atan2(x + 0.0, y + 0.0); });  // -0 counts as 0, as in apply()
}
inline Lanes hypot(const Lanes& a, const Lanes& b) {
    return map(a, b, [](double x, double y) { return std::hypot(x, y); });
}

}  // namespace saltus::expr
