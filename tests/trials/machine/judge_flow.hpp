// SPDX-License-Identifier: Apache-2.0
//
// Judges against the plain integrator: the end of motions with impacts, jumps and one slider; periodic orbits, their
// multipliers and their stability; branches of orbits and their special points; points and exponents of diagrams.
#pragma once

#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"

namespace trials {

/// `simulate`: final state to the accuracy of the plain integrator.
Findings judge_flow(const Model& model, const Program& program);

/// One orbit of a document of `orbit` or of `continue`: it closes, and its multipliers are those of the return map.
void judge_closed_motion(const Model& model, const nlohmann::json& point, bool excited, Findings& findings);

/// A document of `continue`.
Findings judge_branch(const Model& model, const nlohmann::json& document);

/// A document of `continue` about equilibria.
Findings judge_equilibrium_branch(const Model& model, const nlohmann::json& document);

/// A document of `diagram`.
Findings judge_diagram_document(const Model& model, const nlohmann::json& document);

Findings judge_orbit(const Model& model, const Program& program);
Findings judge_continue(const Model& model, const Program& program);
Findings judge_equilibria_over(const Model& model, const Program& program);
Findings judge_diagram(const Model& model, const Program& program);

}  // namespace trials
