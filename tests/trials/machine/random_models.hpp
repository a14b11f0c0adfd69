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

/// For motions: constraints on velocities (nonholonomic), with friction and impacts.
const std::vector<Generator>& velocity_constraint_generators();

/// For motions: contacts that exist only under a condition on the place, the time or the velocity.
const std::vector<Generator>& conditional_generators();

/// For motions: everything together, with one to four coordinates.
const std::vector<Generator>& mixed_generators();

/// For motions: Poisson's impact law, the energy law, and mass points with springs.
const std::vector<Generator>& law_generators();

/// For motions: resets of the state, with impacts and friction.
const std::vector<Generator>& jump_generators();

/// The same and static friction, with springs in the place of rigid contacts.
const std::vector<Generator>& sprung_reset_generators();

/// For motions: friction that holds more than it slides.
const std::vector<Generator>& static_friction_generators();

/// For motions: impacts that accumulate at several contacts, and impacts without restitution that lift another contact.
const std::vector<Generator>& accumulation_generators();

/// For periodic orbits: excited and self-excited oscillators with impacts, friction and jumps, with a parameter.
const std::vector<Generator>& orbit_generators();
/// Those of them that have a period of excitation.
const std::vector<Generator>& excited_orbit_generators();

/// For branches of equilibria: wells that a parameter moves, with walls.
const std::vector<Generator>& rest_over_generators();

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
