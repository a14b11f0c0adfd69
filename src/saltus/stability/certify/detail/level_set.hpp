// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "saltus/stability/certify/detail/position_tests.hpp"

namespace saltus::stability {

/// One upper bound of the level ρ of { V < ρ }. Levels are energies above U(q_e).
struct LevelPart {
    double value = std::numeric_limits<double>::infinity();     ///< the level as computed, without proof
    double verified = std::numeric_limits<double>::infinity();  ///< proved lower bound of the exact value
    bool proved = true;    ///< `verified` equals `value` to rounding; false: the budget was used up before
    Vector at;             ///< the position where the bound is reached; empty: unknown
    int failed_item = -1;  ///< for `closing`: the position row of the gap that may stay open at `at`
    long boxes = 0;        ///< examined boxes
};

/// A box of positions around q_e. The component of { Q < c } around q_e stays inside the box if c is below the least
/// level of all bounded faces (domain_level). The search places each face such that its least level is as large as
/// possible: then the face passes through a saddle of U.
struct LevelDomain {
    proof::Box box;
    struct Face {
        int coordinate;
        bool upper;  ///< the upper end of the coordinate's side, otherwise the lower end
        Vector at;   ///< the lowest point of the face, as computed
    };
    std::vector<Face> faces;  ///< the bounded faces
};

/// The level set { V < ρ* } of [Leine] Theorem 1, condition 8: ρ* is the minimum of the parts below, each of which
/// keeps the set inside 𝒱 (condition 4) or inside 𝒬 (condition 2). The neighbourhood 𝒱 is taken as a product { q : ...
/// } × { T < τ }. For the rocking bar and the rocking block it is that of [Leine] 7.2 and 7.3 (the block's with |φ|,
/// docs/papers.md), and ρ* is (117) and (134).
struct LevelSet {
    LevelPart stationary;        ///< 𝒬: the next point with 0 ∈ ∂Q, or the boundary of the domain
    LevelPart region;            ///< the boundary of the model file's region
    LevelPart velocity;          ///< τ: in free flight a gap of I_C may stay open for T >= τ
    LevelPart closing;           ///< a gap of I_C may stay open although others are closed and friction acts
    LevelPart other_equilibria;  ///< another equilibrium set
    LevelPart damping;           ///< friction no longer takes more energy than damping with the wrong sign supplies

    LevelDomain domain;
    std::vector<int> I_C;                  ///< the gaps of condition 4, as position rows
    std::vector<proof::Box> cover;         ///< boxes that cover the component of { Q < ρ } around q_e
    bool bounded = true;                   ///< this component is proved to be bounded
    bool everywhere = false;               ///< no other stationary point exists at any level
    double rho = 0.0, rho_verified = 0.0;  ///< minimum of `value` and of `verified` over the parts
    bool proved = true;                    ///< all parts are proved
    long boxes = 0;                        ///< examined boxes of all searches
};

/// Follows the valley of U from q_e along each coordinate to find the faces.
LevelDomain find_domain(const proof::Enclosure& enclosure, const StationaryPoint& equilibrium);

/// The least level on the bounded faces. Below it the component around q_e stays inside the domain.
LevelPart domain_level(const proof::AdmissibleSet& set, const StationaryPoint& equilibrium, const LevelDomain& domain,
                       long budget);

struct LevelOptions {
    long budget = 20'000;  ///< largest number of boxes of each search
};

/// All parts except `other_equilibria` and `damping`, for the gaps I_C. If I_C is empty, `velocity` and `closing` stay
/// +∞.
LevelSet level_set(const PositionTests& tests, const StationaryPoint& equilibrium, const StationaryBox& box,
                   const std::vector<int>& I_C, const LevelOptions& options);

/// Proves that { Q < c } is bounded for every c. False: not proved.
bool grows_everywhere(const proof::AdmissibleSet& set, const StationaryPoint& equilibrium);

/// Sets rho, rho_verified and proved from the parts.
void combine(LevelSet& set);

}  // namespace saltus::stability
