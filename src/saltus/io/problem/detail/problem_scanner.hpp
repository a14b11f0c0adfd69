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

/// The words and numbers of a problem text, each with its place.
namespace saltus::io {

/// Why a text is not of the layout that was tried, and at which character. Thrown by all that reads through a Scanner.
struct Misfit {
    std::size_t offset;
    std::string message;
    std::string remedy{};
};

Place place_of(std::string_view text, std::size_t offset, const std::string& file);

/// What a number stands for: "mu, number 2 of 5", or "the number of contacts" for one alone. Put into words only when
/// it is needed.
struct What {
    std::string_view name;
    std::size_t index = 0;
    std::size_t count = 0;
};

/// The same at the beginning of a sentence: "mu, number 2 of 5, is ".
std::string subject(const What& what);

struct Word {
    std::size_t offset;
    std::string_view text;  ///< empty at the end of the file
};

/// The word in quotes, short and printable whatever the file holds.
std::string quoted(const Word& word);

std::optional<std::int64_t> integer_of(std::string_view text);

/// Any C literal, `inf` and `nan` among them; what is too small for a double is 0, what is too large is infinite.
std::optional<double> real_of(std::string_view text);

/// Goes through a text word by word; all space is alike. A copy looks ahead.
class Scanner {
public:
    explicit Scanner(std::string_view text);

    std::size_t position() const { return at_; }  ///< of the next word, or of the end
    void go_to(std::size_t position) { at_ = position; }
    bool at_end() const { return at_ == text_.size(); }

    Word peek() const;
    Word next();
    Word expect(const What& what);  ///< the next word, which must be there

    std::int64_t integer(const What& what, std::int64_t low = 0, std::int64_t high = std::numeric_limits<int>::max());
    double real(const What& what);                                                ///< finite
    std::vector<double> reals(std::int64_t count, std::string_view name);         ///< finite
    Vector vector(std::int64_t count, std::string_view name);                     ///< the same
    std::vector<double> coefficients(std::int64_t count, std::string_view name);  ///< finite, not negative

    void literal(std::string_view wanted);  ///< the word that the layout wants here
    void skip_line();

    /// Refuses more numbers than the rest of the file can hold (two characters each) before memory is taken for them.
    void require(std::int64_t count, std::string_view name) const;

    /// How many numbers follow before a word that is none, counted up to `most`.
    std::int64_t count_numbers(std::int64_t most) const;

    /// The offset of the word that comes `count` words after the one at the offset.
    std::size_t word_after(std::size_t offset, std::size_t count) const;

private:
    void skip_space();

    std::string_view text_;
    std::size_t at_ = 0;
};

}  // namespace saltus::io
