// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>

namespace saltus::model {

/// M counts as singular if its smallest eigenvalue is at most this times the largest: the rounding of its entries.
constexpr double singular_mass_ratio = 64 * std::numeric_limits<double>::epsilon();

/// Components of an eigenvector of M below this size are left out of messages.
constexpr double printed_component = 1e-6;

}  // namespace saltus::model
