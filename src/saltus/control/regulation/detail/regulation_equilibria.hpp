// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "saltus/control/regulation/detail/regulation_domain.hpp"
#include "saltus/control/regulation/regulation.hpp"

namespace saltus::control {

/// Numerical search for all solutions of (27), or of (48) with springs: descents of the potential, and Newton's method
/// for the equations without signs with every combination of closed contacts, from many starts around a position.
/// Equilibria come first, then solutions that a negative force excludes.
std::vector<EquilibriumSolution> algebraic_solutions(const Domain& domain, Statics& statics, ContactModel contacts,
                                                     const std::vector<double>& around);

/// What is proved about the equilibria other than q_R (Assumption 3 or 6).
struct Uniqueness {
    /// There is no other equilibrium in the region, in none of its connected parts.
    bool everywhere = false;
    /// There is no other equilibrium with Ũ − Ũ_R < level in the region, or in the part of it inside the window. 0:
    /// nothing is proved. Each bounded component of the level set has a minimum, which is an equilibrium: if the level
    /// set is bounded then it is one component.
    double level = 0.0;
    bool bounded = false;    ///< the level set is bounded; if the level is infinite: all level sets are
    double convexity = 0.0;  ///< if > 0: Ũ is strongly convex over a convex region, with at least this curvature
    /// If not empty: the component is the part of the level set inside this box, which it does not leave.
    proof::Box window;
    std::string how;  ///< the method, for the evidence

    bool local() const { return level > 0.0 && bounded; }  ///< the local version of Remark 4 is proved
};
/// Proves uniqueness by convexity, or by a search that covers level sets of Ũ with boxes, from the lowest level
/// upwards, until a box may contain another equilibrium. `stop`: polled; true ends the search.
Uniqueness prove_unique(const Domain& domain, const Rest& rest, const std::vector<EquilibriumSolution>& solutions,
                        long budget, const std::function<bool()>& stop);

/// Whether the gradients of all contacts that are closed at a point are linearly independent, at every point of the
/// region. (27) and the corner conditions (11) presuppose it.
struct Independence {
    proof::Verdict verdict = proof::Verdict::numerical;
    bool at_rest = false;                      ///< the independence fails at q_R itself
    std::vector<std::vector<double>> corners;  ///< points with several closed contacts that were found
    std::string evidence;
    proof::Witness witness;  ///< a point where the independence fails
};
/// `q_R` may be empty. `scale` are the sizes of the coordinates for the search.
Independence gradients_independent(const Domain& domain, const std::vector<double>& q_R,
                                   const std::vector<EquilibriumSolution>& solutions, const std::vector<double>& scale,
                                   long budget, const std::function<bool()>& stop);

/// Sizes of the coordinates for searches around q: the largest of 0.1, |q_i| and the distance to the initial position.
std::vector<double> scales(const model::Mechanics& model, const std::vector<double>& q);

}  // namespace saltus::control
