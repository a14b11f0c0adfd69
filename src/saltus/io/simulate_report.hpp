// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "saltus/trajectory/trajectory.hpp"

namespace saltus::io {

/// What `saltus simulate` prints, for people and as one JSON document; t_end is the time that was asked for. Times of
/// computation are in the JSON's `statistics` alone, numbers that are not finite are null there, and the reason why a
/// run did not complete is the first of its `warnings`.
std::string simulate_text(const trajectory::Trajectory& trajectory, double t_end);
std::string simulate_json(const trajectory::Trajectory& trajectory, double t_end);

/// A line for each event: time, kind, names of who takes part (with ';' between), work, energies, number of impacts and
/// note; then q, u before (x'-), u after (x'+), and the impulses of all elements.
std::string events_csv(const trajectory::Trajectory& trajectory);

/// t, q, u at equidistant times, both ends among them, and before and after each event; samples >= 2. Where no arcs
/// were kept, at the ends and events alone.
std::string states_csv(const trajectory::Trajectory& trajectory, int samples);

}  // namespace saltus::io
