// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <vector>

#include "saltus/stability/certify/detail/attractivity_tests.hpp"

namespace saltus::stability {

/// Boxes that cover all equilibria of the model with friction in a domain below a level, sorted into those that hang
/// together with q_e and the rest; with the highest level of the first and the lowest of the second.
struct EquilibriumCover {
    struct Piece {
        std::vector<int> closed, signs;
        proof::Box box;
        proof::Interval level;
        bool own = false;
    };
    std::vector<Piece> pieces;
    bool complete = true;  ///< within the budget
    bool bounded = true;   ///< all pieces of q_e's set are
    double highest = 0.0;  ///< of q_e's set; proved from above
    proof::Box highest_box;
    double bottom = 0.0;  ///< lowest level of q_e's set, where it was asked for; proved from below
    proof::Box bottom_box;
    double lowest = std::numeric_limits<double>::infinity();  ///< of others; proved from below
    proof::Box lowest_box;
    long boxes = 0;
};

struct CoverRequest {
    proof::Box domain, start;  ///< where to look; a box around q_e
    double cap = std::numeric_limits<double>::infinity();
    double resolution = 1.0 / 8.0;  ///< pieces are cut to this part of the domain's extent before they are sorted
    long budget = 100'000;
    bool bottom = false;  ///< its lowest level is wanted too
};
EquilibriumCover cover_equilibria(const proof::AdmissibleSet& set, const std::vector<double>& scale,
                                  const CoverRequest& request);

}  // namespace saltus::stability
