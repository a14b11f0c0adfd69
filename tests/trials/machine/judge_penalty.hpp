// SPDX-License-Identifier: Apache-2.0
//
// Judges the penalty method: contacts with springs and dampers are ordinary differential equations, which the classical
// Runge-Kutta method integrates with short steps that end where a spring begins or ceases to push.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

/// The final state of a model with `penalty`, with `count` steps; nothing if the motion leaves every bound.
std::optional<Point> springs_end(const Model& model, int count);

Findings judge_penalty(const Model& model, const Program& program);

}  // namespace trials
