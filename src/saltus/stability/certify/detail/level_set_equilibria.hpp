// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "saltus/proof/admissible.hpp"
#include "saltus/stability/certify/detail/static_forces.hpp"

namespace saltus::stability {

/// Boxes that cover all equilibria of the model with friction in a domain and below a level. Pieces that are connected
/// to q_e by touching pieces form the cover of its equilibrium set ℰ. The other pieces may contain other equilibrium
/// sets.
struct EquilibriumCover {
    /// A box that may contain equilibria with these gaps closed and with these signs of the reactions of constraints
    /// with friction.
    struct Piece {
        std::vector<int> closed, signs;
        proof::Box box;
        proof::Interval level;   ///< bounds of Q over the box
        bool connected = false;  ///< a chain of touching pieces leads to q_e
    };
    std::vector<Piece> pieces;
    bool covers = true;    ///< false: there are too many combinations of gaps and signs; nothing was covered
    bool complete = true;  ///< false: the budget was used up; the pieces cover all equilibria, but some are large
    bool bounded = true;   ///< all connected pieces are bounded
    bool convex = false;   ///< all equilibria of the model form one convex set, which may be unbounded; no pieces
    double highest = 0.0;  ///< proved upper bound of Q on ℰ
    proof::Box highest_box;
    double lowest = 0.0;  ///< proved lower bound of Q on ℰ, if it was requested
    proof::Box lowest_box;
    double lowest_other = std::numeric_limits<double>::infinity();  ///< proved lower bound of Q on the other sets
    proof::Box lowest_other_box;
    long boxes = 0;  ///< examined boxes
};

/// Which levels of ℰ are wanted.
enum class WantedLevels { highest, highest_and_lowest };

struct CoverRequest {
    proof::Box domain;                                     ///< where to look
    proof::Box start;                                      ///< a box around q_e
    double cap = std::numeric_limits<double>::infinity();  ///< only equilibria with Q <= cap
    double resolution = 1.0 / 8.0;  ///< pieces are split to this fraction of the domain's extent before they are sorted
    long budget = 100'000;          ///< largest number of boxes
    WantedLevels levels = WantedLevels::highest;
};
EquilibriumCover cover_equilibria(const proof::AdmissibleSet& set, const std::vector<double>& scale,
                                  const CoverRequest& request);

}  // namespace saltus::stability
