// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "saltus/model/fwd.hpp"
#include "saltus/proof/enclosure.hpp"

namespace saltus::stability {

/// The propositions of [Leine], which make conditions of Theorem 1 cheap where they apply, at one state or for one
/// matrix.

/// Proposition 1, for condition 4: with W_NᵀM⁻¹W_T = 0 the accelerations of the open gaps are
///     W_oᵀM⁻¹(I − W_c(W_cᵀM⁻¹W_c)⁻¹W_cᵀM⁻¹)h + Ẇ_oᵀu − W_oᵀM⁻¹W_c(W_cᵀM⁻¹W_c)⁻¹Ẇ_cᵀu.
/// As printed the terms with Ẇ are missing, which is false where W depends on q. [errata, Leine 4]
struct GapAccelerations {
    bool uncoupled = false;       ///< W_NᵀM⁻¹W_T = 0
    std::vector<int> open;        ///< contacts
    std::vector<double> printed;  ///< without Ẇ, one an open contact
    std::vector<double> complete;
};
GapAccelerations proposition_1(const model::Model& model, const std::vector<double>& q, const std::vector<double>& u,
                               const std::vector<char>& closed);

/// W_NᵀM⁻¹W_T = 0 over a whole box of positions, to rounding: what Corollary 2 asks for beside linear damping.
bool uncoupled(const proof::Enclosure& enclosure, const proof::Box& q);

/// Proposition 2, for conditions 3 and 5: the velocities without dissipation of f = −Cu are ker C if C is symmetric and
/// >= 0; in general they are those of ker(C + Cᵀ). [errata, Leine 5] Columns span it.
Matrix proposition_2(const Matrix& C);

/// Proposition 3, for condition 5: friction with 0 in the interior of its forces lets ker W_Tᵀ go without dissipation.
/// Columns span it; W_T has one column a slip direction.
Matrix proposition_3(const Matrix& W_T);

/// Proposition 4, for condition 7a: A B is positive definite if 1 − b_min < 1/cond(A), 0 < b_ii <= 1. With b = (1 −
/// e)/(1 + e) that is e < 1/(2 cond(A) − 1), which is far from sharp: of 2 × 2 matrices √b_min > (√cond − 1)/(√cond +
/// 1) is.
struct Restitutions4 {
    double b_min = 0.0, e_max = 0.0;
};
Restitutions4 proposition_4(double condition);
Restitutions4 sharp_for_two_rows(double condition);

}  // namespace saltus::stability
