// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "saltus/base/visible_text.hpp"

namespace saltus::io {

/// Writes JSON piece by piece into a text. It serves long lists of numbers with a few digits, which would need much
/// more memory as a document of nlohmann::json. Commas are set automatically. The caller balances brackets and writes a
/// value behind each key.
class JsonText {
public:
    /// Begins an object '{' or a list '['.
    JsonText& open(char bracket) {
        separate();
        text_ += bracket;
        begun_ = false;
        return *this;
    }
    /// Ends an object '}' or a list ']'.
    JsonText& close(char bracket) {
        text_ += bracket;
        begun_ = true;
        return *this;
    }
    JsonText& key(std::string_view name) {
        string(name);
        text_ += ':';
        begun_ = false;
        return *this;
    }
    JsonText& string(std::string_view value) {
        constexpr unsigned char first_printable = 0x20;  // control characters below it must be escaped
        separate();
        text_ += '"';
        for (std::size_t k = 0; k < value.size();) {
            const char c = value[k];
            const auto byte = static_cast<unsigned char>(c);
            const std::size_t length = utf8_length(value, k);
            if (c == '"' || c == '\\') {
                text_ += '\\';
                text_ += c;
            } else if (byte < first_printable) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
                text_ += escape;
            } else if (length == 0) {
                text_ += "\\ufffd";  // names of files need not be UTF-8
            } else {
                text_ += value.substr(k, length);
            }
            k += std::max<std::size_t>(length, 1);
        }
        text_ += '"';
        return *this;
    }
    /// A number with `digits` significant digits; null if it is not finite; 0 for −0.
    JsonText& number(double value, int digits = 6) {
        separate();
        if (!std::isfinite(value)) {
            text_ += "null";
            return *this;
        }
        char buffer[40];  // sign, 17 digits, point and exponent need 24
        char* const end = std::to_chars(buffer, buffer + sizeof buffer, value == 0.0 ? 0.0 : value,
                                        std::chars_format::general, digits)
                              .ptr;
        text_.append(buffer, end);
        return *this;
    }
    JsonText& numbers(std::span<const double> values, int digits = 6) {
        open('[');
        for (const double v : values) number(v, digits);
        return close(']');
    }
    JsonText& boolean(bool value) {
        separate();
        text_ += value ? "true" : "false";
        return *this;
    }
    /// A value that is JSON already.
    JsonText& raw(std::string_view json) {
        separate();
        text_ += json;
        return *this;
    }
    std::string text() && { return std::move(text_); }

private:
    void separate() {
        if (begun_) text_ += ',';
        begun_ = true;
    }

    std::string text_;
    bool begun_ = false;  ///< the object or list has a value already
};

}  // namespace saltus::io
