// SPDX-License-Identifier: Apache-2.0
//
// Judges `saltus solve`: the returned reactions and velocities against the laws, in long double arithmetic, and the
// statement that there is no solution against an enumeration of all states.
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "machine/contact_problem.hpp"
#include "machine/findings.hpp"
#include "machine/model.hpp"
#include "machine/program.hpp"
#include "machine/random_models.hpp"

namespace trials {

/// Planar and spatial friction, dependent rows, complementarity problems with matrices of any kind.
const std::vector<Generator>& problem_generators();

/// One document of `saltus solve --all --json`.
Findings judge_solution(const ContactProblem& problem, const nlohmann::json& document);

Findings judge_solve(const Model& model, const Program& program);

}  // namespace trials
