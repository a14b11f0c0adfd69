// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <string>

#include "saltus/base/text.hpp"

namespace saltus::io {

/// The largest array, in bytes, that is allocated because of sizes announced in a file: 2 GiB. A damaged or hostile
/// file that announces more is refused with a message instead of exhausting the memory.
inline constexpr std::size_t memory_limit = std::size_t{2} << 30;

/// A number of bytes in words: "1.5 GiB".
inline std::string gibibytes(double bytes) {
    return number_text(std::round(bytes / static_cast<double>(std::size_t{1} << 30) * 10.0) / 10.0) + " GiB";
}

}  // namespace saltus::io
