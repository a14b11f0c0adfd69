// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/stability/equilibria/equilibrium_stability.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::stability {

/// The shape of an equilibrium set.
enum class SetShape {
    point,
    interval,  ///< a straight segment
    polytope,  ///< convex with flat faces
    convex,    ///< convex with curved faces (spatial friction)
    plane,     ///< a linear space without boundary
    curve,     ///< one-dimensional and not straight
    region,    ///< any other set of its dimension
};
std::string_view to_string(SetShape shape);

/// What ends an equilibrium set at a point of its boundary.
struct SetLimit {
    Vector q;
    std::vector<int> slips;   ///< elements whose friction force is on the boundary of its body there
    std::vector<int> opens;   ///< elements whose normal force vanishes there
    std::vector<int> closes;  ///< open contacts whose gap vanishes there
    bool jams = false;        ///< the forces grow without bound towards this point
};

/// One equilibrium set: a connected set of positions that can stay at rest with the same contacts closed.
struct EquilibriumSet {
    std::vector<char> closed;  ///< one flag for each contact
    int dimension = 0;
    SetShape shape = SetShape::point;
    bool exact = false;      ///< statics and geometry are affine along it, so that linear programs gave the extent
    double tolerance = 0.0;  ///< error of the extent in 1 + |q_i|, if not `exact`
    Vector lower, upper;     ///< least and greatest value of each coordinate; ±∞ if unbounded
    /// Flags of the periodic coordinates along which the set covers a whole period; their extent is then one period.
    std::vector<char> around;
    Vector representative;                     ///< a point of the set: `frictionless` if there is one
    std::vector<trajectory::Reaction> forces;  ///< forces that hold the representative
    double margin = 0.0;  ///< margin of the forces at the representative, see EquilibriumPoint::margin
    bool contains_frictionless = false;
    Vector frictionless;  ///< a position of the set that needs no friction, if contains_frictionless
    double potential_least = 0.0, potential_greatest = 0.0;  ///< range of U over boundary and samples, in J
    bool unbounded = false;    ///< the search stopped before the set ended; its extent is then ±∞ in that direction
    bool isolated = true;      ///< the set touches no other set
    std::vector<int> touches;  ///< indices of the sets that it touches
    std::vector<Vector> boundary;             ///< the two ends, the vertices in order, or a sample
    std::vector<Vector> samples;              ///< points of the set; neighbours have the distance `spacing`
    double spacing = 0.0;                     ///< distance of neighbouring samples, in 1 + |q_i|
    std::optional<LocalStability> stability;  ///< local stability of the representative, if no friction can act there
    std::vector<SetLimit> limits;             ///< what limits the set at the first points of `boundary`

    // Exact sets lie in the plane q = origin + directions · s.
    Vector origin;
    Matrix directions;
};

}  // namespace saltus::stability
