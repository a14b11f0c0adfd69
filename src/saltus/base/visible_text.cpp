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

std::string visible_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (std::size_t k = 0; k < text.size(); ++k) {
        if (is_long_control(text, k))
            append_escape(out, text[++k]);
        else if (is_control(static_cast<unsigned char>(text[k])))
            append_escape(out, text[k]);
        else
            out += text[k];
    }
    return out;
}

}  // namespace saltus
