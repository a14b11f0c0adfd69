// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "saltus/io/page/detail/basin_png.hpp"

/// Text in images of pixels: letters of 5 x 7 dots, for legends. Characters that are not ASCII become a box.
namespace saltus::io {

inline constexpr int letter_width = 5, letter_height = 7;  ///< in dots

/// Width of a text in pixels if a dot has `scale` x `scale` pixels.
int text_width(const std::string& text, int scale);

/// Draws a text with its upper left corner at (x, y). What lies outside the image is left out.
void draw_text(IndexedImage& image, int x, int y, const std::string& text, std::uint8_t colour, int scale);

}  // namespace saltus::io
