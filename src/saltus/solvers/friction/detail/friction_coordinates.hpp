// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "saltus/solvers/problem.hpp"
#include "saltus/solvers/solution.hpp"

namespace saltus::solvers {

/// A problem in units where W and q are about 1, for units in which squares are not numbers any more.
class Rescaled {
public:
    static bool needed(const FrictionProblem& p);

    void take(const FrictionProblem& p, std::span<const double> guess);
    const FrictionProblem& problem() const { return problem_; }
    std::span<const double> guess() const { return guess_; }

    /// The reactions and velocities of its solution in the units of the problem it was taken from.
    void back(Solution& s) const;

private:
    int w_ = 0, q_ = 0;  // powers of two
    FrictionProblem problem_;
    std::vector<double> guess_;
};

/// A problem whose orthotropic contacts have the second direction scaled so that the ellipse is a disk: r_T2 = κ r'_T2,
/// v'_T2 = κ v_T2 with κ = μ₂/μ₁ makes the law isotropic, W and q change by congruence.
class Isotropic {
public:
    static bool needed(const FrictionProblem& p);

    void take(const FrictionProblem& p, std::span<const double> guess);
    const FrictionProblem& problem() const { return problem_; }
    std::span<const double> guess() const { return guess_; }

    void back(Solution& s) const;  ///< its reactions in the coordinates of the problem

private:
    FrictionProblem problem_;
    std::vector<double> scale_, guess_;
};

}  // namespace saltus::solvers
