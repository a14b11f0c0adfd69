// SPDX-License-Identifier: Apache-2.0
//
// Judges single collisions (`saltus impact`) in exact fractions: the outcome of Newton's law without friction, whether
// a stated velocity can be reached by impulses, and the least and greatest work of such impulses.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"
#include "machine/random_models.hpp"

namespace trials {

/// Collisions with few binary digits: masses, normals, friction coefficients and velocities are exact in doubles.
const std::vector<Generator>& collision_generators();

Findings judge_impact(const Model& model, const Program& program);

}  // namespace trials
