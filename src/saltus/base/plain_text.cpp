// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/plain_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <system_error>

namespace saltus {

std::string rounded_text(double value, int digits) {
    // A number of 17 digits, sign, point and exponent fits. More digits than 100 are of no use: a double has 17.
    std::array<char, 128> buffer{};
    constexpr int max_digits = 100;
    const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::general,
                                      std::clamp(digits, 0, max_digits));
    return {buffer.data(), result.ptr};
}

std::string hexadecimal_text(double value) {
    if (!std::isfinite(value)) return rounded_text(value, 1);
    std::array<char, 40> buffer{};
    const auto result =
        std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value), std::chars_format::hex);
    return std::string(std::signbit(value) ? "-0x" : "0x") + std::string(buffer.data(), result.ptr);
}

double number_in(std::string_view text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace saltus
