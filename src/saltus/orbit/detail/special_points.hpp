// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "saltus/orbit/detail/branch_problem.hpp"

namespace saltus::orbit {

/// Functions along a branch that are zero at special points without a change of the order of events.
struct Tests {
    double fold;      ///< dp/ds
    double unit;      ///< Π(μ − 1) over all multipliers but the trivial one
    double doubling;  ///< Π(μ + 1)
    double torus;  ///< Π_{i<j}(1 − μ_i μ_j): a pair on the unit circle, or two real multipliers with the product 1
};
Tests tests_of(const OrbitPoint& p);

/// The extrapolation of parameter values p(ψ) to ψ = 0 by polynomials (Neville), and the difference between the last
/// two orders as an estimate of its error. Pairs (ψ, p), the smallest ψ last; at least one.
std::pair<double, double> extrapolate(const std::vector<std::pair<double, double>>& points);

/// The least minimum of a gap on an arc on which the contact is open, relative to the largest gap, and the name of
/// the contact; 1 and no name if no gap has a minimum. `only`: of this contact; "": of all.
std::pair<double, std::string> nearest_gap(const model::Mechanics& model, const trajectory::Trajectory& motion,
                                           const std::string& only);

/// Where a curve of special points over two parameters begins.
struct SpecialSeed {
    std::string kind;  ///< "fold", "period doubling", "torus" or "grazing"
    OrbitPoint point;  ///< for a grazing: on the side without the impact, its tangent leads to the grazing
    int multiple = 1;
    std::string contact;              ///< name of the contact of a grazing
    std::optional<double> parameter;  ///< extrapolated parameter of a grazing; if empty: that of the point
};

/// Follows a special point over the second parameter of the options, in both directions.
SpecialCurve follow_special(const model::Description& description, const BranchOptions& options,
                            const SpecialSeed& seed, const Closing& closing);

}  // namespace saltus::orbit
