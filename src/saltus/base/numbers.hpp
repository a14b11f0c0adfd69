// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace saltus {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();
/// The distance from 1 to the next larger double, about 2.2e-16. A rounded operation has a relative error of at most
/// half of it.
inline constexpr double epsilon = std::numeric_limits<double>::epsilon();

}  // namespace saltus
