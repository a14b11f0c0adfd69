// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

namespace saltus {

/// ln(n!) for n >= 0. std::lgamma gives the same number, but it also writes the global variable signgam, so that two
/// threads must not call it.
inline double log_factorial(int n) {
    int sign = 0;
    return ::lgamma_r(n + 1.0, &sign);
}

}  // namespace saltus
