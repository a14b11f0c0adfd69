// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "saltus/proof/theorem.hpp"

namespace saltus::proof {

/// What is known about one condition of a theorem.
enum class Verdict {
    proved,        ///< shown by rigorous interval arithmetic or exact algebra on the whole set of the condition
    numerical,     ///< true at every examined state; the evidence says what was sampled, where and how often
    assumed,       ///< cannot be decided from the model; named in Certificate::assumptions
    not_examined,  ///< nothing is known; the evidence says why
    fails,         ///< false at the witness, or because the system does not belong to the class of the theorem
};

/// A state at which a condition fails, with further numbers. Empty: there is no witness.
struct Witness {
    std::vector<double> q, u;                            ///< one number for each coordinate, or empty
    std::vector<std::pair<std::string, double>> values;  ///< named numbers: forces, a value of the wrong sign, a time

    bool given() const { return !q.empty() || !u.empty() || !values.empty(); }
};

/// One row of a certificate.
struct Condition {
    std::string id;    ///< number of the condition in the theorem
    std::string text;  ///< what the condition requires
    Verdict verdict = Verdict::not_examined;
    std::string evidence;  ///< the reason of the verdict
    Witness witness;       ///< given for most verdicts `fails`
};

/// The conclusion from all conditions. `inconclusive`: the theorem does not apply, which says nothing about the model.
enum class Outcome { attractive, unstable, stable, inconclusive };
/// The quality of the conclusion: the weakest verdict of the conditions that it needs. Assumed conditions are named in
/// Certificate::assumptions and not graded.
enum class Grade { proved, numerical, not_examined };

/// The force of one contact, constraint, slider or clutch, in the units of the model.
struct ElementForce {
    std::string name;
    double N = 0.0;         ///< normal force or reaction
    std::vector<double> T;  ///< friction force, one number for each slip direction
};

/// A theorem applied to one equilibrium: the table of its conditions and the conclusion.
struct Certificate {
    Theorem theorem = Theorem::attractivity;
    std::string basis;  ///< the applied statement: "Theorem 1", "Corollary 3", ...
    Outcome outcome = Outcome::inconclusive;
    Grade grade = Grade::numerical;
    std::vector<Condition> conditions;
    std::vector<Condition> further;        ///< statements that the outcome does not need, such as propositions
    std::vector<std::string> assumptions;  ///< what the outcome rests on without proof, by name

    bool has_rho = false;                                   ///< the next three fields have a meaning
    double rho = std::numeric_limits<double>::quiet_NaN();  ///< ρ*: motions from { V < rho } are attracted; +∞: from
                                                            ///< everywhere
    double rho_verified = std::numeric_limits<double>::quiet_NaN();  ///< proved lower bound of rho
    std::vector<std::pair<std::string, double>> rho_parts;  ///< each bound of rho by its name; rho is their minimum

    /// P of V = zᵀPz, z = (q − q_e, u), if `rho` is a level of this function; otherwise empty. Closed contacts are
    /// closed at the states of the level set.
    std::vector<std::vector<double>> P;
    std::vector<double> q;             ///< the equilibrium position; empty: none was found
    std::vector<ElementForce> forces;  ///< forces that hold the equilibrium q
    double reference = 0.0;            ///< U(q): V = T + U − reference
    /// Bounds of each coordinate. { V < rho } means the part of this set with positions inside the bounds. No motion
    /// leaves this part through the bounds. Empty: there are no bounds.
    std::vector<std::pair<double, double>> domain;
    std::vector<std::string> closing_gaps;               ///< I_C of Theorem 1: names of contacts
    std::string classification;                          ///< class of a linear system; empty for other systems
    std::vector<std::pair<double, double>> eigenvalues;  ///< (real, imaginary), of the linear system without friction
    std::vector<std::pair<std::string, double>> values;  ///< further numbers by name
    std::string summary;                                 ///< one sentence
    std::vector<std::string> warnings;

    /// The condition with this number, or nullptr.
    const Condition* find(const std::string& id) const {
        for (const Condition& c : conditions)
            if (c.id == id) return &c;
        return nullptr;
    }
};

/// The words of the JSON document.
const char* to_string(Verdict verdict);
const char* to_string(Outcome outcome);
const char* to_string(Grade grade);

/// Every condition is proved, numerical or assumed.
bool all_hold(const std::vector<Condition>& conditions);
/// `proved` if every condition is proved or assumed, `not_examined` if one is not examined, otherwise `numerical`.
Grade grade_of(const std::vector<Condition>& conditions);
/// The assumed conditions as "condition 9: what it requires", with the given word for "condition".
std::vector<std::string> assumptions_of(const std::vector<Condition>& conditions, const std::string& word);
/// "condition 4 fails", "conditions 2 and 4 fail; condition 5 is not examined"; empty if all hold.
std::string failure_summary(const std::vector<Condition>& conditions);

}  // namespace saltus::proof
