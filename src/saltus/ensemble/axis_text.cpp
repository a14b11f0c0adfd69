// SPDX-License-Identifier: Apache-2.0
#include "saltus/ensemble/axis_text.hpp"

#include <charconv>
#include <cmath>

#include "saltus/base/error.hpp"
#include "saltus/base/text.hpp"

namespace saltus::ensemble {

namespace {

class AxisReader {
public:
    AxisReader(const std::string& text, AxisUse use, const std::string& option)
        : text_(text), use_(use), option_(option) {}

    Axis read() const {
        const std::size_t equals = text_.find('=');
        if (equals == std::string::npos || equals == 0 || equals + 1 == text_.size())
            refuse(use_ == AxisUse::values ? "'" + text_ + "' does not say what to vary"
                                           : "'" + text_ + "' is not a range");
        Axis axis;
        axis.name = text_.substr(0, equals);
        const std::string range = text_.substr(equals + 1);
        std::vector<std::string> parts = split(range, ':');
        if (use_ == AxisUse::box) {
            read_box(parts, axis);
        } else if (parts.size() == 1) {
            read_list(range, axis);
        } else {
            axis.logarithmic = parts.size() == 4 && parts[3] == "log";
            if (axis.logarithmic) parts.pop_back();
            if (parts.size() != 3) refuse("'" + text_ + "' is not a range");
            read_range(parts, axis);
        }
        return axis;
    }

private:
    [[noreturn]] void refuse(const std::string& message, const std::string& remedy = "") const {
        throw Error(message, {option_, 0, 0}, remedy.empty() ? form() : remedy);
    }

    std::string form() const {
        if (use_ == AxisUse::grid) return "write --grid x=-1:1:20, x=0.1,0.2,0.5, x=1e-3:1:4:log or x=0.5";
        if (use_ == AxisUse::box) return "write --box x=-1:1, --box x=normal:MEAN:DEVIATION or x=0.5";
        return "write " + option_ + " NAME=FROM:TO:COUNT, NAME=FROM:TO:COUNT:log, or NAME=VALUE,VALUE,...";
    }

    static std::vector<std::string> split(const std::string& text, char at) {
        std::vector<std::string> parts(1);
        for (const char c : text)
            if (c == at)
                parts.emplace_back();
            else
                parts.back() += c;
        return parts;
    }

    double number(const std::string& text) const {
        double value = 0.0;
        const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
        const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
        if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
            refuse("'" + text + "' is not a number");
        return value;
    }

    void read_box(const std::vector<std::string>& parts, Axis& axis) const {
        if (parts.size() == 3 && parts[0] == "normal") {
            axis.normal = Normal{number(parts[1]), number(parts[2])};
            if (!(axis.normal->deviation > 0.0))
                refuse("the standard deviation of '" + axis.name + "' is " + parts[2] + ", it must be > 0");
            return;
        }
        if (parts.size() > 2) refuse("'" + text_ + "' is not a range");
        axis.from = axis.to = number(parts[0]);
        if (parts.size() == 2) axis.to = number(parts[1]);
        if (parts.size() == 2) require_ascending(axis);
    }

    void require_ascending(const Axis& axis) const {
        if (!(axis.from < axis.to))
            refuse("'" + text_ + "' goes from " + number_text(axis.from) + " to " + number_text(axis.to),
                   "give the smaller end first");
        if (!std::isfinite(axis.to - axis.from)) refuse("the range of '" + text_ + "' is too long");
    }

    void read_list(const std::string& range, Axis& axis) const {
        for (const std::string& value : split(range, ',')) axis.listed.push_back(number(value));
        axis.n = static_cast<long>(axis.listed.size());
        axis.from = axis.listed.front();
        axis.to = axis.listed.back();
        for (std::size_t k = 1; use_ == AxisUse::grid && k < axis.listed.size(); ++k)
            if (!(axis.listed[k - 1] < axis.listed[k]))
                refuse("the values of '" + text_ + "' do not ascend", "give the smaller value first");
        if (axis.n == 1) axis.listed.clear();
    }

    void read_range(const std::vector<std::string>& parts, Axis& axis) const {
        axis.from = number(parts[0]);
        axis.to = number(parts[1]);
        const double n = number(parts[2]), least = use_ == AxisUse::grid ? 2.0 : 1.0;
        if (use_ == AxisUse::grid) require_ascending(axis);
        if (n != std::floor(n) || n < least || n > max_runs)
            refuse("'" + parts[2] + "' is not a number of values; it must be a whole number, an integer of at least " +
                   number_text(least));
        if (axis.logarithmic && !(axis.from > 0.0 && axis.to > 0.0))
            refuse("a range with even ratios must have positive ends");
        axis.n = static_cast<long>(n);
        if (axis.n == 1) axis.to = axis.from;
    }

    const std::string& text_;
    const AxisUse use_;
    const std::string& option_;
};

}  // namespace

Axis axis_from_text(const std::string& text, AxisUse use, const std::string& option) {
    return AxisReader(text, use, option).read();
}

std::string to_text(const Axis& axis, AxisUse use) {
    std::string text = axis.name + "=";
    if (axis.normal)
        return text + "normal:" + number_text(axis.normal->mean) + ":" + number_text(axis.normal->deviation);
    if (!axis.listed.empty()) {
        for (std::size_t k = 0; k < axis.listed.size(); ++k) text += (k > 0 ? "," : "") + number_text(axis.listed[k]);
        return text;
    }
    text += number_text(axis.from);
    if (use == AxisUse::box) return axis.from == axis.to ? text : text + ":" + number_text(axis.to);
    if (axis.n == 1) return text;
    return text + ":" + number_text(axis.to) + ":" + std::to_string(axis.n) + (axis.logarithmic ? ":log" : "");
}

}  // namespace saltus::ensemble
