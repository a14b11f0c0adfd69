// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/io/report/timing.hpp"
#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

/// The result of `saltus simulate` as text, JSON and CSV. Text and JSON are written by simulate_report.cpp, tables by
/// simulate_report_csv.cpp.
namespace saltus::io {

/// For a terminal. `t_end` is the time in s that was asked for; the motion may end before. The balance of the Lyapunov
/// function V is shown if it is given and not empty. Long lists are cut and say so.
std::string simulate_text(const trajectory::Trajectory& trajectory, double t_end,
                          const trajectory::LyapunovBalance* balance = nullptr);

/// One JSON document (docs/results.md). Numbers that are not finite are null. If the run did not complete then the
/// first entry of `warnings` is the reason. Computing times appear under `statistics` only.
std::string simulate_json(const trajectory::Trajectory& trajectory, double t_end,
                          const trajectory::LyapunovBalance* balance = nullptr, Timing timing = Timing::included);

/// A line for each event: time, kind, names of the elements (with ';' between), work, energies, number of impacts,
/// note; then q, the velocities before (`x'-`) and after (`x'+`), and the impulses of all elements.
std::string events_csv(const trajectory::Trajectory& trajectory);

/// t, q and u at `samples` ≥ 2 equidistant times, both ends included, and before and after each event. If the motion
/// was computed without arcs then only the ends and the events have lines.
std::string states_csv(const trajectory::Trajectory& trajectory, int samples);

/// The balance of V: a line for each time, a column for each cause.
std::string balance_csv(const trajectory::LyapunovBalance& balance);

}  // namespace saltus::io
