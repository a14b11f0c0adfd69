// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

// Changes of coordinates: a problem is transformed, solved, and its solution transformed back.

namespace saltus::solvers {

/// True if the friction forces of the law form an ellipse: those of a contact, or of a slider with two rows.
inline bool elliptic(const Law& law) {
    const bool slider = law.kind == LawKind::slider || law.kind == LawKind::scaled_slider;
    return orthotropic(law) || (slider && law.mu_second >= 0.0);
}

/// The problem in units in which the largest entries of W and q are about 1. It is needed if squares of the original
/// numbers would overflow or underflow. The scale factors are powers of two, so nothing is rounded.
class Rescaled {
public:
    /// True if the largest entry of W or q is outside 2^±300.
    static bool needed(const FrictionProblem& p);

    /// Transforms the problem and the guess.
    void take(const FrictionProblem& p, std::span<const double> guess);
    const FrictionProblem& problem() const { return problem_; }
    std::span<const double> guess() const { return guess_; }

    /// Transforms reactions and velocities of the solution back to the original units.
    void back(Solution& s) const;

private:
    int w_ = 0, q_ = 0;  // W = 2^w_ W', q = 2^q_ q', hence v = 2^q_ v' and r = 2^(q_ − w_) r'
    FrictionProblem problem_;
    std::vector<double> guess_;
};

/// The problem in coordinates in which orthotropic contacts and sliders are isotropic. With κ_i = μ_i/max(μ₁, μ₂), r_Ti
/// = κ_i r'_Ti and v'_Ti = κ_i v_Ti the ellipse of forces becomes a disk of radius max(μ₁, μ₂) r_N. Since r and v
/// transform oppositely, the power rᵀv is unchanged and W' = K W K, q' = K q with the diagonal matrix K of the κ.
class Isotropic {
public:
    /// True if some law is orthotropic.
    static bool needed(const FrictionProblem& p);

    /// Transforms the problem and the guess.
    void take(const FrictionProblem& p, std::span<const double> guess);
    const FrictionProblem& problem() const { return problem_; }
    std::span<const double> guess() const { return guess_; }

    void back(Solution& s) const;  ///< Transforms the reactions back; velocities are left as they are.

private:
    FrictionProblem problem_;
    std::vector<double> scale_, guess_;  // scale_: κ of each row
};

}  // namespace saltus::solvers
