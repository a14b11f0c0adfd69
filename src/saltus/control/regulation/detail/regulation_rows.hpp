// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/detail/regulation_equilibria.hpp"
#include "saltus/control/regulation/detail/regulation_invariance.hpp"
#include "saltus/control/regulation/detail/regulation_survey.hpp"
#include "saltus/control/regulation/regulation.hpp"

namespace saltus::control {

/// A row of the table. `scope` is how far the statement reaches if it does not fail.
struct Row {
    proof::Condition condition;
    Scope scope = Scope::global;

    bool fails() const { return condition.verdict == proof::Verdict::fails; }
};

/// One of the two theorems of [Tornambe]: its contact model and the identifiers of its rows.
struct TheoremRows {
    ContactModel contacts;
    const char* equilibrium;  ///< row of the unique equilibrium
    const char* potential;    ///< row of the definite potential
    const char* local;        ///< row of the local version
    const char* invariance;   ///< row of the condition for under-actuated systems
    const char* remark;       ///< remark of the paper that allows other comparison functions and the local version
};
inline constexpr TheoremRows theorem5{ContactModel::rigid, "3", "4", "R4", "R6", "Remark 4"};
inline constexpr TheoremRows theorem6{ContactModel::springs, "6", "7", "R11", "R13", "Remark 11"};

/// ½ lower r² <= Ũ − Ũ(q_R) <= ½ upper r² with r = ‖q − q_R‖, (28) or (49). A bound that does not exist is NaN. `upper`
/// is +∞ if no multiple of r² is an upper bound, but the comparison function below is.
struct PotentialBounds {
    double lower = std::numeric_limits<double>::quiet_NaN(), upper = std::numeric_limits<double>::quiet_NaN();
    /// The comparison function slope · r + ½ growth r², which Ũ − Ũ(q_R) does not exceed. If reactions act at q_R, then
    /// ∇Ũ ≠ 0 there and Ũ grows linearly: slope > 0, and `upper` is infinite. growth is NaN if no such function is
    /// known.
    double slope = 0.0, growth = std::numeric_limits<double>::quiet_NaN();
};
struct PotentialRow {
    Row row;
    PotentialBounds bounds;
};

/// The closed loop is of the kind that the theorems treat.
Row law_row(const Domain& domain);
/// Assumption 1: b_lower ‖u‖² <= u·Mu <= b_upper ‖u‖².
Row inertia_row(const InertiaBounds& bounds);
/// Assumption 2: existence, uniqueness and continuity of the motions. It can only be assumed.
Row motion_row(const Domain& domain, const std::vector<double>& q);
/// Row LI: the gradients ∇g_N of contacts that are closed together are linearly independent.
Row independence_row(const Independence& independence);
/// Remark 8: impacts do not increase the energy. `corners` are positions with several closed contacts.
Row impact_row(const Domain& domain, const std::vector<double>& q, const std::vector<std::vector<double>>& corners);

/// Assumption 3 or 6: (27) or (48) has exactly one solution.
Row equilibrium_row(const TheoremRows& theorem, const Domain& domain, const Rest& rest,
                    const std::vector<EquilibriumSolution>& solutions, const Uniqueness& unique);
/// Assumption 4 or 7: bounds of the potential, (28) or (49).
PotentialRow potential_row(const TheoremRows& theorem, const Domain& domain, Statics& statics, const Rest& rest,
                           const Uniqueness& unique, const PotentialSurvey& survey);
/// The failure of Assumption 4 if there is no q_R, with a position of lower potential as witness if one is found.
Row unbounded_row(const Domain& domain, Statics& statics, const std::vector<double>& from);
/// Remark 4 or 11: the assumptions hold near q_R.
Row local_row(const TheoremRows& theorem, const Rest& rest, const Uniqueness& unique, const PotentialSurvey& survey);
/// Remark 6 or 13: under-actuated systems, in which only rest may keep the energy.
Row invariance_row(const TheoremRows& theorem, const Invariance& invariance, bool under_actuated);

/// Assumption 5: as Assumption 2, for the equations (47) with springs.
Row spring_motion_row(const Domain& domain, const InertiaBounds& inertia, const Row& potential);
/// What convexity proves about (48).
Uniqueness spring_uniqueness(const Domain& domain);
/// An upper bound of the largest eigenvalue of the Hessian of Ũ plus the energy of the springs; +∞ if none is known.
double spring_curvature(const Domain& domain);

/// A row that was not examined, with the reason.
Row skipped_row(const char* id, const std::string& why);

/// A number with ten significant digits.
std::string text_of(double x);

}  // namespace saltus::control
