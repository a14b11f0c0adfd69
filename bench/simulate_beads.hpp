// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace saltus::bench {

/// Beads of unit mass and diameter on a vertical line, numbered from the floor, each a gap above the one below; all
/// fall from rest. Units are metres, kilograms and seconds, g = 9.81.
struct BeadColumn {
    int beads = 10;
    double drop = 0.5, gap = 0.01;
    double e = 0.0;  ///< restitution of every contact
    double t_end = 2.0;
};

struct BeadRun {
    std::string name;
    bool completed = false;
    double seconds = 0.0;
    double deepest = 0.0;  ///< penetration on the way
    double deepest_at_end = 0.0;
    double energy_begin = 0.0, energy_end = 0.0;
    double most_energy = 0.0;     ///< on the way, after the start
    double fastest_at_end = 0.0;  ///< speed
};

/// Where they are installed.
BeadRun mujoco_beads(const BeadColumn& column, double h);
BeadRun bullet_beads(const BeadColumn& column, double h);

}  // namespace saltus::bench
