// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/problem/detail/problem_scanner.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "saltus/base/index.hpp"
#include "saltus/base/plain_text.hpp"
#include "saltus/base/text.hpp"

namespace saltus::io {

namespace {

const char* const cut_short = "it is cut short, or a size before this place is too large";

std::string words(const NumberLabel& label) {
    std::string text(label.name);
    if (label.count > 0) text += ", number " + std::to_string(label.index + 1) + " of " + std::to_string(label.count);
    return text;
}

void check_range(const Word& word, const NumberLabel& label, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) return;
    std::string message = subject(label) + std::to_string(value) + ", ";
    // Bounds of this size come from the type (largest int, divided by at most 5 rows a contact), not from the file.
    constexpr std::int64_t no_bound = std::numeric_limits<int>::max() / 5;
    if (low == high)
        message += "not " + std::to_string(low);
    else if (high >= no_bound)
        message += value < low ? "less than " + std::to_string(low) : "too large";
    else
        message += "not in " + std::to_string(low) + " ... " + std::to_string(high);
    throw Misfit{word.offset, message};
}

}  // namespace

Place place_of(std::string_view text, std::size_t offset, const std::string& file) {
    const std::string_view before = text.substr(0, offset);
    const std::size_t newline = before.rfind('\n');
    const std::string_view line = newline == std::string_view::npos ? before : before.substr(newline + 1);
    // In UTF-8 the bytes 10xxxxxx continue a character.
    const auto characters =
        std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    return {file, static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1,
            static_cast<int>(characters) + 1};
}

std::string subject(const NumberLabel& label) { return words(label) + (label.count > 0 ? ", is " : " is "); }

std::string quoted(const Word& word) {
    std::string text = "'";
    constexpr std::size_t shown_characters = 32;
    for (const char c : word.text.substr(0, shown_characters)) text += c >= ' ' && c <= '~' ? c : '.';
    return text + (word.text.size() > shown_characters ? "...'" : "'");
}

std::optional<std::int64_t> integer_of(std::string_view text) {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return {};
    return value;
}

std::optional<double> real_of(std::string_view text) {
    if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
    const bool negative = !text.empty() && text.front() == '-';
    std::string_view digits = text.substr(negative ? 1 : 0);
    if (!digits.empty() && digits.front() == '-') return {};
    auto format = std::chars_format::general;
    if (digits.size() > 2 && digits[0] == '0' && (digits[1] == 'x' || digits[1] == 'X')) {
        digits.remove_prefix(2);
        if (digits.front() == '-') return {};
        format = std::chars_format::hex;
    }
    double value = 0.0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, format);
    if (end != digits.data() + digits.size() || error == std::errc::invalid_argument) return {};
    if (error == std::errc::result_out_of_range) {
        // from_chars does not say whether the number is too small or too large. It is too small if its exponent is
        // negative, or without exponent if all digits before the point are 0.
        const std::size_t exponent = digits.find_first_of(format == std::chars_format::hex ? "pP" : "eE");
        const bool small = exponent == std::string_view::npos
                               ? digits.substr(0, digits.find('.')).find_first_not_of('0') == std::string_view::npos
                               : exponent + 1 < digits.size() && digits[exponent + 1] == '-';
        value = small ? 0.0 : std::numeric_limits<double>::infinity();
    }
    return negative ? -value : value;
}

Scanner::Scanner(std::string_view text) : text_(text) { skip_space(); }

Word Scanner::peek() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    return {at_, text_.substr(at_, end - at_)};
}

Word Scanner::next() {
    const Word word = peek();
    at_ += word.text.size();
    skip_space();
    return word;
}

void Scanner::skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    skip_space();
}

Word Scanner::expect(const NumberLabel& label) {
    if (at_end()) throw Misfit{at_, "the file ends where " + words(label) + " was expected", cut_short};
    return next();
}

std::int64_t Scanner::integer(const NumberLabel& label, std::int64_t low, std::int64_t high) {
    const Word word = expect(label);
    const std::optional<std::int64_t> value = integer_of(word.text);
    if (!value) throw Misfit{word.offset, "expected an integer, " + words(label) + ", found " + quoted(word)};
    check_range(word, label, *value, low, high);
    return *value;
}

double Scanner::real(const NumberLabel& label) {
    const Word word = expect(label);
    const std::optional<double> value = real_of(word.text);
    if (!value) throw Misfit{word.offset, "expected " + words(label) + ", found " + quoted(word)};
    if (!std::isfinite(*value))
        throw Misfit{word.offset, subject(label) + quoted(word) + ", not finite", "give a finite number"};
    return *value;
}

void Scanner::literal(std::string_view wanted) {
    const std::string name = "'" + std::string(wanted) + "'";
    const Word word = expect({name});
    if (word.text != wanted) throw Misfit{word.offset, "expected " + name + ", found " + quoted(word)};
}

void Scanner::require(std::int64_t count, std::string_view name) const {
    if (count > 0 && at_end())
        throw Misfit{at_, "the file ends where " + std::string(name) + " was expected", cut_short};
    if (ix(count) > (text_.size() - at_ + 1) / 2)
        throw Misfit{
            at_,
            "the rest of the file is too short for the " + counted(ix(count), "number") + " of " + std::string(name),
            cut_short};
}

std::vector<double> Scanner::reals(std::int64_t count, std::string_view name) {
    require(count, name);
    std::vector<double> values(ix(count));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = real({name, k, values.size()});
    return values;
}

Vector Scanner::vector(std::int64_t count, std::string_view name) {
    const std::vector<double> values = reals(count, name);
    return Eigen::Map<const Vector>(values.data(), static_cast<Eigen::Index>(values.size()));
}

std::vector<double> Scanner::coefficients(std::int64_t count, std::string_view name) {
    require(count, name);
    std::vector<double> values(ix(count));
    for (std::size_t k = 0; k < values.size(); ++k) {
        const Word word = peek();
        values[k] = real({name, k, values.size()});
        if (values[k] < 0.0)
            throw Misfit{word.offset, subject({name, k, values.size()}) + quoted(word) + ", negative",
                         "give a number >= 0"};
    }
    return values;
}

std::int64_t Scanner::count_numbers(std::int64_t limit) const {
    Scanner ahead = *this;
    std::int64_t count = 0;
    while (count < limit && !ahead.at_end() && real_of(ahead.next().text)) ++count;
    return count;
}

std::size_t Scanner::word_after(std::size_t offset, std::size_t count) const {
    Scanner ahead = *this;
    ahead.go_to(offset);
    while (count-- > 0) ahead.next();
    return ahead.position();
}

void Scanner::skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

}  // namespace saltus::io
