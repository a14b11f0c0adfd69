// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/detail/regulation_equilibria.hpp"
#include "saltus/control/regulation/detail/regulation_invariance.hpp"
#include "saltus/control/regulation/detail/regulation_survey.hpp"
#include "saltus/control/regulation/regulation.hpp"

namespace saltus::control {

/// A row of the table, and how far what it says reaches where it does not fail.
struct Row {
    proof::Condition condition;
    Scope scope = Scope::global;

    bool fails() const { return condition.verdict == proof::Verdict::fails; }
};

/// One of the two theorems: its contacts, and the numbers of its assumptions.
struct TheoremOf {
    ContactModel contacts;
    const char *equilibrium, *potential, *local, *invariance;  ///< ids of rows
    const char *equations, *motion, *remark;
};
inline constexpr TheoremOf theorem5{ContactModel::rigid, "3", "4", "R4", "R6", "(27)", "(26)", "Remark 4"};
inline constexpr TheoremOf theorem6{ContactModel::springs, "6", "7", "R11", "R13", "(48)", "(47)", "Remark 11"};

/// ½ lower r² <= Ũ − Ũ_R <= ½ upper r²; NaN where there is none, +∞ where only a comparison function is.
struct PotentialBounds {
    double lower = std::numeric_limits<double>::quiet_NaN(), upper = std::numeric_limits<double>::quiet_NaN();
};

Row law_row(const Domain& domain);
Row inertia_row(const InertiaBounds& bounds);
Row motion_row(const Domain& domain, const std::vector<double>& q);
Row independence_row(const Independence& independence);
Row impact_row(const Domain& domain, const std::vector<double>& q, const std::vector<std::vector<double>>& corners);

Row equilibrium_row(const TheoremOf& theorem, const Domain& domain, const Rest& rest,
                    const std::vector<EquilibriumSolution>& solutions, const Uniqueness& unique);
Row potential_row(const TheoremOf& theorem, const Domain& domain, Statics& statics, const Rest& rest,
                  const Uniqueness& unique, const PotentialSurvey& survey, PotentialBounds& bounds);
/// Where there is no q_R: whether the potential falls without end.
Row unbounded_row(const Domain& domain, Statics& statics, const std::vector<double>& from);
/// The assumptions near q_R only, where they do not hold in the whole.
Row local_row(const TheoremOf& theorem, const Rest& rest, const Uniqueness& unique, const PotentialSurvey& survey);
Row invariance_row(const TheoremOf& theorem, const Invariance& invariance, bool under_actuated);

Row spring_motion_row(const Domain& domain, const InertiaBounds& inertia, const Row& potential);
/// What convexity says of (48).
Uniqueness spring_uniqueness(const Domain& domain);
/// The largest curvature of the potential with the springs' energy; +∞ where no bound is known.
double spring_curvature(const Domain& domain);

/// A row that was not looked at, with the reason.
Row skipped_row(const char* id, const std::string& why);

std::string text_of(double x);

}  // namespace saltus::control
