// SPDX-License-Identifier: Apache-2.0
//
// Generators of random models. Each makes one class of models; together they cover what model files can say about
// motions of up to four coordinates.
#pragma once

#include <string>
#include <vector>

#include "machine/model.hpp"
#include "machine/random.hpp"

namespace trials {

struct Generator {
    std::string name;
    Model (*make)(Random& random);
};

/// For motions: impacts, all kinds of friction, redundant friction, moving tables, narrow obstacles, wells.
const std::vector<Generator>& motion_generators();

/// For motions: bilateral constraints with and without friction, clutches, rolling and drilling friction, and gaps with
/// corners.
const std::vector<Generator>& joint_generators();

/// For motions: Poisson's impact law, the energy law, and mass points with springs.
const std::vector<Generator>& law_generators();

/// For the penalty method: motions without friction, with springs at their contacts.
const std::vector<Generator>& penalty_generators();

/// For equilibria: autonomous models of one and two coordinates with many wells, rough surfaces and dividing walls.
const std::vector<Generator>& equilibrium_generators();

/// For certificates: damped models with and without friction, control and contacts; some of them satisfy no theorem.
const std::vector<Generator>& certificate_generators();

/// For rest on moving surfaces: blocks and plates on belts, with friction that depends on the place and on the speed.
const std::vector<Generator>& belt_generators();

/// The same bodies in motion.
const std::vector<Generator>& belt_motion_generators();

/// For basins: damped models of a line and of a block on a surface, with friction by chance.
const std::vector<Generator>& basin_generators();

}  // namespace trials
