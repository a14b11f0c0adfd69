// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "saltus/proof/certificate.hpp"
#include "saltus/stability/certify/detail/level_set.hpp"
#include "saltus/stability/certify/detail/level_set_equilibria.hpp"

// The conditions of [Leine] Theorem 1. Condition N is decided by one function, in the file condition_N_*.cpp beside
// attractivity.cpp. Each function returns a row of the certificate with verdict, evidence and, if it fails, a witness.

namespace saltus::stability {

/// The states that a condition is about: the admissible positions with Q <= `cap` in `domain`, and the velocities with
/// T <= `kinetic`.
struct ConditionScope {
    const proof::AdmissibleSet& set;
    const StationaryPoint& equilibrium;  ///< q_e
    const StationaryBox& box;            ///< the proved box of q_e, if any
    proof::Box domain;
    double cap;
    double kinetic;
    long budget;           ///< largest number of boxes of each proof
    bool probing = false;  ///< only the proof is wanted: no witness is searched if it does not succeed

    const proof::Enclosure& enclosure() const { return set.enclosure(); }
    const model::Mechanics& model() const { return set.enclosure().model(); }
};

/// What the conditions require, as printed in the certificate.
namespace condition_text {
inline const char* const minimum =
    "the equilibrium is a minimum of the total potential energy Q, the only stationary point of Q in U";
inline const char* const closing_gaps =
    "open gaps of I_C close: their accelerations are negative, friction anywhere in its cones";
inline const char* const dissipated_velocities =
    "with the gaps of I_C closed and staying so, only u = 0 has no dissipation";
inline const char* const only_rest_is_lossless = "only u = 0 has no dissipation";
inline const char* const impacts = "impacts take energy: (a) small, (b) equal or (c) frictionless restitution";
inline const char* const level_set = "the equilibrium set lies in the level set: max V on it is below rho*";
}  // namespace condition_text

/// Decides a condition below the largest level at which it is proved. If it is proved in the whole scope then `part`
/// stays +∞; otherwise `part` becomes that level, and the row says so. If it is not proved next to q_e either, the row
/// is that of the whole scope.
proof::Condition below_largest_level(const ConditionScope& scope, LevelPart& part,
                                     const std::function<proof::Condition(const ConditionScope&)>& condition);

/// Condition 1: T = ½uᵀM(q)u with M > 0. No constraint, gap or slip velocity depends on the time or moves while the
/// coordinates rest.
proof::Condition condition_1_kinetic_energy(const ConditionScope& scope);

/// Condition 2: q_e is a minimum of Q and the only point of 𝒰 with 0 ∈ ∂Q. Read from `levels.stationary`.
proof::Condition condition_2_minimum(const ConditionScope& scope, const LevelSet& levels);

/// Condition 3: D^nc = −u·f^nc >= 0, and f^nc(q, 0) = 0.
proof::Condition condition_3_dissipation(const ConditionScope& scope);

/// Condition 4: the open gaps of I_C have negative accelerations in a neighbourhood of the equilibrium set. Read from
/// `levels.velocity` and `levels.closing`. The verdict is `not_examined` if neither such a neighbourhood nor a witness
/// was found.
proof::Condition condition_4_closing_gaps(const ConditionScope& scope, const LevelSet& levels);

/// Condition 5: if all gaps of I_C are closed and stay closed then only u = 0 has no dissipation. Without contacts this
/// is condition 4 of Corollary 3.
proof::Condition condition_5_dissipated_velocities(const ConditionScope& scope, const std::vector<int>& I_C);

/// Condition 6: Newton's impact law with 0 <= e_N < 1 and |e_T| < 1.
proof::Condition condition_6_restitution(const ConditionScope& scope);

/// Condition 7: impacts do not create energy.
proof::Condition condition_7_impacts(const ConditionScope& scope);

/// Condition 8: the equilibrium set lies in { V < ρ* }.
proof::Condition condition_8_level_set(const ConditionScope& scope, const LevelSet& levels,
                                       const EquilibriumCover& cover);

/// Condition 9: every limit set is positively invariant. Always assumed.
proof::Condition condition_9_invariance();

/// Proposition 4 at the equilibrium, for models whose contacts have friction and different restitution coefficients.
std::optional<proof::Condition> proposition_4_row(const ConditionScope& scope);

/// The bounds of restitution and friction of all contacts over the scope, for conditions 6 and 7.
struct ContactCoefficients {
    std::vector<proof::Interval> e_n, e_t;  ///< one for each contact
    std::vector<proof::Interval> mu;        ///< the first friction coefficient of each contact
    std::vector<bool> friction;             ///< for each contact: it is not proved to be without friction
};
ContactCoefficients contact_coefficients(const ConditionScope& scope);

}  // namespace saltus::stability
