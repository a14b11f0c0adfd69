// SPDX-License-Identifier: Apache-2.0
//
// Judges what `saltus equilibria` and `saltus certify` say about rest on moving surfaces: listed positions are held
// with friction that slides, no point of steady sliding is missing from a complete list, eigenvalues agree with
// differences of the sliding motion, and motions by time-stepping from next to the point approach it, or leave it, as
// it is said.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

/// A document of `equilibria` against the model.
Findings judge_belt_sets(const Model& model, const nlohmann::json& document);

/// A document of `certify` against the model.
Findings judge_belt_certificate(const Model& model, const nlohmann::json& document);

Findings judge_belt(const Model& model, const Program& program);

}  // namespace trials
