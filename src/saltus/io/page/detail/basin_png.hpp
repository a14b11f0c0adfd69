// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace saltus::io {

using Colour = std::array<std::uint8_t, 3>;  ///< red, green, blue

/// An image of numbered colours, row by row from the top.
struct IndexedImage {
    int width = 0, height = 0;
    std::vector<std::uint8_t> pixel;
    std::vector<Colour> palette;  ///< at most 256

    std::uint8_t& at(int x, int y) {
        return pixel[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
    }
};

/// The bytes of a PNG file. Runs and repeated rows are compressed; equal images give equal bytes.
std::string png(const IndexedImage& image);

std::string base64(const std::string& bytes);

}  // namespace saltus::io
