// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "saltus/base/text.hpp"

namespace saltus::io {

/// No single array larger than this is made for a file, whatever it says.
inline constexpr std::size_t memory_limit = std::size_t{2} << 30;

/// "1.5 GiB"
inline std::string gibibytes(double bytes) {
    return number_text(std::round(bytes / static_cast<double>(std::size_t{1} << 30) * 10.0) / 10.0) + " GiB";
}

}  // namespace saltus::io
