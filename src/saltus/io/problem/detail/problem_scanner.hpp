// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/error.hpp"
#include "saltus/base/linalg.hpp"

/// Reads a problem text word by word and reports faults with their places.
namespace saltus::io {

/// The reason why a text does not have the layout that was tried. All functions that take a Scanner throw it. Several
/// layouts are tried in turn; the caller turns the misfit of the best one into an Error.
struct Misfit {
    std::size_t offset;  ///< index of the character at fault
    std::string message;
    std::string remedy{};
};

/// Line and column (from 1, in characters) of an offset in a text.
Place place_of(std::string_view text, std::size_t offset, const std::string& file);

/// The meaning of a number, for messages: "mu, number 2 of 5", or "the number of contacts" if count is 0. It is turned
/// into words only if a message is needed, because a text can have millions of numbers.
struct NumberLabel {
    std::string_view name;
    std::size_t index = 0;  ///< from 0
    std::size_t count = 0;
};

/// The label as the subject of a sentence: "mu, number 2 of 5, is ".
std::string subject(const NumberLabel& label);

struct Word {
    std::size_t offset;
    std::string_view text;  ///< empty at the end of the file
};

/// The word in quotes, cut to 32 characters; bytes that are not printable ASCII become '.'.
std::string quoted(const Word& word);

/// The integer that a text is; no value if it is not an integer or does not fit into 64 bits.
std::optional<std::int64_t> integer_of(std::string_view text);

/// The number that a text is: any C literal, including hexadecimal ones, `inf` and `nan`. A number too small for a
/// double is 0; a number too large is infinite.
std::optional<double> real_of(std::string_view text);

/// A position in a text, always at the beginning of a word or at the end. All white space is alike. A copy can look
/// ahead without moving the original.
class Scanner {
public:
    explicit Scanner(std::string_view text);

    std::size_t position() const { return at_; }  ///< offset of the next word, or of the end
    void go_to(std::size_t position) { at_ = position; }
    bool at_end() const { return at_ == text_.size(); }

    Word peek() const;                      ///< the next word; the position stays
    Word next();                            ///< the next word; the position moves behind it
    Word expect(const NumberLabel& label);  ///< `next`; throws Misfit at the end of the file

    /// An integer in [low, high]. Throws Misfit.
    std::int64_t integer(const NumberLabel& label, std::int64_t low = 0,
                         std::int64_t high = std::numeric_limits<int>::max());
    double real(const NumberLabel& label);                                 ///< a finite number; throws Misfit
    std::vector<double> reals(std::int64_t count, std::string_view name);  ///< finite numbers; throws Misfit
    Vector vector(std::int64_t count, std::string_view name);              ///< reads `count` numbers into a vector
    std::vector<double> coefficients(std::int64_t count, std::string_view name);  ///< finite and ≥ 0; throws Misfit

    void literal(std::string_view wanted);  ///< reads this word; throws Misfit if another one stands there
    void skip_line();                       ///< moves to the first word of the next line

    /// Throws Misfit if the rest of the file is too short for `count` numbers. A number needs two characters, a digit
    /// and a blank. To be called before memory is allocated for them.
    void require(std::int64_t count, std::string_view name) const;

    /// How many numbers follow until the first other word; at most `limit` are counted.
    std::int64_t count_numbers(std::int64_t limit) const;

    /// The offset of the word that comes `count` words after the word at `offset`.
    std::size_t word_after(std::size_t offset, std::size_t count) const;

private:
    void skip_space();

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace saltus::io
