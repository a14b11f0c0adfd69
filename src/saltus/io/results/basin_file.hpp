// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/basin_report.hpp"

namespace saltus::io {

/// Writes a basin as HDF5 (docs/basin.md): `labels` in the shape of the grid, with the first axis as the last and
/// fastest dimension; a column for each quantity of the motions. Equal basins give equal bytes. The file appears
/// complete or not at all. Throws Error if it cannot be written or the library was built without HDF5.
void write_basin(const std::string& path, const BasinReport& report);

}  // namespace saltus::io
