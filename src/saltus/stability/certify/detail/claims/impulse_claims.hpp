// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "saltus/stability/certify/detail/claims/box_claims.hpp"

namespace saltus::stability {

/// Whether impacts must lose energy, or only create none.
enum class ImpactLoss { required, not_required };

/// The claim "dissipative impacts" (docs/certificate-format.md, condition 7). An impact of Newton's law changes the
/// energy by at most
///     −½ Λᵀ K B D Λ,   D = WᵀM⁻¹W along the constraints,   b = (1 − e)/(1 + e),
/// with one factor k for each row of W; k = 1 for the energy itself. The symmetric matrix D_rs (k_r b_r + k_s b_s) of
/// all contacts that may close on a box is shown to be positive definite, or strictly copositive on the friction cones:
/// with the matrix R of their edges (1, ±μ) and a matrix N >= 0, Rᵀ A R − N is positive definite.
class ImpulseForm {
public:
    /// The factors k of these rows of Wᵀ over a box of positions; std::nullopt: they are not bounded.
    using Factors = std::function<std::optional<IntervalVector>(const std::vector<int>& rows, const Box& q)>;

    /// `factors` empty: all are 1.
    ImpulseForm(const ClaimScope& scope, Factors factors, ImpactLoss loss = ImpactLoss::required)
        : s_(scope), factors_(std::move(factors)), loss_(loss) {}

    /// A leaf "definite" or "copositive", or nothing if the box has to be split.
    std::optional<ClaimValue> leaf(const Box& q) const;
    /// The uncertainty of the matrix over a box.
    double spread(const Box& q) const;

private:
    /// The matrix of the contacts that may close, and the edges of their friction cones.
    struct Form {
        IntervalMatrix A;
        std::vector<IntervalVector> edges;
        bool friction = false;
        IntervalVector factors;
    };
    std::optional<Form> form(const Box& q) const;
    bool shown(const IntervalMatrix& A) const;

    const ClaimScope& s_;
    Factors factors_;
    ImpactLoss loss_;
};

}  // namespace saltus::stability
