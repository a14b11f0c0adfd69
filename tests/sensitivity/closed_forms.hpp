// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>

#include "saltus/base/linalg.hpp"

namespace saltus::test {

/// The derivative of an analytic function by the complex step, Im f(x + ih)/h: exact to rounding, without cancellation.
template <class F>
auto complex_step(F f, double x) {
    constexpr double h = 1e-100;
    return Vector(f(std::complex<double>(x, h)).imag() / h);
}

}  // namespace saltus::test
