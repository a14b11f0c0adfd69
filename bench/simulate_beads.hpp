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

/// What one program made of the column. Lengths in m, energies in J above the state of rest on the floor, times in s.
struct BeadRun {
    std::string name;
    bool completed = false;
    double seconds = 0.0;  ///< processor time
    double deepest = 0.0;  ///< largest penetration during the run
    double deepest_at_end = 0.0;
    double energy_begin = 0.0, energy_end = 0.0;
    double most_energy = 0.0;     ///< largest energy after the start
    double fastest_at_end = 0.0;  ///< largest speed at the end, in m/s
};

/// The column in MuJoCo and in Bullet with the step h. Each is built only if the program is installed.
BeadRun mujoco_beads(const BeadColumn& column, double h);
BeadRun bullet_beads(const BeadColumn& column, double h);

}  // namespace saltus::bench
