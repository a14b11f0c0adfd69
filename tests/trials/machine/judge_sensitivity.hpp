// SPDX-License-Identifier: Apache-2.0
//
// Judges `saltus sensitivity` by central differences of whole motions, with several steps. Where the differences do not
// agree among themselves, nothing is judged.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

Findings judge_sensitivity(const Model& model, const Program& program);

}  // namespace trials
