// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "saltus/stability/equilibria/equilibrium_forces.hpp"

namespace saltus::stability {

/// The answer to "is (q, 0) an equilibrium?", with forces that prove it or directions that disprove it.
struct EquilibriumPoint {
    double t = 0.0;
    Vector q;
    bool admissible = true;    ///< g_N >= 0 and g = 0 to PointOptions::closed_tolerance
    double violation = 0.0;    ///< RestingModel::violation, >= 0
    std::vector<char> closed;  ///< one flag for each contact
    bool is_equilibrium = false;
    bool decided = true;  ///< false: the search over the signs of the reactions reached its limit
    /// Largest relative depth of holding forces in their cones: > 0 in the interior of the equilibrium set, 0 on its
    /// boundary, < 0 outside; at most 1.
    double margin = 0.0;
    std::vector<trajectory::Reaction> forces;  ///< forces of closed contacts, constraints, sliders, clutches
    ForceDefects defects;                      ///< independent test of these forces
    /// Least and greatest normal force of an element over all forces that hold q; ±∞ if self-stress has no bound.
    struct Range {
        int element;
        double least, greatest;
    };
    std::vector<Range> ranges;            ///< range of the normal force of each element that has one
    int hyperstatic = 0;                  ///< degree of static indeterminacy: dimension of ker W
    bool self_stress = false;             ///< allowed forces in ker W exist: parts can jam each other without any load
    std::vector<Separation> separations;  ///< proofs that no forces hold q; empty if some do
    Statics statics;                      ///< statics at q; the indices above refer to it
    std::vector<std::pair<std::string, double>> control;  ///< forces of the feedback, by actuated coordinate
    std::string why;                                      ///< why q is no equilibrium, a sentence; empty if it is one
};

struct PointOptions {
    bool ranges = true;              ///< whether EquilibriumPoint::ranges are computed; two programs for each force
    double closed_tolerance = 1e-9;  ///< |g_N| <= closed_tolerance · position_scale: the contact is closed
};

/// Examines one position of the model. The model stays at q.
EquilibriumPoint equilibrium_at(RestingModel& model, const Vector& q, const PointOptions& options = {});

/// The forces λ of the columns as reactions of the elements, in the order of the model. Sliders that slide are
/// included. The model must be at the position of the statics.
std::vector<trajectory::Reaction> reactions_of(const RestingModel& model, const Statics& statics, const Vector& lambda);

}  // namespace saltus::stability
