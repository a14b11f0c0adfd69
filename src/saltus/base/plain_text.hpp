// SPDX-License-Identifier: Apache-2.0
// Texts of numbers and kinds of characters in the locale "C". printf, strtod, std::isalnum and streams follow the
// locale of the program that uses the library: with std::setlocale(LC_ALL, "de_DE.UTF-8") printf writes "0,5", and
// strtod reads only the 0 of "0.5". Functions of this file do not depend on any locale.
#pragma once

#include <string>
#include <string_view>

namespace saltus {

/// A number with at most `digits` significant digits, as printf writes it with "%.*g" in the locale "C".
std::string rounded_text(double value, int digits);

/// All bits of a number, hexadecimal, as printf writes it with "%a" in the locale "C": 0.5 is "0x1p-1".
std::string hexadecimal_text(double value);

/// The number that a whole text is, as the two functions `rounded_text` and `number_text` write it. NaN for any other
/// text.
double number_in(std::string_view text);

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
constexpr bool is_letter_or_digit(char c) { return is_letter(c) || is_digit(c); }
constexpr bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
constexpr char lower_case(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace saltus
