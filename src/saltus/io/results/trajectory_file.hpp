// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/summary.hpp"
#include "saltus/trajectory/trajectory.hpp"

/// Trajectories as HDF5 files; docs/trajectory-file.md describes the layout. If the library was built without HDF5
/// (SALTUS_HDF5 is not 1) then every function throws Error. Safe to call from several threads: HDF5 admits one caller
/// at a time, and the others wait.
namespace saltus::io {

/// Writes a trajectory, the balance of the Lyapunov function V if it is given and not empty, and derived quantities if
/// they are given. The file appears complete or not at all (see files.hpp). Creates the folder if necessary. Equal
/// trajectories give equal bytes. Throws Error if the file cannot be written.
void write_trajectory(const std::string& path, const trajectory::Trajectory& trajectory,
                      const trajectory::LyapunovBalance* balance = nullptr,
                      const trajectory::OutputCurves* outputs = nullptr);

/// What is read of a trajectory. Arcs, with the polynomials of all integration steps, are more than half of a file.
enum class TrajectoryParts { all, without_arcs };

/// Reads a trajectory; every number is bit by bit the one that was written. Throws Error if the file is not a
/// trajectory, is damaged, or has a layout of another version, or before reading if it does not fit into memory.
trajectory::Trajectory read_trajectory(const std::string& path, TrajectoryParts parts = TrajectoryParts::all);

/// Reads the balance of V in a trajectory file; empty if the file has none. Throws Error like `read_trajectory`.
trajectory::LyapunovBalance read_balance(const std::string& path);

/// Reads the numbers of the resume point in a trajectory file; empty if the file has none. Throws Error like
/// `read_trajectory`.
std::vector<double> read_resume(const std::string& path);

/// Reads the derived quantities in a trajectory file; empty if the file has none. Throws Error like `read_trajectory`.
trajectory::OutputCurves read_outputs(const std::string& path);

}  // namespace saltus::io
