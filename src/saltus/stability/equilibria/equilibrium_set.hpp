// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/trajectory/trajectory.hpp"

namespace saltus::stability {

/// What an equilibrium set looks like: `region` is any other, of its dimension.
enum class SetShape { point, interval, polytope, convex, plane, curve, region };
std::string_view to_string(SetShape shape);

/// What ends an equilibrium set at a point of its boundary.
struct SetLimit {
    Vector q;
    std::vector<int> slips;   ///< elements whose friction is used up there
    std::vector<int> opens;   ///< contacts without force
    std::vector<int> closes;  ///< contacts whose gap comes to zero
    bool jams = false;        ///< the forces grow without bound on the way there
};

/// One equilibrium set: connected positions that can stay at rest with the same contacts closed.
struct EquilibriumSet {
    std::vector<char> closed;  ///< one a contact
    int dimension = 0;
    SetShape shape = SetShape::point;
    bool exact = false;        ///< statics and geometry are affine along it: the extent is that of linear programs
    double tolerance = 0.0;    ///< of the extent, otherwise
    Vector lower, upper;       ///< extent along each coordinate, ±∞ where it has none
    std::vector<char> around;  ///< coordinates with a period that it goes all around; the extent is one period
    Vector representative;     ///< a point of it: the frictionless one where there is one
    std::vector<trajectory::Reaction> forces;  ///< that hold it there
    double margin = 0.0;                       ///< of forces there
    bool contains_frictionless = false;
    Vector frictionless;                                     ///< a position that needs no friction
    double potential_least = 0.0, potential_greatest = 0.0;  ///< over what was seen of it
    bool unbounded = false;  ///< continuation ended before the set did; the extent is infinite there
    bool isolated = true;
    std::vector<int> touches;      ///< numbers of the sets that it touches
    std::vector<Vector> boundary;  ///< ends, vertices in order, or a sample
    std::vector<Vector> samples;   ///< of its inside
    double spacing = 0.0;          ///< of the samples, coordinates in 1 + |q_i|
    std::vector<SetLimit> limits;  ///< at the ends of the extent

    // Of exact sets: the plane.
    Vector origin;
    Matrix directions;
};

}  // namespace saltus::stability
