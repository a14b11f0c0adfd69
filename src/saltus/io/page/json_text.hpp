// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

namespace saltus::io {

/// JSON written piece by piece, for long lists of numbers to few digits.
class JsonText {
public:
    JsonText& open(char bracket) {
        separate();
        text_ += bracket;
        begun_ = false;
        return *this;
    }
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
        separate();
        text_ += '"';
        for (const char c : value) {
            const auto byte = static_cast<unsigned char>(c);
            if (c == '"' || c == '\\') {
                text_ += '\\';
                text_ += c;
            } else if (byte < 0x20) {
                char escape[8];
                std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(byte));
                text_ += escape;
            } else {
                text_ += c;
            }
        }
        text_ += '"';
        return *this;
    }
    JsonText& number(double value, int digits = 6) {
        separate();
        if (!std::isfinite(value)) {
            text_ += "null";
            return *this;
        }
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "%.*g", digits, value == 0.0 ? 0.0 : value);
        text_ += buffer;
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
    /// A document, as it is.
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
    bool begun_ = false;
};

}  // namespace saltus::io
