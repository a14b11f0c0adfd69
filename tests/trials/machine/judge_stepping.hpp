// SPDX-License-Identifier: Apache-2.0
//
// Judges the program's own time-stepping, `simulate --method moreau`: its end against the plain scheme of the judges,
// its gaps and its energies.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

Findings judge_moreau(const Model& model, const Program& program);

}  // namespace trials
