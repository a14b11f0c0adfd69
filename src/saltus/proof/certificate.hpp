// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace saltus::proof {

/// What is known of one condition of a theorem.
enum class Verdict {
    proved,   ///< by outward-rounded interval arithmetic or exact algebra, on the whole set it speaks of
    holds,    ///< numerically: at every state looked at
    fails,    ///< at the witness, or because the system is not of the theorem's kind
    assumed,  ///< nothing here can decide it
};

/// A state, and what else belongs to it, at which a condition fails. Empty: none.
struct Witness {
    std::vector<double> q, u;                            ///< one number a coordinate, or empty
    std::vector<std::pair<std::string, double>> values;  ///< forces, values that should have another sign, ...

    bool given() const { return !q.empty() || !u.empty() || !values.empty(); }
};

struct Condition {
    std::string id;    ///< number in the theorem
    std::string text;  ///< what it asks
    Verdict verdict = Verdict::assumed;
    std::string evidence;  ///< why the verdict is what it is
    Witness witness;
};

enum class Outcome { attractive, unstable, stable, inconclusive };
enum class Grade { proved, numerical };

/// Forces of one contact, constraint, slider or clutch.
struct ElementForce {
    std::string name;
    double N = 0.0;
    std::vector<double> T;
};

/// A theorem applied to one equilibrium: the table of its conditions and what follows.
struct Certificate {
    std::string theorem;  ///< attractivity, instability, regulation
    std::string basis;    ///< "Theorem 1", "Corollary 3", ...
    Outcome outcome = Outcome::inconclusive;
    Grade grade = Grade::numerical;
    std::vector<Condition> conditions;

    bool has_rho = false;
    double rho = std::numeric_limits<double>::quiet_NaN();  ///< level of V: { V < rho } is attracted; +∞: everything
    double rho_verified = std::numeric_limits<double>::quiet_NaN();  ///< lower bound of rho by interval arithmetic
    std::vector<std::pair<std::string, double>> rho_parts;           ///< what limits it, each by itself

    std::vector<double> q;  ///< the equilibrium; empty: none was found
    std::vector<ElementForce> forces;
    double reference = 0.0;  ///< U where V = T + U − reference is 0
    /// Of each coordinate: { V < rho } means the part with positions in here, which it does not leave. Empty: all of
    /// it.
    std::vector<std::pair<double, double>> domain;
    std::string classification;                          ///< of a linear system
    std::vector<std::pair<double, double>> eigenvalues;  ///< of it without friction, real and imaginary parts
    std::vector<std::pair<std::string, double>> values;  ///< further numbers by name
    std::string summary;                                 ///< one sentence
    std::vector<std::string> warnings;

    const Condition* find(const std::string& id) const {
        for (const Condition& c : conditions)
            if (c.id == id) return &c;
        return nullptr;
    }
};

const char* to_string(Verdict verdict);
const char* to_string(Outcome outcome);
const char* to_string(Grade grade);

/// Every condition is proved or holds or is assumed.
bool none_fails(const std::vector<Condition>& conditions);
/// `proved` where every condition is proved or assumed.
Grade grade_of(const std::vector<Condition>& conditions);

}  // namespace saltus::proof
