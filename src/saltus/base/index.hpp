// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace saltus {

/// The number of a coordinate, row or element as an index into a standard container. Saltus counts with `int` or
/// `Eigen::Index`, containers with `std::size_t`. The name is short because it appears inside formulas. `i` must not be
/// negative.
constexpr std::size_t ix(std::ptrdiff_t i) { return static_cast<std::size_t>(i); }

}  // namespace saltus
