// SPDX-License-Identifier: Apache-2.0
#include "saltus/base/visible_text.hpp"

namespace saltus {

namespace {

/// U+0000 to U+001F without line break and tab, and U+007F.
bool is_control(unsigned char c) { return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7F; }

/// U+0080 to U+009F, which UTF-8 writes as the two bytes C2 80 to C2 9F. Terminals execute them like ESC sequences.
bool is_long_control(std::string_view text, std::size_t k) {
    if (k + 1 >= text.size() || static_cast<unsigned char>(text[k]) != 0xC2) return false;
    const auto next = static_cast<unsigned char>(text[k + 1]);
    return next >= 0x80 && next <= 0x9F;
}

void append_escape(std::string& out, char c) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto byte = static_cast<unsigned char>(c);
    out += "\\x";
    out += digits[byte >> 4U];
    out += digits[byte & 0xFU];
}

}  // namespace

std::size_t utf8_length(std::string_view text, std::size_t at) {
    const auto byte = [&](std::size_t k) {
        return at + k < text.size() ? static_cast<unsigned char>(text[at + k]) : static_cast<unsigned char>(0);
    };
    const unsigned first = byte(0), second = byte(1);
    if (at >= text.size()) return 0;
    if (first < 0x80) return 1;
    const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4) return 0;  // a later byte, more bytes than necessary, or beyond U+10FFFF
    for (std::size_t k = 1; k < length; ++k)
        if ((byte(k) & 0xC0U) != 0x80U) return 0;
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool surrogate = first == 0xED && second >= 0xA0, beyond = first == 0xF4 && second >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

std::string visible_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t k = 0; k < text.size();) {
        const std::size_t length = utf8_length(text, k);
        if (is_long_control(text, k)) {
            append_escape(out, text[k + 1]);
            k += 2;
        } else if (length == 0 || is_control(static_cast<unsigned char>(text[k]))) {
            append_escape(out, text[k]);
            ++k;
        } else {
            out += text.substr(k, length);
            k += length;
        }
    }
    return out;
}

}  // namespace saltus
