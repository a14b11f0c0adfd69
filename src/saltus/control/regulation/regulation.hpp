// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "saltus/control/rest.hpp"
#include "saltus/proof/certificate.hpp"

namespace saltus::control {

/// The starts for which a theorem guarantees convergence: all admissible ones, those near the equilibrium, or none.
enum class Scope { global, local, inconclusive };
const char* to_string(Scope scope);

/// A solution of the algebraic equations (27), or (48) with springs. A solution of (27) is an equilibrium only if
/// g_N >= 0 and λ̇ >= 0; the others are reported with the sign that excludes them.
struct EquilibriumSolution {
    Rest rest;
    bool pushes = true;  ///< every contact force is >= 0
};

/// Theorems 5 (rigid contacts) and 6 (springs) of [Tornambe] for a closed loop, assumption by assumption. The rows of
/// the table have the numbers of the assumptions as identifiers; "LI" is the linear independence of the gradients of
/// closed contacts, "R6" and "R13" are the conditions for under-actuated systems, "R8" that impacts do not increase the
/// energy. If an assumption fails over the whole region then "R4" and "R11" say whether it holds near q_R.
struct RegulationCertificate {
    proof::Certificate table;  ///< all rows; its equilibrium, outcome and grade are those of rigid contacts
    Scope rigid = Scope::inconclusive, springs = Scope::inconclusive;
    proof::Grade spring_grade = proof::Grade::numerical;
    std::string spring_summary;
    bool with_springs = false;                                     ///< Theorem 6 was examined
    std::string no_springs;                                        ///< why Theorem 6 was not examined
    Rest spring_rest;                                              ///< equilibrium of the springs
    std::vector<EquilibriumSolution> solutions, spring_solutions;  ///< solutions of (27), and of (48)
};

struct RegulationOptions {
    std::optional<std::vector<double>> at;  ///< start of the search for q_R; default: the initial position
    long budget = 200'000;                  ///< number of boxes of an interval search
    std::function<bool()> stop = {};        ///< polled during interval searches; true: they end without a proof
};

/// Whether regulation is the question about this model: a closed loop whose equilibria are points.
bool regulates(const model::Mechanics& model);

/// Examines both theorems. Throws Error for a model without [control].
RegulationCertificate certify_regulation(const model::Mechanics& model, const RegulationOptions& options = {});

}  // namespace saltus::control
