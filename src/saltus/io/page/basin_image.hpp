// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/basin_report.hpp"

namespace saltus::io {

/// Whether there is a picture: a grid with two axes of more than one value.
bool has_basin_image(const BasinReport& report);

/// Labels as colours, the first of the two axes to the right, the second upwards, refined where the grid is; the edge
/// of the level set in white, equilibrium sets in black.
std::string basin_png(const BasinReport& report);

/// The same with axes, legend, and lines that are lines.
std::string basin_svg(const BasinReport& report);

}  // namespace saltus::io
