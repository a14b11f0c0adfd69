// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/rest.hpp"
#include "saltus/proof/certificate.hpp"

namespace saltus::control {

/// How far a theorem reaches: every admissible start, those near the equilibrium, or nothing is said.
enum class Scope { global, local, inconclusive };
const char* to_string(Scope scope);

/// A solution of the algebraic equations (27), or (48) with springs. Of those of (27) only the ones with gN >= 0 and
/// λ̇ >= 0 are equilibria: the others are shown with the sign that excludes them.
struct EquilibriumSolution {
    Rest rest;
    bool pushes = true;  ///< every λ >= 0
};

/// Theorems 5 (rigid contacts) and 6 (springs) of [Tornambe] for a closed loop, assumption by assumption. Rows have the
/// numbers of the assumptions; "LI" is the independence of closed gradients, "R6" and "R13" what under-actuation asks
/// for, "R8" that impacts do not bring energy in. Where an assumption fails in the whole, "R4" and "R11" say whether it
/// holds around q_R.
struct RegulationCertificate {
    proof::Certificate table;  ///< its equilibrium, verdict and grade are those of rigid contacts
    Scope rigid = Scope::inconclusive, springs = Scope::inconclusive;
    proof::Grade spring_grade = proof::Grade::numerical;
    std::string spring_summary;
    bool with_springs = false;
    std::string no_springs;  ///< why
    Rest spring_rest;
    std::vector<EquilibriumSolution> solutions, spring_solutions;
};

struct RegulationOptions {
    std::optional<std::vector<double>> at;  ///< where to look for the equilibrium; otherwise the initial position
    long budget = 200'000;                  ///< boxes of an interval search
};

/// Throws Error for a model without [control].
RegulationCertificate certify_regulation(const model::Model& model, const RegulationOptions& options = {});

}  // namespace saltus::control
