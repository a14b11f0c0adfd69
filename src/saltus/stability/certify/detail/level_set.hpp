// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "saltus/stability/certify/detail/attractivity_tests.hpp"

namespace saltus::stability {

/// One thing that limits the level ρ of { V < ρ }.
struct LevelPart {
    double value = std::numeric_limits<double>::infinity();     ///< as computed
    double verified = std::numeric_limits<double>::infinity();  ///< lower bound that is proved
    bool proved = true;  ///< `verified` is `value` to rounding; otherwise the budget ended before
    Vector at;           ///< the position where it is reached
    int which = -1;      ///< gap that opens there
    long boxes = 0;
};

/// A box of positions around q_e that low levels do not leave: each bounded side stands where the least energy over its
/// plane is highest, as far as that is seen.
struct Domain {
    proof::Box box;
    struct Face {
        int coordinate;
        bool upper;
        Vector at;  ///< the lowest point of the plane
    };
    std::vector<Face> faces;
};
/// The set V of condition 4 is taken as a product, { q : ... } × { T < velocity }, with the largest velocities for
/// which free flight closes all gaps of I_C over all of U; positions are then those where gaps close although others
/// are closed and friction acts anywhere in its cones. For the rocking bar and the rocking block these are the sets of
/// [Leine] 7.2, 7.3 (the block's with |φ|), and ρ* is (117) and (134).
struct LevelSet {
    LevelPart stationary;  ///< U: another point with 0 ∈ ∂Q
    LevelPart region;      ///< the model file's region ends
    LevelPart velocity;    ///< free flight no longer closes a gap
    LevelPart closing;     ///< a gap of I_C stays open beside closed ones
    LevelPart foreign;     ///< another equilibrium set
    LevelPart damping;     ///< friction no longer outweighs damping that brings energy in

    Domain domain;
    std::vector<int> I_C;           ///< position rows
    std::vector<proof::Box> cover;  ///< of the component of { Q < ρ } around q_e
    bool bounded = true;            ///< the cover is
    bool everywhere = false;        ///< proved on the whole space
    double rho = 0.0, rho_verified = 0.0;
    bool proved = true;
    long boxes = 0;
};

Domain find_domain(const proof::Enclosure& enclosure, const Rest& rest);

/// The least level on its bounded sides: below it the component of q_e stays inside.
LevelPart domain_level(const proof::AdmissibleSet& set, const Rest& rest, const Domain& domain, long budget);

struct LevelOptions {
    long budget = 20'000;  ///< boxes, of each search
};

/// All parts but `foreign`, for the contacts I_C; without contacts velocity and closing stay +∞.
LevelSet level_set(const PositionTests& tests, const Rest& rest, const RestBox& box, const std::vector<int>& I_C,
                   const LevelOptions& options);

/// { Q < c } is bounded for every c, as far as it can be proved.
bool grows_everywhere(const proof::AdmissibleSet& set, const Rest& rest);

/// The least of the parts into rho and rho_verified.
void combine(LevelSet& set);

}  // namespace saltus::stability
