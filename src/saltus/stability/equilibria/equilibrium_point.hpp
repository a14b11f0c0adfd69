// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "saltus/stability/equilibria/equilibrium_forces.hpp"

namespace saltus::stability {

/// Is (q, 0) an equilibrium? With forces that prove it, or directions that disprove it.
struct EquilibriumPoint {
    double t = 0.0;
    Vector q;
    bool admissible = true;    ///< no gap below 0, no constraint off 0
    double violation = 0.0;    ///< the worst of them, of its row's size
    std::vector<char> closed;  ///< one a contact
    bool is_equilibrium = false;
    bool decided = true;
    double margin = 0.0;                       ///< > 0 deep inside the set, 0 on its boundary, < 0 outside; at most 1
    std::vector<trajectory::Reaction> forces;  ///< of closed contacts, constraints, sliders, clutches
    ForceDefects defects;                      ///< of these forces, computed by themselves
    /// The normal forces of all forces that hold: least and greatest; ±∞ where parts may jam each other at will.
    struct Range {
        int element;
        double least, greatest;
    };
    std::vector<Range> ranges;
    int hyperstatic = 0;                  ///< dimension of the forces that balance each other
    bool self_stress = false;             ///< some of these obey the laws: parts can jam without any load
    std::vector<Separation> separations;  ///< where it is none; `sign` one an element of `statics`
    Statics statics;
    std::vector<std::pair<std::string, double>> control;  ///< forces of the feedback, by actuated coordinate
    std::string why;                                      ///< it is none, in a sentence
};

struct PointOptions {
    bool ranges = true;
    double closed_tolerance = 1e-9;  ///< of the row's size
};

EquilibriumPoint equilibrium_at(RestingModel& model, const Vector& q, const PointOptions& options = {});

/// The forces of the columns, element by element; sliders that slide included.
std::vector<trajectory::Reaction> reactions_of(const Statics& statics, const Vector& lambda);

}  // namespace saltus::stability
