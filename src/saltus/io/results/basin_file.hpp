// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "saltus/io/report/basin_report.hpp"

namespace saltus::io {

class ResultFolder;  // result_folder.hpp

/// Adds a basin as HDF5 (docs/basin.md) to the results of a command: `labels` in the shape of the grid, with the first
/// axis as the last and fastest dimension; a column for each quantity of the motions. Equal basins give equal bytes.
/// Motions are read one after the other and not kept. With `parts`, the first part of a division of the motions, the
/// columns are in a file for each part, and those of the file itself are virtual datasets over them. Throws Error if it
/// cannot be written or the library was built without HDF5.
void add_basin(ResultFolder& folder, const std::string& name, const BasinReport& report,
               const std::optional<ensemble::Shard>& parts = {});

}  // namespace saltus::io
