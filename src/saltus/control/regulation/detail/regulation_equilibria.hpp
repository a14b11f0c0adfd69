// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/regulation.hpp"

namespace saltus::control {

/// Solutions of (27), or of (48) with springs, from many starts: with every combination of contacts the equations
/// without signs, and descents of the potential. Sorted: equilibria first, then those that a sign excludes.
std::vector<EquilibriumSolution> algebraic_solutions(const Domain& domain, Statics& statics, ContactModel contacts,
                                                     const std::vector<double>& around);

/// What is proved of the equilibria of the region.
struct Uniqueness {
    bool everywhere = false;  ///< there is no other on the part of the region that can be reached from q_R
    double level = 0.0;       ///< none with Ũ − Ũ_R below this on the component around q_R; 0: nothing is known
    bool bounded = false;     ///< that component is; with an infinite level: all of them are
    double convexity = 0.0;   ///< > 0: Ũ is convex with this bound of its curvature over a convex region
    proof::Box window;        ///< the component is the part in here, which it does not leave; empty: all of it
    std::string how;

    bool local() const { return level > 0.0 && bounded; }  ///< Remark 4
};
/// By convexity, or by boxes that rise from q_R like water until one may hold another equilibrium.
Uniqueness prove_unique(const Domain& domain, const Rest& rest, const std::vector<EquilibriumSolution>& solutions,
                        long budget);

/// The gradients of contacts that can be closed together are independent, wherever that is.
struct Independence {
    proof::Verdict verdict = proof::Verdict::holds;
    bool at_rest = false;                      ///< it fails at q_R itself
    std::vector<std::vector<double>> corners;  ///< points that were found with several contacts closed
    std::string evidence;
    proof::Witness witness;
};
Independence gradients_independent(const Domain& domain, const std::vector<double>& q_R,
                                   const std::vector<EquilibriumSolution>& solutions, const std::vector<double>& scale,
                                   long budget);

/// Sizes of the coordinates, for searches.
std::vector<double> scales(const model::Model& model, const std::vector<double>& q);

}  // namespace saltus::control
