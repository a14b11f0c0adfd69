// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/proof/enclosure.hpp"
#include "saltus/stability/certify/detail/conditions.hpp"

namespace saltus::stability {

// The propositions of [Leine], which are simple sufficient tests for conditions of Theorem 1. Each is evaluated at one
// state or for one matrix. The certificates do not rest on them, except on `uncoupled`; they are printed as further
// statements. Not all hold as printed (docs/papers.md); the tests compare both forms.

/// Propositions 1 to 3 as rows P1 to P3, each if its hypotheses are proved over the scope: uncoupled normal and
/// tangential directions, linear damping with C + Cᵀ >= 0 (`dissipative`: condition 3 is proved), friction at the
/// equilibrium.
std::vector<proof::Condition> proposition_rows(const ConditionScope& scope, bool dissipative);

/// Proposition 1, for condition 4. If W_NᵀM⁻¹W_T = 0 then friction does not act on the gaps, and the accelerations of
/// the open gaps (o) while the closed gaps (c) stay closed are
///     γ̇_o = W_oᵀM⁻¹(I − W_c D_c⁻¹ W_cᵀM⁻¹)h + ζ_o − W_oᵀM⁻¹W_c D_c⁻¹ ζ_c,   D_c = W_cᵀM⁻¹W_c,  ζ = Ẇᵀu.
/// The printed form (89) omits the terms with ζ. It is wrong if W depends on q.
struct GapAccelerations {
    bool uncoupled = false;        ///< W_NᵀM⁻¹W_T = 0
    std::vector<int> open;         ///< the open contacts
    std::vector<double> printed;   ///< γ̇_o as printed, one number for each open contact
    std::vector<double> complete;  ///< γ̇_o with ζ
};
/// `closed`: for each contact, nonzero if it is closed.
GapAccelerations proposition_1(const model::Mechanics& model, const std::vector<double>& q,
                               const std::vector<double>& u, const std::vector<char>& closed);

/// W_NᵀM⁻¹W_T = 0 over a whole box of positions, exactly: the condition of Corollary 2 beside linear damping.
bool uncoupled(const proof::Enclosure& enclosure, const proof::Box& q);

/// Proposition 2, for conditions 3 and 5: a basis of the velocities without dissipation of f^nc = −Cu with uᵀCu >= 0,
/// as columns. This is ker(C + Cᵀ); the printed ker C needs a symmetric C.
Matrix proposition_2(const Matrix& C);

/// Proposition 3, for condition 5: a basis of the velocities without friction dissipation, ker W_Tᵀ, as columns. 0 must
/// lie in the interior of the sets of friction forces. W_T has one column for each slip direction.
Matrix proposition_3(const Matrix& W_T);

/// Bounds for condition 7a: A B is positive definite for every diagonal B with b_min < b_ii <= 1, or with
/// b = (1 − e)/(1 + e), for all restitution coefficients 0 <= e < e_max.
struct RestitutionBound {
    double b_min = 0.0, e_max = 0.0;
};
/// Proposition 4: 1 − b_min = 1/cond(A), e_max = 1/(2 cond(A) − 1).
RestitutionBound proposition_4(double condition_number);
/// The sharp bound for 2 × 2 matrices: √b_min = (√cond − 1)/(√cond + 1).
RestitutionBound sharp_for_two_rows(double condition_number);

}  // namespace saltus::stability
