// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "saltus/stability/basin/basin.hpp"

/// The file `basin.checkpoint`: an unfinished basin that `saltus basin --resume` continues. Binary, for the machine
/// that wrote it, under a checksum.
namespace saltus::io {

/// Writes the motions computed so far. `purpose` identifies model and options, so that a checkpoint is continued only
/// with the same ones. The file appears complete or not at all. Throws Error if it cannot be written.
void write_basin_checkpoint(const std::string& folder, const std::string& purpose,
                            const stability::BasinRecord& record);

/// Reads the checkpoint of a folder; no value if there is none. `coordinates` is the number of coordinates of the
/// model. Throws Error if the checkpoint is damaged or was written for another purpose.
std::optional<stability::BasinRecord> read_basin_checkpoint(const std::string& folder, const std::string& purpose,
                                                            std::size_t coordinates);

/// Removes the checkpoint of a folder. Does nothing if there is none.
void remove_basin_checkpoint(const std::string& folder);

}  // namespace saltus::io
