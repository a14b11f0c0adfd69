// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/basin_report.hpp"

/// Pictures of a basin of attraction over two coordinates.
namespace saltus::io {

/// Whether there is a picture: the starts form a grid with equal distances, and exactly two axes have more than one
/// value.
bool has_basin_image(const BasinReport& report);

/// A PNG file. Each start is a square in the colour of its label; the first of the two axes points to the right, the
/// second upwards. If the grid was refined then the refined labels are drawn. The boundary of the level set is white,
/// equilibrium sets are black. Of a grid with more than 2400 values along an axis 2400 are drawn. A legend stands to
/// the right of the plane, whose longer side has at most 600 pixels. Needs `has_basin_image`.
std::string basin_png(const BasinReport& report);

/// The same as an SVG file with axes and legend. Needs `has_basin_image`.
std::string basin_svg(const BasinReport& report);

}  // namespace saltus::io
