// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "saltus/base/linalg.hpp"

namespace saltus::integrate {

/// A linear condition on reactions: margin(λ) = offset + Σ factor_k λ_k >= 0, in the unit of the reactions.
struct ReactionMargin {
    double offset = 0.0;
    std::vector<std::pair<int, double>> terms;  ///< (k, factor of λ_k)

    double value(std::span<const double> lambda) const {
        double sum = offset;
        for (const auto& [k, factor] : terms) sum += factor * lambda[static_cast<std::size_t>(k)];
        return sum;
    }
};

/// Reactions of equations that depend on each other, K λ = r with a singular K. If r fits, then λ is determined up to
/// the null space of K. All these distributions give the same motion if they act on the coordinates alike.
class RedundantReactions {
public:
    /// Prepares for K. A pivot <= `tolerance` times the largest one counts as zero.
    void factorise(const Matrix& K, double tolerance);

    /// The reactions of least norm. Returns the largest |K λ − r|_i, which is zero up to rounding if r fits.
    double solve(std::span<const double> right, std::span<double> lambda) const;

    /// I − K⁺K, which maps every vector to the null space of K.
    const Matrix& to_null_space() const { return to_null_space_; }

    /// The best distribution of reactions.
    struct Centre {
        double margin;  ///< the least of the margins
        /// Multipliers of the linear program, one per margin: those above zero are the margins that cannot all become
        /// larger. Empty if no program was solved.
        std::vector<double> weights;
    };
    /// Moves λ along the null space to where the least of the margins is large: it stays if that is at least
    /// `comfortable` already, otherwise it becomes the largest possible, by a linear program.
    Centre centre(std::span<const ReactionMargin> margins, double comfortable, std::span<double> lambda) const;

private:
    Matrix K_, pseudo_inverse_, to_null_space_;
};

}  // namespace saltus::integrate
