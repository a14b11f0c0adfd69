// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace saltus {

/// The hash of no bytes (FNV offset basis, 64 bit).
inline constexpr std::uint64_t fnv1a_start = 0xcbf29ce484222325;

/// The FNV-1a hash with 64 bits. `hash` is the hash of the bytes before, so that long data can be hashed in pieces. A
/// change of one byte always changes the hash. It finds damage, not forgery.
constexpr std::uint64_t fnv1a(std::string_view bytes, std::uint64_t hash = fnv1a_start) {
    constexpr std::uint64_t prime = 0x100000001b3;  // FNV prime, 64 bit
    for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * prime;
    return hash;
}

}  // namespace saltus
