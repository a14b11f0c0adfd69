// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/trajectory/lyapunov.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::io {

/// What `saltus simulate` prints, for people and as one JSON document; t_end is the time that was asked for. Times of
/// computation are in the JSON's `statistics` alone, numbers that are not finite are null there, and the reason why a
/// run did not complete is the first of its `warnings`.
/// The balance of V is told where one is given.
std::string simulate_text(const trajectory::Trajectory& trajectory, double t_end,
                          const trajectory::LyapunovBalance* balance = nullptr);
std::string simulate_json(const trajectory::Trajectory& trajectory, double t_end,
                          const trajectory::LyapunovBalance* balance = nullptr);

/// A line for each event: time, kind, names of who takes part (with ';' between), work, energies, number of impacts and
/// note; then q, u before (x'-), u after (x'+), and the impulses of all elements.
std::string events_csv(const trajectory::Trajectory& trajectory);

/// t, q, u at equidistant times, both ends among them, and before and after each event; samples >= 2. Where no arcs
/// were kept, at the ends and events alone.
std::string states_csv(const trajectory::Trajectory& trajectory, int samples);

/// A line a row of the balance, its columns by their names.
std::string balance_csv(const trajectory::LyapunovBalance& balance);

}  // namespace saltus::io
