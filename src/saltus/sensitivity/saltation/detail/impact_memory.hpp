// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>
#include <vector>

#include "saltus/base/linalg.hpp"
#include "saltus/solvers/linear/dense_lu.hpp"

namespace saltus::sensitivity {

/// The velocities of one instant of an impact, and their derivatives.
struct Instant {
    Vector u;
    Matrix du;      ///< n × columns
    Vector gamma;   ///< γ by row of the model; only the rows of the impact are set
    Matrix dgamma;  ///< rows × columns, likewise
};

/// The result of one contact problem: the whole impact of Newton's law, or compression or expansion.
struct ImpactPhase {
    Instant after;   ///< u⁺ and δu⁺; its γ and δγ are those for δΛ = 0
    Matrix dLambda;  ///< δΛ, rows of the impact × columns
};

/// The linear equations S δΛ = right of one contact problem, and what is needed to set them up.
struct PhaseSystem {
    /// Unit of all impulses below. In this unit D has entries near 1, so that equations of velocities (D δΛ) and of
    /// impulses (δΛ) can be compared, whatever the unit of mass is. It is a power of two: no digit changes.
    double unit = 1.0;
    Vector Lambda;
    Matrix D;    ///< Delassus matrix of the rows of the impact
    Vector xi;   ///< ξ = γ⁺ + e γ⁻
    Matrix dxi;  ///< δξ for δΛ = 0
    Matrix S, right;
    double zero_Lambda = 0.0, zero_xi = 0.0;          ///< limits below which Λ and ξ count as zero
    std::vector<std::pair<Eigen::Index, int>> edges;  ///< rows with Λ = 0 and ξ = 0, and their elements
    std::vector<Eigen::Index> resting;                ///< rows with ξ = 0
    std::vector<Eigen::Index> at_bound;               ///< first rows of sticking friction that can bear no more

    /// ξ_k stays 0: δξ_k = dxi_k + D_k δΛ = 0.
    void keep_at_rest(Eigen::Index k) {
        resting.push_back(k);
        S.row(k) = D.row(k);
        right.row(k) = -dxi.row(k);
    }
    /// Λ_k stays 0.
    void keep_without_impulse(Eigen::Index k) { S(k, k) = 1.0; }
};

/// Memory for the derivatives of impacts. It is kept from impact to impact, because most impacts have few rows, and
/// allocations would cost more than the arithmetic.
struct ImpactMemory {
    std::vector<double> state, acceleration, reactions;
    std::vector<double> column, tangential_column;  ///< of a lone impact: M⁻¹ times its forces
    Matrix load;                                    ///< ∂(WΛ − M a) with Λ and a held fixed
    Matrix velocity;                                ///< ∂γ of all rows of the model
    Matrix coefficient;                             ///< ∂ of the coefficients μ, e, …
    Matrix rows, inverse_rows;  ///< Wᵀ of the rows of the impact (one per row), and M⁻¹W (one per column)
    Instant before;             ///< u⁻ of the whole impact
    Vector e, Lambda;           ///< restitution and impulses of the rows of the impact
    Matrix de;                  ///< δe of the rows of the impact
    ImpactPhase newton;         ///< of an impact that is one contact problem
    PhaseSystem system;
    Matrix right, multipliers;  ///< of differentiate_arrest
    solvers::DenseLU lu;
};

}  // namespace saltus::sensitivity
