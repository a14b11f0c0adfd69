// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/solvers/problem.hpp"

namespace saltus::bench {

/// Contact problems of any size, W = Hᵀ M⁻¹ H from masses and contact directions, blocks where contacts share a body.
/// The free velocities are those after a short time under gravity, plus a small random motion that is the same in every
/// run.

/// Frictionless contacts in a row of beads of different masses between two heavy pistons that move towards each other;
/// W is tridiagonal.
solvers::FrictionProblem pressed_beads(int contacts);

/// Equal disks on the ground, `base` of them in the lowest row and one less in each row above, with planar friction. A
/// triangle, height = base, has base² contacts.
solvers::FrictionProblem disk_pile(int base, int height);

/// Equal balls on the ground in square layers, `base` × `base` of them in the lowest, each ball above on four, with
/// spatial friction. A pyramid, height = base, has about 4/3 base³ contacts.
solvers::FrictionProblem ball_pile(int base, int height);

}  // namespace saltus::bench
