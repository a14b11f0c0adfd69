// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "saltus/stability/certify/detail/position_tests.hpp"

namespace saltus::stability {

/// One upper bound of the level ρ of { V < ρ }. Levels are energies above U(q_e).
struct LevelPart {
    double value = std::numeric_limits<double>::infinity();     ///< the level as computed, without proof
    double verified = std::numeric_limits<double>::infinity();  ///< proved lower bound of the exact value
    bool proved = true;    ///< false: the budget was used up before the property was decided above `verified`
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
    std::vector<Face> faces;    ///< the bounded faces
    std::vector<Face> blocked;  ///< faces behind which nothing was found to be admissible; they do not bound the box
};

/// The same box with the blocked faces as faces.
LevelDomain with_blocked_faces(LevelDomain domain);

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
    LevelPart inertia;           ///< condition 1 is proved below this level
    LevelPart dissipation;       ///< condition 3
    LevelPart losses;            ///< condition 5
    LevelPart impacts;           ///< condition 7

    LevelDomain domain;
    std::vector<int> I_C;                  ///< the gaps of condition 4, as position rows
    bool bounded = false;                  ///< { Q < stationary.verified } in the domain is proved to be bounded
    double rho = 0.0, rho_verified = 0.0;  ///< minimum of `value` and of `verified` over the parts
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

/// A bounded box around q_e inside `outer` whose faces have a high least level. It is used if the sets { Q < c } in
/// `outer` are not proved to be bounded, or if the faces of `outer` are low. The boxes q_e ± r s with a fixed shape s
/// are compared; the result is the best of them. Without any face above Q(q_e) the result is `outer`.
LevelDomain bounded_domain(const proof::AdmissibleSet& set, const StationaryPoint& equilibrium,
                           const LevelDomain& outer);

/// The parts `stationary`, `region`, `velocity` and `closing` for the gaps I_C. If I_C is empty, `velocity` and
/// `closing` stay +∞.
LevelSet level_set(const PositionTests& tests, const StationaryPoint& equilibrium, const StationaryBox& box,
                   const std::vector<int>& I_C, const LevelOptions& options);

/// Proves that the part of { Q < c } inside the box is bounded for every c. It must be known that the box has no other
/// stationary point with Q <= 0 than q_e. False: not proved.
bool grows_without_bound(const proof::AdmissibleSet& set, const StationaryPoint& equilibrium, const proof::Box& box);

/// The largest level c <= cap for which `proves(c)` is true, up to 1e-6. `proves` must be true below every level for
/// which it is true. An infinite cap is tried first, then levels from far above `scale` downwards. 0: none was found.
double largest_level(double cap, double scale, const std::function<bool(double)>& proves);

/// The energy of a unit step against the load or the stiffness at q_e.
double energy_scale(const proof::Enclosure& enclosure, const StationaryPoint& equilibrium);

/// Sets rho and rho_verified from the parts. A computed `value` that is not close to its proved bound is replaced by
/// the bound.
void combine(LevelSet& set);

}  // namespace saltus::stability
