// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <string>

#include "saltus/base/text.hpp"

namespace saltus::model {

/// Numbers of a model are 0 or have a magnitude in this range. The algorithms form products of three terms of the
/// model, such as WᵀM⁻¹W, and squares of them. With these limits all of them stay between 1e-180 and 1e180, far from
/// where doubles overflow or lose digits. A model that needs more has units that do not suit it.
inline constexpr double smallest_magnitude = 1e-30, largest_magnitude = 1e30;

/// Whether the magnitude of a finite number is too large.
inline bool too_large(double x) { return std::abs(x) > largest_magnitude; }
/// Whether the magnitude of a number other than 0 is too small.
inline bool too_small(double x) { return x != 0.0 && std::abs(x) < smallest_magnitude; }

/// What a message says about a number outside the range.
inline std::string valid_range() {
    return "magnitudes from " + number_text(smallest_magnitude) + " to " + number_text(largest_magnitude) +
           " and 0 can be computed with";
}
inline constexpr const char* range_remedy = "choose other units, or a value in this range";

}  // namespace saltus::model
