// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace saltus::io {

using Colour = std::array<std::uint8_t, 3>;  ///< red, green, blue

/// An image whose pixels are numbers of colours in a palette. Rows come from the top.
struct IndexedImage {
    int width = 0, height = 0;
    std::vector<std::uint8_t> pixel;  ///< number of a colour in `palette` for each pixel, row by row
    std::vector<Colour> palette;      ///< at most 256 colours

    std::uint8_t& at(int x, int y) {
        return pixel[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    }
};

/// The bytes of a PNG file. Equal images give equal bytes. The compression finds runs and repeated rows only, which
/// suffices for images with large areas of one colour.
std::string png(const IndexedImage& image);

/// The bytes in base64, for pictures inside SVG.
std::string base64(const std::string& bytes);

}  // namespace saltus::io
