// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace saltus::io {

/// The SHA-256 hash (FIPS 180-4) of the bytes, as 64 hexadecimal digits.
std::string sha256(std::string_view bytes);

}  // namespace saltus::io
