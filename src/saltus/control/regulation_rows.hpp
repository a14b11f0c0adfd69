// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation.hpp"
#include "saltus/control/regulation_domain.hpp"
#include "saltus/control/regulation_equilibria.hpp"
#include "saltus/control/regulation_invariance.hpp"

namespace saltus::control {

/// A row of the table, and how far what it says reaches.
struct Row {
    proof::Condition condition;
    Scope scope = Scope::global;
};

/// ½ lower r² <= Ũ − Ũ_R <= ½ upper r²; NaN where there is none, +∞ where only a comparison function is.
struct PotentialBounds {
    double lower = std::numeric_limits<double>::quiet_NaN(), upper = std::numeric_limits<double>::quiet_NaN();
    bool proved = false;
};

Row law_row(const Domain& domain);
Row no_equilibrium_row(const Rest& rest, const std::string& id = "3");
Row inertia_row(const InertiaBounds& bounds);
Row motion_row(const Domain& domain);
Row independence_row(const Independence& independence);
Row equilibrium_row(const Domain& domain, const Rest& rest, const std::vector<EquilibriumSolution>& solutions,
                    const Uniqueness& unique);
Row potential_row(const Domain& domain, Statics& statics, const Rest& rest, const Uniqueness& unique,
                  const std::vector<EquilibriumSolution>& solutions, PotentialBounds& bounds);
Row impact_row(const Domain& domain, const Rest& rest);
Row invariance_row(const std::string& id, const Invariance& invariance, bool under_actuated, const char* system);

Row spring_motion_row(const Domain& domain, const InertiaBounds& inertia, const Row& potential);
Row spring_equilibrium_row(const Rest& rest, const std::vector<EquilibriumSolution>& solutions,
                           const PotentialBounds& bounds);
Row spring_potential_row(const Domain& domain, Statics& statics, const Rest& rest,
                         const std::vector<EquilibriumSolution>& solutions, PotentialBounds& bounds);

std::string summary(const RegulationCertificate& certificate, const Domain& domain, const Rest& rest);
void warn(RegulationCertificate& certificate, const Domain& domain, const Rest& rest);

}  // namespace saltus::control
