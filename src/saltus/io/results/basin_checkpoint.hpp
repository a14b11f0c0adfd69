// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "saltus/stability/basin/basin.hpp"

/// The files `basin.checkpoint` and `basin-2-of-3.checkpoint`: motions of an unfinished basin, or of one shard, that
/// `saltus basin --resume` and `saltus merge` continue. Binary, for the kind of machine that wrote it, under a
/// checksum.
namespace saltus::io {

/// What a checkpoint says about its run.
struct CheckpointHead {
    /// Identifies model and options, so that a checkpoint is continued only with the same ones.
    std::string purpose;
    std::string line;        ///< the command line that makes the whole basin
    std::string folder;      ///< where it was given
    std::size_t starts = 0;  ///< motions of the grid or of the samples
};

/// Writes the motions computed so far; those that are pending are left out. With a shard only its motions are written.
/// The file appears complete or not at all. Throws Error if it cannot be written.
void write_basin_checkpoint(const std::string& folder, const CheckpointHead& head, const stability::BasinRecord& record,
                            const ensemble::Shard& shard = {});

/// All motions in the checkpoints of a folder, whatever shards they are of; no value if there is no checkpoint. Motions
/// in none of them are pending. `coordinates` is the number of coordinates of the model. Throws Error if a checkpoint
/// is damaged or was written for another purpose, or if two checkpoints contradict each other.
std::optional<stability::BasinRecord> read_basin_checkpoints(const std::string& folder, const std::string& purpose,
                                                             std::size_t coordinates);

/// What the checkpoints of a folder contain together.
struct CheckpointsFound {
    CheckpointHead head;
    std::size_t files = 0;
    std::size_t done = 0;  ///< starts whose motions are in one of the files
};
/// Nothing if there is no checkpoint. Throws Error if a checkpoint is damaged, or if they are of different purposes.
std::optional<CheckpointsFound> find_basin_checkpoints(const std::string& folder);

/// Removes the checkpoints of a folder. Does nothing if there is none.
void remove_basin_checkpoints(const std::string& folder);

}  // namespace saltus::io
