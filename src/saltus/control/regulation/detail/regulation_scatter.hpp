// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>

namespace saltus::control {

/// Component i of point k of a scattered sequence in [−1, 1]ⁿ, the same in every run: multiples of irrational numbers
/// modulo 1 (golden ratio and plastic number). With the offset 0 point 0 is (−1, ..., −1), with 0.5 it is the origin.
inline double scattered(int k, std::size_t i, double offset = 0.5) {
    constexpr double golden_ratio = 0.6180339887498949, plastic_ratio = 0.7548776662466927;
    const double x = offset + golden_ratio * k * (1.0 + plastic_ratio * static_cast<double>(i));
    return 2.0 * (x - std::floor(x)) - 1.0;
}

}  // namespace saltus::control
