// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "saltus/base/memory.hpp"

namespace saltus::io {

/// The largest array, in bytes, that is allocated because of sizes announced in a file: 2 GiB. A damaged or hostile
/// file that announces more is refused with a message instead of exhausting the memory.
inline constexpr std::size_t memory_limit = std::size_t{2} << 30;

}  // namespace saltus::io
