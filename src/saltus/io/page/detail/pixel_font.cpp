// SPDX-License-Identifier: Apache-2.0
#include "saltus/io/page/detail/pixel_font.hpp"

#include <algorithm>
#include <array>

namespace saltus::io {

namespace {

/// A letter: for each row from the top a number whose five bits are the dots, the leftmost one the highest bit.
struct Glyph {
    char letter;
    std::array<std::uint8_t, letter_height> rows;
};

/// Sorted by letter.
constexpr std::array glyphs{Glyph{' ', {0, 0, 0, 0, 0, 0, 0}},        Glyph{'!', {4, 4, 4, 4, 4, 0, 4}},
                            Glyph{'"', {10, 10, 0, 0, 0, 0, 0}},      Glyph{'#', {10, 10, 31, 10, 31, 10, 10}},
                            Glyph{'%', {25, 26, 4, 4, 4, 11, 19}},    Glyph{'&', {12, 18, 18, 12, 21, 18, 13}},
                            Glyph{'\'', {4, 4, 0, 0, 0, 0, 0}},       Glyph{'(', {8, 16, 16, 16, 16, 16, 8}},
                            Glyph{')', {8, 4, 4, 4, 4, 4, 8}},        Glyph{'*', {0, 21, 14, 31, 14, 21, 0}},
                            Glyph{'+', {0, 4, 4, 31, 4, 4, 0}},       Glyph{',', {0, 0, 0, 0, 12, 4, 8}},
                            Glyph{'-', {0, 0, 0, 31, 0, 0, 0}},       Glyph{'.', {0, 0, 0, 0, 0, 12, 12}},
                            Glyph{'/', {1, 2, 2, 4, 8, 8, 16}},       Glyph{'0', {14, 17, 19, 21, 25, 17, 14}},
                            Glyph{'1', {4, 12, 4, 4, 4, 4, 14}},      Glyph{'2', {14, 17, 1, 2, 4, 8, 31}},
                            Glyph{'3', {14, 17, 1, 6, 1, 17, 14}},    Glyph{'4', {2, 6, 10, 18, 31, 2, 2}},
                            Glyph{'5', {31, 16, 30, 1, 1, 17, 14}},   Glyph{'6', {14, 16, 16, 30, 17, 17, 14}},
                            Glyph{'7', {31, 1, 2, 4, 4, 4, 4}},       Glyph{'8', {14, 17, 17, 14, 17, 17, 14}},
                            Glyph{'9', {14, 17, 17, 15, 1, 1, 14}},   Glyph{':', {0, 12, 12, 0, 12, 12, 0}},
                            Glyph{';', {0, 6, 6, 0, 6, 2, 4}},        Glyph{'<', {2, 4, 8, 16, 8, 4, 2}},
                            Glyph{'=', {0, 0, 31, 0, 31, 0, 0}},      Glyph{'>', {16, 8, 4, 2, 4, 8, 16}},
                            Glyph{'?', {14, 17, 1, 2, 4, 0, 4}},      Glyph{'A', {14, 17, 17, 31, 17, 17, 17}},
                            Glyph{'B', {30, 17, 17, 30, 17, 17, 30}}, Glyph{'C', {15, 16, 16, 16, 16, 16, 15}},
                            Glyph{'D', {30, 17, 17, 17, 17, 17, 30}}, Glyph{'E', {31, 16, 16, 30, 16, 16, 31}},
                            Glyph{'F', {31, 16, 16, 30, 16, 16, 16}}, Glyph{'G', {15, 16, 16, 19, 17, 17, 15}},
                            Glyph{'H', {17, 17, 17, 31, 17, 17, 17}}, Glyph{'I', {14, 4, 4, 4, 4, 4, 14}},
                            Glyph{'J', {7, 2, 2, 2, 2, 18, 12}},      Glyph{'K', {17, 18, 20, 24, 20, 18, 17}},
                            Glyph{'L', {16, 16, 16, 16, 16, 16, 31}}, Glyph{'M', {17, 27, 21, 21, 17, 17, 17}},
                            Glyph{'N', {17, 25, 25, 21, 19, 19, 17}}, Glyph{'O', {14, 17, 17, 17, 17, 17, 14}},
                            Glyph{'P', {30, 17, 17, 30, 16, 16, 16}}, Glyph{'Q', {14, 17, 17, 17, 21, 18, 13}},
                            Glyph{'R', {30, 17, 17, 30, 20, 18, 17}}, Glyph{'S', {15, 16, 16, 14, 1, 1, 30}},
                            Glyph{'T', {31, 4, 4, 4, 4, 4, 4}},       Glyph{'U', {17, 17, 17, 17, 17, 17, 14}},
                            Glyph{'V', {17, 17, 17, 17, 17, 10, 4}},  Glyph{'W', {17, 17, 17, 21, 21, 27, 17}},
                            Glyph{'X', {17, 17, 10, 4, 10, 17, 17}},  Glyph{'Y', {17, 17, 10, 4, 4, 4, 4}},
                            Glyph{'Z', {31, 1, 2, 4, 8, 16, 31}},     Glyph{'[', {14, 8, 8, 8, 8, 8, 14}},
                            Glyph{']', {14, 2, 2, 2, 2, 2, 14}},      Glyph{'^', {4, 10, 17, 0, 0, 0, 0}},
                            Glyph{'_', {0, 0, 0, 0, 0, 0, 31}},       Glyph{'a', {0, 0, 14, 1, 15, 17, 15}},
                            Glyph{'b', {16, 16, 30, 17, 17, 17, 30}}, Glyph{'c', {0, 0, 15, 16, 16, 16, 15}},
                            Glyph{'d', {1, 1, 15, 17, 17, 17, 15}},   Glyph{'e', {0, 0, 14, 17, 31, 16, 15}},
                            Glyph{'f', {6, 8, 30, 8, 8, 8, 8}},       Glyph{'g', {0, 0, 15, 17, 15, 1, 14}},
                            Glyph{'h', {16, 16, 30, 17, 17, 17, 17}}, Glyph{'i', {4, 0, 12, 4, 4, 4, 14}},
                            Glyph{'j', {2, 0, 6, 2, 2, 18, 12}},      Glyph{'k', {16, 16, 18, 20, 24, 20, 18}},
                            Glyph{'l', {12, 4, 4, 4, 4, 4, 14}},      Glyph{'m', {0, 0, 26, 21, 21, 21, 21}},
                            Glyph{'n', {0, 0, 30, 17, 17, 17, 17}},   Glyph{'o', {0, 0, 14, 17, 17, 17, 14}},
                            Glyph{'p', {0, 0, 30, 17, 30, 16, 16}},   Glyph{'q', {0, 0, 15, 17, 15, 1, 1}},
                            Glyph{'r', {0, 0, 22, 24, 16, 16, 16}},   Glyph{'s', {0, 0, 15, 16, 14, 1, 30}},
                            Glyph{'t', {8, 8, 30, 8, 8, 9, 6}},       Glyph{'u', {0, 0, 17, 17, 17, 17, 15}},
                            Glyph{'v', {0, 0, 17, 17, 17, 10, 4}},    Glyph{'w', {0, 0, 17, 21, 21, 21, 10}},
                            Glyph{'x', {0, 0, 17, 10, 4, 10, 17}},    Glyph{'y', {0, 0, 17, 17, 15, 1, 14}},
                            Glyph{'z', {0, 0, 31, 2, 4, 8, 31}},      Glyph{'{', {3, 4, 4, 8, 4, 4, 3}},
                            Glyph{'|', {4, 4, 4, 4, 4, 4, 4}},        Glyph{'}', {12, 2, 2, 1, 2, 2, 12}}};

/// A frame, for characters that have no glyph.
constexpr std::array<std::uint8_t, letter_height> unknown_letter{31, 17, 17, 17, 17, 17, 31};

const std::array<std::uint8_t, letter_height>& rows_of(char letter) {
    const auto found =
        std::lower_bound(glyphs.begin(), glyphs.end(), letter, [](const Glyph& g, char c) { return g.letter < c; });
    return found != glyphs.end() && found->letter == letter ? found->rows : unknown_letter;
}

/// Calls f(byte) for every character of UTF-8 text, with its first byte.
template <class F>
void for_each_character(const std::string& text, F f) {
    for (const char c : text)
        if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) f(c);
}

}  // namespace

int text_width(const std::string& text, int scale) {
    int count = 0;
    for_each_character(text, [&](char) { ++count; });
    return std::max(0, count * (letter_width + 1) - 1) * scale;
}

void draw_text(IndexedImage& image, int x, int y, const std::string& text, std::uint8_t colour, int scale) {
    for_each_character(text, [&](char c) {
        const auto& rows = rows_of(c);
        for (int v = 0; v < letter_height * scale; ++v)
            for (int u = 0; u < letter_width * scale; ++u) {
                const unsigned bits = rows[static_cast<std::size_t>(v / scale)];
                const bool dot = ((bits >> static_cast<unsigned>(letter_width - 1 - u / scale)) & 1U) != 0;
                const int px = x + u, py = y + v;
                if (dot && px >= 0 && px < image.width && py >= 0 && py < image.height) image.at(px, py) = colour;
            }
        x += (letter_width + 1) * scale;
    });
}

}  // namespace saltus::io
