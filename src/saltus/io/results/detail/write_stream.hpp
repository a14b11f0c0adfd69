// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/summary.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::io {

class TrajectoryStream;  // trajectory_stream.hpp

/// Writes a trajectory file to an open, empty file (docs/trajectory-file.md). The stream has the arcs, the events and
/// the rows of the balance, and is finished; `trajectory` has everything else, and `balance` the errors of the balance.
/// `target` is the path of the file to be, for messages. `resume` are the numbers of a resume point; empty: none.
/// `outputs` are derived quantities, if there are any. The columns of numbers in the stream are removed as they are
/// written. Throws Error if the file cannot be written.
void write_stream(const std::string& target, int descriptor, TrajectoryStream& stream,
                  const trajectory::Trajectory& trajectory, const trajectory::LyapunovBalance* balance,
                  const std::vector<double>& resume, const trajectory::OutputCurves* outputs = nullptr);

}  // namespace saltus::io
