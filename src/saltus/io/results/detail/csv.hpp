// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "saltus/base/text.hpp"

namespace saltus::io {

/// Lines of comma-separated cells (RFC 4180, with plain line breaks).
class Csv {
public:
    Csv& cell(const std::string& text) {
        separate();
        if (text.find_first_of(",\"\r\n") == std::string::npos) {
            text_ += text;
            return *this;
        }
        text_ += '"';
        for (const char c : text) text_ += c == '"' ? "\"\"" : std::string(1, c);
        text_ += '"';
        return *this;
    }
    Csv& cell(double value) {
        separate();
        text_ += number_text(value);
        return *this;
    }
    /// As many cells as there are to be, empty ones where values are missing.
    Csv& cells(const std::vector<double>& values, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) k < values.size() ? cell(values[k]) : cell(std::string());
        return *this;
    }
    void end_line() {
        text_ += '\n';
        begun_ = false;
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
