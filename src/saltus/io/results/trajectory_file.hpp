// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

/// Trajectories in HDF5; docs/trajectory-file.md has the layout. Needs HDF5 when built (SALTUS_HDF5 = 1); without it
/// both calls throw Error "built without HDF5". Calls from several threads wait for each other.
namespace saltus::io {

/// Writes a trajectory so that the file appears whole or not at all: into a neighbour file first, then renamed. Creates
/// the folder. Equal trajectories give equal bytes. Throws Error when it cannot be written. With a balance of V, where
/// one is given and not empty.
void write_trajectory(const std::string& path, const trajectory::Trajectory& trajectory,
                      const trajectory::LyapunovBalance* balance = nullptr);

/// The same value, bit by bit. Throws Error for what is no such file, is damaged, or was written by a later version.
trajectory::Trajectory read_trajectory(const std::string& path);

/// The balance of V in the file; empty when it has none.
trajectory::LyapunovBalance read_balance(const std::string& path);

}  // namespace saltus::io
