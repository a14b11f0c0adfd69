// SPDX-License-Identifier: Apache-2.0
//
// Judges `saltus equilibria`: every listed position must be held, every position between the ends of a set too, sets
// are listed once, and where the program says that its list is complete, a dense scan must not find another
// equilibrium.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

/// Each of these equilibria must lie in a listed set if the list is complete.
void judge_listed(const Model& model, const nlohmann::json& document, const std::vector<Vector>& equilibria,
                  Findings& findings);

/// The listed sets of a document against the model.
Findings judge_sets(const Model& model, const nlohmann::json& document);

/// The program's sets, and its answers about single positions.
Findings judge_equilibria(const Model& model, const Program& program);

}  // namespace trials
