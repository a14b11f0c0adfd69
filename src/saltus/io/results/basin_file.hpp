// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/basin_report.hpp"

namespace saltus::io {

/// The whole basin as HDF5: `labels` in the shape of the grid (the first axis is the last, fastest side), one column
/// for each thing that is known of a motion. Equal basins give equal bytes. Throws Error where saltus has no HDF5.
void write_basin(const std::string& path, const BasinReport& report);

}  // namespace saltus::io
