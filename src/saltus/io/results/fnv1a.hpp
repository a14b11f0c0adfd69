// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace saltus::io {

inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325;

/// FNV-1a with 64 bits, going on from a hash so far. Any change of a single byte changes it; it is no protection
/// against intent.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = fnv1a_start) {
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return hash;
}

}  // namespace saltus::io
