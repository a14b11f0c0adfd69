// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation.hpp"
#include "saltus/control/regulation_domain.hpp"

namespace saltus::control {

/// Solutions of (27), or of (48) with springs, from many starts: with every combination of contacts the equations
/// without signs, and descents of the potential. Sorted: equilibria first, then those that a sign excludes.
std::vector<EquilibriumSolution> algebraic_solutions(const Domain& domain, Statics& statics, ContactModel contacts,
                                                     const std::vector<double>& around);

/// What is known of the equilibria of the whole admissible region.
struct Uniqueness {
    bool proved = false;
    bool global = false;  ///< there is no other admissible one at all
    double level = 0.0;   ///< otherwise: none with Ũ − Ũ_R below this on the component around q_R; 0: nothing known
    bool bounded = false;    ///< the level set is
    double convexity = 0.0;  ///< > 0: Ũ is convex with this bound of its curvature over the region, proved
    std::string how;
};
/// Proved: by convexity, or by boxes that rise from q_R like water until one may hold another equilibrium.
Uniqueness prove_unique(const Domain& domain, const Rest& rest, long budget);

/// The gradients of contacts that can be closed together are independent, wherever that is.
struct Independence {
    proof::Verdict verdict = proof::Verdict::holds;
    std::string evidence;
    proof::Witness witness;
};
Independence gradients_independent(const Domain& domain, const std::vector<EquilibriumSolution>& solutions,
                                   const std::vector<double>& scale, long budget);

/// Sizes of the coordinates, for searches.
std::vector<double> scales(const model::Model& model, const std::vector<double>& q);

}  // namespace saltus::control
