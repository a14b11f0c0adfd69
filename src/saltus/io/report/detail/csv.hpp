// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/base/text.hpp"
#include "saltus/base/visible_text.hpp"

namespace saltus::io {

/// A table of comma-separated values (RFC 4180, but with plain line breaks), written cell by cell. Numbers have the
/// shortest text that reads back as the same double.
class Csv {
public:
    /// A text, with control characters made visible. It is put in quotes if it contains a comma, a quote or a line
    /// break.
    Csv& cell(const std::string& value) {
        separate();
        const std::string text = visible_text(value);
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
    /// A number; an empty cell if there is none.
    Csv& cell(const std::optional<double>& value) { return value ? cell(*value) : cell(std::string()); }
    /// A number; an empty cell if it is not finite.
    Csv& cell_if_finite(double value) { return std::isfinite(value) ? cell(value) : cell(std::string()); }
    /// Texts, for the first line.
    Csv& cells(std::initializer_list<const char*> texts) {
        for (const char* const text : texts) cell(std::string(text));
        return *this;
    }
    /// Exactly `count` cells: the values, then empty cells if there are fewer values.
    Csv& cells(const std::vector<double>& values, std::size_t count) {
        for (std::size_t k = 0; k < count; ++k) k < values.size() ? cell(values[k]) : cell(std::string());
        return *this;
    }
    void end_line() {
        text_ += '\n';
        begun_ = false;
    }
    std::string text() && { return std::move(text_); }
    /// What was written since the last call, for tables that do not fit into memory. Call it between two lines.
    std::string take() { return std::exchange(text_, {}); }

private:
    void separate() {
        if (begun_) text_ += ',';
        begun_ = true;
    }

    std::string text_;
    bool begun_ = false;  ///< the line has at least one cell
};

}  // namespace saltus::io
